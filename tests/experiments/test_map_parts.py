"""Parts of a map: points, bows, and what is unconnected."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from viewhop.experiments._map_parts import measure_parts

LINE = np.column_stack([np.linspace(0, 1, 11), np.zeros(11)])


def measure(before, later):
    is_later = np.repeat([False, True], [len(before), len(later)])
    return measure_parts(np.vstack([before, later]), is_later)


def test_widths_and_the_gap_are_shares_of_the_whole_width():
    parts = measure(LINE, LINE[:6] + np.array([1.5, 0]))
    assert_allclose([*parts.widths, parts.apart], [0.5, 0.25, 0.25], rtol=1e-12)
    assert parts.are_unconnected
    assert not parts.are_bow_and_point


def test_a_bow_and_a_point_are_recognised_either_way_round():
    point = 2.0 + np.array([[0, 0], [0.01, 0], [0, 0.01]])
    assert measure(LINE, point).are_bow_and_point
    assert measure(point, LINE).are_bow_and_point
    assert not measure(point, point + 1).are_bow_and_point


def test_one_line_is_connected():
    assert not measure(LINE, LINE[1:] + np.array([1, 0])).are_unconnected
