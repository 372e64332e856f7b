"""Squared distances from new samples, beside the distances of an oracle."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.neighbours.test_points import singles
from tests.support import oracles
from viewhop.neighbours import scaled_squares
from viewhop.neighbours._points import Points

TOLERANCE = {np.float32: 4e-5, np.float64: 1e-9}
NEITHER_TINY_NOR_HUGE = [name for name in singles() if name not in ("tiny", "huge")]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("scale", [0.05, 2.0, 700.0])
@pytest.mark.parametrize("name", NEITHER_TINY_NOR_HUGE)
def test_they_are_distances_over_the_scale(name, scale, dtype):
    X = singles()[name].astype(dtype)
    points = Points(X)
    found = scaled_squares(points.like(X[20:70]), points, scale, dtype=np.dtype(dtype))
    if found is None:  # too many near pairs for single precision
        assert dtype == np.float32
        assert name in ("tight clusters", "far cluster", "copies", "one column")
        return
    values, least = found
    expected = np.square(oracles.distances(*[X.astype(np.float64)] * 2)[20:70] / scale)
    assert values.dtype == least.dtype == dtype
    assert_allclose(values, expected, rtol=TOLERANCE[dtype], atol=0)
    assert_array_equal(values == 0, expected == 0)
    assert_array_equal(least, values.min(axis=1))


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_least_is_that_of_the_row_where_only_some_pairs_are_near(dtype):
    # From its origin, the row (100, 0) has a near pair at (99.9, 0), and the others have none.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((40, 2)), [[99.9, 0.0]], -1e3 * np.ones((1, 2))])
    points = Points(X.astype(dtype), np.zeros(2))
    new = np.array([[100.0, 0.0], [3.0, 3.0], [99.95, 0.02], [-1.0, 2.0]], dtype=dtype)
    values, least = scaled_squares(points.like(new), points, 1.5, dtype=np.dtype(dtype))
    assert_array_equal(least, values.min(axis=1))
    expected = np.square(oracles.distances(new.astype(float), X.astype(dtype).astype(float)) / 1.5)
    assert_allclose(values, expected, rtol=TOLERANCE[dtype], atol=0)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_scale_that_over_or_underflows_is_left_to_distances(scale, dtype):
    points = Points(singles()["plain"].astype(dtype))
    assert scaled_squares(points, points, scale, dtype=np.dtype(dtype)) is None


def test_a_far_row_is_left_to_distances_in_single_precision():
    points = Points(singles()["plain"].astype(np.float32))
    far = points.like(np.full((1, 7), 1e15, dtype=np.float32))
    assert scaled_squares(far, points, 1.0, dtype=np.dtype(np.float32)) is None


def test_many_near_pairs_are_left_to_double_precision():
    X = (1000.0 + singles()["plain"]).astype(np.float32)
    points = Points(X, np.zeros(7))
    assert scaled_squares(points, points, 1.0, dtype=np.dtype(np.float32)) is None
    values, _ = scaled_squares(points, points, 1.0, dtype=np.dtype(np.float64))
    expected = np.square(oracles.distances(*[X.astype(np.float64)] * 2))
    assert_allclose(values, expected, rtol=1e-9, atol=0)
