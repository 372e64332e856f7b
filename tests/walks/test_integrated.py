"""The integrated walk against powers of dense transition matrices, and its numbers of steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import entropy

import viewhop as vh
from tests.support import cases, oracles
from tests.walks.test_walks import affinities, dense
from viewhop._storage.codec import Shelf
from viewhop.affinity import MergedGraph
from viewhop.errors import ModelFileError
from viewhop.geometry import Recipe
from viewhop.geometry._leading import leading_eigenvalues
from viewhop.geometry._memory_plan import plan_memory
from viewhop.kernels import Gaussian, Precomputed
from viewhop.solvers import FixedRank, choose_solver, solve
from viewhop.walks import (
    AlternatingWalk,
    IntegratedWalk,
    entropy_knee,
    read_walk,
    spectral_entropy,
    walk_state,
)

TOLERANCE = {np.float64: 1e-8, np.float32: 1e-4}
STEPS = {1: (3,), 2: (2, 1), 3: (1, 4, 2)}
#: Kernels so narrow that many steps leave several coordinates.
NARROW = {"dense": Gaussian(factor=0.1), "sparse": Gaussian("local", n_neighbors=4)}
pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")


def maps(r=2, **parameters):
    return vh.MultiViewDiffusionMaps(r, fusion="integrated", random_state=0, **parameters)


def matrices(kernel, X):
    return [oracles.View(kernel, x).K for x in X]


# --- the walk ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_views", STEPS)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_the_walk_is_the_product_of_the_powers(holding, data, n_views):
    kernel = Gaussian(n_neighbors=cases.HOLDINGS[holding])
    X = cases.views(data, n_views, kernel)
    walk = IntegratedWalk(affinities(kernel, X), STEPS[n_views])
    n = cases.N
    block = oracles.integrated(matrices(kernel, X), STEPS[n_views]) / n
    expected = np.block([[np.zeros((n, n)), block], [block.T, np.zeros((n, n))]])
    assert_allclose(dense(walk), expected, rtol=1e-8, atol=1e-300)
    assert_allclose(walk.degrees, expected.sum(axis=1), rtol=1e-9)
    assert walk.pieces().max() + 1 == oracles.Chain(expected).n_pieces()


def test_a_step_that_never_stays_connects_as_the_matrix_says():
    path = csr_array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    K = MergedGraph("view1", Precomputed(), path, n_jobs=1)
    for steps in ((1,), (2,), (3,)):
        walk = IntegratedWalk([K], steps)
        assert walk.pieces().max() + 1 == oracles.Chain(dense(walk)).n_pieces()


@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov", "svd"])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("holding", NARROW)
def test_coordinates_are_weighted_singular_vectors(holding, dtype, solver):
    kernel = NARROW[holding]
    X = cases.views("generic", 2, kernel, dtype)
    est = maps(kernel=kernel, solver=solver).fit(X)
    steps = [oracles.knee(K) for K in matrices(kernel, X)]
    assert est.walk_.steps == tuple(steps)
    assert max(steps) > 1
    P = oracles.integrated(matrices(kernel, X), steps)
    U, sigma, _ = np.linalg.svd(P / np.sqrt(cases.N) / np.sqrt(P.mean(axis=0)))
    atol = TOLERANCE[dtype]
    assert_allclose(est.eigenvalues_, sigma[1:3], atol=atol)
    psi = U[:, 1:3] * np.sqrt(cases.N)
    signs = np.sign((psi * est.embedding_).sum(axis=0))
    assert_allclose(est.embedding_, psi * signs * sigma[1:3], atol=100 * atol)
    assert [*est.get_feature_names_out()] == ["fused_1", "fused_2"]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_transform_from_the_first_view_repeats_the_embedding(name, holding, data, dtype):
    kernel = cases.kernel(name, holding)
    X = cases.views(data, 2, kernel, dtype)
    est = maps(1, kernel=kernel).fit(X)
    size = np.abs(est.embedding_).max()
    assert_allclose(est.transform([X[0], None]), est.embedding_, atol=TOLERANCE[dtype] * size)


def test_new_samples_go_one_step_in_the_first_view_and_then_on():
    kernel = NARROW["dense"]
    X = cases.views("generic", 2, kernel)
    new = X[0][:5] + 0.3
    est = maps(kernel=kernel, n_steps=2).fit(X)
    K = [oracles.View(kernel, x) for x in X]
    first, second = est.walk_.steps
    onward = oracles.integrated([K[0].K, K[1].K], (first - 1, second))
    row = oracles.transitions(K[0].rows(new)) @ onward
    P = oracles.integrated([K[0].K, K[1].K], (first, second))
    _, sigma, V = np.linalg.svd(P / np.sqrt(cases.N) / np.sqrt(P.mean(axis=0)))
    expected = row @ (V[1:3].T / np.sqrt(P.mean(axis=0))[:, None]) * sigma[1:3]
    found = est.transform([new, None])
    signs = np.sign((expected * found).sum(axis=0))
    assert_allclose(found, expected * signs, atol=1e-9)


def test_one_step_in_each_view_is_the_alternating_walk():
    held = affinities(Gaussian(), cases.views("generic", 3, Gaussian()))
    one, other = IntegratedWalk(held), AlternatingWalk(held)
    V = np.random.default_rng(0).standard_normal((one.n_nodes, 3))
    assert_array_equal(one @ V, other @ V)


def test_all_coordinates_of_a_narrow_kernel_can_be_had():
    X = cases.views("generic", 2, Gaussian())
    kernel = Gaussian(factor=0.02)
    est = maps(cases.N - 1, kernel=kernel).fit(X)
    assert est.n_components_ == cases.N - 1
    with pytest.raises(ValueError, match=f"more than the {cases.N - 1} coordinates"):
        maps(cases.N, kernel=kernel).fit(X)


def test_auto_takes_the_svd_for_neighbours():
    X = [np.random.default_rng(k).standard_normal((600, 3)) for k in range(2)]
    walk = IntegratedWalk(affinities(Gaussian(n_neighbors=8), X), (2, 3))
    assert choose_solver(walk, 3) == "svd"
    assert_allclose(solve(walk, 3).residuals, 0, atol=1e-10)


def test_the_size_of_a_fit_counts_the_leading_pairs():
    size = IntegratedWalk.size(200, [200, 200], hops=None, is_dense=True)
    assert (size.n_nodes, size.n_solved, size.n_leading) == (400, 200, 49)
    few = IntegratedWalk.size(20, [20, 20], hops=None, is_dense=True)
    assert few.n_leading == 19


def test_memory_is_planned_for_the_leading_pairs():
    views = vh.Views([np.zeros((500_000, 2)), np.ones((500_000, 2))])
    kernels = dict.fromkeys(views.names, Gaussian("local", n_neighbors=10))
    plans = [
        plan_memory(Recipe(walk=walk, rank=FixedRank(1), n_jobs=1), views, kernels, 1)
        for walk in (AlternatingWalk, IntegratedWalk)
    ]
    assert plans[0].leading_bytes == 0
    # Two vectors of Lanczos for each of the 49 pairs, and the pairs themselves.
    assert plans[1].leading_bytes > 3 * 49 * 8 * 500_000
    assert plans[1].peak_bytes > plans[0].peak_bytes


# --- the number of steps ----------------------------------------------------------------------


@pytest.mark.parametrize("t", [0.0, 1.0, 2.0, 3.7, 100.0])
def test_spectral_entropy_is_that_of_the_powers(t):
    values = np.array([1.0, 0.9, 0.5, 0.5, 1e-3, -0.2, 0.0])
    kept = values[values > 0] ** t
    assert_allclose(spectral_entropy(values, [t]), [entropy(kept)], rtol=1e-10, atol=1e-12)


@given(st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=40), st.integers(2, 60))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_entropy_falls_and_the_knee_lies_within(values, most):
    curve = spectral_entropy([1.0, *values], np.arange(1, most + 1))
    assert (np.diff(curve) <= 1e-12).all()
    assert (curve >= -1e-12).all()
    assert curve[0] <= np.log(len(values) + 1) + 1e-12
    assert 1 <= entropy_knee([1.0, *values], most=most) <= most


def test_the_knee_is_where_weak_directions_are_gone():
    strong = [1.0] * 4
    gone = [0.5] * 30
    knee = entropy_knee([*strong, *gone])
    assert 4 <= knee <= 12
    assert spectral_entropy([*strong, *gone], [knee])[0] < np.log(4) + 0.35
    assert entropy_knee([*strong, *[0.8] * 30]) > knee  # weaker ones go sooner


@pytest.mark.parametrize("values", [[1.0], [1.0, 1.0, 1.0], [1.0, 0.0, -0.5]])
def test_a_spectrum_without_a_knee_takes_one_step(values):
    assert entropy_knee(values) == 1


def test_more_entropy_that_has_fallen_does_not_move_the_knee():
    values = [1.0, *np.linspace(0.3, 0.05, 20)]
    assert entropy_knee(values, most=100) == entropy_knee(values, most=1000)


@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_steps_are_those_at_the_knee_of_dense_eigenvalues(name, data, holding):
    kernel = cases.kernel(name, holding)
    X = cases.views(data, 2, kernel)
    est = maps(1, kernel=kernel).fit(X)
    for K, t in zip(est.walk_.affinities, est.walk_.steps, strict=True):
        matrix = np.asarray(K @ np.eye(K.n_samples))
        assert t == oracles.knee(matrix)


def test_only_the_leading_eigenvalues_count():
    X = np.random.default_rng(0).standard_normal((90, 2))
    (K,) = affinities(Gaussian(factor=0.1), [X])
    values = leading_eigenvalues(K)
    P = oracles.transitions(oracles.View(Gaussian(factor=0.1), X).K)
    expected = np.sort(np.linalg.eigvals(P).real)[::-1][:50]
    assert_allclose(values, expected, atol=1e-7)


def test_noise_in_one_view_gets_more_steps_there():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    views = {"clean": ring, "noisy": np.hstack([ring, 0.3 * rng.standard_normal((300, 6))])}
    scale = Gaussian(0.35)
    clean, noisy = (
        entropy_knee(leading_eigenvalues(K)) for K in affinities(scale, [*views.values()])
    )
    assert clean != noisy
    est = maps(kernel=scale).fit(views)
    assert est.walk_.steps == (clean, noisy)


# --- what is refused --------------------------------------------------------------------------


def test_a_new_sample_needs_the_first_view():
    X = cases.views("generic", 2, Gaussian())
    est = maps().fit({"a": X[0], "b": X[1]})
    with pytest.raises(ValueError, match="\"integrated\" starts in view 'a', which new samples"):
        est.transform({"b": X[1]})


@pytest.mark.parametrize("steps", [(1,), (1, 0), (2, 1, 1)])
def test_steps_are_one_number_per_view(steps):
    held = affinities(Gaussian(), cases.views("generic", 2, Gaussian()))
    with pytest.raises(ValueError, match="at least 1 for each of the 2 views"):
        IntegratedWalk(held, steps)


@pytest.mark.parametrize(
    "steps", [[2], [2, 3, 4], "23", [2, 0], [2, 101], [2, 1.5], [2, None], [2, True], None]
)
def test_steps_of_a_file_are_checked(steps):
    X = cases.views("generic", 2, Gaussian())
    walk, shelf = IntegratedWalk(affinities(Gaussian(), X), (2, 3)), Shelf()
    state = walk_state(walk, shelf)
    state["own"]["steps"] = steps
    with pytest.raises(ModelFileError, match="steps"):
        read_walk(
            state,
            shelf,
            names=walk.names,
            widths=[x.shape[1] for x in X],
            dtype=walk.dtype,
            n_jobs=1,
        )
