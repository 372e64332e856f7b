"""Views of events: windows around picks, and what each lost."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop import MultiViewDiffusionMaps
from viewhop.errors import SeismicError
from viewhop.seismic._channels import SECOND, Channel, Segment
from viewhop.seismic.events import Event, Pick, StaLta, detect, event_views
from viewhop.seismic.events._windows import resample_windows
from viewhop.seismic.io import Waveforms
from viewhop.seismic.sonogram import sonogram

START = pd.Timestamp("2010-05-27T16:24:00Z")
RATE = 40.0


def at(seconds):
    return START + pd.Timedelta(seconds=seconds)


def picked(name, seconds, *stations, delay=0.0):
    picks = tuple(
        Pick(f"{station}..BHZ", at(seconds + k * delay)) for k, station in enumerate(stations)
    )
    return Event(name, at(seconds), picks)


def samples(windows, *, sampling_rate):
    return windows


def noise(*names, seconds=100.0, rate=RATE, seed=0, start=START):
    rng = np.random.default_rng(seed)
    arrays = {name: rng.normal(size=round(seconds * rate)) * 1000 for name in names}
    return Waveforms.from_arrays(arrays, start=start, sampling_rate=rate), arrays


def changed(waveforms, name, data, *, rate=RATE, start=START):
    other = Waveforms.from_arrays({name: data}, start=start, sampling_rate=rate)
    return Waveforms({**waveforms.channels, **other.channels})


def reasons(seen):
    return {(lost.trace, lost.event, lost.reason) for lost in seen.summary.left_out}


def test_windows_are_cut_around_the_pick_of_their_own_station():
    waveforms, arrays = noise("IS.A..BHZ", "IS.A..BHN", "IS.B..BHZ")
    event = picked("e", 30, "IS.A", "IS.B", delay=2.5)
    seen = event_views(waveforms, [event], before=5, length=20, features=samples)
    assert seen.views.names == ("IS.A..BHZ", "IS.A..BHN", "IS.B..BHZ")
    assert_array_equal(seen.views["IS.A..BHZ"][0], arrays["IS.A..BHZ"][1000:1800])
    assert_array_equal(seen.views["IS.A..BHN"][0], arrays["IS.A..BHN"][1000:1800])
    assert_array_equal(seen.views["IS.B..BHZ"][0], arrays["IS.B..BHZ"][1100:1900])
    assert seen.views.ids.tolist() == ["e"]
    assert not seen.summary.left_out
    assert str(seen.summary) == "3 windows; nothing left out"


def test_a_station_that_missed_an_event_makes_the_views_incomplete():
    waveforms, _ = noise("IS.A..BHZ", "IS.B..BHZ")
    events = [picked("e1", 30, "IS.A", "IS.B"), picked("e2", 60, "IS.A"), picked("e3", 70, "IS.B")]
    seen = event_views(waveforms, events, before=5, length=20, features=samples)
    assert_array_equal(seen.views.observed, [[True, True], [True, False], [False, True]])
    assert seen.views.ids.tolist() == ["e1", "e2", "e3"]
    assert seen.summary.kept == 4
    assert seen.summary.counts == {"no pick": 2}
    assert seen.labels == (None, None, None)


def test_events_without_picks_are_cut_at_their_own_time_if_asked():
    waveforms, arrays = noise("IS.A..BHZ")
    events = [Event("e", at(30), label="blast")]
    with pytest.raises(SeismicError, match=r"set unpicked to 'event'"):
        event_views(waveforms, events, before=5, length=20, features=samples)
    seen = event_views(waveforms, events, before=5, length=20, features=samples, unpicked="event")
    assert_array_equal(seen.views["IS.A..BHZ"][0], arrays["IS.A..BHZ"][1000:1800])
    assert seen.labels == ("blast",)


def test_the_order_of_events_is_kept_whichever_channel_missed_the_first():
    waveforms, _ = noise("IS.A..BHZ", "IS.B..BHZ")
    events = [picked("e1", 30, "IS.B"), picked("e2", 60, "IS.A"), picked("e3", 20, "IS.A", "IS.B")]
    seen = event_views(waveforms, events, before=5, length=20, features=samples)
    assert seen.views.ids.tolist() == [event.id for event in seen.events] == ["e1", "e2", "e3"]


def tone(frequency, rate, seconds=100.0):
    return 1e4 * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate)


def bad_channels():
    rng = np.random.default_rng(5)
    quiet = rng.normal(size=4000) * 1000
    gap, zero, stuck, end, late = (quiet.copy() for _ in range(5))
    gap[1500:1510] = np.nan
    zero[900:2000] = 0.0
    stuck[900:2000] = 12.0
    clip = np.clip(tone(1.7, RATE), -9000, 9000)
    filled = quiet.copy()
    filled[1200:1400] = 0.0  # five seconds of the window
    fast = np.clip(tone(7.0, RATE) + quiet, -9000, 9000)
    return {
        "gap": gap,
        "all zero": zero,
        "all zero, in part": filled,
        "constant": stuck,
        "clipped": clip,
        "clipped, fast": fast,
        "ends early": end[:1500],
        "starts late": np.r_[np.full(1500, np.nan), late[1500:]],
        "no data": quiet[:500],
    }


@pytest.mark.parametrize("kind", list(bad_channels()))
def test_a_channel_that_cannot_be_used_is_missing_there_and_nowhere_else(kind):
    reason = kind.partition(",")[0]
    waveforms, arrays = noise("IS.A..BHZ", "IS.B..BHN")
    waveforms = changed(waveforms, "IS.B..BHZ", bad_channels()[kind])
    event = picked("e", 30, "IS.A", "IS.B")
    seen = event_views(waveforms, [event], before=5, length=20, features=samples)
    assert seen.views.names == ("IS.A..BHZ", "IS.B..BHN")
    assert_array_equal(seen.views["IS.A..BHZ"][0], arrays["IS.A..BHZ"][1000:1800])
    assert ("IS.B..BHZ", "e", reason) in reasons(seen)
    assert ("IS.B..BHZ", None, "no event") in reasons(seen)
    lost = next(lost for lost in seen.summary.left_out if lost.reason == reason)
    assert str(lost).startswith("IS.B..BHZ, event e, 2010-05-27T16:24:30Z: ")


def test_the_rest_of_a_channel_with_a_gap_is_used():
    waveforms, _ = noise("IS.A..BHZ")
    data = np.random.default_rng(1).normal(size=4000)
    data[1500:1510] = np.nan
    waveforms = changed(waveforms, "IS.B..BHZ", data)
    events = [picked("e1", 30, "IS.A", "IS.B"), picked("e2", 60, "IS.A", "IS.B")]
    seen = event_views(waveforms, events, before=5, length=20, features=samples)
    assert_array_equal(seen.views.observed, [[True, False], [True, True]])


def test_unknown_stations_and_channels_are_named():
    waveforms, _ = noise("IS.A..BHZ")
    seen = event_views(
        waveforms,
        [picked("e", 30, "IS.A", "XX.WHO")],
        before=5,
        length=20,
        features=samples,
        channels=["IS.A..BHZ", "IS.A..BHQ"],
    )
    assert reasons(seen) == {
        ("XX.WHO", "e", "unknown station"),
        ("IS.A..BHQ", None, "unknown channel"),
    }


def test_an_event_that_no_channel_saw_is_left_out():
    waveforms, _ = noise("IS.A..BHZ", seconds=50)
    events = [picked("e1", 20, "IS.A"), picked("e2", 90, "IS.A")]
    seen = event_views(waveforms, events, before=5, length=20, features=samples)
    assert seen.views.ids.tolist() == ["e1"]
    assert [event.id for event in seen.events] == ["e1"]
    assert ("e2", None, "no channel") in reasons(seen)


def test_what_was_left_out_goes_with_the_error_and_is_counted_in_it():
    waveforms, _ = noise("IS.A..BHZ", seconds=50)
    waveforms = changed(waveforms, "IS.A..BHN", np.clip(tone(1.7, RATE), -9000, 9000))
    events = [picked("e1", 48, "IS.A", "XX.WHO"), picked("e2", 49, "IS.A")]
    with pytest.raises(SeismicError, match=r"windows lost 4: 2 ends early, 2 clip") as caught:
        event_views(waveforms, events, before=5, length=20, features=samples)
    found = [lost.reason for lost in caught.value.left_out]
    assert found.count("clipped") == 2
    assert found.count("no event") == 2


def test_a_station_may_have_a_point_in_its_name():
    waveforms, arrays = noise("XX.A.B..BHZ", "XX.A..BHZ")
    assert waveforms.stations == ("XX.A.B", "XX.A")
    seen = event_views(
        waveforms, [picked("e", 30, "XX.A.B")], before=5, length=20, features=samples
    )
    assert seen.views.names == ("XX.A.B..BHZ",)
    assert_array_equal(seen.views["XX.A.B..BHZ"][0], arrays["XX.A.B..BHZ"][1000:1800])


def test_events_whose_windows_share_samples_are_told():
    waveforms, _ = noise("IS.A..BHZ", "IS.B..BHZ", "IS.C..BHZ", seconds=200)

    def late(name, seconds):
        """An event that A saw, and C when it had nearly ended."""
        picks = (Pick("IS.A..BHZ", at(seconds)), Pick("IS.C..BHZ", at(190)))
        return Event(name, at(seconds), picks)

    events = [
        picked("e0", 150, "IS.A"),
        picked("e1", 30, "IS.A", "IS.B"),
        picked("e2", 45, "IS.B"),  # shares with e1, at B
        picked("lost", 32, "XX.WHO"),
        picked("e3", 50, "IS.A"),  # begins where e1 ends, at A
        picked("e4", 169.9, "IS.A"),  # shares with e0
        late("e5", 80),
        late("e6", 110),  # would share with e5 at C, which has neither window
    ]
    seen = event_views(waveforms, events, before=5, length=20, features=samples)
    assert [event.id for event in seen.events] == [f"e{k}" for k in range(7)]
    assert seen.overlaps == ((0, 4), (1, 2))


def test_some_events_keep_their_overlaps():
    waveforms, _ = noise("IS.A..BHZ", "IS.B..BHZ", seconds=200)
    events = [picked(f"e{k}", 30 + 12 * k, "IS.A", *["IS.B"][: k != 2]) for k in range(6)]
    seen = event_views(waveforms, events, before=5, length=20, features=samples)
    assert seen.overlaps == ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5))
    some = seen.only(seen.views.observed.all(axis=1))
    assert [event.id for event in some.events] == ["e0", "e1", "e3", "e4", "e5"]
    assert some.views.ids.tolist() == ["e0", "e1", "e3", "e4", "e5"]
    assert some.overlaps == ((0, 1), (2, 3), (3, 4))
    assert seen.only([5, 0]).labels == (None, None)
    assert seen.only([5, 0]).events[0].id == "e5"


def test_a_window_is_found_among_many_segments_of_two_rates():
    """By the bounds of the segments, which may overlap: as if all were looked at."""
    rng = np.random.default_rng(0)
    pieces = [
        (f"{rate}", round(begin * SECOND), rate, rng.normal(size=round(rate * length)))
        for rate, begin, length in (
            *((40.0, begin, 8.0) for begin in range(0, 200, 10)),
            (100.0, 25.0, 60.0),
        )
    ]
    segments = sorted((Segment(*piece[1:]) for piece in pieces), key=lambda piece: piece.start)
    channel = Channel("IS.A..BHZ", tuple(segments))
    for start in rng.uniform(-20, 220, size=300):
        begin, end = round(start * SECOND), round((start + rng.uniform(0.1, 30)) * SECOND)
        expected = [piece for piece in segments if piece.start < end and piece.end > begin]
        assert list(channel.between(begin, end)) == expected


def test_what_reading_left_out_stays_in_the_summary():
    dead = Waveforms.from_arrays(
        {"IS.A..BHZ": np.arange(4000.0) % 97, "IS.DEAD..BHZ": np.zeros(4000)},
        start=START,
        sampling_rate=RATE,
    )
    seen = event_views(dead, [picked("e", 30, "IS.A")], before=5, length=20, features=samples)
    assert seen.summary.counts == {"all zero": 1}
    assert seen.summary.to_frame()["trace"].tolist() == ["IS.DEAD..BHZ"]


@pytest.mark.parametrize("rate", [40.0, 50.0, 62.5, 100.0, 200.0])
def test_other_sampling_rates_give_the_same_window(rate):
    waveforms = Waveforms.from_arrays(
        {"IS.A..BHZ": tone(3.1, rate)}, start=START, sampling_rate=rate
    )
    seen = event_views(waveforms, [picked("e", 33, "IS.A")], before=5, length=20, features=samples)
    (row,) = seen.views["IS.A..BHZ"]
    assert row.size == 800
    # Its ends lean on what is assumed to lie beyond.
    assert_allclose(row[40:-40], tone(3.1, 40.0)[1160:1880], atol=60)


def test_what_the_lower_rate_cannot_hold_does_not_fold_back():
    # 37 Hz, sampled at 40 Hz without a filter, would be a tone of 3 Hz.
    high = resample_windows(tone(37.0, 100.0)[None, :], rate=100.0, target_rate=40.0, count=4000)
    assert np.abs(high[0, 100:-100]).max() < 50
    # From eleven tenths of the highest frequency on nothing is left, up to nine tenths all.
    high = resample_windows(tone(22.0, 100.0)[None, :], rate=100.0, target_rate=40.0, count=4000)
    assert np.abs(high[0, 100:-100]).max() < 1
    low = resample_windows(tone(18.0, 100.0)[None, :], rate=100.0, target_rate=40.0, count=4000)
    assert_allclose(low[0, 100:-100], tone(18.0, 40.0)[100:-100], atol=1)


def test_windows_are_resampled_as_sonograms_are():
    """One filter: features of a window do not depend on who resampled it."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=12600)
    (window,) = resample_windows(data[None], rate=100.0, target_rate=40.0, count=5040)
    assert_allclose(
        sonogram(window, sampling_rate=40.0), sonogram(data, sampling_rate=100.0), rtol=1e-6
    )


