"""Simulated records of earthquakes and quarry blasts, in place of those that are not public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log10
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from viewhop.seismic._rays import DEAD_SEA, Crust, Layer, rays
from viewhop.seismic._sources import Blast, Earthquake
from viewhop.seismic._synthesis import COMPONENTS, Medium, Resonance, Station, arrivals, seismogram

__all__ = [
    "DEAD_SEA",
    "NORTH",
    "QUARRIES",
    "SOUTH",
    "Blast",
    "Crust",
    "Earthquake",
    "Layer",
    "Medium",
    "Quarry",
    "Resonance",
    "Station",
    "arrivals",
    "draw_blast",
    "draw_earthquake",
    "make_events",
    "make_quarry_blasts",
    "rays",
    "seismogram",
]

#: Seconds from the first sample of a record to its P pick.
PICK = 20.0
#: Samples, and samples per second, of the paper's records.
N_SAMPLES, RATE = 5031, 40.0

#: The two stations: one at the southern, one at the northern end of the region. The horizontal
#: components stand on softer response and more noise than the vertical one, as is typical.
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
    """Where a quarry is and how it blasts.

    Parameters
    ----------
    name : str
        Its label.
    east, north : float
        Middle of its pits, km.
    radius : float
        Standard deviation of the places of blasts in either direction, km.
    rows, holes : int
        Usual number of rows, and of holes in a row; a blast has up to a quarter more or fewer.
    row_delay, hole_delay : float
        Nominal delays between rows, and between holes of a row, s.
    jitter : float
        Standard deviation of the time of each shot, s.
    magnitude : float
        Mean magnitude.
    corner_frequency : float
        Of the P waves of one shot, Hz; a blast has up to a quarter more or less.
    s_ratio, rg_ratio, rg_fast, rg_slow
        As for `Blast`; the ratios vary by a factor of about 1.3 from blast to blast.
    path : int
        Number of its path.
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
    path: int


#: Five quarries 55 to 125 km from SOUTH: four in the west and, last, one beyond the rift.
QUARRIES = (
    Quarry("Q1", -6, 55, 1.5, 1, 12, 0.0, 0.025, 0.004, 1.9, 7.0, 2.4, 3.0, 2.6, 1.9, path=1),
    Quarry("Q2", 18, 74, 1.5, 4, 8, 0.067, 0.017, 0.005, 2.0, 6.0, 1.8, 4.0, 2.5, 1.8, path=2),
    Quarry("Q3", -22, 88, 1.5, 6, 5, 0.100, 0.042, 0.006, 1.9, 6.5, 2.8, 2.5, 2.7, 2.1, path=3),
    Quarry("Q4", 30, 100, 1.5, 3, 10, 0.100, 0.025, 0.004, 2.1, 5.5, 2.2, 3.5, 2.4, 1.8, path=4),
    Quarry("Q5", 62, 108, 2.5, 8, 6, 0.042, 0.017, 0.006, 2.2, 5.0, 2.0, 3.0, 2.8, 2.2, path=5),
)


