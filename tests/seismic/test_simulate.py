"""Simulated records: what was put in is read back from the traces."""

from dataclasses import replace
from math import hypot, pi

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import curve_fit
from scipy.signal import butter, hilbert, sosfiltfilt

from viewhop.seismic import (
    DEAD_SEA,
    NORTH,
    QUARRIES,
    SOUTH,
    Blast,
    Earthquake,
    Medium,
    Resonance,
    Station,
    arrivals,
    draw_blast,
    draw_earthquake,
    make_events,
    make_quarry_blasts,
    seismogram,
)

RATE, N = 40.0, 5031
TIME = np.arange(N) / RATE
#: A station and a medium that leave the source as it is.
CLEAR = Station("CLEAR", 0.0, 0.0, kappa=0.0)
#: With losses as under any station, but the same for every component.
PLAIN = replace(CLEAR, kappa=0.03)
STILL = Medium(q=1e9, forward=0.0, coda=0.0)
QUAKE = Earthquake(30.0, 80.0, 10.0, 3.0, 2.0, strike=10, dip=80, rake=5)
BLAST = Blast(10.0, 70.0, 0.02, 2.2, 6.0, (0.0,), s_ratio=1.0)


def quiet(event, station=CLEAR, seed=0, **settings):
    """A seismogram without noise."""
    return seismogram(event, station, rng=np.random.default_rng(seed), noise=0.0, **settings)


def first_above(trace, level):
    """The time at which a trace first exceeds a share of its largest value."""
    return TIME[np.flatnonzero(np.abs(trace) > level * np.abs(trace).max())[0]]


def rotated(traces, event, station):
    """Radial and transverse motion."""
    east, north = station.east - event.east, station.north - event.north
    east, north = east / hypot(east, north), north / hypot(east, north)
    return traces[1] * north + traces[2] * east, traces[2] * north - traces[1] * east


# --- orientation and paths ----------------------------------------------------------------------


@pytest.mark.parametrize("event", [QUAKE, BLAST])
def test_a_turned_sensor_sees_the_same_motion_along_turned_axes(event):
    turn = np.deg2rad(30.0)
    up, north, east = quiet(event, PLAIN)
    turned = quiet(event, replace(PLAIN, orientation=30.0))
    assert_allclose(turned[0], up, rtol=0, atol=1e-12 * np.abs(up).max())
    along = north * np.cos(turn) + east * np.sin(turn)
    across = east * np.cos(turn) - north * np.sin(turn)
    assert_allclose(turned[1], along, rtol=0, atol=1e-9 * np.abs(north).max())
    assert_allclose(turned[2], across, rtol=0, atol=1e-9 * np.abs(north).max())


def test_blasts_of_a_cluster_share_no_path():
    pits = replace(QUARRIES[0], path=None)
    blast = draw_blast(pits, np.random.default_rng(0))
    assert blast.path is None
    # Same source, other scattering: without a path nothing of the coda is common.
    parts = [quiet(replace(blast, path=path), seed=s) for path in (None, 1) for s in (1, 2)]
    tail = slice(3200, None)
    alone, together = (np.corrcoef(parts[k][0, tail], parts[k + 1][0, tail])[0, 1] for k in (0, 2))
    assert abs(alone) < 0.15
    assert together > 0.3


# --- arrivals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("event", [QUAKE, BLAST], ids=["earthquake", "blast"])
@pytest.mark.parametrize("onset", [20.0, 33.37])
def test_the_first_motion_is_at_the_onset(event, onset):
    x = quiet(event, PLAIN, medium=STILL, onset=onset)
    # A filter without delay, as digitisers have, rings by less than 5 % before a sharp onset.
    assert abs(first_above(x[0] * (onset + 5 > TIME), 0.05) - onset) < 0.1