def test_an_offset_does_not_ring_at_the_ends_of_a_window():
    flat = np.linspace(5e4, 6e4, 2000)
    (window,) = resample_windows(flat[None], rate=100.0, target_rate=40.0, count=800)
    # The filter is flat to 5e-5; with zeros beyond the ends it would ring by thousands.
    assert_allclose(window, 5e4 + np.arange(800) * 2.5 * 1e4 / 1999, rtol=5e-5)


def test_a_slower_trace_has_not_the_frequencies_and_is_left_out():
    waveforms, _ = noise("IS.A..BHZ")
    slow = np.random.default_rng(0).normal(size=2000)
    waveforms = changed(waveforms, "IS.B..SHZ", slow, rate=20.0)
    event = [picked("e", 30, "IS.A", "IS.B")]
    seen = event_views(waveforms, event, before=5, length=20, features=samples)
    assert ("IS.B..SHZ", "e", "sampling rate") in reasons(seen)
    seen = event_views(waveforms, event, before=5, length=20, features=samples, sampling_rate=20.0)
    assert [view.shape for view in seen.views.arrays] == [(1, 400), (1, 400)]


@pytest.mark.parametrize("rate", [1e6, 500e3])
def test_a_rate_that_cannot_be_resampled_is_named_and_the_rest_goes_on(rate):
    waveforms, arrays = noise("IS.A..BHZ")
    data = np.random.default_rng(0).normal(size=round(4 * rate))
    waveforms = changed(waveforms, "IS.B..FHZ", data, rate=rate)
    event = [picked("e", 1, "IS.A", "IS.B")]
    seen = event_views(waveforms, event, before=0, length=2, features=samples)
    assert_array_equal(seen.views["IS.A..BHZ"][0], arrays["IS.A..BHZ"][40:120])
    assert ("IS.B..FHZ", "e", "sampling rate") in reasons(seen)
    lost = next(lost for lost in seen.summary.left_out if lost.reason == "sampling rate")
    assert f"cannot resample from {rate:.10g} to 40 Hz" in str(lost)


