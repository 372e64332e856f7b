"""Distances: ties, offsets and far clusters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.support import oracles
from viewhop.neighbours import _points as distances
from viewhop.neighbours._points import Points, block_distances, distance_matrix


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
    measured = distance_matrix(Points(X), np.dtype(np.float64))
    expected = oracles.distances(*[X.astype(np.float64)] * 2)
    assert_allclose(measured, expected, rtol=1e-9, atol=0)
    assert_array_equal(measured, measured.T)
    assert_array_equal(measured == 0, expected == 0)


def test_tiles_and_threads_do_not_change_a_distance(monkeypatch):
    X = clouds()["integers"]
    whole = distance_matrix(Points(X), np.dtype(np.float64))
    monkeypatch.setattr(distances, "TILE", 20)
    assert_allclose(distance_matrix(Points(X), np.dtype(np.float64), n_jobs=2), whole, rtol=1e-12)


def test_points_copy_their_rows():
    X = np.eye(3)
    points = Points(X)
    X[:] = 7
    assert_array_equal(points.rows, np.eye(3))


def singles():
    rng = np.random.default_rng(3)
    cloud = rng.standard_normal((90, 7))
    return {
        "plain": cloud,
        "offset": cloud + 1000.0,
        "tight clusters": np.repeat(10 * cloud[:9], 10, axis=0) + 1e-3 * cloud,
        "far cluster": np.vstack([cloud, cloud[:20] + 1e5]),
        "copies": np.repeat(cloud[:9], 10, axis=0),
        "tiny": cloud * 1e-30,
        "huge": cloud * 1e30,
        "one column": cloud[:, :1],
    }


@pytest.mark.parametrize("name", singles())
def test_distances_in_single_precision_are_good_to_their_fifth_digit(name):
    X = singles()[name].astype(np.float32)
    points = Points(X)
    expected = oracles.distances(*[X.astype(np.float64)] * 2)
    part = slice(20, 70)
    for other in (points, points.like(X)):
        measured = block_distances(other, part, points, dtype=np.dtype(np.float32))
        assert measured.dtype == np.float32
        assert_allclose(measured, expected[part], rtol=2e-5, atol=0)
        assert_array_equal(measured == 0, expected[part] == 0)


def test_a_very_far_query_is_measured_in_double_precision():
    X = singles()["plain"].astype(np.float32)
    query = np.full((1, 7), 1e20, dtype=np.float32)
    points = Points(X)
    measured = block_distances(points.like(query), slice(0, 1), points, dtype=np.dtype(np.float32))
    assert_allclose(measured, oracles.distances(query.astype(float), X.astype(float)), rtol=1e-6)


def test_rows_in_single_precision_are_not_stored():
    points = Points(singles()["plain"].astype(np.float32))
    assert points.single.rows.shape == (90, 9)
    assert "single" not in points.__getstate__()