def make_events(
    n_earthquakes: int = 46,
    n_blasts: int = 62,
    *,
    noise: float = 1.0,
    pick_error: float = 0.2,
    stations: Sequence[Station] = (SOUTH, NORTH),
    quarries: Sequence[Quarry] = QUARRIES,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Simulated records of earthquakes and quarry blasts, at two stations with three components.

    Parameters
    ----------
    n_earthquakes, n_blasts : int
        How many of each; the paper has 46 and 62. Blasts go round the quarries.
    noise : float
        Factor of the ground noise. The same seed gives the same events at every noise.
    pick_error : float
        Standard deviation of the P picks, s.
    stations : sequence of Station
        Where events are recorded.
    quarries : sequence of Quarry
        Where blasts are fired.
    random_state : int, Generator or None
        Seed of everything random.

    Returns
    -------
    Bunch
        ``waveforms`` : (n_events, n_channels, 5031) array, ground velocity in m/s, earthquakes
        first;
        ``channels`` : list of str such as "SOUTH.Z"; ``sampling_rate`` : 40.0;
        ``target`` : (n_events,) int array, 0 for earthquakes and 1 for blasts;
        ``target_names`` : list of str;
        ``catalogue`` : DataFrame with a row per event: id, kind, quarry, east, north, depth,
        magnitude, and per station its distance (km) and the true times of the first P and S
        arrival in the record (s); ``DESCR`` : str.

    Notes
    -----
    Each station's record is cut around its own P pick, which is at 20 s; the true P is there but
    for the error of the pick. Everything is explained, with sources, in docs/seismic.md.

    Examples
    --------
    >>> from viewhop.seismic import make_events
    >>> events = make_events(2, 3, random_state=0)
    >>> events.waveforms.shape, events.channels[:3]
    ((5, 6, 5031), ['SOUTH.Z', 'SOUTH.N', 'SOUTH.E'])
    >>> events.catalogue["kind"].tolist()
    ['earthquake', 'earthquake', 'blast', 'blast', 'blast']
    """
    _check_count("n_earthquakes", n_earthquakes)
    _check_count("n_blasts", n_blasts)
    found = _records(
        n_earthquakes, n_blasts, noise, pick_error, list(stations), list(quarries), random_state
    )
    found.target = (found.catalogue["kind"] == "blast").to_numpy(np.int64)
    found.target_names = ["earthquake", "blast"]
    return found


def make_quarry_blasts(
    n_blasts: int = 602,
    *,
    noise: float = 1.0,
    pick_error: float = 0.2,
    stations: Sequence[Station] = (SOUTH,),
    quarries: Sequence[Quarry] = QUARRIES,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Simulated records of blasts of five quarries, at one station with three components.

    Parameters
    ----------
    n_blasts : int
        How many; the paper has 602. They go round the quarries.
    noise, pick_error, stations, quarries, random_state
        As for `make_events`.

    Returns
    -------
    Bunch
        As from `make_events`, with the quarries as target: ``target`` is the number of
        the quarry in ``target_names``.

    Examples
    --------
    >>> from viewhop.seismic import make_quarry_blasts
    >>> blasts = make_quarry_blasts(6, random_state=0)
    >>> blasts.waveforms.shape, [blasts.target_names[k] for k in blasts.target]
    ((6, 3, 5031), ['Q1', 'Q2', 'Q3', 'Q4', 'Q5', 'Q1'])
    """
    _check_count("n_blasts", n_blasts)
    found = _records(0, n_blasts, noise, pick_error, list(stations), list(quarries), random_state)
    names = [quarry.name for quarry in quarries]
    found.target = np.array([names.index(name) for name in found.catalogue["quarry"]], np.int64)
    found.target_names = names
    return found


def draw_earthquake(rng: np.random.Generator) -> Earthquake:
    """An earthquake on the transform between the stations, at random."""
    return Earthquake(
        east=45 + rng.uniform(-10, 10),
        north=rng.uniform(30, 170),
        depth=rng.uniform(3, 22),
        magnitude=_gutenberg_richter(rng, low=1.6, high=3.2, b=0.93),
        stress_drop=10 ** rng.uniform(log10(0.3), log10(10)),
        strike=rng.normal(10, 20),
        dip=min(90.0, rng.normal(80, 10)),
        rake=rng.normal(0, 25),
        corner_ratio=rng.uniform(1.1, 1.4),
    )


def draw_blast(quarry: Quarry, rng: np.random.Generator) -> Blast:
    """A blast of a quarry, at random."""
    rows = _about(quarry.rows, rng)
    holes = _about(quarry.holes, rng)
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


def _records(
    n_earthquakes: int,
    n_blasts: int,
    noise: float,
    pick_error: float,
    stations: list[Station],
    quarries: list[Quarry],
    random_state: int | np.random.Generator | None,
) -> Bunch:
    """Waveforms and catalogue, earthquakes first."""
    _check_scale("noise", noise)
    _check_scale("pick_error", pick_error)
    if not stations or (n_blasts and not quarries):
        raise ValueError("at least one station, and one quarry for blasts, must be given; got none")
    waveforms = np.empty((n_earthquakes + n_blasts, 3 * len(stations), N_SAMPLES))
    rows = []
    # Each event has its own stream, so that more events do not change the first ones.
    streams = np.random.default_rng(random_state).spawn(len(waveforms))
    for number, rng in enumerate(streams):
        k = number - n_earthquakes
        quarry = quarries[k % len(quarries)] if k >= 0 else None
        event = draw_blast(quarry, rng) if quarry else draw_earthquake(rng)
        row = {
            "id": f"E{number + 1:04d}",
            "kind": "blast" if quarry else "earthquake",
            "quarry": quarry.name if quarry else None,
            "east": event.east,
            "north": event.north,
            "depth": event.depth,
            "magnitude": event.magnitude,
        }
        for place, station in enumerate(stations):
            onset = PICK - rng.normal(0, 1) * pick_error
            waveforms[number, 3 * place : 3 * place + 3] = seismogram(
                event, station, rng=rng, onset=onset, noise=noise
            )
            found = arrivals(event, station)
            apart = np.hypot(event.east - station.east, event.north - station.north)
            row[f"{station.name}.distance"] = float(apart)
            row[f"{station.name}.p"] = onset
            row[f"{station.name}.s"] = onset + found["S"][0].time - found["P"][0].time
        rows.append(row)
    return Bunch(
        waveforms=waveforms,
        channels=[f"{station.name}.{part}" for station in stations for part in COMPONENTS],
        catalogue=pd.DataFrame(rows),
        sampling_rate=RATE,
        DESCR=_DESCR,
    )


_DESCR = (
    "Simulated, not recorded: earthquakes and quarry blasts as point sources in flat layers, with "
    "P, S and coda waves, surface waves of shallow sources, ripple fire, site response and ground "
    "noise. Stations, quarries and events do not exist. Ground velocity in m/s, 40 samples per "
    "second; the P pick of each station is 20 s after the first sample. Parameters and their "
    "sources are in docs/seismic.md."
)


def _gutenberg_richter(rng: np.random.Generator, *, low: float, high: float, b: float) -> float:
    """A magnitude between two limits, of which each step of 1 upwards is 10^b times rarer."""
    rest = 10 ** (-b * (high - low))
    return float(low - np.log10(1 - rng.uniform() * (1 - rest)) / b)


def _about(count: int, rng: np.random.Generator) -> int:
    """A count up to a quarter larger or smaller."""
    spread = count // 4
    return int(rng.integers(count - spread, count + spread + 1))


def _check_count(name: str, value: int) -> None:
    if not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} must be an integer of at least 0, got {value!r}")


def _check_scale(name: str, value: float) -> None:
    if not isinstance(value, Real) or not isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
