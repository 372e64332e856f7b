"""Travel times in a crust of flat layers: direct rays and rays refracted along deeper layers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import asin, inf, isfinite, pi, sqrt
from typing import Literal

from scipy.optimize import brentq

__all__ = ["DEAD_SEA", "Crust", "Layer", "Ray", "Wave", "rays"]

Wave = Literal["P", "S"]
#: Thickness, km, treated as zero: a ray through it would be horizontal up to rounding.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Layer:
    """One flat layer.

    Parameters
    ----------
    top : float
        Depth of its upper boundary, km.
    p_speed, s_speed : float
        Speeds of P and S waves, km/s.
    strength : float
        Relative amplitude of rays with their deepest part in this layer. In real layers speed
        grows with depth and bends such rays back, so that they are as strong as direct ones;
        along the mantle they are weaker.
    """

    top: float
    p_speed: float
    s_speed: float
    strength: float = 1.0

    def speed(self, wave: Wave) -> float:
        """Speed of P or S waves, km/s."""
        return self.p_speed if wave == "P" else self.s_speed


@dataclass(frozen=True)
class Crust:
    """Layers from the surface down; the last has no lower boundary.

    Parameters
    ----------
    layers : tuple of Layer
        In order of depth; the first begins at 0.
    """

    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        tops = [layer.top for layer in self.layers]
        if not tops or tops[0] != 0 or not all(low < high for low, high in pairwise(tops)):
            raise ValueError(f"expected layer tops that start at 0 and increase, got {tops}")
        if not all(
            isfinite(layer.p_speed) and layer.p_speed > layer.s_speed > 0 for layer in self.layers
        ):
            raise ValueError("expected P speed > S speed > 0 in every layer")

    def layer_at(self, depth: float) -> int:
        """Index of the layer at a depth; a boundary belongs to the layer above it."""
        return max(0, sum(layer.top < depth - _NOTHING for layer in self.layers) - 1)

    def thicknesses(self) -> list[float]:
        """Thickness of each layer, km; the last is infinite."""
        tops = [layer.top for layer in self.layers]
        return [low - high for high, low in pairwise([*tops, inf])]


#: Typical values for the margins of the Dead Sea transform. The depth of the Moho is between the
#: 26 km at the Mediterranean and the 39 km under the highlands of Jordan (Weber et al. 2004).
DEAD_SEA = Crust(
    (
        Layer(0.0, 4.2, 2.3, strength=0.3),
        Layer(2.5, 6.0, 3.45),
        Layer(18.0, 6.6, 3.8, strength=0.5),
        Layer(32.0, 7.9, 4.5, strength=0.25),
    )
)


@dataclass(frozen=True)
class Ray:
    """One path from a source to the surface.

    Parameters
    ----------
    wave : {"P", "S"}
        The kind of wave.
    layer : int
        Index of the layer that contains its deepest part.
    time : float
        Travel time, s.
    slowness : float
        Ray parameter p, s/km: sine of the angle to the vertical divided by the speed, the same in
        every layer.
    take_off : float
        Angle at the source to the downward vertical, radians.
    incidence : float
        Angle at the surface to the vertical, radians.
    """

    wave: Wave
    layer: int
    time: float
    slowness: float
    take_off: float
    incidence: float


def rays(crust: Crust, *, wave: Wave, distance: float, depth: float) -> list[Ray]:
    """All direct and refracted rays to a receiver at the surface, earliest first.

    Parameters
    ----------
    crust : Crust
        Layers and their speeds.
    wave : {"P", "S"}
        The kind of wave.
    distance : float
        Epicentral distance, km; must be positive.
    depth : float
        Depth of the source, km.

    Returns
    -------
    list of Ray
        The direct ray, and one along the top of every deeper layer that is faster than all layers
        above it, if the receiver lies beyond its critical distance.

    Notes
    -----
    The direct ray with p solves Σ h p v / √(1 − p²v²) = distance over the layers above the source.
    The unknown is the tangent of its angle in the fastest of them: in that variable the sum is
    monotonic and has no pole.

    Examples
    --------
    >>> from viewhop.seismic._rays import DEAD_SEA, rays
    >>> first = rays(DEAD_SEA, wave="P", distance=100, depth=0.02)[0]
    >>> first.layer, round(first.time, 2)
    (1, 17.51)
    """
    if not (isfinite(distance) and distance > 0 and isfinite(depth) and depth >= 0):
        raise ValueError(f"expected distance > 0 km and depth >= 0 km, got {distance} and {depth}")
    speeds = [layer.speed(wave) for layer in crust.layers]
    source = crust.layer_at(depth)
    above = [*crust.thicknesses()[:source], depth - crust.layers[source].top]
    paths = [_direct_ray(wave, speeds, above, distance)]
    for deep in range(source + 1, len(speeds)):
        if speeds[deep] > max(speeds[:deep]):
            below = [*crust.thicknesses()[:deep]]
            down = [0.0] * source + [below[source] - above[source], *below[source + 1 :]]
            legs = [up + more for up, more in zip(below, down, strict=True)]
            ray = _refracted_ray(wave, speeds, legs, deep, source, distance)
            paths += [ray] if ray else []
    return sorted(paths, key=lambda ray: ray.time)


def _direct_ray(wave: Wave, speeds: list[float], above: list[float], distance: float) -> Ray:
    """Ray from the source upwards; `above` holds thicknesses from the surface to the source."""
    source = len(above) - 1
    crossed = [(h, v) for h, v in zip(above, speeds, strict=False) if h > _NOTHING]
    if not crossed:  # a source at the surface: the ray runs along it
        p = 1 / speeds[source]
        return Ray(wave, source, distance * p, p, pi / 2, pi / 2)
    thick, fastest = max(crossed, key=lambda leg: leg[1])

    def slowness(tangent: float) -> float:
        return tangent / (fastest * sqrt(1 + tangent**2))

    def excess(tangent: float) -> float:
        # With s = v / fastest, p v / √(1 − p²v²) is s t / √(1 + t²(1 − s²)), free of cancellation.
        reached = (
            h * (v / fastest) * tangent / sqrt(1 + tangent**2 * (1 - (v / fastest) ** 2))
            for h, v in crossed
        )
        return sum(reached) - distance

    tangent = float(brentq(excess, 0.0, distance / thick * (1 + 1e-9), xtol=1e-13, rtol=1e-14))
    p = slowness(tangent)
    time = sum(
        h / v * sqrt(1 + tangent**2) / sqrt(1 + tangent**2 * (1 - (v / fastest) ** 2))
        for h, v in crossed
    )
    sine = min(1.0, p * speeds[source])
    return Ray(wave, source, time, p, pi - asin(sine), asin(min(1.0, p * speeds[0])))


def _refracted_ray(
    wave: Wave, speeds: list[float], legs: list[float], deep: int, source: int, distance: float
) -> Ray | None:
    """Ray along the top of layer `deep`, or None within its critical distance."""
    p = 1 / speeds[deep]
    cosines = [sqrt(1 - (p * v) ** 2) for v in speeds[:deep]]
    critical = sum(h * p * v / c for h, v, c in zip(legs, speeds, cosines, strict=False))
    if distance < critical:
        return None
    time = distance * p + sum(h * c / v for h, v, c in zip(legs, speeds, cosines, strict=False))
    return Ray(wave, deep, time, p, asin(p * speeds[source]), asin(p * speeds[0]))
