"""How well a closed curve is brought back."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop.experiments._rings import Ring, ring


def circle(angles):
    return np.column_stack([np.cos(angles), np.sin(angles)])


def test_a_stretched_turned_and_shifted_circle_is_a_whole_ring():
    truth = 2 * np.pi * np.arange(36) / 36
    found = ring(circle(1 - truth) * 3 + [5, -2], truth)
    assert_allclose(found.correlation, 1, rtol=1e-9)
    assert_allclose(found.gap, 10, rtol=1e-4)


def test_the_gap_is_the_widest_angle_between_neighbours():
    truth = np.radians([0.0, 90.0, 180.0, 270.0])
    points = circle(truth)
    points[0] *= 2  # the middle moves to (0.25, 0), the opposite point stays behind it
    expected = np.degrees(np.arctan2(1, -0.25))
    assert_allclose(ring(points, truth).gap, expected, rtol=1e-4)


@pytest.mark.parametrize("first", [3, 19])
def test_samples_with_nan_are_left_out_wherever_they_are(first):
    # The second gap lies about 180 degrees, where angles start anew.
    truth = 2 * np.pi * np.arange(40) / 40
    points = circle(truth)
    points[first : first + 3] = np.nan
    found = ring(points, truth)
    assert_allclose(found.correlation, 1, rtol=1e-9)
    assert found.gap > 30


def test_an_order_by_rounding_alone_is_no_order():
    # A quarter of the circle in one point: samples there are tied, whatever their last bits.
    truth = 2 * np.pi * np.arange(400) / 400
    points = circle(np.where(truth < np.pi / 2, np.pi / 4, truth))
    points[:100] += 1e-12 * np.random.default_rng(0).standard_normal((100, 2))
    # 3/4 of the samples agree; the others count by the mean of cos over their quarter.
    expected = (0.75 + 0.25 * np.sinc(1 / 4)) ** 2
    assert_allclose(ring(points, truth).correlation, expected, rtol=0.01)


@pytest.mark.parametrize("seed", [0, 1])
def test_chance_has_no_correlation(seed):
    generator = np.random.default_rng(seed)
    truth = 2 * np.pi * np.arange(2000) / 2000
    assert ring(generator.standard_normal((2000, 2)), truth).correlation < 0.02


@pytest.mark.parametrize(
    ("correlation", "gap", "is_circle"),
    [(1.0, 10.0, True), (0.98, 1.0, False), (1.0, 12.0, False)],
)
def test_a_circle_is_closed_and_in_order(correlation, gap, is_circle):
    found = Ring(correlation, gap)
    assert_allclose(found.closed, 1 - gap / 360, rtol=1e-12)
    assert found.is_circle == is_circle