def test_clocks_that_are_a_little_off_are_resampled():
    """The end of the window is off by less than half a sample."""
    rate = 100.002
    seen = event_views(
        noise("IS.A..BHZ", rate=39.99)[0],
        [picked("e", 33, "IS.A")],
        before=5,
        length=60,
        features=samples,
    )
    assert seen.views["IS.A..BHZ"].shape == (1, 2400)
    waveforms = Waveforms.from_arrays(
        {"IS.A..BHZ": tone(3.1, rate)}, start=START, sampling_rate=rate
    )
    seen = event_views(waveforms, [picked("e", 33, "IS.A")], before=5, length=20, features=samples)
    assert_allclose(seen.views["IS.A..BHZ"][0][40:-40], tone(3.1, 40.0)[1160:1880], atol=250)


def test_without_resampling_a_channel_keeps_the_rate_of_most_windows():
    early, _ = noise("IS.A..BHZ")
    late, _ = noise("IS.A..BHZ", rate=100.0, start=at(200))
    both = [*early.channels["IS.A..BHZ"].segments, *late.channels["IS.A..BHZ"].segments]
    channel = type(early.channels["IS.A..BHZ"])("IS.A..BHZ", tuple(both))
    events = [picked(f"e{k}", second, "IS.A") for k, second in enumerate((30, 60, 250))]
    mixed = Waveforms({"IS.A..BHZ": channel})
    seen = event_views(mixed, events, before=5, length=20, features=samples, sampling_rate=None)
    assert seen.views.ids.tolist() == ["e0", "e1"]
    assert ("IS.A..BHZ", "e2", "sampling rate") in reasons(seen)
    seen = event_views(mixed, events, before=5, length=20, features=samples)
    assert seen.views.ids.tolist() == ["e0", "e1", "e2"]


