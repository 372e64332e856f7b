"""The walk between samples of a hop matrix of rank one, the joint view and the consensus."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support import oracles
from viewhop.affinity import build_affinity, build_joint_view
from viewhop.errors import ConvergenceError
from viewhop.kernels import Gaussian
from viewhop.solvers import Solution, solve
from viewhop.views import RowMap
from viewhop.walks import HopWalk, build_weighted_walk, rank_one_weights

KERNEL = Gaussian("local", n_neighbors=8, alpha=1.0, scale_neighbors=8, taper=0.25)
WEIGHTS = np.array([1.0, 0.4, 0.05])


def three_views(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return [X, X[:, :2] + 0.3 * rng.standard_normal((n, 2)), rng.standard_normal((n, 4))]


def some_rows(n, rng, *, repeated=False):
    """A map with samples missing from two views, and one with two rows in the third."""
    samples = [None, np.sort(rng.choice(n, n - 9, replace=False)), np.arange(3, n)]
    if repeated:
        samples[2] = np.append(samples[2], 5)
    sizes = [n if part is None else part.size for part in samples]
    return RowMap(sizes, samples, n)


def walk_over(views, rows=None, kernel=KERNEL, weights=WEIGHTS):
    rows = RowMap.whole(len(views), len(views[0])) if rows is None else rows
    affinities = [build_affinity(f"v{l}", kernel, rows.gathered(l, X)) for l, X in enumerate(views)]
    return HopWalk(affinities, np.outer(weights, weights), rows)


def dense_hop_kernel(walk):
    """K̂ with every matrix formed, over the rows of all views."""
    n = walk.n_samples
    blocks = []
    for l, K in enumerate(walk.kernels):
        scatter = np.zeros((n, walk.rows.sizes[l]))
        np.add.at(scatter, (walk.rows.samples(l), np.arange(walk.rows.sizes[l])), 1.0)
        blocks.append(scatter @ np.asarray(K @ np.eye(K.n_samples)))
    return np.block(
        [[walk.hops[l, m] * (a.T @ b) for m, b in enumerate(blocks)] for l, a in enumerate(blocks)]
    )


CASES = {
    "complete": lambda rng: None,
    "missing": lambda rng: some_rows(60, rng),
    "repeated": lambda rng: some_rows(60, rng, repeated=True),
}


@pytest.mark.parametrize("rows", CASES)
@pytest.mark.parametrize("kernel", [KERNEL, Gaussian(), Gaussian("local", alpha=0.5)], ids=str)
def test_eigenpairs_between_samples_are_those_between_nodes(rows, kernel):
    walk = walk_over(three_views(), CASES[rows](np.random.default_rng(1)), kernel)
    chain = oracles.Chain(dense_hop_kernel(walk))
    spectrum = solve(walk, 6)
    assert_allclose(spectrum.eigenvalues, chain.eigenvalues[:6], atol=1e-12)
    assert_allclose(walk.degrees, chain.D, rtol=1e-12)
    overlap = (spectrum.eigenvectors * walk.stationary[:, None]).T @ chain.psi[:, :6]
    assert_allclose(np.abs(np.linalg.svd(overlap)[1]), 1.0, atol=1e-10)
    assert spectrum.residuals.max() < 1e-12


@pytest.mark.parametrize("rows", CASES)
def test_no_eigenvalue_is_negative_and_there_are_as_many_as_samples(rows):
    walk = walk_over(three_views(), CASES[rows](np.random.default_rng(1)))
    values = oracles.Chain(dense_hop_kernel(walk)).eigenvalues
    assert values.min() > -1e-12
    assert walk.max_coordinates == walk.n_samples - 1
    assert (values > 1e-12).sum() <= walk.max_coordinates


@pytest.mark.parametrize("rows", CASES)
def test_the_walk_between_samples_is_the_printed_matrix(rows):
    walk = walk_over(three_views(), CASES[rows](np.random.default_rng(1)))
    n, T, g = walk.n_samples, 0.0, 0.0
    for l, (K, w) in enumerate(zip(walk.kernels, WEIGHTS, strict=True)):
        S = np.zeros((n, walk.rows.sizes[l]))
        np.add.at(S, (walk.rows.samples(l), np.arange(walk.rows.sizes[l])), 1.0)
        dense = np.asarray(K @ np.eye(K.n_samples))
        degrees = walk.rows.split(walk.degrees)[l]
        T = T + w**2 * S @ dense @ np.diag(1 / degrees) @ dense @ S.T
        g = g + w * S @ dense.sum(axis=1)
    assert_allclose(walk.hub.normalized(np.eye(n)), T, atol=1e-13)
    assert_allclose(walk.hub.mass, g, rtol=1e-13)
    assert_allclose(T @ g, g, rtol=1e-12)
    assert_allclose(walk.hub.degrees, walk.hub @ np.ones(n), rtol=1e-12)


@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov"])
def test_every_solver_solves_between_samples(solver):
    walk = walk_over(three_views())
    expected = solve(walk, 4, solver="dense")
    spectrum = solve(walk, 4, solver=solver)
    assert spectrum.solver == solver
    assert_allclose(spectrum.eigenvalues, expected.eigenvalues, atol=1e-10)
    assert_allclose(spectrum.eigenvectors, expected.eigenvectors, atol=1e-6)


def test_the_svd_is_refused_as_for_any_walk_that_stays():
    with pytest.raises(ValueError, match="svd"):
        solve(walk_over(three_views()[:2], weights=WEIGHTS[:2]), 2, solver="svd")


def test_pairs_that_converged_are_lifted_to_nodes():
    walk = walk_over(three_views(n=400))

    class Never:
        name = "never"

        def solve(self, problem):
            vectors = np.linalg.qr(problem.project(np.random.default_rng(0).random((400, 1))))[0]
            return Solution(np.array([0.5]), vectors, False)

    with pytest.raises(ConvergenceError) as caught:
        solve(walk, 3, solver=Never())
    assert caught.value.spectrum.eigenvectors.shape == (walk.n_nodes, 1)


def test_rank_one_is_recognised_up_to_rounding():
    rng = np.random.default_rng(0)
    for _ in range(20):
        w = np.exp(rng.normal(0, 4, 5))
        assert_allclose(rank_one_weights(np.outer(w, w)), w, rtol=1e-12)
    assert rank_one_weights(1 - np.eye(3)) is None
    assert rank_one_weights(np.array([[1.0, 0.5], [0.5, 1.0]])) is None
    assert_allclose(rank_one_weights(np.full((3, 3), 0.5)), np.sqrt(0.5))


def test_a_kernel_times_a_number_leaves_the_weighted_walk_as_it_is():
    views = three_views()
    kernels = [vh.kernels.Precomputed()] * 3
    matrices = [np.exp(-((X[:, None] - X) ** 2).sum(axis=-1)) for X in views]
    weights = {"view1": 1.0, "view2": 0.5, "view3": 0.1}
    first = vh.MultiViewDiffusionMaps(3, kernel=kernels, view_weights=weights).fit(matrices)
    matrices[1] = matrices[1] * 50
    second = vh.MultiViewDiffusionMaps(3, kernel=kernels, view_weights=weights).fit(matrices)
    assert_allclose(second.embedding_, first.embedding_, atol=1e-9)


def test_samples_of_no_view_leave_the_walk():
    # As when one of two views is left out.
    rng = np.random.default_rng(0)
    rows = RowMap([40, 50], [np.arange(40), np.arange(5, 55)], 60)
    walk = walk_over([X[:60] for X in three_views()[:2]], rows, weights=WEIGHTS[:2])
    assert_array_equal(walk.hub.pieces() >= 0, np.arange(60) < 55)
    chain = oracles.Chain(dense_hop_kernel(walk))
    spectrum = solve(walk, 3)
    assert_allclose(spectrum.eigenvalues, chain.eigenvalues[:3], atol=1e-12)
    again = solve(walk, 3, solver="krylov", start=spectrum.eigenvectors, generator=rng)
    assert_allclose(again.eigenvalues, spectrum.eigenvalues, atol=1e-10)


# --- the consensus ---------------------------------------------------------------------------


def consensus_by_brute_force(walk, r, t):
    """λ^{t−1/2} G/g, with G = u and uᵀu = λ trace D̂, for eigenvectors u of T."""
    T = walk.hub.normalized(np.eye(walk.n_samples))
    values, vectors = np.linalg.eigh((T + T.T) / 2)
    order = np.argsort(-values)[1 : r + 1]
    lam, u = values[order], vectors[:, order]
    u = u * np.sqrt(lam * walk.degrees.sum())
    return lam ** (t - 0.5) * u / walk.hub.mass[:, None], lam


@pytest.mark.parametrize("rows", CASES)
@pytest.mark.parametrize("t", [1.0, 2.5])
def test_the_consensus_is_that_of_brute_force(rows, t):
    walk = walk_over(three_views(), CASES[rows](np.random.default_rng(1)))
    expected, lam = consensus_by_brute_force(walk, 4, t)
    spectrum = solve(walk, 4)
    training = walk.consensus(spectrum).training()[0] * spectrum.eigenvalues ** (t - 1)
    signs = np.sign((training * expected).sum(axis=0))
    assert_allclose(training * signs, expected, atol=1e-10)
    # Weighted by g², the root mean square of a coordinate is λ^t.
    weights = walk.hub.mass**2 / (walk.hub.mass**2).sum()
    assert_allclose(np.sqrt((weights[:, None] * expected**2).sum(axis=0)), lam**t, rtol=1e-10)


def test_the_consensus_needs_a_hop_matrix_of_rank_one():
    with pytest.raises(ValueError, match="rank one"):
        vh.MultiViewDiffusionMaps(2, within_view_weight=0.3, output="consensus").fit(three_views())
    # η = 1/2 is of rank one.
    est = vh.MultiViewDiffusionMaps(2, within_view_weight=0.5, output="consensus")
    assert est.fit_transform(three_views()).shape == (60, 2)


# --- the joint view --------------------------------------------------------------------------


def joint_walk(views, rows=None, weights=WEIGHTS):
    rows = RowMap.whole(len(views), len(views[0])) if rows is None else rows
    affinities = [build_affinity(f"v{l}", KERNEL, rows.gathered(l, X)) for l, X in enumerate(views)]
    named = {K.name: float(w) for K, w in zip(affinities, weights, strict=True)}
    joint = build_joint_view(affinities, rows, named, generator=np.random.default_rng(0))
    return build_weighted_walk(affinities, rows, named, joint=joint)


@pytest.mark.parametrize("rows", CASES)
def test_the_joint_view_is_the_kernel_of_the_features_side_by_side(rows):
    rows = CASES[rows](np.random.default_rng(1))
    views = three_views()
    walk = joint_walk(views, rows)
    observed = walk.rows.first_views(3).observed
    complete = observed.all(axis=1)
    blocks = []
    for l, (X, w) in enumerate(zip(views, WEIGHTS, strict=True)):
        own = X if rows is None else rows.gathered(l, X)
        spread = np.sqrt(((own - own.mean(axis=0)) ** 2).sum(axis=1).mean())
        blocks.append(X[complete] / spread * np.sqrt(w))
    expected = oracles.View(KERNEL, np.hstack(blocks)).K
    assert_allclose(walk.kernels[-1].values.toarray(), expected, rtol=1e-9, atol=1e-12)
    assert_array_equal(walk.rows.observed[:, 3], complete)


def test_the_joint_view_weighs_as_much_as_the_best_view():
    walk = joint_walk(three_views())
    means = np.array([K.degrees.mean() for K in walk.kernels])
    assert_allclose(walk.weights * means, [*WEIGHTS, 1.0], rtol=1e-12)


def test_views_with_unlike_kernels_have_no_joint_view():
    views = three_views()
    affinities = [
        build_affinity("a", KERNEL, views[0]),
        build_affinity("b", Gaussian("local", n_neighbors=5), views[1]),
    ]
    rows = RowMap.whole(2, 60)
    weights = {"a": 1.0, "b": 1.0}
    assert build_joint_view(affinities, rows, weights, generator=np.random.default_rng(0)) is None
