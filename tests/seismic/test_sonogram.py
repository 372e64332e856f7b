"""Sonograms, by what the paper says of them and by a plain loop of Fourier transforms."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import chirp, get_window

import viewhop as vh
from viewhop.seismic.sonogram import band_edges, sonogram, spectrogram

RATE = 40.0


@pytest.fixture
def trace():
    """A noise whose loudness changes, with an offset."""
    rng = np.random.default_rng(0)
    return rng.standard_normal(5031) * (1 + np.arange(5031) / 1000) + 30


def looped_densities(x, taper="hann"):
    """One-sided densities (128, frames), window by window, as written in textbooks."""
    weights = get_window(taper, 256)
    columns = []
    for start in range(0, len(x) - 255, 25):
        part = x[start : start + 256]
        spectrum = np.fft.fft((part - part.mean()) * weights)
        power = np.abs(spectrum) ** 2 / (RATE * np.sum(weights**2))
        columns.append([power[k] + (power[256 - k] if k < 128 else 0) for k in range(1, 129)])
    return np.array(columns).T


def last_bins(n_bands):
    """The last bin of each band, read from the edges."""
    return np.rint(band_edges(n_bands) * 256 / RATE - 0.5).astype(int)


def test_5031_samples_have_192_frames_and_128_frequencies(trace):
    assert spectrogram(trace, sampling_rate=40).shape == (128, 192)
    assert vh.seismic.sonogram.sonogram(trace, sampling_rate=40).shape == (14, 192)


@pytest.mark.parametrize(("n_samples", "n_frames"), [(256, 1), (280, 1), (281, 2), (5030, 191)])
def test_only_whole_windows_are_frames(trace, n_samples, n_frames):
    assert sonogram(trace[:n_samples], sampling_rate=40).shape == (14, n_frames)


@pytest.mark.parametrize("taper", ["hann", "boxcar"])
def test_densities_are_those_of_a_plain_loop(trace, taper):
    found = spectrogram(trace, sampling_rate=40, taper=taper)
    assert_allclose(found, looped_densities(trace, taper), rtol=1e-9, atol=1e-12)


def test_densities_without_taper_add_up_to_the_variance(trace):
    found = spectrogram(trace, sampling_rate=40, taper="boxcar").sum(axis=0) * RATE / 256
    expected = [trace[start : start + 256].var() for start in range(0, 4776, 25)]
    assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("n_bands", [1, 5, 14, 60, 128])
def test_bands_are_normalised_sums_of_frequencies(trace, n_bands):
    power, bins = looped_densities(trace), last_bins(n_bands)
    expected = np.array([power[low:high].sum(axis=0) for low, high in pairwise(bins)])
    expected /= expected.sum(axis=1, keepdims=True)
    found = sonogram(trace, sampling_rate=40, n_bands=n_bands)
    assert_allclose(found, expected, rtol=1e-9)
    assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-12)


@given(st.integers(1, 128))
def test_every_frequency_is_in_one_band_and_no_band_is_empty(n_bands):
    bins = last_bins(n_bands)
    assert len(bins) == n_bands + 1
    assert (bins[0], bins[-1]) == (0, 128)
    assert (np.diff(bins) >= 1).all()


def test_fourteen_bands_are_half_octaves():
    edges = last_bins(14)[1:]
    assert_array_equal(edges, np.rint(2 ** (np.arange(1, 15) / 2)))


@given(st.integers(1, 128))
def test_high_bands_keep_the_tempered_scale(n_bands):
    bins = last_bins(n_bands)
    ideal = 128 ** (np.arange(n_bands + 1) / n_bands)
    # Once a step is two bins wide, only rounding to whole bins is left.
    wide = np.flatnonzero(np.diff(ideal, prepend=0) > 2)
    late = wide[ideal[wide] > wide + 1]
    assert (np.abs(bins[late] - ideal[late]) <= 0.5).all()


def test_low_frequencies_can_be_left_out(trace):
    edges = band_edges(10, lowest_frequency=0.625)
    assert_allclose(edges[[0, -1]], [3.5 * RATE / 256, 128.5 * RATE / 256], rtol=1e-15)
    found = sonogram(trace, sampling_rate=40, n_bands=10, lowest_frequency=0.625)
    bins = np.rint(edges * 256 / RATE - 0.5).astype(int)
    power = looped_densities(trace)
    expected = np.array([power[low:high].sum(axis=0) for low, high in pairwise(bins)])
    assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)


def test_a_chirp_moves_through_the_bands_in_order():
    t = np.arange(8000) / RATE
    S = sonogram(chirp(t, 0.2, t[-1], 19.5, method="logarithmic"), sampling_rate=40)
    loudest = S.argmax(axis=1)
    assert (np.diff(loudest) > 0).all()
    # A logarithmic chirp takes as long for every octave.
    assert_allclose(np.diff(loudest[4:]), np.diff(loudest[4:]).mean(), rtol=0.25)


@pytest.mark.parametrize("scale", [-1.0, 2.0**-900, 1e-30, 1e200])
def test_a_sonogram_has_no_units(trace, scale):
    expected = sonogram(trace, sampling_rate=40)
    assert_allclose(sonogram(scale * trace, sampling_rate=40), expected, rtol=1e-9)
    assert_allclose(sonogram(trace - 30, sampling_rate=40), expected, rtol=1e-9)


@pytest.mark.parametrize("sampling_rate", [40, 100])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-6), (np.float64, 1e-13)])
def test_a_batch_is_its_traces_one_by_one(dtype, rtol, sampling_rate):
    traces = np.random.default_rng(1).standard_normal((40, 3, 2500)).astype(dtype)
    batch = sonogram(traces, sampling_rate=sampling_rate)
    assert batch.dtype == dtype
    assert batch.shape[:3] == (40, 3, 14)
    for event in (0, 17, 39):
        for channel in range(3):
            single = sonogram(traces[event, channel], sampling_rate=sampling_rate)
            assert_allclose(batch[event, channel], single, rtol=rtol)


def test_counts_are_numbers_too(trace):
    counts = np.rint(100 * trace).astype(np.int32)
    found = sonogram(counts, sampling_rate=40)
    assert found.dtype == np.float64
    assert_allclose(found, sonogram(counts.astype(float), sampling_rate=40), rtol=0, atol=0)


def test_inputs_are_not_written_to(trace):
    before = trace.copy()
    sonogram(trace, sampling_rate=100)
    assert_array_equal(trace, before)


# --- resampling --------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling_rate", [50.0, 80, 100, 125, 200.0, 100 / 3])
def test_a_record_at_another_rate_is_resampled(sampling_rate):
    def sines(t):
        return np.sin(2 * np.pi * 1.3 * t) * np.exp(-t / 30) + np.sin(2 * np.pi * 6.1 * t)

    n_samples = int(125.775 * sampling_rate)
    found = spectrogram(sines(np.arange(n_samples) / sampling_rate), sampling_rate=sampling_rate)
    expected = spectrogram(sines(np.arange(5031) / RATE), sampling_rate=40)
    assert abs(found.shape[1] - 192) <= 1
    inner = slice(5, 180)  # the filter has no samples beyond the ends
    peak = expected.max()
    assert_allclose(found[:, inner], expected[:, inner], rtol=0, atol=2e-3 * peak)


def test_nothing_is_aliased():
    t = np.arange(12578) / 100
    low = np.sin(2 * np.pi * 3 * t)
    found = spectrogram(low + 5 * np.sin(2 * np.pi * 31 * t), sampling_rate=100)
    expected = spectrogram(low, sampling_rate=100)
    assert_allclose(found, expected, rtol=0, atol=1e-3 * expected.max())


def test_bands_above_what_was_recorded_are_silent():
    record = np.random.default_rng(0).standard_normal(2516)
    S = sonogram(record, sampling_rate=20)
    assert S.shape == (14, 192)
    assert_allclose(S[12:], 1 / 192, rtol=1e-12)
    assert (S[:12].std(axis=1) > 1e-4).all()


@pytest.mark.parametrize("rate", [39.9731, 40.03, 99.998, 100.00005])
def test_a_clock_that_is_off_keeps_time(rate):
    """A burst in the last minute of an hour is in the frame that it should be in."""
    at = 3570.0
    time = np.arange(round(3600 * rate)) / rate
    burst = np.exp(-((time - at) ** 2)) * np.sin(2 * np.pi * 3 * time)
    S = sonogram(burst + 1e-6 * np.random.default_rng(0).normal(size=time.size), sampling_rate=rate)
    middle = (S[9].argmax() * 25 + 128) / 40
    assert abs(middle - at) < 0.7


def test_a_clock_that_would_be_off_by_half_a_frame_is_refused():
    # In a day, a rate of 40.0002 Hz, for which no ratio is better than 1, runs away by 17 samples.
    day = np.random.default_rng(0).normal(size=3_456_017)
    assert sonogram(day[:500_000], sampling_rate=40.0002).shape[0] == 14
    with pytest.raises(ValueError, match=r"cannot resample from 40\.0002 to 40 Hz"):
        sonogram(day, sampling_rate=40.0002)


def test_rates_without_a_ratio_of_integers_are_refused():
    with pytest.raises(ValueError, match=r"cannot resample from 500000 to 40"):
        sonogram(np.ones(5031), sampling_rate=500e3)


def test_long_traces_are_taken_in_parts(monkeypatch):
    trace = np.random.default_rng(0).normal(size=(2, 20_000))
    whole = sonogram(trace, sampling_rate=40), spectrogram(trace, sampling_rate=40)
    # Seven frames at a time: a number that does not divide theirs.
    monkeypatch.setattr("viewhop.seismic.sonogram._BLOCK", 7 * 16 * 256)
    parts = sonogram(trace, sampling_rate=40), spectrogram(trace, sampling_rate=40)
    for found, expected in zip(parts, whole, strict=True):
        assert_allclose(found, expected, rtol=1e-13)


# --- what has no energy, and what is wrong -----------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 7.3e5])
def test_a_silent_trace_has_the_same_share_in_every_frame(value):
    S = sonogram(np.full(5031, value), sampling_rate=40)
    assert_allclose(S, 1 / 192, rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named(trace, bad):
    trace[[70, 90]] = bad
    with pytest.raises(ValueError, match="at sample 70; fill"):
        sonogram(trace, sampling_rate=40)
    with pytest.raises(ValueError, match="at sample 70 of trace 1;"):
        sonogram(np.stack([np.zeros(5031), trace]), sampling_rate=40)


def test_a_trace_shorter_than_a_window_is_refused():
    with pytest.raises(ValueError, match=r"got 200 \(500 at 100 Hz\)"):
        sonogram(np.ones(500), sampling_rate=100)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sampling_rate": 0}, "sampling_rate must be a positive number, got 0"),
        ({"sampling_rate": np.nan}, "sampling_rate must be a positive number"),
        ({"rate": -1.0}, "rate must be a positive number"),
        ({"n_bands": 129}, "between 1 and the number of frequencies 128, got 129"),
        ({"n_bands": 2.5}, "n_bands must be an integer"),
        ({"window": 255}, "window must be an even number"),
        ({"overlap": 1.0}, r"overlap must be in \[0, 1\)"),
        ({"overlap": 0.999}, "leaves no shift"),
        ({"lowest_frequency": 21}, "at most half the rate, 20 Hz, got 21"),
        ({"lowest_frequency": -0.5}, "lowest_frequency must be a positive number"),
    ],
)
def test_wrong_parameters_are_named(trace, change, message):
    with pytest.raises(ValueError, match=message):
        sonogram(trace, **{"sampling_rate": 40, **change})


@pytest.mark.parametrize("waveform", [3.0, [], ["a"], np.ones(300, complex), np.ones((0, 300))])
def test_what_is_no_waveform_is_refused(waveform):
    with pytest.raises(ValueError, match="waveform must be an array of numbers"):
        sonogram(waveform, sampling_rate=40)