def test_features_are_made_rows_and_checked():
    waveforms, arrays = noise("IS.A..BHZ")
    events = [picked("e1", 30, "IS.A"), picked("e2", 60, "IS.A")]
    seen = event_views(
        waveforms,
        events,
        before=5,
        length=20,
        features=lambda windows, *, sampling_rate: windows.reshape(len(windows), 4, 200),
    )
    assert seen.shapes == {"IS.A..BHZ": (4, 200)}
    assert_array_equal(seen.views["IS.A..BHZ"][0], arrays["IS.A..BHZ"][1000:1800])
    with pytest.raises(ValueError, match=r"features of shape \(2, …\)"):
        event_views(
            waveforms, events, before=5, length=20, features=lambda windows, *, sampling_rate: [1.0]
        )

    def broken(windows, *, sampling_rate):
        found = windows.copy()
        found[0, 3] = np.nan
        return found

    seen = event_views(waveforms, events, before=5, length=20, features=broken)
    assert seen.views.ids.tolist() == ["e2"]
    assert ("IS.A..BHZ", "e1", "features") in reasons(seen)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"length": 0}, "length"),
        ({"before": float("nan")}, "before"),
        ({"before": 1e300}, "before must be at most"),
        ({"length": 1e300}, "length must be positive and at most"),
        ({"sampling_rate": -1}, "sampling_rate"),
        ({"unpicked": "guess"}, "unpicked"),
    ],
)
def test_parameters_are_checked(wrong, told):
    waveforms, _ = noise("IS.A..BHZ")
    given = {"before": 5, "length": 20, "features": samples, **wrong}
    with pytest.raises(ValueError, match=told):
        event_views(waveforms, [picked("e", 30, "IS.A")], **given)


