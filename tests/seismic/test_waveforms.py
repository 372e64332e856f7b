"""Waveforms: pieces of a channel become one where they fit, and nothing is made up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from viewhop.errors import SeismicError
from viewhop.seismic._assembly import assemble_channels
from viewhop.seismic._channels import SECOND
from viewhop.seismic.events import detect
from viewhop.seismic.io import Waveforms

NAME = "IS.MMLI..BHZ"


def pieces(*given, rate=40.0):
    return [(NAME, round(first * SECOND / rate), rate, np.asarray(data)) for first, data in given]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 25)), min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)
def test_pieces_that_agree_give_back_what_was_recorded(cuts, random):
    recorded = np.random.default_rng(0).normal(size=100)
    given_ = [(first, recorded[first : first + length]) for first, length in cuts]
    random.shuffle(given_)
    channels, left_out = assemble_channels(pieces(*given_))
    covered = np.zeros(100, dtype=bool)
    for first, length in cuts:
        covered[first : first + length] = True
    found = np.full(100, np.nan)
    ends = []
    for segment in channels[NAME].segments:
        first = round(segment.start * 40 / SECOND)
        found[first : first + segment.data.size] = segment.data
        ends.append((first, first + segment.data.size))
    assert not left_out
    assert_array_equal(found, np.where(covered, recorded, np.nan))
    # Segments are apart: no two touch.
    assert all(end < begin for (_, end), (begin, _) in pairwise(ends))


def test_pieces_that_differ_are_a_gap_where_they_do():
    data = np.arange(1.0, 21.0)
    other = data[10:].copy()
    other[2:4] = -1.0
    channels, left_out = assemble_channels(pieces((0, data), (10, other)))
    first, second = channels[NAME].segments
    assert_array_equal(first.data, data[:12])
    assert_array_equal(second.data, data[14:])
    (lost,) = left_out
    assert lost.reason == "overlap"
    assert "2 samples" in str(lost)
    assert str(lost).startswith(NAME)


def test_times_are_moved_by_half_a_sample_at_most():
    data = np.arange(1.0, 11.0)
    rate = 40.0
    late = [(NAME, 0, rate, data), (NAME, round(10.4 * SECOND / rate), rate, data)]
    channels, _ = assemble_channels(late)
    (only,) = channels[NAME].segments
    assert only.data.size == 20
    late = [(NAME, 0, rate, data), (NAME, round(10.6 * SECOND / rate), rate, data)]
    assert len(assemble_channels(late)[0][NAME].segments) == 2


def test_pieces_far_apart_take_no_room_between():
    years = 30 * 365 * 86400 * 40
    channels, _ = assemble_channels(pieces((0, np.arange(10.0)), (years, np.arange(10.0))))
    assert [segment.data.size for segment in channels[NAME].segments] == [10, 10]


def test_different_sampling_rates_are_kept_apart():
    given_ = [*pieces((0, np.arange(40.0))), (NAME, SECOND, 100.0, np.arange(100.0))]
    channels, left_out = assemble_channels(given_)
    assert [segment.sampling_rate for segment in channels[NAME].segments] == [40.0, 100.0]
    assert not left_out


def test_samples_that_are_no_number_are_gaps():
    data = np.arange(1.0, 21.0)
    data[5:7], data[12], data[15] = np.nan, np.inf, 1e200
    channels, (lost,) = assemble_channels(pieces((0, data)))
    assert [segment.data.size for segment in channels[NAME].segments] == [5, 5, 2, 4]
    assert lost.reason == "not finite"
    assert "4 of 20" in lost.detail


@pytest.mark.parametrize(
    ("start", "rate", "data", "reason"),
    [
        (0, 40.0, np.zeros(50), "all zero"),
        (0, 40.0, np.full(50, 7), "constant"),
        (0, 40.0, np.zeros(0), "empty"),
        (0, 0.0, np.arange(5), "sampling rate"),
        (0, float("nan"), np.arange(5), "sampling rate"),
        (0, -1.0, np.arange(5), "sampling rate"),
        (0, 1e-300, np.arange(5), "time"),
        (10**20, 40.0, np.arange(5), "time"),
        (0, 40.0, np.array([b"l", b"o", b"g"]), "not samples"),
        (0, 40.0, np.ones((2, 3)), "not samples"),
    ],
)
def test_what_is_no_recording_is_named(start, rate, data, reason):
    good = ("IS.B..BHZ", 0, 40.0, np.arange(10.0))
    channels, (lost,) = assemble_channels([(NAME, start, rate, data), good])
    assert list(channels) == ["IS.B..BHZ"]
    assert (lost.trace, lost.reason) == (NAME, reason)


def test_masked_samples_of_a_stream_are_gaps(trace, obspy):
    stream = obspy.Stream([trace(seconds=10), trace(seconds=10, start=15, seed=1)])
    merged = stream.copy().merge()
    for given_ in (stream, merged, list(stream)):
        found = Waveforms.from_stream(given_)
        assert [piece.data.size for piece in found.channels[NAME].segments] == [400, 400]
        assert_array_equal(found.channels[NAME].segments[1].data, stream[1].data)
    assert found.stations == ("IS.MMLI",)


def test_no_waveforms_say_why():
    nothing = Waveforms.from_arrays({NAME: np.zeros(100)}, start="2010-05-27", sampling_rate=40.0)
    with pytest.raises(SeismicError, match=r"no waveforms.*MMLI.*all 100 samples are 0"):
        detect(nothing)
    with pytest.raises(ValueError, match="NaT"):
        Waveforms.from_arrays({NAME: np.arange(9.0)}, start="NaT", sampling_rate=40.0)
