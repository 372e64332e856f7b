"""Neighbours: exact lists whatever the data, and how near approximate ones come."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.neighbours.test_points import clouds
from tests.support import oracles
from viewhop._runtime import threads as blocks
from viewhop.errors import SlowSearchWarning
from viewhop.neighbours import (
    Cells,
    Index,
    find_neighbourhoods,
    query_index,
    search_neighbours,
    symmetrise,
)
from viewhop.neighbours import _cells as cells
from viewhop.neighbours import _choose as choice
from viewhop.neighbours import _exact as exact
from viewhop.neighbours import _faiss as approximate
from viewhop.neighbours import _lists as lists
from viewhop.neighbours._points import Points


def harder():
    """Clouds on which single precision, or a cell, is not enough."""
    rng = np.random.default_rng(8)
    cloud = rng.standard_normal((60, 4))
    tight = np.repeat(cloud[:6], 10, axis=0) + 1e-9 * cloud
    return clouds() | {
        "tight clusters": tight,
        "copies of one row": np.vstack([np.zeros((20, 4)), cloud[:40]]),
        "two worlds": np.vstack([1e-120 * cloud[:30], 1e140 + 1e130 * cloud[30:]]),
        "copies in two worlds": np.repeat([[1e-120] * 4, [1e140] * 4], 30, axis=0),
        "an outlier": np.vstack([cloud, np.full((1, 4), 1e30)]),
        "wide": rng.standard_normal((60, 300)),
        "equal but one": np.vstack([np.ones((59, 4)), np.zeros((1, 4))]),
    }


@pytest.fixture(params=["one cell", "many cells"])
def some_cells(request, monkeypatch):
    """The same search in one product, and in many small ones."""
    if request.param == "many cells":
        monkeypatch.setattr(cells, "CELL", 7)
        monkeypatch.setattr(exact, "FIRST", 9)
        monkeypatch.setattr(exact, "CHUNK", 16)
        monkeypatch.setattr(blocks, "BLOCK", 200)


@pytest.mark.usefixtures("some_cells")
@pytest.mark.parametrize("k", [1, 4, 59])
@pytest.mark.parametrize("name", harder())
def test_neighbourhoods_keep_all_pairs_within_either_radius(name, k):
    X = harder()[name]
    D = oracles.distances(*[X.astype(np.float64)] * 2)
    radius = np.array([oracles.rank(row, k) for row in D])
    points = Points(X)
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
    assert both.has_sorted_indices


@pytest.mark.usefixtures("some_cells")
@pytest.mark.parametrize("name", harder())
def test_a_training_row_met_as_a_query_has_the_same_bits(name):
    X = harder()[name]
    points = Points(X)
    neighbours = find_neighbourhoods(points, points, k=4, k_scale=3)
    both = symmetrise(neighbours)
    for row in range(0, len(X), 7):
        alone = find_neighbourhoods(
            points.like(X[row : row + 1]), points, k=4, k_scale=3, reach=neighbours.radius
        )
        expected = slice(both.indptr[row], both.indptr[row + 1])
        assert_array_equal(alone.columns, both.indices[expected])
        assert_array_equal(alone.distances, both.data[expected])
        assert_array_equal(alone.scale, neighbours.scale[row : row + 1])


@pytest.mark.parametrize("name", ["integers", "plain", "two worlds"])
def test_cells_and_threads_do_not_change_a_bit(name, monkeypatch):
    X = harder()[name]
    points, queries = Points(X), X[::2] * 1.01
    whole = find_neighbourhoods(points, points, k=3, k_scale=2)
    asked = find_neighbourhoods(points.like(queries), points, k=3, k_scale=2, reach=whole.radius)
    monkeypatch.setattr(cells, "CELL", 5)
    monkeypatch.setattr(exact, "FIRST", 8)
    parts = find_neighbourhoods(points, points, k=3, k_scale=2, n_jobs=2)
    again = find_neighbourhoods(
        points.like(queries), points, k=3, k_scale=2, reach=parts.radius, n_jobs=2
    )
    for one, other in zip([*whole, *asked], [*parts, *again], strict=True):
        assert_array_equal(one, other)


def test_rows_that_rounding_moved_apart_coincide():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((20, 3)), 4, axis=0)
    X += 1e-3 * rng.standard_normal(X.shape)
    points = Points(X, rounding=0.05)
    neighbours = find_neighbourhoods(points, points, k=2, k_scale=2)
    D = oracles.distances(X, X)
    D[D <= 0.05] = 0.0
    assert_allclose(neighbours.radius, [oracles.rank(row, 2) for row in D], rtol=1e-14)
    assert_array_equal(np.bincount(neighbours.rows), (neighbours.radius[:, None] >= D).sum(axis=1))


def test_a_far_cell_is_not_multiplied_with():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((2000, 3)) + 100 * place for place in range(5)])
    columns = exact.columns_per_row(Cells.of(Points(X)), k=5, generator=rng)
    assert columns < 3000


def test_tight_clusters_are_not_all_measured(monkeypatch):
    measured = []

    def counted(a, i, b, j):
        measured.append(i.size)
        return pair_distances(a, i, b, j)

    pair_distances = exact.pair_distances
    monkeypatch.setattr(exact, "pair_distances", counted)
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((4, 5)), 150, axis=0) + 1e-7 * rng.standard_normal((600, 5))
    points = Points(X)
    neighbours = find_neighbourhoods(points, points, k=5, k_scale=2)
    assert neighbours.rows.size <= sum(measured) < 600 * 150 / 4


def test_a_search_tells_how_far_it_is_and_how_many_pairs_it_has():
    X = np.random.default_rng(0).standard_normal((1000, 3))
    points = Points(X)
    steps, pairs = [], []
    neighbours = find_neighbourhoods(
        points,
        points,
        k=3,
        k_scale=2,
        done=lambda done, total: steps.append((done, total)),
        allow=pairs.append,
    )
    assert steps == [(done + 1, len(steps)) for done in range(len(steps))]
    assert len(steps) > 1
    assert pairs[-1] == neighbours.rows.size
    assert pairs == sorted(pairs)


def test_pairs_of_equal_rows_are_counted_before_the_search_ends(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 10_000)

    counts = []

    class Enough(Exception):
        pass

    def allow(pairs):
        counts.append(pairs)
        if pairs > 20_000:
            raise Enough

    points = Points(np.ones((3000, 2)))
    with pytest.raises(Enough):
        find_neighbourhoods(points, points, k=3, k_scale=2, allow=allow)
    assert max(np.diff(counts)) <= 10_000


def test_rank_distance_of_equal_points_is_zero():
    assert_array_equal(lists.rank_distances(np.zeros(3), np.array([0, 3]), 1), [0.0])


# Approximate search.


@pytest.fixture
def faiss(monkeypatch):
    """faiss, with lists small enough for few samples."""
    monkeypatch.setattr(approximate, "LIST", 10)
    return pytest.importorskip("faiss")


def cube(n, seed=0):
    """Random cosine maps of a uniform cube."""
    rng = np.random.default_rng(seed)
    return np.cos(rng.random((n, 3)) @ rng.standard_normal((3, 20)) + 6 * rng.random(20)) + 40.0


def ask(queries, index, **options):
    return query_index(queries, index, lambda: Cells.of(index.points), k=6, k_scale=3, **options)


def test_an_index_that_searches_all_lists_is_exact(faiss):
    points = Points(cube(700))
    index = Index.draw(points, np.random.default_rng(0))
    index.n_probe = index.centres.size
    expected = find_neighbourhoods(points, points, k=6, k_scale=3)
    for one, other in zip(ask(points, index), expected, strict=True):
        assert_array_equal(one, other)


def test_a_list_is_measured_and_its_radius_is_its_own(faiss):
    X = cube(700)
    points = Points(X)
    index = Index.draw(points, np.random.default_rng(0))
    neighbours = ask(points, index)
    expected = np.sqrt(np.square(X[neighbours.rows] - X[neighbours.columns]).sum(axis=1))
    assert_allclose(neighbours.distances, expected, rtol=1e-14)
    assert (neighbours.distances <= neighbours.radius[neighbours.rows]).all()
    assert (np.bincount(neighbours.rows) >= 7).all()
    assert_array_equal(neighbours.columns[neighbours.distances == 0], np.arange(700))
    assert (neighbours.radius >= find_neighbourhoods(points, points, k=6, k_scale=3).radius).all()


def test_approximate_lists_depend_on_the_seed_and_not_on_threads(faiss):
    points = Points(cube(700))
    results = []
    for n_jobs in (1, 2):
        index = Index.draw(points, np.random.default_rng(3))
        results.append(ask(points, index, n_jobs=n_jobs))
    for one, other in zip(*results, strict=True):
        assert_array_equal(one, other)


def test_faiss_threads_are_put_back(faiss):
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(3)
    try:
        points = Points(cube(300))
        ask(points, Index.draw(points, np.random.default_rng(0)), n_jobs=1)
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(before)


def test_copies_short_lists_and_far_rows_are_searched_exactly(faiss):
    rng = np.random.default_rng(0)
    X = np.vstack([cube(400), np.repeat(cube(1, seed=5), 30, axis=0)])[rng.permutation(430)]
    points = Points(X)
    index = Index.draw(points, np.random.default_rng(0))
    far = np.vstack([X, X[:3] + 1e12])
    queries = points.like(far)
    neighbours = ask(queries, index)
    expected = find_neighbourhoods(queries, points, k=6, k_scale=3)
    crowded = np.flatnonzero((oracles.distances(far, X) == 0).sum(axis=1) > 6)
    assert crowded.size == 30
    for row in [*crowded, 430, 431, 432]:
        assert_array_equal(
            neighbours.columns[neighbours.rows == row], expected.columns[expected.rows == row]
        )
        assert neighbours.radius[row] == expected.radius[row]


def test_a_lone_far_row_is_searched_exactly(faiss):
    points = Points(cube(300))
    queries = points.like(cube(1, seed=1) + 1e12)
    neighbours = ask(queries, Index.draw(points, np.random.default_rng(0)))
    expected = find_neighbourhoods(queries, points, k=6, k_scale=3)
    for one, other in zip(neighbours, expected, strict=True):
        assert_array_equal(one, other)


def test_a_row_is_in_its_own_list_where_single_precision_cannot_tell(faiss):
    rng = np.random.default_rng(0)
    tight = 3.0 + 1e-12 * rng.standard_normal((40, 5))
    points = Points(np.vstack([rng.standard_normal((400, 5)), tight]))
    index = Index.draw(points, rng)
    index.n_probe = index.centres.size
    neighbours = ask(points, index)
    assert_array_equal(neighbours.rows[neighbours.rows == neighbours.columns], np.arange(440))


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_an_index_takes_data_of_any_size(faiss, scale):
    plain, scaled = Points(cube(300) - 40), Points((cube(300) - 40) * scale)
    results = [ask(each, Index.draw(each, np.random.default_rng(0))) for each in (plain, scaled)]
    shares = [np.unique(f.rows * 300 + f.columns) for f in results]
    assert np.intersect1d(*shares).size > 0.99 * shares[0].size


@pytest.mark.parametrize("again", [copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))])  # noqa: S301 - its own bytes
def test_an_index_survives_copying(faiss, again):
    points = Points(cube(500))
    index = Index.draw(points, np.random.default_rng(0))
    index.n_probe = 3
    fresh = len(pickle.dumps(index))
    queries = points.like(cube(50, seed=1))
    expected = ask(queries, index)
    assert len(pickle.dumps(index)) == fresh  # the lists are made again, not stored
    for one, other in zip(ask(queries, again(index)), expected, strict=True):
        assert_array_equal(one, other)


def test_an_index_may_be_asked_by_several_threads(faiss):
    points = Points(cube(500))
    queries = [points.like(cube(60, seed=seed)) for seed in range(8)]
    expected = [ask(each, Index.draw(points, np.random.default_rng(0))) for each in queries]
    index = Index.draw(points, np.random.default_rng(0))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda each: ask(each, index), queries))
    for one, other in zip(results, expected, strict=True):
        assert_array_equal(one.columns, other.columns)
        assert_array_equal(one.distances, other.distances)


# Which search.


def chosen(X, search, seed=0, **options):
    return search_neighbours(
        Points(X), search=search, k=6, k_scale=3, generator=np.random.default_rng(seed), **options
    )


def test_recall_is_the_share_of_true_neighbours(faiss):
    X = cube(700)
    D = oracles.distances(X, X)
    search = chosen(X, "faiss")
    neighbours, recall, index = search.neighbourhood, search.recall, search.index
    true = np.sort(D, axis=1)[:, 6:7] >= D
    kept = np.zeros(D.shape, dtype=bool)
    kept[neighbours.rows, neighbours.columns] = True
    assert index.n_probe > 1
    assert recall == pytest.approx((kept & true).sum() / true.sum(), abs=0.02)
    assert recall > 0.9


def test_an_exact_search_has_recall_1_and_no_index():
    points = Points(cube(300))
    search = chosen(cube(300), "exact")
    assert search.recall == 1.0
    assert search.index is None
    for one, other in zip(
        search.neighbourhood, find_neighbourhoods(points, points, k=6, k_scale=3), strict=True
    ):
        assert_array_equal(one, other)


def test_auto_takes_the_search_that_multiplies_less(faiss, monkeypatch):
    monkeypatch.setattr(choice, "EXACT_UP_TO", 400)
    monkeypatch.setattr(choice, "FEW_COLUMNS", 300)
    monkeypatch.setattr(approximate, "COST", 1)
    monkeypatch.setattr(cells, "CELL", 16)
    monkeypatch.setattr(exact, "FIRST", 32)
    monkeypatch.setattr(exact, "CHUNK", 32)
    rng = np.random.default_rng(0)
    line = np.c_[np.linspace(0, 1, 500), np.zeros(500)]  # few columns: cells are passed over
    ball = rng.standard_normal((500, 8))  # all columns, and a fraction of the lists is enough
    sparse = rng.standard_normal((500, 200))  # all columns and all lists
    assert chosen(ball[:400], "auto").index is None
    assert chosen(line, "auto").index is None
    assert chosen(ball, "auto").index is not None
    with monkeypatch.context() as fewer:
        fewer.setattr(choice, "FEW_COLUMNS", 10)
        fewer.setattr(exact, "columns_per_row", lambda *args, **options: 20.0)
        assert chosen(ball, "auto").index is None  # the lists that are enough hold more
    monkeypatch.setattr(approximate, "COST", 8)
    assert chosen(sparse, "auto").index is None
    assert chosen(sparse, "faiss").recall < 0.97


def test_without_faiss_a_large_search_is_exact_and_says_what_to_install(monkeypatch):
    monkeypatch.setattr(approximate, "find_spec", lambda name: None)
    monkeypatch.setattr(choice, "EXACT_UP_TO", 100)
    monkeypatch.setattr(choice, "FEW_COLUMNS", 100)
    X = np.random.default_rng(0).standard_normal((200, 8))
    with pytest.warns(SlowSearchWarning, match=r'pip install "viewhop\[ann\]"') as caught:
        search = chosen(X, "auto")
    assert caught[0].message.n_samples == 200
    assert search.recall == 1.0
    assert search.index is None


def test_faiss_asked_for_and_missing_is_an_error(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    with pytest.raises(ImportError, match=r'pip install "viewhop\[ann\]"'):
        chosen(cube(100), "faiss")
