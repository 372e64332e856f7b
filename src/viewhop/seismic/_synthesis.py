"""Synthetic seismograms: ground velocity of one source on three components of a station."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, radians, sin, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len

from viewhop.seismic._noise import ground_noise
from viewhop.seismic._rays import DEAD_SEA, Crust, Ray, Wave, rays
from viewhop.seismic._scattering import Medium, Scattering
from viewhop.seismic._sources import Blast, Earthquake
from viewhop.seismic._stations import Station

__all__ = ["arrivals", "seismogram"]

Real = NDArray[np.floating]
Complex = NDArray[np.complexfloating]

#: Amplitude ratio of the radial to the vertical part of the surface wave, a quarter period apart.
_ELLIPTICITY = 0.7
#: Share of the scattered P and S waves that keeps the direction of the direct wave.
_POLARISED = 0.7


def arrivals(
    event: Earthquake | Blast, station: Station, *, crust: Crust = DEAD_SEA
) -> dict[Wave, list[Ray]]:
    """P and S rays from an event to a station, each list earliest first."""
    distance, _ = _distance_and_azimuth(event, station)
    return {
        wave: rays(crust, wave=wave, distance=distance, depth=event.depth) for wave in ("P", "S")
    }


def seismogram(
    event: Earthquake | Blast,
    station: Station,
    *,
    rng: np.random.Generator,
    onset: float = 20.0,
    noise: float = 1.0,
    n_samples: int = 5031,
    sampling_rate: float = 40.0,
    crust: Crust = DEAD_SEA,
    medium: Medium | None = None,
) -> Real:
    """Ground velocity in m/s on the components Z, N and E, (3, n_samples).

    Parameters
    ----------
    event : Earthquake or Blast
        The source.
    station : Station
        The recording station.
    rng : Generator
        For scattering and noise. Noise is drawn last and independently of `noise`, so that the
        same seed gives the same event at every noise level.
    onset : float
        Seconds from the first sample to the first P arrival.
    noise : float
        Scale of the ground noise; 0 for none.
    n_samples : int
        Samples per component.
    sampling_rate : float
        Samples per second.
    crust : Crust
        Layers and their speeds.
    medium : Medium or None
        Attenuation and scattering; None uses the defaults.

    Returns
    -------
    (3, n_samples) array

    Notes
    -----
    Far-field displacement spectra of a point source, 2 M_0 F / (4 π ρ v³ R) times the source
    pulse, with radiation pattern F, hypocentral distance R, and 2 for the free surface; times the
    losses along the path and below the station; times i 2π f for velocity. Each ray contributes an
    impulse followed by random scattered ones. Losses have no dispersion. The highest fifth of the
    frequencies is tapered to zero like a digitiser's filter, without delay.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic import Earthquake, Station, seismogram
    >>> event = Earthquake(0, 60, 10, 2.5, stress_drop=3, strike=10, dip=80, rake=0)
    >>> seismogram(event, Station("A", 0, 0), rng=np.random.default_rng(0)).shape
    (3, 5031)
    """
    medium = medium or Medium()
    by_wave = arrivals(event, station, crust=crust)
    distance, azimuth = _distance_and_azimuth(event, station)
    start = by_wave["P"][0].time - onset
    # Long enough that no arrival wraps around from the end to the beginning.
    latest = max(by_wave["S"][-1].time, distance / event.rg_slow) - start
    length = next_fast_len(n_samples + max(n_samples, int(latest * sampling_rate) + 1), real=True)
    frequencies = np.fft.rfftfreq(length, 1 / sampling_rate)
    to_velocity = 2j * pi * frequencies * _anti_alias(frequencies, sampling_rate)
    response = to_velocity * station.response(frequencies)
    scattering = Scattering(event, station, medium, rng, n_samples, sampling_rate, length)
    layer = crust.layers[crust.layer_at(event.depth)]
    # Vertical, radial and transverse.
    along = _surface_wave(event, distance, layer.p_speed, start, frequencies, medium, scattering)
    for wave in ("P", "S"):
        level = 2 * event.level(
            wave, p_speed=layer.p_speed, s_speed=layer.s_speed, density=medium.density
        )
        level /= 1e3 * hypot(distance, event.depth)
        green = _body_waves(
            by_wave[wave], event, azimuth, crust, start, frequencies, medium, scattering
        )
        along = along + level * event.pulse(frequencies, wave) * green
    # Ripple fire modulates every phase alike (Baumgardt and Ziegler 1988).
    turned = _rotate_to_zne(along * event.comb(frequencies), azimuth - radians(station.orientation))
    quiet = irfft(turned * response, length, axis=-1)[:, :n_samples] * sampling_rate
    spoilt = [
        ground_noise(n_samples, sampling_rate=sampling_rate, level=level, rng=rng)
        for level in station.noise_levels
    ]
    return quiet + noise * np.array(spoilt)


def _body_waves(
    arriving: list[Ray],
    event: Earthquake | Blast,
    azimuth: float,
    crust: Crust,
    start: float,
    frequencies: Real,
    medium: Medium,
    scattering: Scattering,
) -> Complex:
    """Impulses of all rays of one wave and their scattered waves, (3, n_frequencies)."""
    wave = arriving[0].wave
    direct = np.zeros((3, len(frequencies)), complex)
    behind = np.zeros_like(direct)
    unpolarised = np.zeros(len(frequencies), complex)
    for ray in arriving:
        p, sv, sh = event.weights(ray.take_off, azimuth, wave)
        up, out = cos(ray.incidence), sin(ray.incidence)
        motion = np.array([p * up - sv * out, p * out + sv * up, sh])
        size = sqrt(motion @ motion)
        shift = np.exp(-2j * pi * frequencies * (ray.time - start))
        shift *= crust.layers[ray.layer].strength * medium.loss(frequencies, ray.time)
        direct += motion[:, None] * shift
        mixed = _POLARISED * np.abs(motion) + (1 - _POLARISED) * size / sqrt(3)
        behind += mixed[:, None] * shift
        unpolarised += size / sqrt(3) * shift
    number = 0 if wave == "P" else 1
    forward = scattering.forward(number, medium.forward_time)
    coda = scattering.coda(2 + number, arriving[0].time)
    return direct + behind * forward + unpolarised * coda


def _surface_wave(
    event: Earthquake | Blast,
    distance: float,
    p_speed: float,
    start: float,
    frequencies: Real,
    medium: Medium,
    scattering: Scattering,
) -> Complex:
    """Short-period Rayleigh wave Rg, vertical and radial, (3, n_frequencies)."""
    f = np.maximum(frequencies, 1e-3)
    place = np.clip(np.log(f / 0.4) / np.log(2.5 / 0.4), 0, 1)
    slowness = 1 / (event.rg_fast + (event.rg_slow - event.rg_fast) * place)
    # The derivative of the phase is the group delay, distance times slowness.
    delay = np.concatenate([[0], np.cumsum((slowness[1:] + slowness[:-1]) / 2)]) * frequencies[1]
    phase = np.exp(-2j * pi * (delay * distance - frequencies * start))
    size = np.exp(-0.5 * (np.log(f) / 0.6) ** 2)  # periods of 0.4 to 2.5 s (Kafka 1990)
    size *= np.exp(-pi * f * distance * slowness / medium.rg_q)
    size *= np.exp(-2 * pi * f * event.depth * slowness)
    reference = 50.0
    level = 2 * event.rg_ratio / (1e3 * reference) * sqrt(reference / distance)
    level *= event.level("P", p_speed=p_speed, s_speed=p_speed / 1.75, density=medium.density)
    train = level * size * phase * event.pulse(frequencies, "P")
    follow = 0.5 * scattering.forward(4, 2 * medium.forward_time)
    motion = np.array([1.0, 1j * _ELLIPTICITY, 0.0])[:, None]
    return np.asarray(train * (motion + np.array([1.0, _ELLIPTICITY, 0.5])[:, None] * follow))


def _distance_and_azimuth(event: Earthquake | Blast, station: Station) -> tuple[float, float]:
    """Distance in km and azimuth from event to station, in radians from north."""
    east, north = station.east - event.east, station.north - event.north
    return hypot(east, north), atan2(east, north)


def _rotate_to_zne(along: Complex, azimuth: float) -> Complex:
    """Z, N and E components of vertical, radial and transverse motion.

    The azimuth of the motion is counted from the component N.
    """
    vertical, radial, transverse = along
    return np.array(
        [
            vertical,
            radial * cos(azimuth) - transverse * sin(azimuth),
            radial * sin(azimuth) + transverse * cos(azimuth),
        ]
    )


def _anti_alias(frequencies: Real, sampling_rate: float) -> Real:
    """Cosine taper: 1 up to 0.8 of the highest frequency, then down to 0."""
    place = np.clip((frequencies / (sampling_rate / 2) - 0.8) / 0.2, 0, 1)
    return np.asarray(0.5 * (1 + np.cos(pi * place)))
