"""Sources and ground noise, against tensors, models and measured spectra."""

from math import cos, pi, radians, sin, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.signal import welch

from viewhop.seismic._noise import ground_noise, noise_density
from viewhop.seismic._rays import DEAD_SEA
from viewhop.seismic._sources import MEAN_P, Blast, Earthquake, brune, moment, radiation


def contracted(strike, dip, rake, take_off, azimuth):
    """P, SV and SH from the moment tensor of slip in a plane, north–east–down."""
    s, d, r = radians(strike), radians(dip), radians(rake)
    slip = np.array(
        [
            cos(r) * cos(s) + cos(d) * sin(r) * sin(s),
            cos(r) * sin(s) - cos(d) * sin(r) * cos(s),
            -sin(r) * sin(d),
        ]
    )
    normal = np.array([-sin(d) * sin(s), sin(d) * cos(s), -cos(d)])
    tensor = np.outer(slip, normal) + np.outer(normal, slip)
    i, a = take_off, azimuth
    ray = np.array([sin(i) * cos(a), sin(i) * sin(a), cos(i)])
    sv = np.array([cos(i) * cos(a), cos(i) * sin(a), -sin(i)])
    sh = np.array([-sin(a), cos(a), 0])
    return [float(direction @ tensor @ ray) for direction in (ray, sv, sh)]


@given(
    st.floats(0, 360), st.floats(0, 90), st.floats(-180, 180), st.floats(0, pi), st.floats(0, 6.3)
)
def test_patterns_are_those_of_the_moment_tensor(strike, dip, rake, take_off, azimuth):
    found = radiation(strike, dip, rake, take_off=take_off, azimuth=azimuth)
    assert_allclose(found, contracted(strike, dip, rake, take_off, azimuth), atol=1e-12)


def test_an_earthquake_sends_most_where_its_pattern_is_largest():
    event = Earthquake(0, 0, 5, 2.0, 3.0, strike=0, dip=90, rake=0)
    lobe = event.weights(pi / 2, pi / 4, "P")
    node = event.weights(pi / 2, 0.0, "P")
    assert lobe[0] > abs(node[0]) > 0
    assert event.weights(pi / 2, -pi / 4, "P")[0] < 0
    squares = [
        event.weights(np.arccos(z), a, "S")[1] ** 2 + event.weights(np.arccos(z), a, "S")[2] ** 2
        for z in np.linspace(-0.99, 0.99, 100)
        for a in np.linspace(0, 2 * pi, 100, endpoint=False)
    ]
    assert_allclose(np.mean(squares), 2 / 5, rtol=0.01)


def test_the_corner_is_where_half_the_amplitude_is_left():
    f = np.array([0.0, 3.0, 300.0])
    assert_allclose(np.abs(brune(f, 3.0)), [1, 0.5, 1 / (1 + 100**2)], rtol=1e-12)


def test_corner_moment_and_stress_drop_agree_with_brune():
    event = Earthquake(0, 0, 5, 3.0, 10.0, strike=0, dip=90, rake=0)
    radius = 2.34 * 3450 / (2 * pi * event.corner("S"))
    assert_allclose(7 / 16 * moment(3.0) / radius**3, 10e6, rtol=1e-12)
    assert_allclose(moment(3.0), 3.98e13, rtol=1e-3)
    assert_allclose(event.corner("P") / event.corner("S"), 1.23, rtol=1e-12)


@pytest.mark.parametrize(("n_shots", "delay"), [(5, 0.1), (12, 0.025), (1, 0.0)])
def test_equal_delays_scallop_the_spectrum(n_shots, delay):
    blast = Blast(0, 0, 0.02, 2.0, 6.0, tuple(delay * np.arange(n_shots)), 1.0)
    f = np.arange(1, 2000) * 0.01003
    ratio = np.ones_like(f)
    if n_shots > 1:
        ratio = np.abs(np.sin(pi * n_shots * delay * f) / (n_shots * np.sin(pi * delay * f)))
    found = np.abs(blast.comb(f))
    assert_allclose(found, ratio * found[0] / ratio[0], atol=1e-9)
    read = (f > 1) & (f < 8)
    assert_allclose(sqrt(np.mean(found[read] ** 2)), 1, rtol=0.02)


@pytest.mark.parametrize("magnitude", [1.6, 2.0, 2.4])
@pytest.mark.parametrize("n_shots", [1, 10, 40])
def test_a_blast_is_half_a_unit_louder_than_an_earthquake_of_its_magnitude(magnitude, n_shots):
    """Between 1 and 8 Hz, in the mean over the sphere, at the depths of `DEAD_SEA`."""
    f = np.linspace(1, 8, 141)
    above, below = DEAD_SEA.layers[:2]
    sent = []
    for source, layer, mean in (
        (Earthquake(0, 0, 10, magnitude, 2.0, strike=10, dip=80, rake=0), below, MEAN_P),
        (Blast(0, 0, 0.02, magnitude, 6.0, tuple(0.025 * np.arange(n_shots)), 2.3), above, 1.0),
    ):
        level = source.level("P", p_speed=layer.p_speed, s_speed=layer.s_speed, density=2700.0)
        sent.append(
            mean * level * sqrt(np.mean(np.abs(source.pulse(f, "P") * source.comb(f)) ** 2))
        )
    assert 0.39 < np.log10(sent[1] / sent[0]) / 1.5 < 0.52


# --- ground noise ------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "name"), [(0.0, "get_nlnm"), (1.0, "get_nhnm")])
def test_the_ends_of_the_scale_are_the_models_of_peterson(level, name):
    spectral = pytest.importorskip("obspy.signal.spectral_estimation")
    periods, decibels = getattr(spectral, name)()
    heard = periods < 19
    f = 1 / periods[heard]
    found = 10 * np.log10(noise_density(f, level) * (2 * pi * f) ** 2)
    assert_allclose(found, decibels[heard], atol=0.15)


def test_half_the_scale_is_half_the_decibels():
    f = np.array([0.2, 1.0, 5.0, 15.0])
    low, middle, high = (np.log(noise_density(f, level)) for level in (0, 0.5, 1))
    assert_allclose(middle, (low + high) / 2, rtol=1e-12)


def test_noise_has_the_density_it_should():
    rng = np.random.default_rng(0)
    x = ground_noise(400_000, sampling_rate=40.0, level=0.4, rng=rng)
    f, found = welch(x, 40.0, nperseg=2048)
    inner = (f > 0.3) & (f < 19)
    ratio = found[inner] / noise_density(f[inner], 0.4)
    assert_allclose(np.log(ratio).mean(), 0, atol=0.01)
    assert np.abs(np.log(ratio)).max() < 0.5


def test_two_noises_have_nothing_in_common():
    rng = np.random.default_rng(1)
    both = [ground_noise(20_000, sampling_rate=40.0, level=0.4, rng=rng) for _ in range(2)]
    # Microseisms are narrow: some hundred independent values in this time.
    assert abs(np.corrcoef(both)[0, 1]) < 0.2
