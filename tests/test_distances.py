"""Distances: ties, offsets and far clusters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests import oracles
from viewhop import distances
from viewhop.distances import Points, matrix


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


def test_tiles_and_threads_do_not_change_a_distance(monkeypatch):
    X = clouds()["integers"]
    whole = matrix(Points(X), np.dtype(np.float64))
    monkeypatch.setattr(distances, "TILE", 20)
    assert_allclose(matrix(Points(X), np.dtype(np.float64), n_jobs=2), whole, rtol=1e-12)


def test_points_copy_their_rows():
    X = np.eye(3)
    points = Points(X)
    X[:] = 7
    assert_array_equal(points.rows, np.eye(3))