def test_events_are_checked():
    waveforms, _ = noise("IS.A..BHZ")
    with pytest.raises(SeismicError, match="expected at least one event"):
        event_views(waveforms, [], before=5, length=20, features=samples)
    twice = [picked("e", 30, "IS.A"), picked("e", 60, "IS.A")]
    with pytest.raises(SeismicError, match="'e'"):
        event_views(waveforms, twice, before=5, length=20, features=samples)


def test_a_window_shorter_than_a_sample_is_named():
    waveforms, _ = noise("IS.A..BHZ")
    with pytest.raises(SeismicError, match="no sample in"):
        event_views(waveforms, [picked("e", 30, "IS.A")], before=0, length=0.001, features=samples)


def test_from_the_record_to_an_embedding(record):
    found = detect(record, trigger=StaLta(method="classic"), band=(10, 20), min_stations=2)

    def energy(windows, *, sampling_rate):
        return np.log((windows.reshape(len(windows), 8, -1) ** 2).mean(axis=2))

    seen = event_views(record, found, before=2, length=10, features=energy)
    assert seen.views.n_views == 6
    assert not seen.views.is_complete
    for event, observed in zip(found, seen.views.observed, strict=True):
        saw = {name for name, is_seen in zip(seen.views.names, observed, strict=True) if is_seen}
        assert {".".join(name.split(".")[:2]) for name in saw} == set(event.stations)
    embedding = MultiViewDiffusionMaps(n_components=1).fit_transform(seen.views)
    assert len(embedding) == len(found) == 5
    assert np.isfinite(embedding).all()


def test_without_obspy_the_package_is_imported_and_says_what_is_missing():
    code = """
import sys
sys.modules["obspy"] = None
import viewhop.seismic.events, viewhop.seismic.io
from viewhop.seismic.io import read_waveforms
try:
    read_waveforms("x.mseed")
except ImportError as error:
    assert 'pip install "viewhop[seismic]"' in str(error), error
else:
    raise SystemExit("no error")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