@pytest.mark.parametrize("station", [SOUTH, NORTH], ids=["SOUTH", "NORTH"])
@pytest.mark.parametrize("event", [QUAKE, BLAST], ids=["earthquake", "blast"])
def test_p_and_s_are_as_far_apart_as_the_layers_say(event, station):
    station = replace(PLAIN, east=station.east, north=station.north)
    found = arrivals(event, station)
    x = quiet(event, station, medium=STILL)
    _, transverse = rotated(x, event, station)
    gap = found["S"][0].time - found["P"][0].time
    # P does not move the ground across its path, so what does is S; Rg neither.
    assert abs(first_above(transverse, 0.02) - (20 + gap)) < 0.15
    assert abs(first_above(x[0], 0.02) - 20) < 0.15


def test_arrivals_are_seen_with_scattering_and_noise():
    x = seismogram(QUAKE, SOUTH, rng=np.random.default_rng(0))
    sos = butter(4, 2, "high", fs=RATE, output="sos")
    energy = (sosfiltfilt(sos, x, axis=1) ** 2).sum(axis=0)
    gap = arrivals(QUAKE, SOUTH)["S"][0].time - arrivals(QUAKE, SOUTH)["P"][0].time
    for time in (20.0, 20.0 + gap):
        before = energy[(time - 2.2 < TIME) & (time - 0.2 > TIME)].mean()
        after = energy[(time < TIME) & (time + 2 > TIME)].mean()
        assert after > 10 * before


def test_p_moves_along_the_path_and_upwards():
    x = quiet(BLAST, medium=STILL)
    radial, transverse = rotated(x, BLAST, CLEAR)
    early = (TIME > 19.8) & (TIME < 22)
    assert np.abs(transverse[early]).max() < 1e-3 * np.abs(x[0][early]).max()
    ray = arrivals(BLAST, CLEAR)["P"][0]
    first = np.argmax(np.abs(x[0][early]))
    assert_allclose(radial[early][first] / x[0][early][first], np.tan(ray.incidence), rtol=0.05)


def test_amplitudes_fall_with_distance():
    peaks = []
    for distance in (70.0, 140.0):
        event = replace(BLAST, east=0.0, north=distance, rg_ratio=0.0, s_ratio=0.0)
        x = quiet(event, medium=STILL)
        peaks.append(np.abs(x[:, (TIME > 19.9) & (TIME < 20.3)]).max())
    assert_allclose(peaks[0] / peaks[1], 2, rtol=0.02)


# --- sources -----------------------------------------------------------------------------------


def fitted_corner(f, amplitude):
    """The corner of the velocity spectrum A f / (1 + (f / fc)²)."""

    def model(f, level, corner):
        return level + np.log(f / (1 + (f / corner) ** 2))

    (_, corner), _ = curve_fit(model, f, np.log(amplitude), p0=(0.0, 4.0))
    return corner


