"""Stations: three-component sensors with a site response."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

__all__ = ["COMPONENTS", "Resonance", "Station"]

Real = NDArray[np.floating]
Complex = NDArray[np.complexfloating]

COMPONENTS = ("Z", "N", "E")


@dataclass(frozen=True)
class Resonance:
    """Site resonance: a frequency at which the ground below a sensor amplifies motion.

    Parameters
    ----------
    frequency : float
        Hz.
    gain : float
        The amplitude at resonance is 1 + gain times as large.
    quality : float
        Sharpness: `frequency` divided by the width of the peak.
    """

    frequency: float
    gain: float
    quality: float = 2.0

    def response(self, frequencies: Real) -> Complex:
        """Causal response added to 1; small far from the resonance."""
        x = frequencies / self.frequency
        loss = 1j * x / self.quality
        return self.gain * loss / (1 - x**2 + loss)


@dataclass(frozen=True)
class Station:
    """Three-component sensor with a flat response to ground velocity.

    Parameters
    ----------
    name : str
        Its channels are `name`.Z, .N and .E.
    east, north : float
        Location, km.
    kappa : float
        Loss near the surface, s: amplitudes fall as exp(−π kappa f) (Anderson and Hough 1984).
    resonances : tuple of three tuples of Resonance
        Site resonances of each component.
    noise_levels : tuple of three float
        Noise level of each component, between Peterson's low (0) and high (1) noise models.
    orientation : float
        Azimuth of the component N, degrees clockwise from north; E is 90° further.
    """

    name: str
    east: float
    north: float
    kappa: float = 0.03
    resonances: tuple[tuple[Resonance, ...], ...] = ((), (), ())
    noise_levels: tuple[float, ...] = (0.45, 0.47, 0.47)
    orientation: float = 0.0

    def response(self, frequencies: Real) -> Complex:
        """Site response of each component, (3, n_frequencies)."""
        loss = np.exp(-pi * self.kappa * frequencies)
        peaks = [sum((r.response(frequencies) for r in each), 0j) for each in self.resonances]
        return np.array([loss * (1 + peak) for peak in peaks])
