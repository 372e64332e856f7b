"""Seismograms: what three components of a station record of one source."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from viewhop.seismic._noise import ground_noise
from viewhop.seismic._rays import DEAD_SEA, Crust, Ray, Wave, rays
from viewhop.seismic._sources import Blast, Earthquake

__all__ = ["COMPONENTS", "Medium", "Resonance", "Station", "arrivals", "seismogram"]

Real = NDArray[np.floating]
Complex = NDArray[np.complexfloating]

COMPONENTS = ("Z", "N", "E")
#: Centres in Hz of the octaves in each of which the coda decays by itself.
_OCTAVES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
#: Amplitude and quarter-period shift of the radial beside the vertical part of the surface wave.
_ELLIPTICITY = 0.7
#: Share of the scattered P and S waves that keeps the direction of the direct wave.
_POLARISED = 0.7


@dataclass(frozen=True)
class Resonance:
    """A frequency at which the ground below a sensor sways more than its surroundings.

    Parameters
    ----------
    frequency : float
        Hz.
    gain : float
        By how much the amplitude grows there: 1 + gain times as large.
    quality : float
        Sharpness: `frequency` over the width of the peak.
    """

    frequency: float
    gain: float
    quality: float = 2.0

    def response(self, frequencies: Real) -> Complex:
        """The causal response, 1 far from the resonance."""
        x = frequencies / self.frequency
        loss = 1j * x / self.quality
        return self.gain * loss / (1 - x**2 + loss)


@dataclass(frozen=True)
class Station:
    """A sensor with three components, flat to ground velocity.

    Parameters
    ----------
    name : str
        Its channels are `name`.Z, .N and .E.
    east, north : float
        Place, km.
    kappa : float
        Loss near the surface, s: amplitudes fall as exp(−π kappa f) (Anderson and Hough 1984).
    resonances : tuple of three tuples of Resonance
        Of each component.
    noise_levels : tuple of three float
        Of each component, between Peterson's low (0) and high (1) noise models.
    """

    name: str
    east: float
    north: float
    kappa: float = 0.03
    resonances: tuple[tuple[Resonance, ...], ...] = ((), (), ())
    noise_levels: tuple[float, ...] = (0.45, 0.47, 0.47)

    def response(self, frequencies: Real) -> Complex:
        """The response of the ground below each component, (3, n_frequencies)."""
        loss = np.exp(-pi * self.kappa * frequencies)
        peaks = [sum((r.response(frequencies) for r in each), 0j) for each in self.resonances]
        return np.array([loss * (1 + peak) for peak in peaks])


@dataclass(frozen=True)
class Medium:
    """How the crust weakens and scatters waves.

    Parameters
    ----------
    q, q_exponent : float
        Quality factor q · f^q_exponent of P, S and coda waves: amplitudes fall as
        exp(−π f t / Q(f)).
    density : float
        kg/m³, at the source.
    forward : float
        Energy scattered into the first seconds after an arrival, over that of the arrival.
    forward_time : float
        Time in s in which the amplitude of that falls to 1/e.
    coda : float
        Energy per second of the coda at its beginning, over that of the arrival.
    coda_exponent : float
        p in its envelope t^−p exp(−π f t / Q(f)), with t from the origin (Aki and Chouet 1975).
    shared_path : float
        Share of the scattered energy that events on the same path have in common.
    rg_q : float
        Quality factor of the surface wave.
    """

    q: float = 65.0
    q_exponent: float = 1.05
    density: float = 2700.0
    forward: float = 4.0
    forward_time: float = 1.5
    coda: float = 0.3
    coda_exponent: float = 1.0
    shared_path: float = 0.5
    rg_q: float = 100.0

    def loss(self, frequencies: Real, time: float | Real) -> Real:
        """What is left of an amplitude after a time on the way."""
        # At frequency 0 nothing is sent out; any number above 0 serves.
        f = np.maximum(frequencies, 1e-3)
        return np.exp(-pi * f ** (1 - self.q_exponent) * time / self.q)


def arrivals(
    event: Earthquake | Blast, station: Station, *, crust: Crust = DEAD_SEA
) -> dict[Wave, list[Ray]]:
    """P and S rays from an event to a station, each list earliest first."""
    distance, _ = _course(event, station)
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
        Where it is recorded.
    rng : Generator
        Of scattering and noise. Noise is drawn last, and as much for every `noise`, so that
        the same seed gives the same event at every noise.
    onset : float
        Seconds from the first sample to the first P arrival.
    noise : float
        Factor of the ground noise; 0 for none.
    n_samples : int
        Samples per component.
    sampling_rate : float
        Samples per second.
    crust : Crust
        Speeds.
    medium : Medium or None
        Losses and scattering; None takes the defaults.

    Returns
    -------
    (3, n_samples) array

    Notes
    -----
    Far-field displacement spectra of a point source, 2 M_0 F / (4 π ρ v³ R) times the pulse of the
    source, with the pattern F, the hypocentral distance R, and 2 for the free surface; times the
    losses on the way and below the station; times i 2π f for velocity. Each ray brings an
    impulse and, behind it, random scattered ones. Losses have no dispersion. The highest fifth of
    the frequencies is tapered to zero as by the filter of a digitiser, without delay.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic import Earthquake, Station, seismogram
    >>> event = Earthquake(0, 60, 10, 2.5, stress_drop=3, strike=10, dip=80, rake=0)
    >>> seismogram(event, Station("A", 0, 0), rng=np.random.default_rng(0)).shape
    (3, 5031)
    """
    medium = medium or Medium()
    found = arrivals(event, station, crust=crust)
    distance, azimuth = _course(event, station)
    start = found["P"][0].time - onset
    # No arrival may come round from the end to the beginning.
    latest = max(found["S"][-1].time, distance / event.rg_slow) - start
    length = next_fast_len(n_samples + max(n_samples, int(latest * sampling_rate) + 1), real=True)
    frequencies = np.fft.rfftfreq(length, 1 / sampling_rate)
    to_velocity = 2j * pi * frequencies * _anti_alias(frequencies, sampling_rate)
    response = to_velocity * station.response(frequencies)
    scattering = _Scattering(event, station, medium, rng, n_samples, sampling_rate, length)
    layer = crust.layers[crust.layer_at(event.depth)]
    # Vertical, radial and transverse.
    along = _surface(event, distance, layer.p_speed, start, frequencies, medium, scattering)
    for wave in ("P", "S"):
        level = 2 * event.level(
            wave, p_speed=layer.p_speed, s_speed=layer.s_speed, density=medium.density
        )
        level /= 1e3 * hypot(distance, event.depth)
        green = _body(found[wave], event, azimuth, crust, start, frequencies, medium, scattering)
        along = along + level * event.pulse(frequencies, wave) * green
    # Ripple fire is in every phase alike (Baumgardt and Ziegler 1988).
    turned = _turn(along * event.comb(frequencies), azimuth)
    quiet = irfft(turned * response, length, axis=-1)[:, :n_samples] * sampling_rate
    spoilt = [
        ground_noise(n_samples, sampling_rate=sampling_rate, level=level, rng=rng)
        for level in station.noise_levels
    ]
    return quiet + noise * np.array(spoilt)


