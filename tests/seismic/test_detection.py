"""Detection: STA/LTA is obspy's, and coincidence counts stations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.errors import SeismicError
from viewhop.seismic._channels import SECOND
from viewhop.seismic._obspy import obspy_module
from viewhop.seismic.events import StaLta, detect, events_frame
from viewhop.seismic.events._coincidence import (
    drop_close_groups,
    find_coincidences,
    merge_by_station,
)
from viewhop.seismic.events._triggers import Trigger, bandpass
from viewhop.seismic.io import Waveforms

TUTORIAL = StaLta(sta=0.5, lta=10.0, on=3.5, off=1.0)
START = "2010-05-27T16:24:00Z"


def noisy(n_stations, *, seconds=100.0, rate=40.0, pulses=(), seed=0, components="Z"):
    """Waveforms of noise, with pulses given as (station, seconds, size)."""
    rng = np.random.default_rng(seed)
    arrays = {
        f"IS.S{k}..BH{letter}": rng.normal(size=round(seconds * rate))
        for k in range(n_stations)
        for letter in components
    }
    for station, second, size in pulses:
        for letter in components:
            at = round(second * rate)
            arrays[f"IS.S{station}..BH{letter}"][at : at + 80] += size * np.sin(np.arange(80))
    return Waveforms.from_arrays(arrays, start=START, sampling_rate=rate)


@pytest.mark.parametrize(
    ("method", "name"), [("recursive", "recstalta"), ("classic", "classicstalta")]
)
def test_the_ratio_is_that_of_an_obspy_trace(obspy, trace, method, name):
    own = trace(rate=31.7)
    ratio = StaLta(sta=0.7, lta=9.3, method=method).ratio(own.data, sampling_rate=31.7)
    assert_array_equal(ratio, own.copy().trigger(name, sta=0.7, lta=9.3).data)


def test_the_classic_ratio_is_that_of_two_means_of_energy():
    data = np.random.default_rng(0).normal(size=400)
    energy = data**2
    expected = np.zeros(400)
    for k in range(79, 400):
        expected[k] = energy[k - 9 : k + 1].mean() / energy[k - 79 : k + 1].mean()
    ratio = StaLta(sta=1.0, lta=8.0, method="classic").ratio(data, sampling_rate=10.0)
    assert_allclose(ratio, expected, rtol=1e-9)


def test_the_recursive_ratio_follows_its_two_recursions():
    data = np.random.default_rng(1).normal(size=300)
    short, long, expected = 0.0, 1e-99, np.zeros(300)
    for k in range(1, 300):
        short += (data[k] ** 2 - short) / 10
        long += (data[k] ** 2 - long) / 80
        expected[k] = short / long if k >= 80 else 0.0
    ratio = StaLta(sta=1.0, lta=8.0).ratio(data, sampling_rate=10.0)
    assert_allclose(ratio, expected, rtol=1e-9)


@pytest.mark.parametrize("components", ["Z", None])
def test_the_record_of_obspy_holds_exactly_three_events(record, components):
    found = detect(record, trigger=TUTORIAL, band=(10, 20), min_stations=3, components=components)
    assert [event.time.round("100ms").isoformat()[11:21] for event in found] == [
        "16:24:33.2",
        "16:27:01.3",
        "16:27:30.5",
    ]
    assert [sorted(event.stations) for event in found] == [
        ["BW.UH1", "BW.UH2", "BW.UH3", "BW.UH4"],
        ["BW.UH1", "BW.UH2", "BW.UH3"],
        ["BW.UH1", "BW.UH2", "BW.UH3", "BW.UH4"],
    ]
    assert found.summary.kept == 3
    # UH1 is loud when its averages are first full: nobody saw that begin.
    assert found.summary.counts == {"no onset": 1}
    # The first is loud, the second is hidden in the noise.
    assert found[0].snr > 50 > found[2].snr > 5 > found[1].snr > 1


def test_events_of_the_record_are_those_of_obspys_own_coincidence_trigger(
    obspy, record, record_files
):
    stream = obspy.Stream()
    for file in record_files:
        stream += obspy.read(str(file))
    stream = stream.select(component="Z").filter("bandpass", freqmin=10, freqmax=20)
    trigger = obspy_module("obspy.signal.trigger").coincidence_trigger
    expected = trigger("recstalta", 3.5, 1, stream, 3, sta=0.5, lta=10)
    found = detect(record, trigger=TUTORIAL, band=(10, 20), min_stations=3)
    assert [event.stations for event in found] == [
        tuple(f"BW.{station}" for station in event["stations"]) for event in expected
    ]
    # The filter here begins in the state of its first sample; that may move a pick by a sample.
    for event, theirs in zip(found, expected, strict=True):
        assert abs(event.time.value - theirs["time"].ns) <= 0.02 * SECOND
        assert abs(event.duration - theirs["duration"]) <= 0.05


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.tuples(st.integers(1, 60), st.integers(0, 12), st.integers(0, 3)),
        min_size=1,
        max_size=14,
    ),
    st.integers(1, 4),
    st.integers(0, 3),
)
def test_coincidence_of_stations_is_that_of_obspy_with_a_trace_for_each(given_, least, wait):
    obspy = obspy_module()
    # One characteristic function for each station: 2 where its trigger is on.
    functions = np.zeros((4, 80))
    for first, length, station in given_:
        functions[station, first : first + length + 1] = 2.0
    rule = StaLta(on=1.5, off=1.0)
    triggers, stream = [], obspy.Stream()
    for station, values in enumerate(functions):
        name = f"N.S{station}..Z"
        header = {"network": "N", "station": f"S{station}", "channel": "Z", "sampling_rate": 1.0}
        stream += obspy.Trace(values.copy(), header)
        triggers += [
            Trigger(on * SECOND, off * SECOND, name, 2.0, 1.0) for on, off in rule.intervals(values)
        ]
    theirs = obspy_module("obspy.signal.trigger").coincidence_trigger(
        None, 1.5, 1.0, stream, least, trigger_off_extension=wait
    )
    groups = find_coincidences(merge_by_station(triggers), min_stations=least, allowance=wait)
    assert [(group[0].on // SECOND, {t.station for t in group}) for group in groups] == [
        (int(event["time"].timestamp), {f"N.{name}" for name in event["stations"]})
        for event in theirs
    ]


def test_a_station_counts_once_whatever_its_channels():
    waveforms = noisy(2, components="ZNE", pulses=[(0, 50, 30)])
    assert not len(detect(waveforms, components=None, min_stations=2))
    (event,) = detect(waveforms, components=None, min_stations=1)
    assert event.stations == ("IS.S0",)


def test_a_pulse_is_picked_where_it_begins_at_each_station():
    waveforms = noisy(3, pulses=[(0, 40, 30), (1, 40.5, 30), (2, 41, 30)])
    (event,) = detect(waveforms, min_stations=3)
    seconds = [(pick.time - pd.Timestamp(START)).total_seconds() for pick in event.picks]
    assert_allclose(seconds, [40.0, 40.5, 41.0], atol=0.3)
    assert event.time == event.picks[0].time
    assert all(pick.snr > 5 and pick.ratio >= 3.5 and pick.duration > 0 for pick in event.picks)


def test_the_signal_to_noise_ratio_is_to_the_noise_of_the_lta_before():
    """Ten times as loud until shortly before, which is no part of that noise."""
    sign = np.where(np.arange(4000) % 2, -1.0, 1.0)
    size = np.ones(4000)
    size[:1200] = 10.0
    size[2400:2480] = 30.0
    waveforms = Waveforms.from_arrays({"IS.A..BHZ": size * sign}, start=START, sampling_rate=40.0)
    (event,) = detect(waveforms, band=None, min_stations=1, trigger=StaLta(off=2.0))
    assert round((event.time - pd.Timestamp(START)).total_seconds()) == 60
    (pick,) = event.picks
    # While the trigger is on, most samples have 30, and a few after the pulse 1.
    assert 20 < pick.snr < 30
    assert event.snr == pick.snr


def test_what_only_one_station_saw_is_no_event_of_two():
    waveforms = noisy(2, pulses=[(0, 30, 30), (0, 60, 30), (1, 60, 30)])
    (event,) = detect(waveforms, min_stations=2)
    assert round((event.time - pd.Timestamp(START)).total_seconds()) == 60


def test_an_allowance_lets_a_far_station_be_late():
    waveforms = noisy(2, pulses=[(0, 30, 30), (1, 45, 30)])
    assert not len(detect(waveforms))
    assert len(detect(waveforms, allowance=13.0)) == 1


def triggers_at(*seconds, stations=1):
    return [
        tuple(
            Trigger(at * SECOND, (at + 1) * SECOND, f"N.S{k}..Z", 5.0, 5.0) for k in range(stations)
        )
        for at in seconds
    ]


def test_of_two_close_events_the_one_of_more_stations_is_kept():
    few, many = triggers_at(10, 30, stations=2), triggers_at(13, stations=3)
    kept = drop_close_groups([*few, *many], 5.0)
    assert [group[0].on // SECOND for group in kept] == [13, 30]
    kept = drop_close_groups(triggers_at(10, 13, 16), 5.0)
    assert [group[0].on // SECOND for group in kept] == [10, 16]


def test_stations_may_have_different_sampling_rates():
    fast = noisy(1, rate=100.0, pulses=[(0, 50, 30)])
    slow = noisy(2, rate=40.0, pulses=[(1, 50, 30)], seed=3)
    waveforms = Waveforms({**slow.channels, **fast.channels})
    (event,) = detect(waveforms)
    assert set(event.stations) == {"IS.S0", "IS.S1"}


def test_an_offset_does_not_ring_in_the_filter():
    data = np.random.default_rng(0).normal(size=2000)
    moved = bandpass(data + 1e4, band=(1, 10), sampling_rate=40.0)
    assert np.abs(moved[:40]).max() < 10
    tone = np.sin(2 * np.pi * 0.05 * np.arange(4000) / 40)
    assert np.abs(bandpass(tone, band=(1, 10), sampling_rate=40.0))[400:].max() < 1e-3
    tone = np.sin(2 * np.pi * 4 * np.arange(4000) / 40)
    assert np.abs(bandpass(tone, band=(1, 10), sampling_rate=40.0))[400:].max() > 0.95


def test_what_cannot_be_searched_is_named_and_the_rest_goes_on():
    good = noisy(2, pulses=[(0, 50, 30), (1, 50, 30)])
    slow = Waveforms.from_arrays(
        {"IS.SLOW..LHZ": np.random.default_rng(0).normal(size=500)}, start=START, sampling_rate=10.0
    )
    short = Waveforms.from_arrays(
        {"IS.SHORT..BHZ": np.random.default_rng(0).normal(size=100)},
        start=START,
        sampling_rate=40.0,
    )
    sideways = Waveforms.from_arrays(
        {"IS.SIDE..BHN": np.random.default_rng(0).normal(size=4000)},
        start=START,
        sampling_rate=40.0,
    )
    channels = {**good.channels, **slow.channels, **short.channels, **sideways.channels}
    found = detect(Waveforms(channels))
    assert len(found) == 1
    assert {(lost.trace, lost.reason) for lost in found.summary.left_out} == {
        ("IS.SLOW..LHZ", "sampling rate"),
        ("IS.SHORT..BHZ", "too short"),
        ("IS.SIDE", "component"),
    }
    assert "below 5 Hz" in str(found.summary.left_out[1]) + str(found.summary.left_out[2])


def holed(first, last, fill=np.nan, *, pulses=((0, 50, 30), (1, 50, 30))):
    """Two stations of noise with pulses, the first of which has a hole, in seconds."""
    waveforms = noisy(2, pulses=pulses)
    data = waveforms.channels["IS.S0..BHZ"].segments[0].data.copy()
    data[round(first * 40) : round(last * 40)] = fill
    other = Waveforms.from_arrays({"IS.S0..BHZ": data}, start=START, sampling_rate=40.0)
    return Waveforms({**waveforms.channels, **other.channels})


def test_a_gap_is_named_with_the_time_in_which_nothing_is_found_after_it():
    """A pulse two seconds after a gap is lost, and the summary says why."""
    found = detect(holed(45, 48))
    assert not len(found)
    assert found.summary.counts == {"gap": 1}
    assert str(found.summary.left_out[0]) == (
        "IS.S0..BHZ, 2010-05-27T16:24:45Z: 3.00 s are missing; nothing is detected until the "
        "averages are full again, 10 s later"
    )
    assert len(detect(holed(30, 33))) == 1


@pytest.mark.parametrize(("fill", "reason"), [(0.0, "all zero"), (12.0, "constant")])
def test_a_filled_gap_is_a_gap_and_no_event_begins_after_it(fill, reason):
    # Where the recording goes on, any noise is loud beside nothing.
    holes = holed(20, 40, fill, pulses=[(0, 70, 30), (1, 40, 30), (1, 70, 30)])
    (event,) = detect(holes)
    assert round((event.time - pd.Timestamp(START)).total_seconds()) == 70
    found = detect(holes)
    assert found.summary.counts == {reason: 1}
    assert f"it is {fill:g} for 20.0 s; nothing is detected" in str(found.summary.left_out[0])


def test_a_channel_that_starts_late_or_ends_early_is_named():
    early = noisy(1, seconds=100.0)
    late = Waveforms.from_arrays(
        {"IS.S1..BHZ": np.random.default_rng(1).normal(size=4000)},
        start="2010-05-27T16:24:30Z",
        sampling_rate=40.0,
    )
    found = detect(Waveforms({**early.channels, **late.channels}))
    assert sorted(map(str, found.summary.left_out)) == [
        "IS.S0..BHZ, 2010-05-27T16:25:40Z: it ends 30.0 s before the last channel and is "
        "not searched after",
        "IS.S1..BHZ, 2010-05-27T16:24:00Z: it starts 30.0 s after the first channel and "
        "is not searched before",
    ]


def test_the_pick_of_a_clipped_trace_is_kept_and_doubtful():
    waveforms = noisy(2, pulses=[(0, 50, 300), (1, 50, 300)])
    data = np.clip(waveforms.channels["IS.S1..BHZ"].segments[0].data, -50, 50)
    cut = Waveforms.from_arrays({"IS.S1..BHZ": data}, start=START, sampling_rate=40.0)
    found = detect(Waveforms({**waveforms.channels, **cut.channels}))
    (event,) = found
    assert set(event.stations) == {"IS.S0", "IS.S1"}
    assert not found.summary.left_out
    (doubt,) = found.summary.doubtful
    assert (doubt.trace, doubt.reason, doubt.event) == ("IS.S1..BHZ", "clipped", event.id)
    assert str(found.summary) == "1 event; nothing left out; doubtful 1: 1 clipped"
    assert "its pick is kept" in str(doubt)


def test_a_trace_that_begins_loud_has_no_onset():
    rng = np.random.default_rng(0)
    data = rng.normal(size=4000)
    data[:420] *= np.exp(np.linspace(-8, 4, 420))
    waveforms = Waveforms.from_arrays({"IS.A..BHZ": data}, start=START, sampling_rate=40.0)
    found = detect(waveforms, min_stations=1)
    assert not len(found)
    assert found.summary.counts == {"no onset": 1}


def test_too_few_stations_say_what_to_do():
    with pytest.raises(
        SeismicError, match=r"expected at least 2 stations, got 1 .*lower min_stations to 1"
    ):
        detect(noisy(1))


@pytest.mark.parametrize(
    "wrong",
    [
        {"band": (10, 1)},
        {"band": (0, 5)},
        {"min_stations": 0},
        {"allowance": -1},
        {"separation": float("nan")},
    ],
)
def test_parameters_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        detect(noisy(2), **wrong)


@pytest.mark.parametrize(
    "wrong", [{"sta": 20}, {"sta": 0}, {"on": 0.5}, {"off": 0}, {"method": "carl"}]
)
def test_triggers_are_checked(wrong):
    with pytest.raises(ValueError, match=r"sta|off|method"):
        StaLta(**wrong)


def test_a_stream_is_searched_without_being_changed(trace, obspy):
    pulse = np.random.default_rng(0).normal(size=4000)
    pulse[2000:2080] += 30 * np.sin(np.arange(80))
    stream = obspy.Stream([trace("IS.A..BHZ", data=pulse), trace("IS.B..BHZ", data=pulse.copy())])
    before = stream.copy()
    (event,) = detect(stream)
    assert stream == before
    with pytest.raises(TypeError, match="read_waveforms"):
        detect("file.mseed")
    assert event.id.startswith("ev20100527T162450")


def test_events_are_a_frame_with_times_in_utc(record):
    found = detect(record, trigger=TUTORIAL, band=(10, 20), min_stations=3)
    frame = found.to_frame()
    assert str(frame["time"].dtype) == "datetime64[ns, UTC]"
    assert frame["pick BW.UH4"].isna().tolist() == [False, True, False]
    assert frame["channel BW.UH4"].tolist() == ["BW.UH4..EHZ", None, "BW.UH4..EHZ"]
    assert list(events_frame([]).columns) == ["id", "time", "label", "duration", "snr", "stations"]
    assert found[:2] == found.events[:2]
