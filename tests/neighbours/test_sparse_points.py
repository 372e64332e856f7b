"""Distances and neighbours of sparse rows, against full rows and brute force."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from tests.support.documents import make_documents
from viewhop.kernels import Correlation, Gaussian
from viewhop.neighbours import (
    FeatureMap,
    SparseFeatures,
    SparsePoints,
    block_distances,
    check_spread,
    distance_matrix,
    feature_deviations,
    find_neighbourhoods,
    join_sparse,
    make_points,
    pair_distances,
    plain_points,
    search_neighbours,
)
from viewhop.views import SparseRows

DOUBLE = np.dtype(np.float64)
METRICS = ("euclidean", "cosine", "centered-cosine", "correlation", "manhattan")
KERNELS = {
    f"{metric}{', standardised' * standardize}": Gaussian(metric=metric, standardize=standardize)
    for metric in METRICS
    for standardize in (False, True)
}
X = make_documents(90, 60)


def points_of(kernel, X):
    """Rows of either kind in the space of a kernel."""
    features = FeatureMap.of(kernel, X)
    return features.points(features(X, "x"), slack=features.slack(X, X.dtype))


def brute_force(kernel, X):
    """All distances from their definition, in full rows."""
    rows = X.astype(np.float64)
    if kernel.standardize:
        deviations = rows.std(axis=0)
        rows = rows / np.where(deviations > 1e-12, deviations, 1.0)
    if kernel.metric == "centered-cosine":
        rows = rows - rows.mean(axis=0)
    if kernel.metric == "correlation":
        rows = rows - rows.mean(axis=1, keepdims=True)
    if kernel.metric == "manhattan":
        return np.abs(rows[:, None] - rows).sum(axis=2)
    if kernel.metric != "euclidean":
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True) / np.sqrt(2.0)
    return np.linalg.norm(rows[:, None] - rows, axis=2)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("density", ["few", "all"])
def test_sparse_distances_are_those_of_full_rows(name, density):
    matrix = X if density == "few" else sparse.csr_array(X.toarray() + 0.3)
    expected = brute_force(KERNELS[name], matrix.toarray())
    points = points_of(KERNELS[name], SparseRows(matrix))
    size = expected.max()
    assert_allclose(distance_matrix(points, DOUBLE), expected, atol=1e-10 * size)
    full = distance_matrix(points_of(KERNELS[name], matrix.toarray()), DOUBLE)
    assert_allclose(distance_matrix(points, DOUBLE), full, rtol=1e-10, atol=1e-13 * size)
    i, j = np.divmod(np.arange(90 * 90), 90)
    pairs = pair_distances(points, i, points, j).reshape(90, 90)
    assert_allclose(pairs, full, rtol=1e-10, atol=1e-13 * size)
    # From both ends, and whatever the other pairs are.
    assert_array_equal(pairs, pairs.T)
    assert_array_equal(pair_distances(points, i[7:8], points, j[7:8]), pairs.ravel()[7:8])


@pytest.mark.parametrize("name", KERNELS)
def test_neighbours_of_sparse_rows_are_those_of_full_rows(name):
    sparse_points = points_of(KERNELS[name], SparseRows(X))
    full_points = points_of(KERNELS[name], X.toarray())
    found = find_neighbourhoods(sparse_points, sparse_points, k=6, k_scale=3)
    expected = find_neighbourhoods(full_points, full_points, k=6, k_scale=3)
    assert_array_equal(found.rows, expected.rows)
    assert_array_equal(found.columns, expected.columns)
    for part in ("distances", "radius", "scale", "nearest"):
        assert_allclose(getattr(found, part), getattr(expected, part), rtol=1e-10, atol=1e-12)
    # With a reach of their own, training samples are found beyond the radius of a row.
    reach = 1.2 * expected.radius
    queries = sparse_points.like(sparse_points.rows[:9], sparse_points.slack[:9])
    others = full_points.like(full_points.rows[:9], full_points.slack[:9])
    near = find_neighbourhoods(queries, sparse_points, k=4, k_scale=2, reach=reach)
    far = find_neighbourhoods(others, full_points, k=4, k_scale=2, reach=reach)
    assert_array_equal(near.columns, far.columns)
    assert near.rows.size > 9 * 5


@pytest.mark.parametrize("n_copies", [3, 40])
def test_copies_and_rows_of_zeros_give_the_nearest_distinct_distance(n_copies):
    blank = sparse.csr_array((n_copies, 60))
    matrix = sparse.csr_array(sparse.vstack([X, X[[4] * n_copies], blank]))
    points = plain_points(SparseRows(matrix))
    found = find_neighbourhoods(points, points, k=5, k_scale=5)
    expected = find_neighbourhoods(plain := plain_points(matrix.toarray()), plain, k=5, k_scale=5)
    assert_array_equal(found.columns, expected.columns)
    assert_allclose(found.radius, expected.radius, rtol=1e-12)
    assert_allclose(found.nearest, expected.nearest, rtol=1e-12)
    assert found.nearest.min() > 0


@pytest.mark.parametrize(
    "name", ["centered-cosine", "centered-cosine, standardised", "correlation"]
)
def test_rows_of_one_direction_from_the_centre_coincide(name):
    # Rows on a line through the mean: every length is a difference of equal numbers.
    rng = np.random.default_rng(0)
    direction = sparse.random(1, 400, density=0.1, random_state=rng).toarray()
    matrix = (1.0 + rng.random(30))[:, None] * direction + 1e-3
    points = points_of(KERNELS[name], SparseRows(sparse.csr_array(matrix)))
    full = points_of(KERNELS[name], matrix)
    distances = distance_matrix(points, DOUBLE)
    assert_allclose(distances, distance_matrix(full, DOUBLE), atol=1e-10)
    assert (distances == 0).sum() > 30


def test_extreme_sizes_neither_overflow_nor_vanish():
    for size in (1e-140, 1e140):
        for name in ("euclidean", "cosine", "centered-cosine", "manhattan"):
            points = points_of(KERNELS[name], SparseRows(X * size))
            found = find_neighbourhoods(points, points, k=5, k_scale=5)
            full = points_of(KERNELS[name], X.toarray() * size)
            expected = find_neighbourhoods(full, full, k=5, k_scale=5)
            assert_array_equal(found.columns, expected.columns)
            assert_allclose(found.radius, expected.radius, rtol=1e-10)
    for name in ("cosine", "centered-cosine"):
        points = points_of(KERNELS[name], SparseRows(X * 1e-200))
        whole = points_of(KERNELS[name], SparseRows(X))
        assert_allclose(points.norms, whole.norms, rtol=1e-10)


def test_single_precision_rows_stay_so_and_differences_are_exact():
    single = X.astype(np.float32)
    points = plain_points(SparseRows(single))
    assert points.rows.dtype == np.float32
    assert_allclose(
        distance_matrix(points, DOUBLE), brute_force(Gaussian(), single.toarray()), atol=1e-12
    )
    assert block_distances(points, slice(0, 5), points, dtype=single.dtype).dtype == np.float32


def test_deviations_means_and_spreads_are_those_of_full_rows():
    matrix = sparse.csr_array(sparse.hstack([X, np.full((90, 1), 7.0), sparse.csr_array((90, 1))]))
    rows, full = SparseRows(sparse.csr_array(matrix)), matrix.toarray()
    deviations = feature_deviations(rows)
    assert_allclose(deviations, feature_deviations(full), rtol=1e-12)
    assert_array_equal(deviations[-2:], [0.0, 0.0])
    for name in ("euclidean", "centered-cosine", "correlation"):
        kernel = KERNELS[name]
        assert_allclose(points_of(kernel, rows).spread(), points_of(kernel, full).spread())
    with pytest.raises(ValueError, match="view 'x' is too small"):
        check_spread("x", SparseRows(X * 1e-160))


def test_a_constant_row_has_no_correlation():
    matrix = sparse.csr_array(sparse.vstack([X, sparse.csr_array((1, 60))]))
    features = FeatureMap.of(Correlation(), SparseRows(matrix))
    with pytest.raises(ValueError, match="row 90 of view 'x' is constant"):
        features(SparseRows(matrix), "x")
    with pytest.raises(ValueError, match="row 90 of view 'x' is constant"):
        features.check(SparseRows(matrix), "x")
    assert features.has_direction(SparseRows(matrix)).sum() == 90


@pytest.mark.parametrize("name", KERNELS)
def test_new_rows_may_be_full_or_sparse_whatever_the_training_rows_were(name):
    kernel, rows = KERNELS[name], SparseRows(X)
    for training in (rows, X.toarray()):
        features = FeatureMap.of(kernel, training)
        points = features.points(features(training, "x"))
        queries = [points.like(features(new, "x")) for new in (rows[:8], X.toarray()[:8])]
        first, second = (block_distances(each, slice(0, 8), points) for each in queries)
        assert_allclose(first, second, rtol=1e-12, atol=1e-15)
        assert_allclose(*(features.slack(new, DOUBLE) for new in (rows, X.toarray())), rtol=1e-9)
        gaps = np.vstack([X.toarray()[:2], np.full((1, 60), np.nan)])
        features.check(gaps, "x")  # a row of NaN was not observed


def test_a_value_far_beyond_the_training_rows_is_refused():
    features = FeatureMap.of(KERNELS["euclidean, standardised"], SparseRows(X * 1e-100))
    with pytest.raises(ValueError, match="row 2 of view 'x' has a value of more than"):
        features.check(SparseRows(sparse.csr_array(np.diag([0.0, 0.0, 1e148]) @ X[:3])), "x")


def joined_points(rng):
    """Sparse, centred and full rows side by side, and the same in one array."""
    parts, whole = {}, []
    for k, kernel in enumerate((Gaussian(), Gaussian(metric="centered-cosine"))):
        features = FeatureMap.of(kernel, SparseRows(X))
        parts[f"s{k}"] = features(SparseRows(X), "x"), 0.5 + k
        whole.append((0.5 + k) * FeatureMap.of(kernel, X.toarray())(X.toarray(), "x"))
    numbers = 1e4 + rng.normal(size=(90, 3))
    parts["full"] = numbers, 2.0
    return make_points(join_sparse(parts, DOUBLE)), np.hstack([*whole, 2.0 * numbers])


def test_rows_side_by_side_have_the_distances_of_all_columns():
    points, whole = joined_points(np.random.default_rng(0))
    assert points.rows.shape == whole.shape
    full = make_points(whole)
    assert_allclose(
        distance_matrix(points, DOUBLE), distance_matrix(full, DOUBLE), rtol=1e-9, atol=1e-12
    )
    found = find_neighbourhoods(points, points, k=7, k_scale=7)
    expected = find_neighbourhoods(full, full, k=7, k_scale=7)
    assert_array_equal(found.columns, expected.columns)
    assert_allclose(points.spread(), full.spread())


def test_points_can_be_pickled_without_their_caches():
    points = points_of(KERNELS["centered-cosine"], SparseRows(X))
    size = len(pickle.dumps(points))
    before = block_distances(points, slice(0, 90), points)
    again = pickle.loads(pickle.dumps(points))  # noqa: S301
    assert len(pickle.dumps(points)) == size
    assert_array_equal(block_distances(again, slice(0, 90), again), before)


def test_search_of_a_sparse_view_is_exact_unless_faiss_is_asked_for(monkeypatch):
    monkeypatch.setattr("viewhop.neighbours._choose.EXACT_UP_TO", 10)
    monkeypatch.setattr("viewhop.neighbours._choose.FEW_COLUMNS", 1)
    monkeypatch.setattr("viewhop.neighbours._faiss.has_faiss", lambda: True)
    monkeypatch.setattr("viewhop.neighbours._faiss.Index.draw", None)
    points = plain_points(SparseRows(X))
    rng = np.random.default_rng(0)
    found = search_neighbours(points, search="auto", k=5, k_scale=5, generator=rng)
    assert found.index is None
    assert found.recall == 1.0


@pytest.mark.parametrize("name", ["cosine", "centered-cosine"])
def test_faiss_searches_projected_rows_and_measures_its_recall(name):
    pytest.importorskip("faiss")
    matrix = make_documents(900, 700, n_topics=6)
    points = points_of(KERNELS[name], SparseRows(matrix))
    rng = np.random.default_rng(0)
    projected = points.index_rows(points, slice(0, 50))
    rows = points.rows.full(np.arange(50))
    assert_allclose(projected, rows @ points.projection, atol=1e-5)
    found = search_neighbours(points, search="faiss", k=10, k_scale=5, generator=rng)
    exact = find_neighbourhoods(points, points, k=10, k_scale=5)
    true = {*zip(exact.rows.tolist(), exact.columns.tolist(), strict=True)}
    near = {*zip(*(part.tolist() for part in found.neighbourhood[:2]), strict=True)}
    share = len(true & near) / len(true)
    assert found.recall < 1.0
    assert_allclose(found.recall, share, atol=0.05)
    assert share > 0.5
    # The distances themselves are those of the rows, not of their projection.
    place = {pair: k for k, pair in enumerate(zip(exact.rows, exact.columns, strict=True))}
    pairs = enumerate(zip(*found.neighbourhood[:2], strict=True))
    mine, theirs = np.array([(k, place[pair]) for k, pair in pairs if pair in place]).T
    assert_array_equal(found.neighbourhood.distances[mine], exact.distances[theirs])


def test_rows_of_no_features_beyond_the_stored_ones_are_plain():
    rows = SparseFeatures.of(X)
    assert rows.shape == (90, 60)
    assert isinstance(make_points(rows), SparsePoints)
    assert_allclose(rows.norms(), np.square(X.toarray()).sum(axis=1))
    assert_allclose(rows.full(np.array([3, 1])), X.toarray()[[3, 1]])
