"""The composite operator of two views against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import viewhop as vh
from tests.support import cases, oracles
from tests.walks.test_walks import affinities, dense
from viewhop import diffusion, theory
from viewhop._storage.codec import Shelf
from viewhop.affinity import MergedGraph
from viewhop.errors import DisconnectedWarning, ModelFileError
from viewhop.geometry import piece_coordinates
from viewhop.kernels import Gaussian, Precomputed
from viewhop.solvers import extreme_eigenvalue, solve, trivial_pairs
from viewhop.walks import AlternatingWalk, CompositeWalk, PieceWalk, read_walk, walk_state

TOLERANCE = {np.float64: 1e-8, np.float32: 1e-4}


def maps(r=3, **parameters):
    return vh.MultiViewDiffusionMaps(r, fusion="composite", random_state=0, **parameters)


def matrix(kernel, X):
    return oracles.composite(*(oracles.View(kernel, x).K for x in X))


def spectrum_of(S):
    values, vectors = np.linalg.eigh(S)
    return values[::-1], vectors[:, ::-1] * np.sqrt(len(S))


def groups(distance=60.0, sizes=(18, 30, 24)):
    rng = np.random.default_rng(0)
    number = np.repeat(np.arange(len(sizes)), sizes)
    centres = distance * np.eye(len(sizes), 3)
    return [centres[number] + rng.standard_normal((number.size, 3)) for _ in range(2)], number


# --- the operator -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_the_operator_is_the_sum_of_both_orders(name, holding, data):
    kernel = cases.kernel(name, holding)
    X = cases.views(data, 2, kernel)
    held = affinities(kernel, X)
    walk = CompositeWalk(held)
    S = oracles.composite(
        *(oracles.View(kernel, x, K.scale).K for x, K in zip(X, held, strict=True))
    )
    assert_allclose(dense(walk), S, rtol=1e-8, atol=1e-300)
    assert_allclose(walk.matrix(np.dtype(np.float64)), S, rtol=1e-8, atol=1e-14)
    assert_allclose(walk.degrees, S.sum(axis=1), rtol=1e-9)
    assert_allclose(walk.stationary, 1 / cases.N, rtol=1e-14)
    assert walk.pieces().max() + 1 == oracles.pieces(S).max() + 1
    assert np.abs(np.linalg.eigvalsh(S)).max() <= walk.largest_possible * (1 + 1e-12)


def test_a_step_that_never_stays_connects_as_the_matrix_says():
    path = np.array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    for second, count in ((path, 2), (path + np.eye(4), 1)):
        both = [
            MergedGraph(name, Precomputed(), csr_array(K), n_jobs=1)
            for name, K in (("a", path), ("b", second))
        ]
        walk = CompositeWalk(both)
        found = walk.pieces()
        assert found.max() + 1 == oracles.pieces(dense(walk)).max() + 1 == count


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos", "krylov", "inverse"])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("t", [0, 1, 2.5])
def test_coordinates_are_leading_eigenvectors(t, holding, solver, dtype):
    kernel = Gaussian(factor=0.3, n_neighbors=cases.HOLDINGS[holding])
    X = cases.views("generic", 2, kernel, dtype)
    est = maps(kernel=kernel, solver=solver, n_steps=t).fit(X)
    values, psi = spectrum_of(matrix(kernel, X))
    atol = TOLERANCE[dtype]
    assert_allclose(est.eigenvalues_, values[:3], atol=20 * atol)
    assert est.eigenvalues_[0] > 1.0
    signs = np.sign((psi[:, :3] * est.embedding_).sum(axis=0))
    expected = psi[:, :3] * signs * values[:3] ** t
    assert_allclose(est.embedding_, expected, atol=1e3 * atol)
    assert_allclose(est.coordinates(3), psi[:, :3] * signs * values[:3] ** 3, atol=3e4 * atol)
    assert [*est.get_feature_names_out()] == ["fused_1", "fused_2", "fused_3"]
    for Z in est.view_embeddings_.values():
        assert_array_equal(Z, est.embedding_)


def test_nothing_is_taken_as_known():
    X = cases.views("generic", 2, Gaussian())
    walk = CompositeWalk(affinities(Gaussian(), X))
    assert trivial_pairs(walk, walk.pieces()).shape == (cases.N, 0)
    assert walk.max_coordinates == cases.N
    first = solve(walk, 1).eigenvectors[:, 0]
    assert (first > 0).all()
    assert np.ptp(first) > 1e-3  # it is not the constant


def test_every_positive_eigenvalue_gives_a_coordinate():
    X = cases.views("generic", 1, Gaussian())[0]
    kernel = Gaussian(factor=0.02)
    assert maps(cases.N, kernel=kernel).fit([X, X]).n_components_ == cases.N  # 2 P Pᵀ
    with pytest.raises(ValueError, match=f"more than the {cases.N} coordinates"):
        maps(cases.N + 1, kernel=kernel).fit([X, X])
    views = cases.views("generic", 2, Gaussian())
    for wide in (Gaussian(factor=0.3), Gaussian(n_neighbors=6)):
        values = np.linalg.eigvalsh(matrix(wide, views))
        n_positive = int((values > 1e-12).sum())
        assert n_positive < cases.N
        assert maps("auto", accuracy=0.0, kernel=wide).fit(views).n_components_ == n_positive
        with pytest.raises(ValueError, match=f"pass at most n_components={n_positive}"):
            maps(n_positive + 1, kernel=wide).fit(views)


@pytest.mark.parametrize("kernel", [Gaussian(factor=0.3), Gaussian("local", n_neighbors=8)])
@pytest.mark.parametrize("solver", ["lanczos", "krylov", "inverse", "auto"])
def test_many_samples_are_solved_like_by_lapack(solver, kernel):
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((1100, 2)) for _ in range(2)]
    walk = CompositeWalk(affinities(kernel, X))
    found, known = solve(walk, 5, solver=solver), solve(walk, 5, solver="dense")
    assert_allclose(found.eigenvalues, known.eigenvalues, rtol=1e-9)
    assert_allclose(found.residuals, 0, atol=1e-10)


def test_the_order_of_the_views_does_not_matter():
    X = cases.views("generic", 2, Gaussian())
    one, other = (maps(kernel="gaussian").fit_transform(x) for x in (X, X[::-1]))
    assert_allclose(one, other, atol=1e-10)


def test_what_only_one_view_sees_is_forgotten():
    rng = np.random.default_rng(0)
    common = rng.uniform(0, 1, 500)
    X = [np.column_stack([common, rng.uniform(0, 1, 500)]) for _ in range(2)]
    Z = maps(2, kernel=Gaussian(0.1)).fit_transform(X)
    assert abs(np.corrcoef(Z[:, 1], np.cos(np.pi * common))[0, 1]) > 0.95


# --- new samples ------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_transform_repeats_the_embedding(name, holding, data, dtype):
    kernel = cases.kernel(name, holding)
    X = cases.views(data, 2, kernel, dtype)
    est = maps(2, kernel=kernel).fit(X)
    size = np.abs(est.embedding_).max()
    assert_allclose(est.transform(X), est.embedding_, atol=TOLERANCE[dtype] * size)
    alone = np.vstack([est.transform([x[i : i + 1] for x in X]) for i in (0, 7)])
    assert_allclose(alone, est.embedding_[[0, 7]], atol=TOLERANCE[dtype] * size)


@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_new_samples_get_the_weighted_sum_of_both_orders(holding):
    kernel = Gaussian(factor=0.5, n_neighbors=cases.HOLDINGS[holding])
    X = cases.views("generic", 2, kernel)
    new = [x[:5] + 0.3 for x in X]
    est = maps(kernel=kernel).fit(X)
    views = [oracles.View(kernel, x) for x in X]
    values, psi = spectrum_of(oracles.composite(*(view.K for view in views)))
    P, Q = (oracles.transitions(view.K) for view in views)
    p, q = (oracles.transitions(view.rows(x)) for view, x in zip(views, new, strict=True))
    expected = (p @ Q.T + q @ P.T) @ psi[:, :3] / values[:3] * values[:3]
    signs = np.sign((psi[:, :3] * est.embedding_).sum(axis=0))
    assert_allclose(est.transform(new), expected * signs, atol=1e-8)


def test_a_far_sample_is_announced_and_gets_what_its_nearest_ones_have():
    X = cases.views("generic", 2, Gaussian())
    est = maps(kernel=Gaussian()).fit(X)
    far = [x[:1] + 1e3 for x in X]
    with pytest.warns(vh.errors.FarSampleWarning):
        Z = est.transform(far)
    assert np.isfinite(Z).all()
    assert np.abs(Z).max() <= 3 * np.abs(est.embedding_).max()


# --- what is refused --------------------------------------------------------------------------


def test_a_new_sample_needs_both_views():
    X = cases.views("generic", 2, Gaussian())
    est = maps().fit({"rna": X[0], "protein": X[1]})
    with pytest.raises(ValueError, match=r'"composite" needs every view .* missing: protein'):
        est.transform({"rna": X[0]})


@pytest.mark.parametrize(("n_views", "advice"), [(1, "DiffusionMaps"), (3, '"integrated"')])
def test_it_is_for_two_views(n_views, advice):
    views = {f"v{k}": x for k, x in enumerate(cases.views("generic", n_views, Gaussian()))}
    for est in (
        maps(),
        vh.MultiViewSpectralClustering(2, fusion="composite"),
    ):
        with pytest.raises(ValueError, match=f"is for two views, got {n_views}: 'v0'.*{advice}"):
            est.fit(views)


def test_a_file_with_another_number_of_views_is_refused():
    X = cases.views("generic", 3, Gaussian())
    shelf = Shelf()
    state = walk_state(AlternatingWalk(affinities(Gaussian(), X)), shelf)
    state["fusion"] = "composite"
    with pytest.raises(ModelFileError, match="composite: expected the kernels of two views"):
        read_walk(
            state,
            shelf,
            names=["view1", "view2", "view3"],
            widths=[x.shape[1] for x in X],
            dtype=np.dtype(np.float64),
            n_jobs=1,
        )


def test_what_only_a_random_walk_has_is_refused_by_name():
    est = maps().fit(cases.views("generic", 2, Gaussian()))
    with pytest.raises(ValueError, match="no random walk, so it has no transition probabilities"):
        est.transition_probabilities(1, "view1", "view2", 0)
    with pytest.raises(ValueError, match="no random walk"):
        piece_coordinates(est)
    with pytest.raises(ValueError, match="no random walk"):
        PieceWalk(est.walk_, np.arange(4))
    with pytest.raises(ValueError, match="no random walk"):
        theory.eigenvalue_range(est)
    with pytest.raises(ValueError, match='fusion="hop" and at least two'):
        est.disagreement()
    with pytest.raises(ValueError, match='solver="svd" is for the alternating walk'):
        maps(solver="svd").fit(cases.views("generic", 2, Gaussian()))


def test_more_steps_than_numbers_can_hold_are_refused():
    X = cases.views("generic", 2, Gaussian())
    est = maps().fit(X)
    assert np.isfinite(est.coordinates(50)).all()
    for ask in (
        lambda: est.coordinates(1e4),
        lambda: maps(n_steps=1e4).fit(X),
        lambda: diffusion.inner_view_distance(est, "view1", 0, 1, n_steps=10**4),
        lambda: diffusion.truncation_bounds(est, 0, 1, n_steps=1e4),
    ):
        with pytest.raises(ValueError, match="steps is too large a number"):
            ask()


# --- distances --------------------------------------------------------------------------------


@pytest.mark.parametrize("t", [0, 1, 3])
def test_diffusion_distances_are_those_of_rows_of_the_power(t):
    kernel = Gaussian(factor=0.3)
    X = cases.views("generic", 2, kernel)
    est = maps(5, kernel=kernel).fit(X)
    power = np.linalg.matrix_power(matrix(kernel, X), t)
    i, j = np.triu_indices(cases.N, 1)
    expected = np.sqrt(cases.N) * np.linalg.norm(power[i] - power[j], axis=1)
    found = diffusion.inner_view_distance(est, "view2", i, j, n_steps=t)
    assert_allclose(found, expected, rtol=1e-9)
    low, high = diffusion.truncation_bounds(est, i, j, n_steps=t)
    assert (low <= found * (1 + 1e-12)).all()
    assert (found <= high * (1 + 1e-12)).all()
    if t == 3:
        assert (high - low).mean() < 0.5 * found.mean()


@pytest.mark.parametrize("n", [60, 1100])
@pytest.mark.parametrize("end", ["smallest", "largest"])
def test_extreme_eigenvalues_may_be_above_one(end, n):
    rng = np.random.default_rng(1)
    X = [rng.standard_normal((n, 3)) for _ in range(2)]
    walk = CompositeWalk(affinities(Gaussian("local", n_neighbors=6), X))
    values = np.linalg.eigvalsh(walk.matrix(np.dtype(np.float64)))
    expected = values[-1] if end == "largest" else values[0]
    found = extreme_eigenvalue(walk, end=end)
    assert abs(found.value - expected) <= found.residual + 1e-9
    assert_allclose(found.value, expected, atol=1e-3)


# --- pieces and clusters ----------------------------------------------------------------------


def test_each_coordinate_of_a_graph_in_pieces_is_about_one_of_them():
    views, number = groups()
    with pytest.warns(DisconnectedWarning, match="each coordinate is about one of them, and 0"):
        est = maps(4).fit(views)
    assert est.n_pieces_ == 3
    for z in est.embedding_.T:
        assert {*number[np.abs(z) > 1e-8 * np.abs(z).max()]} in ({0}, {1}, {2})


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
@pytest.mark.parametrize("distance", [60.0, 6.0])
def test_clusters_are_found_with_a_coordinate_each(distance, tmp_path):
    views, number = groups(distance)
    est = vh.MultiViewSpectralClustering(3, fusion="composite", random_state=0)
    labels = est.fit(views).labels_
    assert (est.n_clusters_, est.n_components_) == (3, 3)
    assert len({*zip(labels.tolist(), number.tolist(), strict=True)}) == 3
    assert_array_equal(est.predict(views), labels)
    est.save(tmp_path / "clusters.viewhop")
    assert_array_equal(vh.load(tmp_path / "clusters.viewhop").labels_, labels)


def test_counted_clusters_have_a_coordinate_each_too():
    views = vh.datasets.make_mixtures(300, random_state=0).views
    est = vh.MultiViewSpectralClustering(fusion="composite", random_state=0).fit(views)
    assert (est.n_clusters_, est.n_components_, est.geometry_.n_components) == (6, 6, 21)
    assert est.cluster_count_.is_sure


def test_what_is_left_between_clusters_never_exceeds_the_operator():
    X = [np.random.default_rng(k).standard_normal((90, 2)) for k in range(2)]
    est = maps(6, kernel=Gaussian(factor=0.2)).fit(X)
    labels = np.random.default_rng(0).integers(0, 5, 90)
    coarse = vh.estimators._coarse_walk.coarsen_walk(est.walk_, labels, 5)
    S, sides = dense(est.walk_), np.eye(5)[labels]
    sides /= np.linalg.norm(sides, axis=0)
    assert_allclose(coarse.eigenvalues, np.linalg.eigvalsh(sides.T @ S @ sides)[::-1], atol=1e-10)
    assert (coarse.eigenvalues <= est.eigenvalues_[:5] + 1e-10).all()
