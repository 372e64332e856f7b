"""Attenuation and scattering of waves in the crust."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from viewhop.seismic._sources import Blast, Earthquake
from viewhop.seismic._stations import Station

__all__ = ["Medium", "Scattering"]

Real = NDArray[np.floating]
Complex = NDArray[np.complexfloating]

#: Centres, in Hz, of the octaves in which the coda decays independently.
_OCTAVES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True)
class Medium:
    """Attenuation and scattering in the crust.

    Parameters
    ----------
    q, q_exponent : float
        Quality factor q · f^q_exponent of P, S and coda waves: amplitudes fall as
        exp(−π f t / Q(f)).
    density : float
        Density at the source, kg/m³.
    forward : float
        Energy scattered into the first seconds after an arrival, relative to the arrival.
    forward_time : float
        Time, s, in which the amplitude of forward scattering falls to 1/e.
    coda : float
        Energy per second of the coda at its start, relative to the arrival.
    coda_exponent : float
        p in the coda envelope t^−p exp(−π f t / Q(f)), with t from the origin (Aki and Chouet
        1975).
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
        """Factor by which an amplitude has decayed after a travel time."""
        # Sources radiate nothing at frequency 0; any positive number will do.
        f = np.maximum(frequencies, 1e-3)
        return np.exp(-pi * f ** (1 - self.q_exponent) * time / self.q)


class Scattering:
    """Spectra, (3, n_frequencies), of random impulses that follow an arrival."""

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
        """White noise (3, n_samples), partly that of the path; `number` identifies the wave."""
        own = self.rng.standard_normal((3, self.n_samples))
        if self.path is None:
            return own
        common = np.random.default_rng([*self.path, number]).standard_normal(own.shape)
        share = self.medium.shared_path
        return sqrt(1 - share) * own + sqrt(share) * common

    def forward(self, number: int, time: float) -> Complex:
        """Forward scattering within seconds; its amplitude falls to 1/e in `time`."""
        lapse = np.arange(self.n_samples) / self.sampling_rate
        energy = self.medium.forward * 2 / time / self.sampling_rate
        return self._spectrum(self.white(number) * sqrt(energy) * np.exp(-lapse / time))

    def coda(self, number: int, travelled: float) -> Complex:
        """Coda of a wave after the travel time `travelled`."""
        size = next_fast_len(self.n_samples, real=True)
        bands = _octave_filters(np.fft.rfftfreq(size, 1 / self.sampling_rate))
        parts = irfft(bands[:, None] * rfft(self.white(number), size), size)[..., : self.n_samples]
        lapse = np.arange(self.n_samples) / self.sampling_rate
        spread = (1 + lapse / travelled) ** -self.medium.coda_exponent
        decay = [spread * self.medium.loss(np.array(f), lapse) for f in _OCTAVES]
        energy = self.medium.coda / self.sampling_rate
        return self._spectrum(sqrt(energy) * np.einsum("bcn,bn->cn", parts, np.array(decay)))

    def _spectrum(self, impulses: Real) -> Complex:
        return rfft(impulses, self.length)


def _octave_filters(frequencies: Real) -> Real:
    """Gains of overlapping octaves, (n_octaves, n_frequencies); their squares sum to 1."""
    place = np.log2(np.maximum(frequencies, 1e-3) / _OCTAVES[0])
    place = np.clip(place, 0, len(_OCTAVES) - 1)
    apart = np.abs(place - np.arange(len(_OCTAVES))[:, None])
    return np.where(apart < 1, np.cos(pi / 2 * np.minimum(apart, 1)), 0.0)
