"""Distances: exact neighbours, ties, offsets and far clusters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests import oracles
from viewhop import blocks, distances, neighbours
from viewhop.distances import Points, matrix
from viewhop.neighbours import neighbourhoods, within


def clouds():
    rng = np.random.default_rng(5)
    cloud = rng.standard_normal((60, 4))
    return {
        "plain": cloud,
        "offset 1e8": cloud + 1e8,
        "far cluster": np.vstack([cloud, cloud[:20] + 1e9]),
        "tiny": cloud * 1e-100,
        "huge": cloud * 1e100,
        "integers": rng.integers(0, 3, (60, 4)).astype(float),
        "one column": cloud[:, :1],
        "copies": np.repeat(cloud[:6], 10, axis=0),
        "float32": cloud.astype(np.float32) + np.float32(100),
    }


@pytest.mark.parametrize("name", clouds())
def test_matrix_equals_row_differences_and_is_symmetric(name):
    X = clouds()[name]
    found = matrix(Points(X), np.dtype(np.float64))
    expected = oracles.distances(*[X.astype(np.float64)] * 2)
    assert_allclose(found, expected, rtol=1e-9, atol=0)
    assert_array_equal(found, found.T)
    assert_array_equal(found == 0, expected == 0)


@pytest.mark.parametrize("k", [1, 4, 59])
@pytest.mark.parametrize("name", clouds())
def test_neighbourhoods_keep_all_pairs_within_either_radius(name, k):
    X = clouds()[name]
    D = oracles.distances(*[X.astype(np.float64)] * 2)
    radius = np.array([oracles.rank(row, k) for row in D])
    found = neighbourhoods(Points(X), Points(X), k=k, k_scale=2)
    assert_allclose(found.radius, radius, rtol=1e-14)
    assert_allclose(found.scale, [oracles.rank(row, 2) for row in D], rtol=1e-14)
    assert_allclose(found.nearest, [row[row > 0].min() for row in D], rtol=1e-14)
    i, j, d = within(found)
    kept = np.zeros(D.shape, dtype=bool)
    kept[i, j] = True
    assert_array_equal(kept, np.maximum.outer(radius, radius) >= D)
    assert_allclose(d, D[i, j], rtol=1e-14)


@pytest.mark.parametrize("name", clouds())
def test_a_training_row_met_as_a_query_has_the_same_bits(name):
    X = clouds()[name]
    points = Points(X)
    found = neighbourhoods(points, points, k=4, k_scale=3)
    i, j, d = within(found)
    for row in range(len(X)):
        alone = neighbourhoods(
            points.like(X[row : row + 1]), points, k=4, k_scale=3, reach=found.radius
        )
        assert_array_equal(alone.columns, j[i == row])
        assert_array_equal(alone.distances, d[i == row])
        assert_array_equal(alone.scale, found.scale[row : row + 1])


def test_blocks_and_threads_do_not_change_a_bit(monkeypatch):
    X = clouds()["integers"]
    whole = neighbourhoods(Points(X), Points(X), k=3, k_scale=2)
    tiles = matrix(Points(X), np.dtype(np.float64))
    monkeypatch.setattr(blocks, "BLOCK", 400)
    monkeypatch.setattr(distances, "TILE", 20)
    parts = neighbourhoods(Points(X), Points(X), k=3, k_scale=2, n_jobs=2)
    for one, other in zip(whole, parts, strict=True):
        assert_array_equal(one, other)
    assert_allclose(matrix(Points(X), np.dtype(np.float64), n_jobs=2), tiles, rtol=1e-12)


def test_rank_distance_of_equal_points_is_zero():
    assert neighbours.rank_distance(np.zeros(3), 1) == 0.0


def test_points_copy_their_rows():
    X = np.eye(3)
    points = Points(X)
    X[:] = 7
    assert_array_equal(points.rows, np.eye(3))
