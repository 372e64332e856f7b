"""Seismic sources: the waves that earthquakes and quarry blasts radiate."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, radians, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._rays import Wave

__all__ = ["MEAN_P", "Blast", "Earthquake", "brune", "moment", "radiation"]

Spectrum = NDArray[np.complexfloating]

#: Root mean squares over the sphere of the double-couple patterns: P, then SV or SH.
MEAN_P, MEAN_S = sqrt(4 / 15), sqrt(1 / 5)
#: Share of the energy that scattering near the source removes from the pattern (typical).
BLURRED = 0.5


@dataclass(frozen=True)
class Earthquake:
    """Slip on a small circular fault.

    Parameters
    ----------
    east, north : float
        Epicentre, km.
    depth : float
        km.
    magnitude : float
        Moment magnitude.
    stress_drop : float
        MPa.
    strike, dip, rake : float
        Orientation of the fault plane and of the slip in it, degrees.
    corner_ratio : float
        Corner frequency of P divided by that of S.
    rg_ratio, rg_fast, rg_slow, path
        As for `Blast`. Sources deeper than about 2 km have no surface wave.
    """

    east: float
    north: float
    depth: float
    magnitude: float
    stress_drop: float
    strike: float
    dip: float
    rake: float
    corner_ratio: float = 1.23
    rg_ratio: float = 3.0
    rg_fast: float = 2.6
    rg_slow: float = 1.9
    path: int | None = None

    def corner(self, wave: Wave, *, s_speed: float = 3.45) -> float:
        """Corner frequency, Hz, after Brune (1970), from moment, stress drop and S speed (km/s).

        The default speed is that of the layer with most earthquakes; it does not depend on depth.
        """
        radius = (7 * moment(self.magnitude) / (16 * self.stress_drop * 1e6)) ** (1 / 3)
        corner = float(2.34 * s_speed * 1e3 / (2 * pi * radius))
        return corner * (self.corner_ratio if wave == "P" else 1.0)

    def pulse(self, frequencies: NDArray[np.floating], wave: Wave) -> Spectrum:
        """Displacement spectrum, 1 at frequency 0."""
        return brune(frequencies, self.corner(wave))

    def comb(self, frequencies: NDArray[np.floating]) -> Spectrum:
        """Spectrum of a single instant: 1 at every frequency."""
        return np.ones(frequencies.shape, dtype=np.complex128)

    def weights(self, take_off: float, azimuth: float, wave: Wave) -> tuple[float, float, float]:
        """Amplitudes of P, SV and SH for a take-off angle and an azimuth in radians."""
        pattern = radiation(self.strike, self.dip, self.rake, take_off=take_off, azimuth=azimuth)
        p, sv, sh = (
            np.copysign(sqrt((1 - BLURRED) * value**2 + BLURRED * mean**2), value)
            for value, mean in zip(pattern, (MEAN_P, MEAN_S, MEAN_S), strict=True)
        )
        return (float(p), 0.0, 0.0) if wave == "P" else (0.0, float(sv), float(sh))

    def level(self, wave: Wave, *, p_speed: float, s_speed: float, density: float) -> float:
        """Displacement spectrum at low frequencies times distance, m·s·m, for a weight of 1."""
        speed = 1e3 * (p_speed if wave == "P" else s_speed)
        return moment(self.magnitude) / (4 * pi * density * speed**3)


@dataclass(frozen=True)
class Blast:
    """A sequence of small shots near the surface.

    Parameters
    ----------
    east, north : float
        Location, km.
    depth : float
        km.
    magnitude : float
        Magnitude of the moment that sets its P waves between 1 and 8 Hz, as if all shots were one;
        delayed shots give more energy at lower frequencies. Radiation is equal in all directions
        and starts in slow rock near the surface, so P is four to six times that of an earthquake of
        the same magnitude at depth, as if the magnitude were 0.4 to 0.5 units larger.
    corner_frequency : float
        Corner frequency of the P waves of one shot, Hz.
    shots : tuple of float
        Times of the shots relative to the first, s; all have the same charge.
    s_ratio : float
        Displacement of S waves, SV and SH each, divided by that of P, at low frequencies. A
        spherical source has no S waves; they come from conversion, asymmetry and falling rock.
    corner_ratio : float
        Corner frequency of P divided by that of S.
    rg_ratio : float
        Displacement of the surface wave divided by that of P, at 1 Hz and 50 km.
    rg_fast, rg_slow : float
        Group velocities of the surface wave at 0.4 and 2.5 Hz, km/s.
    path : int or None
        Identifier of the path. Events with the same path share part of their coda; None shares
        none.
    """

    east: float
    north: float
    depth: float
    magnitude: float
    corner_frequency: float
    shots: tuple[float, ...]
    s_ratio: float
    corner_ratio: float = 1.86
    rg_ratio: float = 3.0
    rg_fast: float = 2.6
    rg_slow: float = 1.9
    path: int | None = None

    def corner(self, wave: Wave) -> float:
        """Corner frequency, Hz."""
        return self.corner_frequency / (1.0 if wave == "P" else self.corner_ratio)

    def pulse(self, frequencies: NDArray[np.floating], wave: Wave) -> Spectrum:
        """Displacement spectrum of one shot, 1 at frequency 0."""
        return brune(frequencies, self.corner(wave))

    def comb(self, frequencies: NDArray[np.floating]) -> Spectrum:
        """Spectrum of the shots as instants, with mean square 1 between 1 and 8 Hz.

        For n shots with equal delays d it is modulated by sin(π n d f) / sin(π d f), with maxima at
        the multiples of 1 / d and n − 1 zeros between them (Baumgardt and Ziegler 1988).
        """
        read = _shot_spectrum(np.linspace(1, 8, 141), self.shots)
        return _shot_spectrum(frequencies, self.shots) / sqrt(np.mean(np.abs(read) ** 2))

    def weights(self, take_off: float, azimuth: float, wave: Wave) -> tuple[float, float, float]:
        """Amplitudes of P, SV and SH, equal in all directions."""
        return (1.0, 0.0, 0.0) if wave == "P" else (0.0, self.s_ratio, self.s_ratio)

    def level(self, wave: Wave, *, p_speed: float, s_speed: float, density: float) -> float:
        """Displacement spectrum at low frequencies times distance, m·s·m, for a weight of 1.

        S has the level of P, because `s_ratio` is relative to P.
        """
        return moment(self.magnitude) / (4 * pi * density * (1e3 * p_speed) ** 3)


def moment(magnitude: float) -> float:
    """Seismic moment, N·m, from a moment magnitude (Hanks and Kanamori 1979)."""
    return float(10 ** (1.5 * magnitude + 9.1))


def brune(frequencies: NDArray[np.floating], corner: float) -> Spectrum:
    """Spectrum 1 / (1 + i f / f_c)² of Brune (1970), that of the causal pulse t exp(−2π f_c t)."""
    return 1 / (1 + 1j * frequencies / corner) ** 2


def _shot_spectrum(frequencies: NDArray[np.floating], shots: tuple[float, ...]) -> Spectrum:
    """Mean of exp(−2πi f t) over the shots."""
    return np.asarray(np.mean([np.exp(-2j * pi * frequencies * t) for t in shots], axis=0))


def radiation(
    strike: float, dip: float, rake: float, *, take_off: float, azimuth: float
) -> tuple[float, float, float]:
    """Amplitudes of P, SV and SH of a double couple in one direction.

    Parameters
    ----------
    strike, dip, rake : float
        Degrees.
    take_off, azimuth : float
        Angle to the downward vertical, and angle from north towards east, radians.

    Returns
    -------
    tuple of three float
        Between −1 and 1. Aki and Richards (2002), Eqs. 4.89 to 4.91.
    """
    phi, delta, lam = azimuth - radians(strike), radians(dip), radians(rake)
    i = take_off
    p = (
        cos(lam) * sin(delta) * sin(i) ** 2 * sin(2 * phi)
        - cos(lam) * cos(delta) * sin(2 * i) * cos(phi)
        + sin(lam) * sin(2 * delta) * (cos(i) ** 2 - sin(i) ** 2 * sin(phi) ** 2)
        + sin(lam) * cos(2 * delta) * sin(2 * i) * sin(phi)
    )
    sv = (
        sin(lam) * cos(2 * delta) * cos(2 * i) * sin(phi)
        - cos(lam) * cos(delta) * cos(2 * i) * cos(phi)
        + 0.5 * cos(lam) * sin(delta) * sin(2 * i) * sin(2 * phi)
        - 0.5 * sin(lam) * sin(2 * delta) * sin(2 * i) * (1 + sin(phi) ** 2)
    )
    sh = (
        cos(lam) * cos(delta) * cos(i) * sin(phi)
        + cos(lam) * sin(delta) * sin(i) * cos(2 * phi)
        + sin(lam) * cos(2 * delta) * cos(i) * cos(phi)
        - 0.5 * sin(lam) * sin(2 * delta) * sin(i) * sin(2 * phi)
    )
    return p, sv, sh
