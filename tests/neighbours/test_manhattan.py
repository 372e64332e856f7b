"""Manhattan distances: exact lists whatever the data, and never those of another norm."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.neighbours.test_neighbours import harder
from tests.support import oracles
from viewhop._runtime import threads as blocks
from viewhop.errors import SlowSearchWarning
from viewhop.kernels import Gaussian, Laplacian
from viewhop.neighbours import (
    Cells,
    FeatureMap,
    Index,
    Points,
    block_distances,
    distance_matrix,
    find_neighbourhoods,
    pair_distances,
    search_neighbours,
    symmetrise,
)
from viewhop.neighbours import _cells as cells
from viewhop.neighbours import _choose as choice
from viewhop.neighbours import _manhattan_search as search
from viewhop.neighbours._exact import columns_per_row
from viewhop.selection import nearest_lists


def measured(X, **more):
    return Points(X, norm="manhattan", **more)


def expected_distances(X):
    return oracles.distances(*[X.astype(np.float64)] * 2, "manhattan")


@pytest.fixture(params=["one cell", "many cells"])
def some_cells(request, monkeypatch):
    """The same search in one block, and in many small ones."""
    if request.param == "many cells":
        monkeypatch.setattr(cells, "CELL", 7)
        monkeypatch.setattr(search, "CHUNK", 9)
        monkeypatch.setattr(blocks, "BLOCK", 200)


@pytest.mark.parametrize("name", harder())
def test_matrix_equals_sums_of_row_differences_and_is_symmetric(name):
    X = harder()[name]
    matrix = distance_matrix(measured(X), np.dtype(np.float64))
    assert_allclose(matrix, expected_distances(X), rtol=1e-13, atol=0)
    assert_array_equal(matrix, matrix.T)


@pytest.mark.usefixtures("some_cells")
@pytest.mark.parametrize("k", [1, 4, 59])
@pytest.mark.parametrize("name", harder())
def test_neighbourhoods_keep_all_pairs_within_either_radius(name, k):
    X = harder()[name]
    D = expected_distances(X)
    radius = np.array([oracles.rank(row, k) for row in D])
    points = measured(X)
    neighbours = find_neighbourhoods(points, points, k=k, k_scale=2)
    assert_allclose(neighbours.radius, radius, rtol=1e-14)
    assert_allclose(neighbours.scale, [oracles.rank(row, 2) for row in D], rtol=1e-14)
    assert_allclose(neighbours.nearest, [row[row > 0].min() for row in D], rtol=1e-14)
    both = symmetrise(neighbours)
    kept = np.zeros(D.shape, dtype=bool)
    i, j = np.repeat(np.arange(len(X)), np.diff(both.indptr)), both.indices
    kept[i, j] = True
    assert_array_equal(kept, np.maximum.outer(radius, radius) >= D)
    assert_allclose(both.data, D[i, j], rtol=1e-14)


@pytest.mark.usefixtures("some_cells")
@pytest.mark.parametrize("name", harder())
def test_a_training_row_met_as_a_query_has_the_same_bits(name):
    X = harder()[name]
    points = measured(X)
    own = find_neighbourhoods(points, points, k=4, k_scale=2)
    both = symmetrise(own)
    rows = [3, 0, 11]
    queries = points.like(points.rows[rows])
    met = find_neighbourhoods(queries, points, k=4, k_scale=2, reach=own.radius)
    assert_array_equal(met.radius, own.radius[rows])
    assert_array_equal(met.scale, own.scale[rows])
    for place, row in enumerate(rows):
        near = met.rows == place
        stored = slice(both.indptr[row], both.indptr[row + 1])
        assert_array_equal(met.columns[near], both.indices[stored])
        assert_array_equal(met.distances[near], both.data[stored])


def test_a_row_that_rounding_moves_keeps_its_neighbours():
    X = np.arange(12.0)[:, None] / 7 * np.ones((1, 3)) + 1e3
    features = FeatureMap.of(Gaussian(metric="manhattan"), X)
    points = features.points(features(X, "a"), slack=features.slack(X, np.dtype(np.float32)))
    own = find_neighbourhoods(points, points, k=2, k_scale=2)
    moved = X.astype(np.float32).astype(np.float64)
    queries = points.like(moved, features.slack(moved, np.dtype(np.float32)))
    met = find_neighbourhoods(queries, points, k=2, k_scale=2, reach=own.radius)
    stored = symmetrise(own)
    assert_array_equal(met.columns, stored.indices)


def test_the_slack_of_a_row_is_a_sum_of_absolute_values():
    X = np.array([[3.0, -4.0], [0.0, 1.0]])
    slack = FeatureMap.of(Gaussian(metric="manhattan"), X).slack(X, np.dtype(np.float32))
    assert_allclose(slack, 2 * np.finfo(np.float32).eps * np.array([7.0, 1.0]), rtol=1e-15)


def test_far_cells_are_not_compared_with():
    rng = np.random.default_rng(0)
    points = measured(rng.uniform(size=(6000, 2)))
    compared = columns_per_row(Cells.of(points), k=5, generator=rng)
    assert compared < 3000


def test_pairs_of_single_and_double_precision_have_one_distance():
    X = np.random.default_rng(1).standard_normal((20, 5)).astype(np.float32)
    points = measured(X)
    i, j = np.divmod(np.arange(400), 20)
    there, back = pair_distances(points, i, points, j), pair_distances(points, j, points, i)
    assert_array_equal(there, back)
    single = block_distances(points, slice(0, 20), points, dtype=np.dtype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single.ravel(), there, rtol=1e-7)


def test_a_sum_beyond_single_precision_stays_finite():
    X = np.array([[1e35], [-1e35]], dtype=np.float32) * np.ones((1, 4000), dtype=np.float32)
    points = measured(X)
    block = block_distances(points, slice(0, 2), points, dtype=np.dtype(np.float32))
    assert np.isfinite(block).all()


def test_auto_searches_exactly_and_says_that_an_index_has_no_such_distances(monkeypatch):
    monkeypatch.setattr(choice, "EXACT_UP_TO", 100)
    monkeypatch.setattr(choice, "FEW_COLUMNS", 10)
    X = np.random.default_rng(0).standard_normal((300, 3))
    points = measured(X)
    options = {"k": 4, "k_scale": 2, "generator": np.random.default_rng(0)}
    with pytest.warns(SlowSearchWarning, match='metric="euclidean", since the index has no Manh'):
        result = search_neighbours(points, search="auto", **options)
    assert result.index is None
    assert result.recall == 1.0
    exact = search_neighbours(points, search="exact", **options)
    assert_array_equal(result.neighbourhood.columns, exact.neighbourhood.columns)


def test_an_index_refuses_manhattan_distances():
    points = measured(np.eye(5))
    with pytest.raises(ValueError, match="Euclidean distances only, not manhattan ones"):
        Index(points, np.arange(2))


@pytest.mark.parametrize("kernel", [Gaussian, Laplacian])
def test_a_kernel_refuses_faiss_with_manhattan_distances(kernel):
    with pytest.raises(ValueError, match="view 'a': search='faiss' has no Manhattan distances"):
        kernel(metric="manhattan", search="faiss", n_neighbors=5).check("a")


def test_lists_for_agreement_are_those_of_the_norm():
    X = np.random.default_rng(4).standard_normal((80, 6)) ** 3
    D = expected_distances(X)
    np.fill_diagonal(D, np.inf)
    lists = nearest_lists(X, k=5, norm="manhattan")
    assert_array_equal(np.sort(lists, axis=1), np.sort(np.argsort(D, axis=1)[:, :5], axis=1))
    euclidean = nearest_lists(X, k=5)
    assert (np.sort(lists, axis=1) != np.sort(euclidean, axis=1)).any()