@pytest.mark.parametrize("stress_drop", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("wave", ["P", "S"])
def test_the_corner_frequency_is_read_back(stress_drop, wave):
    event = replace(QUAKE, stress_drop=stress_drop, rg_ratio=0.0)
    # One layer has one ray: without it, rays of several layers beat in the spectrum.
    one = replace(DEAD_SEA, layers=(replace(DEAD_SEA.layers[1], top=0.0),))
    x = quiet(event, medium=STILL, crust=one)
    radial, transverse = rotated(x, event, CLEAR)
    gap = arrivals(event, CLEAR, crust=one)["S"][0].time
    gap -= arrivals(event, CLEAR, crust=one)["P"][0].time
    start = 19.5 if wave == "P" else 19.5 + gap
    window = (start < TIME) & (start + min(gap, 6.4) > TIME)
    trace = x[0] if wave == "P" else transverse
    spectrum = np.abs(np.fft.rfft(trace[window], 512))
    f = np.fft.rfftfreq(512, 1 / RATE)
    inner = (f > 0.8) & (f < 15)
    assert_allclose(fitted_corner(f[inner], spectrum[inner]), event.corner(wave), rtol=0.05)
    assert radial.std() > 0


def test_the_corner_frequency_is_read_back_through_losses_and_coda():
    event = replace(QUAKE, stress_drop=1.0)
    spectra = []
    for seed in range(40):
        x = quiet(event, SOUTH, seed=seed)
        gap = arrivals(event, SOUTH)["S"][0].time - arrivals(event, SOUTH)["P"][0].time
        window = (19.5 + gap < TIME) & (35.5 + gap > TIME)
        spectra.append(np.abs(np.fft.rfft(x[1][window], 1024)) ** 2)
    f = np.fft.rfftfreq(1024, 1 / RATE)
    inner = (f > 1) & (f < 14)
    amplitude = np.sqrt(np.mean(spectra, axis=0)) / np.abs(SOUTH.response(f)[1])
    assert_allclose(fitted_corner(f[inner], amplitude[inner]), event.corner("S"), rtol=0.15)


def fitted_delay(traces):
    """The delay of two shots whose scallops, on a smooth spectrum, fit several traces best."""
    f = np.fft.rfftfreq(4 * N, 1 / RATE)
    inner = (f > 1) & (f < 15)
    level = np.log((np.abs(np.fft.rfft(traces, 4 * N)) ** 2).mean(axis=0)[inner])
    f = f[inner]
    delays = np.arange(0.045, 0.4, 0.001)
    smooth = np.vander(f / 15, 4)
    left = []
    for delay in delays:
        model = np.column_stack([smooth, np.log(np.cos(pi * f * delay) ** 2 + 0.01)])
        found = np.linalg.lstsq(model, level, rcond=None)[0]
        left.append(((level - model @ found) ** 2).sum())
    return delays[np.argmin(left)]


@pytest.mark.parametrize("delay", [0.08, 0.125, 0.2])
@pytest.mark.parametrize(("start", "stop"), [(19, 24), (30, 36), (50, 80)], ids=["P", "S", "coda"])
def test_the_delay_of_ripple_fire_is_read_back_from_every_phase(delay, start, stop):
    blast = replace(BLAST, shots=(0.0, delay))
    window = (start < TIME) & (stop > TIME)
    traces = np.concatenate([quiet(blast, SOUTH, seed=k)[:, window] for k in range(8)])
    assert_allclose(fitted_delay(traces * np.hanning(window.sum())), delay, atol=0.004)


def test_many_shots_scallop_the_spectrum_at_multiples_of_the_rate():
    shots = tuple(0.125 * np.arange(6))
    combed, single = (
        sum(np.abs(np.fft.rfft(quiet(replace(BLAST, shots=s), SOUTH, seed=k)[0])) ** 2
            for k in range(5))
        for s in (shots, (0.0,))
    )  # fmt: skip
    f = np.fft.rfftfreq(N, 1 / RATE)
    ratio = np.sqrt(combed / single)

    def near(frequency):
        return ratio[np.abs(f - frequency) < 0.1].mean()

    for top in (8.0, 16.0):
        for zero in (top - 4 / 3, top + 4 / 3):
            assert near(top) > 20 * near(zero)


def test_blasts_have_weak_s():
    f = np.fft.rfftfreq(256, 1 / RATE)
    inner = (f > 1) & (f < 18)

    def spectrum(trace, start):
        first = int(start * RATE)
        return np.abs(np.fft.rfft(trace[first : first + 256] * np.hanning(256)))[inner]

    def p_over_s(event):
        x = quiet(event, SOUTH, seed=rng.integers(1000))
        gap = arrivals(event, SOUTH)["S"][0].time - arrivals(event, SOUTH)["P"][0].time
        return np.log(spectrum(x[0], 19.5) / spectrum(x[0], 19.5 + gap)).mean()

    # Kim et al. (1993) measured 0.5 for earthquakes and 1.25 for explosions.
    rng = np.random.default_rng(0)
    quakes = np.exp(np.mean([p_over_s(draw_earthquake(rng)) for _ in range(25)]))
    blasts = np.exp(np.mean([p_over_s(draw_blast(quarry, rng)) for quarry in QUARRIES * 5]))
    assert_allclose([quakes, blasts], [0.5, 1.25], rtol=0.3)


# --- what follows ------------------------------------------------------------------------------


def test_the_coda_decays_as_it_should():
    medium = Medium(forward=0.0, coda=3.0)
    energy = np.zeros(N)
    for seed in range(60):
        x = quiet(replace(QUAKE, rg_ratio=0.0), CLEAR, seed=seed, medium=medium)
        sos = butter(3, (3, 6), "band", fs=RATE, output="sos")
        energy += (sosfiltfilt(sos, x, axis=1) ** 2).sum(axis=0)
    travel = arrivals(QUAKE, CLEAR)
    lapse = TIME - 20 + travel["P"][0].time
    late = (lapse > travel["S"][0].time + 5) & (TIME < 110)
    found = np.polyfit(lapse[late], np.log(energy[late] * lapse[late] ** 2), 1)[0]
    f = 4.2
    assert_allclose(found, -2 * pi * f / (65 * f**1.05), rtol=0.08)


@pytest.mark.parametrize("frequency", [0.6, 1.0, 1.8])
def test_the_surface_wave_comes_at_its_group_velocity(frequency):
    event = replace(BLAST, rg_ratio=300.0, rg_fast=2.8, rg_slow=1.6)
    x = quiet(event, medium=STILL)
    band = (0.9 * frequency, 1.1 * frequency)
    sos = butter(2, band, "band", fs=RATE, output="sos")
    envelope = np.abs(hilbert(sosfiltfilt(sos, x[0])))
    travel = arrivals(event, CLEAR)["P"][0].time
    distance = hypot(event.east, event.north)
    found = distance / (TIME[envelope.argmax()] - 20 + travel)
    place = np.log(frequency / 0.4) / np.log(2.5 / 0.4)
    assert_allclose(found, 2.8 - 1.2 * place, rtol=0.03)


def test_deep_sources_have_no_surface_wave():
    shallow, deep = (
        quiet(replace(QUAKE, depth=depth, rg_ratio=100.0), medium=STILL)
        - quiet(replace(QUAKE, depth=depth, rg_ratio=0.0), medium=STILL)
        for depth in (0.02, 6.0)
    )
    assert np.abs(deep).max() < 1e-3 * np.abs(shallow).max()


def test_the_surface_wave_is_elliptic():
    # A quarter of a period between vertical and radial motion: their product has no mean.
    event = replace(BLAST, east=0.0, rg_ratio=300.0)
    x = quiet(event, medium=STILL)
    turned = np.imag(hilbert(x[0]))
    straight, shifted = np.corrcoef(x[0], x[1])[0, 1], np.corrcoef(turned, x[1])[0, 1]
    assert abs(straight) < 0.05
    assert abs(shifted) > 0.95


def test_the_site_shapes_the_spectrum_of_its_component():
    resonant = replace(CLEAR, kappa=0.04, resonances=((Resonance(5.0, 3.0),), (), ()))
    spectra = [np.abs(np.fft.rfft(quiet(QUAKE, s), axis=1)) for s in (resonant, CLEAR)]
    f = np.fft.rfftfreq(N, 1 / RATE)
    ratio = [
        np.median((spectra[0] / spectra[1])[:, np.abs(f - g) < 0.2], axis=1) for g in (2, 5, 10)
    ]
    loss = np.exp(-pi * 0.04 * np.array([2, 5, 10]))
    assert_allclose([row[1] for row in ratio], loss, rtol=0.05)
    assert_allclose(ratio[1][0], 4 * loss[1], rtol=0.1)


def test_a_resonance_rings_after_the_arrival_only():
    f = np.fft.rfftfreq(4096, 1 / RATE)
    ringing = np.fft.irfft(Resonance(3.0, 2.0, quality=10).response(f) * np.exp(-((f / 8) ** 2)))
    early, late = np.abs(ringing[-400:-20]).max(), np.abs(ringing[20:400]).max()
    assert early < 1e-3 * late


# --- chance ------------------------------------------------------------------------------------


def test_noise_only_scales_what_is_added():
    none, one, two = (
        seismogram(QUAKE, SOUTH, rng=np.random.default_rng(5), noise=noise)
        for noise in (0.0, 1.0, 2.0)
    )
    assert np.abs(one - none).max() > 0
    assert_allclose(two - none, 2 * (one - none), rtol=0, atol=1e-9 * np.abs(two).max())


def test_blasts_of_one_quarry_share_part_of_their_coda():
    def coda(path, seed):
        x = quiet(replace(BLAST, path=path, rg_ratio=0.0), SOUTH, seed=seed)
        return x[0][(TIME > 40) & (TIME < 80)]

    def alike(one, other):
        return np.corrcoef(one, other)[0, 1]

    assert alike(coda(1, 0), coda(1, 1)) > 0.3
    assert abs(alike(coda(1, 0), coda(2, 1))) < 0.2
    assert abs(alike(coda(None, 0), coda(None, 1))) < 0.2


def test_the_same_seed_gives_the_same_bits():
    one, same, other = (make_events(1, 1, random_state=seed) for seed in (3, 3, 4))
    assert_array_equal(one.waveforms, same.waveforms)
    assert np.abs(one.waveforms - other.waveforms).max() > 0


def test_a_generator_gives_new_events_each_time():
    rng = np.random.default_rng(0)
    one, other = (make_quarry_blasts(1, random_state=rng) for _ in range(2))
    assert np.abs(one.waveforms - other.waveforms).max() > 0


def test_the_same_events_are_made_at_every_noise():
    quiet_events, loud = (make_events(1, 1, noise=n, random_state=0) for n in (0.0, 10.0))
    assert quiet_events.catalogue.equals(loud.catalogue)
    first, more = (make_quarry_blasts(n, random_state=0).waveforms for n in (1, 3))
    assert_array_equal(first[0], more[0])


# --- the two sets ------------------------------------------------------------------------------


def test_the_sets_have_the_counts_of_the_paper():
    import inspect

    events = inspect.signature(make_events).parameters
    assert (events["n_earthquakes"].default, events["n_blasts"].default) == (46, 62)
    assert inspect.signature(make_quarry_blasts).parameters["n_blasts"].default == 602
    assert len(events["stations"].default) == 2
    assert len(QUARRIES) == 5
    far = [hypot(quarry.east, quarry.north) for quarry in QUARRIES]
    assert 50 <= min(far) <= max(far) <= 130


def test_events_come_with_channels_targets_and_a_catalogue():
    events = make_events(3, 7, random_state=0)
    assert events.waveforms.shape == (10, 6, 5031)
    assert events.channels == [f"{s}.{c}" for s in ("SOUTH", "NORTH") for c in "ZNE"]
    assert events.sampling_rate == 40
    assert_array_equal(events.target, [0] * 3 + [1] * 7)
    assert events.target_names == ["earthquake", "blast"]
    table = events.catalogue
    assert table["id"].is_unique
    assert table["quarry"].tolist()[3:] == ["Q1", "Q2", "Q3", "Q4", "Q5", "Q1", "Q2"]
    assert table["quarry"][:3].isna().all()
    assert "imulated" in events.DESCR
    assert np.isfinite(events.waveforms).all()


def test_the_catalogue_has_the_true_times():
    events = make_quarry_blasts(5, noise=0.0, pick_error=1.0, random_state=2)
    assert events.catalogue["SOUTH.p"].std() > 0.2
    for row, traces in zip(events.catalogue.to_dict("records"), events.waveforms, strict=True):
        assert abs(first_above(traces[0], 0.02) - row["SOUTH.p"]) < 0.4
        assert row["SOUTH.s"] - row["SOUTH.p"] > 0.08 * row["SOUTH.distance"]


def test_picks_without_error_are_at_20_s():
    events = make_events(1, 1, pick_error=0.0, random_state=0)
    assert_allclose(events.catalogue[["SOUTH.p", "NORTH.p"]], 20, rtol=1e-15)


def test_magnitudes_follow_their_law():
    rng = np.random.default_rng(0)
    magnitudes = np.array([draw_earthquake(rng).magnitude for _ in range(4000)])
    assert 1.6 <= magnitudes.min() <= magnitudes.max() <= 3.2
    ratio = (magnitudes > 2.1).mean() / (magnitudes > 2.6).mean()
    expected = (10 ** (-0.93 * 0.5) - 10 ** (-0.93 * 1.6)) / (10**-0.93 - 10 ** (-0.93 * 1.6))
    assert_allclose(ratio, expected, rtol=0.1)


def test_draws_are_in_the_ranges_of_the_documentation():
    """docs/seismic.md has the table."""
    rng = np.random.default_rng(0)
    quakes = [draw_earthquake(rng) for _ in range(2000)]
    for name, low, high in (
        ("depth", 3, 22),
        ("magnitude", 1.6, 3.2),
        ("stress_drop", 0.3, 10),
        ("corner_ratio", 1.1, 1.4),
        ("north", 30, 170),
        ("east", 35, 55),
    ):
        values = np.array([getattr(each, name) for each in quakes])
        assert low <= values.min() < low + 0.05 * (high - low)
        assert high - 0.1 * (high - low) < values.max() <= high
    for name, mean, sd in (("strike", 10, 20), ("rake", 0, 25)):
        values = np.array([getattr(each, name) for each in quakes])
        assert_allclose([values.mean(), values.std()], [mean, sd], rtol=0.1, atol=2)
    quarry = QUARRIES[1]
    blasts = [draw_blast(quarry, rng) for _ in range(2000)]
    for name, low, high in (
        ("depth", 0.01, 0.03),
        ("corner_frequency", 0.75 * quarry.corner_frequency, 1.25 * quarry.corner_frequency),
        ("corner_ratio", 1.6, 2.1),
    ):
        values = np.array([getattr(each, name) for each in blasts])
        assert low <= values.min() < low + 0.05 * (high - low)
        assert high - 0.05 * (high - low) < values.max() <= high
    magnitudes = np.array([each.magnitude for each in blasts])
    assert_allclose([magnitudes.mean(), magnitudes.std()], [quarry.magnitude, 0.25], rtol=0.05)
    assert 1.4 <= magnitudes.min() < magnitudes.max() <= 2.8
    for name in ("s_ratio", "rg_ratio"):
        factors = np.array([getattr(each, name) for each in blasts]) / getattr(quarry, name)
        # A factor of 1.3 per blast, up or down.
        assert_allclose(np.exp(np.log(factors).std()), 1.3, atol=0.04)
        assert_allclose(np.exp(np.log(factors).mean()), 1.0, atol=0.03)
    counts = np.array([len(each.shots) for each in blasts])
    assert 0.5 * 32 < counts.min() < counts.max() < 1.6 * 32


def test_quarries_blast_in_their_own_pattern():
    rng = np.random.default_rng(0)
    for quarry in QUARRIES:
        counts = {len(draw_blast(quarry, rng).shots) for _ in range(30)}
        assert len(counts) > 1
        assert 0.5 <= np.mean(list(counts)) / (quarry.rows * quarry.holes) <= 1.5
        assert all(draw_blast(quarry, rng).shots[0] == 0 for _ in range(3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_earthquakes": -1}, "n_earthquakes must be a non-negative integer, got -1"),
        ({"n_blasts": 1.5}, "n_blasts must be a non-negative integer"),
        ({"noise": -0.1}, "noise must be a finite non-negative number"),
        ({"pick_error": np.nan}, "pick_error must be a finite non-negative number"),
        ({"stations": ()}, "at least one station"),
        ({"quarries": ()}, "one quarry for blasts"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        make_events(**{"n_earthquakes": 1, "n_blasts": 1, **settings})