class _Scattering:
    """Random impulses behind an arrival, as spectra (3, n_frequencies), by wave."""

    def __init__(
        self,
        event: Earthquake | Blast,
        station: Station,
        medium: Medium,
        rng: np.random.Generator,
        n_samples: int,
        sampling_rate: float,
        length: int,
    ) -> None:
        self.path = None if event.path is None else (event.path, crc32(station.name.encode()))
        self.medium, self.rng = medium, rng
        self.n_samples, self.sampling_rate, self.length = n_samples, sampling_rate, length

    def white(self, number: int) -> Real:
        """White noise (3, n_samples), part of it that of the path; `number` tells waves apart."""
        own = self.rng.standard_normal((3, self.n_samples))
        if self.path is None:
            return own
        common = np.random.default_rng([*self.path, number]).standard_normal(own.shape)
        share = self.medium.shared_path
        return sqrt(1 - share) * own + sqrt(share) * common

    def forward(self, number: int, time: float) -> Complex:
        """What follows within seconds; `time` is that in which it falls to 1/e."""
        lapse = np.arange(self.n_samples) / self.sampling_rate
        energy = self.medium.forward * 2 / time / self.sampling_rate
        return self._spectrum(self.white(number) * sqrt(energy) * np.exp(-lapse / time))

    def coda(self, number: int, travelled: float) -> Complex:
        """The coda behind a wave that has travelled for a time."""
        size = next_fast_len(self.n_samples, real=True)
        bands = _octaves(np.fft.rfftfreq(size, 1 / self.sampling_rate))
        parts = irfft(bands[:, None] * rfft(self.white(number), size), size)[..., : self.n_samples]
        lapse = np.arange(self.n_samples) / self.sampling_rate
        spread = (1 + lapse / travelled) ** -self.medium.coda_exponent
        decay = [spread * self.medium.loss(np.array(f), lapse) for f in _OCTAVES]
        energy = self.medium.coda / self.sampling_rate
        return self._spectrum(sqrt(energy) * np.einsum("bcn,bn->cn", parts, np.array(decay)))

    def _spectrum(self, impulses: Real) -> Complex:
        return rfft(impulses, self.length)


