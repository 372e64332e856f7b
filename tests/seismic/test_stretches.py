"""Stretches: gaps, filled ones too, and what lies between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from viewhop.seismic._channels import SECOND, Channel, Segment
from viewhop.seismic._stretches import constant_stretch_problem, split_stretches


def channel(*segments):
    return Channel("IS.A..BHZ", segments)


def recorded(size, seed=0):
    return np.random.default_rng(seed).normal(size=size)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 600)), min_size=1, max_size=6),
    st.sampled_from([0.0, 7.0]),
    st.sampled_from([10.0, 40.0]),
)
def test_the_parts_and_the_still_ones_are_the_whole(blocks, value, rate):
    moves, stays = [], []
    data = np.concatenate(
        [np.full(size, value) if is_still else recorded(size) for is_still, size in blocks]
    )
    # By brute force: runs of one value of at least five seconds and a hundred samples.
    first = 0
    for k in range(1, data.size + 1):
        if k == data.size or data[k] != data[first]:
            (stays if k - first >= max(100, 5 * rate) else moves).append((first, k))
            first = k
    parts, gaps = split_stretches(channel(Segment(0, rate, data)))
    assert len(gaps) == len(stays)
    expected = [data[first:last] for first, last in moves]
    assert_array_equal(
        np.concatenate([part.data for part in parts] or [[]]), np.concatenate(expected or [[]])
    )
    for part in parts:
        begin = part.sample(0)
        assert_array_equal(part.data, data[-begin : -begin + part.data.size])
    assert [gap.reason for gap in gaps] == ["all zero" if value == 0 else "constant"] * len(stays)


def test_gaps_lie_between_segments_that_do_not_overlap():
    first, second = Segment(0, 40.0, recorded(400)), Segment(12 * SECOND, 40.0, recorded(400))
    inside = Segment(2 * SECOND, 100.0, recorded(100))
    late = Segment(21 * SECOND, 100.0, recorded(500))
    found = channel(first, inside, second, late)
    assert found.gaps == [(10 * SECOND, 12 * SECOND)]
    assert found.end == 26 * SECOND
    _, (gap,) = split_stretches(found, after=", alas")
    assert str(gap) == "IS.A..BHZ, 1970-01-01T00:00:10Z: 2.00 s are missing, alas"


@pytest.mark.parametrize("size", [150, 199, 200, 1000])
def test_a_window_is_still_for_five_seconds_or_not_at_all(size):
    data = recorded(2000)
    data[300 : 300 + size] = 3.0
    found = constant_stretch_problem(data, 40.0)
    if size < 200:
        assert found is None
    else:
        assert found == ("constant", f"{size:,} consecutive samples ({size / 40:.1f} s) are 3")


def test_a_window_of_one_value_is_still_however_short():
    assert constant_stretch_problem(np.zeros(8), 40.0) == ("all zero", "all 8 samples are 0")
    assert constant_stretch_problem(np.full(8, 2.5), 40.0) == ("constant", "all 8 samples are 2.5")
