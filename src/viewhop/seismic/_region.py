"""The simulated region: two stations, five quarries, and random events."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

import numpy as np

from viewhop.seismic._sources import Blast, Earthquake
from viewhop.seismic._stations import Resonance, Station

__all__ = [
    "NORTH",
    "QUARRIES",
    "SOUTH",
    "Quarry",
    "draw_blast",
    "draw_earthquake",
]

#: Two stations, at the southern and the northern end of the region. As is typical, the horizontal
#: components have stronger resonances and more noise than the vertical one.
SOUTH = Station(
    "SOUTH",
    0.0,
    0.0,
    kappa=0.025,
    resonances=(
        (Resonance(7.0, 0.5),),
        (Resonance(3.0, 1.2), Resonance(9.0, 0.6)),
        (Resonance(3.4, 1.0), Resonance(8.0, 0.8)),
    ),
    noise_levels=(0.42, 0.44, 0.45),
)
NORTH = Station(
    "NORTH",
    35.0,
    250.0,
    kappa=0.035,
    resonances=(
        (Resonance(5.0, 0.6),),
        (Resonance(1.8, 1.5), Resonance(6.0, 0.7)),
        (Resonance(2.1, 1.3), Resonance(5.5, 0.9)),
    ),
    noise_levels=(0.45, 0.47, 0.47),
)


@dataclass(frozen=True)
class Quarry:
    """Location and blasting practice of a quarry.

    Parameters
    ----------
    name : str
        Its label.
    east, north : float
        Centre of its pits, km.
    radius : float
        Standard deviation of blast locations in each direction, km.
    rows, holes : int
        Typical number of rows, and of holes per row; a blast has up to a quarter more or fewer.
    row_delay, hole_delay : float
        Nominal delays between rows, and between holes of a row, s.
    jitter : float
        Standard deviation of the time of each shot, s.
    magnitude : float
        Mean magnitude.
    corner_frequency : float
        Corner frequency of the P waves of one shot, Hz; varies by up to a quarter per blast.
    s_ratio, rg_ratio, rg_fast, rg_slow
        As for `Blast`; the ratios vary by a factor of about 1.3 from blast to blast.
    path : int or None
        Identifier of its path; None where its blasts share none, as in a cluster of pits.
    """

    name: str
    east: float
    north: float
    radius: float
    rows: int
    holes: int
    row_delay: float
    hole_delay: float
    jitter: float
    magnitude: float
    corner_frequency: float
    s_ratio: float
    rg_ratio: float
    rg_fast: float
    rg_slow: float
    path: int | None


#: Five quarries 55 to 125 km from SOUTH: four in the west and, last, one beyond the rift.
QUARRIES = (
    Quarry("Q1", -6, 55, 1.5, 1, 12, 0.0, 0.025, 0.004, 1.9, 7.0, 2.4, 3.0, 2.6, 1.9, path=1),
    Quarry("Q2", 18, 74, 1.5, 4, 8, 0.067, 0.017, 0.005, 2.0, 6.0, 1.8, 4.0, 2.5, 1.8, path=2),
    Quarry("Q3", -22, 88, 1.5, 6, 5, 0.100, 0.042, 0.006, 1.9, 6.5, 2.8, 2.5, 2.7, 2.1, path=3),
    Quarry("Q4", 30, 100, 1.5, 3, 10, 0.100, 0.025, 0.004, 2.1, 5.5, 2.2, 3.5, 2.4, 1.8, path=4),
    Quarry("Q5", 62, 108, 2.5, 8, 6, 0.042, 0.017, 0.006, 2.2, 5.0, 2.0, 3.0, 2.8, 2.2, path=5),
)


def draw_earthquake(rng: np.random.Generator) -> Earthquake:
    """Random earthquake on the transform fault between the stations."""
    return Earthquake(
        east=45 + rng.uniform(-10, 10),
        north=rng.uniform(30, 170),
        depth=rng.uniform(3, 22),
        magnitude=_draw_magnitude(rng, low=1.6, high=3.2, b=0.93),
        stress_drop=10 ** rng.uniform(log10(0.3), log10(10)),
        strike=rng.normal(10, 20),
        dip=min(90.0, rng.normal(80, 10)),
        rake=rng.normal(0, 25),
        corner_ratio=rng.uniform(1.1, 1.4),
    )


def draw_blast(quarry: Quarry, rng: np.random.Generator) -> Blast:
    """Random blast of a quarry."""
    rows = _vary_count(quarry.rows, rng)
    holes = _vary_count(quarry.holes, rng)
    nominal = np.add.outer(quarry.row_delay * np.arange(rows), quarry.hole_delay * np.arange(holes))
    fired = np.sort(nominal.ravel() + rng.normal(0, quarry.jitter, rows * holes))
    s_factor, rg_factor = np.exp(rng.normal(0, 0.25, 2))
    return Blast(
        east=quarry.east + rng.normal(0, quarry.radius),
        north=quarry.north + rng.normal(0, quarry.radius),
        depth=rng.uniform(0.01, 0.03),
        magnitude=float(np.clip(rng.normal(quarry.magnitude, 0.25), 1.4, 2.8)),
        corner_frequency=quarry.corner_frequency * rng.uniform(0.75, 1.25),
        shots=tuple((fired - fired[0]).tolist()),
        s_ratio=quarry.s_ratio * s_factor,
        corner_ratio=rng.uniform(1.6, 2.1),
        rg_ratio=quarry.rg_ratio * rg_factor,
        rg_fast=quarry.rg_fast,
        rg_slow=quarry.rg_slow,
        path=quarry.path,
    )


def _draw_magnitude(rng: np.random.Generator, *, low: float, high: float, b: float) -> float:
    """Random Gutenberg–Richter magnitude in [low, high]: each unit up is 10^b times rarer."""
    rest = 10 ** (-b * (high - low))
    return float(low - np.log10(1 - rng.uniform() * (1 - rest)) / b)


def _vary_count(count: int, rng: np.random.Generator) -> int:
    """Random count within a quarter of the given one."""
    spread = count // 4
    return int(rng.integers(count - spread, count + spread + 1))