def _body(
    found: list[Ray],
    event: Earthquake | Blast,
    azimuth: float,
    crust: Crust,
    start: float,
    frequencies: Real,
    medium: Medium,
    scattering: _Scattering,
) -> Complex:
    """Impulses of all rays of one wave, and what is scattered behind them, (3, n_frequencies)."""
    wave = found[0].wave
    direct = np.zeros((3, len(frequencies)), complex)
    behind = np.zeros_like(direct)
    unpolarised = np.zeros(len(frequencies), complex)
    for ray in found:
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
    coda = scattering.coda(2 + number, found[0].time)
    return direct + behind * forward + unpolarised * coda


def _surface(
    event: Earthquake | Blast,
    distance: float,
    p_speed: float,
    start: float,
    frequencies: Real,
    medium: Medium,
    scattering: _Scattering,
) -> Complex:
    """The short-period Rayleigh wave Rg, vertical and radial, (3, n_frequencies)."""
    f = np.maximum(frequencies, 1e-3)
    place = np.clip(np.log(f / 0.4) / np.log(2.5 / 0.4), 0, 1)
    slowness = 1 / (event.rg_fast + (event.rg_slow - event.rg_fast) * place)
    # The phase whose derivative is the group delay, distance times slowness.
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


def _course(event: Earthquake | Blast, station: Station) -> tuple[float, float]:
    """Distance in km, and azimuth from the event to the station in radians from north."""
    east, north = station.east - event.east, station.north - event.north
    return hypot(east, north), atan2(east, north)


def _turn(along: Complex, azimuth: float) -> Complex:
    """Vertical, radial and transverse motion as Z, N and E."""
    vertical, radial, transverse = along
    return np.array(
        [
            vertical,
            radial * cos(azimuth) - transverse * sin(azimuth),
            radial * sin(azimuth) + transverse * cos(azimuth),
        ]
    )


def _anti_alias(frequencies: Real, sampling_rate: float) -> Real:
    """1 up to 0.8 of the highest frequency, then down to 0 as a cosine."""
    place = np.clip((frequencies / (sampling_rate / 2) - 0.8) / 0.2, 0, 1)
    return np.asarray(0.5 * (1 + np.cos(pi * place)))


def _octaves(frequencies: Real) -> Real:
    """Amplitudes of overlapping octaves whose squares add up to 1, (n_octaves, n_frequencies)."""
    place = np.log2(np.maximum(frequencies, 1e-3) / _OCTAVES[0])
    place = np.clip(place, 0, len(_OCTAVES) - 1)
    apart = np.abs(place - np.arange(len(_OCTAVES))[:, None])
    return np.where(apart < 1, np.cos(pi / 2 * np.minimum(apart, 1)), 0.0)
