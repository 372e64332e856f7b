"""Simulated records of earthquakes and quarry blasts, in place of records that are not public."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from viewhop.seismic._region import (
    NORTH,
    QUARRIES,
    SOUTH,
    Quarry,
    draw_blast,
    draw_earthquake,
)
from viewhop.seismic._stations import COMPONENTS, Station
from viewhop.seismic._synthesis import arrivals, seismogram

__all__ = ["PICK", "make_events", "make_quarry_blasts"]

#: Seconds from the first sample of a record to its P pick.
PICK = 20.0
#: Samples, and samples per second, of the paper's records.
N_SAMPLES, RATE = 5031, 40.0


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
    """Simulated records of earthquakes and quarry blasts at two three-component stations.

    Parameters
    ----------
    n_earthquakes, n_blasts : int
        Number of each; the paper has 46 and 62. Quarries take turns.
    noise : float
        Scale of the ground noise. The same seed gives the same events at every noise level.
    pick_error : float
        Standard deviation of the P picks, s.
    stations : sequence of Station
        Recording stations.
    quarries : sequence of Quarry
        Sources of the blasts.
    random_state : int, Generator or None
        Seed of all random draws.

    Returns
    -------
    Bunch
        ``waveforms`` : (n_events, n_channels, 5031) array, ground velocity in m/s, earthquakes
        first;
        ``channels`` : list of str such as "SOUTH.Z"; ``sampling_rate`` : 40.0;
        ``target`` : (n_events,) int array, 0 for earthquakes and 1 for blasts;
        ``target_names`` : list of str;
        ``catalogue`` : DataFrame with one row per event: id, kind, quarry, east, north, depth,
        magnitude, and for each station the distance (km) and the true times of the first P and S
        arrivals in the record (s); ``DESCR`` : str.

    Notes
    -----
    Each station's record is cut around its own P pick, at 20 s; the true P arrival differs from it
    by the pick error. docs/seismic.md explains the simulation and cites its sources.

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
    records = _make_records(
        n_earthquakes, n_blasts, noise, pick_error, list(stations), list(quarries), random_state
    )
    records.target = (records.catalogue["kind"] == "blast").to_numpy(np.int64)
    records.target_names = ["earthquake", "blast"]
    return records


def make_quarry_blasts(
    n_blasts: int = 602,
    *,
    noise: float = 1.0,
    pick_error: float = 0.2,
    stations: Sequence[Station] = (SOUTH,),
    quarries: Sequence[Quarry] = QUARRIES,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Simulated records of blasts of five quarries at one three-component station.

    Parameters
    ----------
    n_blasts : int
        Number of blasts; the paper has 602. Quarries take turns.
    noise, pick_error, stations, quarries, random_state
        As for `make_events`.

    Returns
    -------
    Bunch
        As from `make_events`, but ``target`` is the index of the quarry in ``target_names``.

    Examples
    --------
    >>> from viewhop.seismic import make_quarry_blasts
    >>> blasts = make_quarry_blasts(6, random_state=0)
    >>> blasts.waveforms.shape, [blasts.target_names[k] for k in blasts.target]
    ((6, 3, 5031), ['Q1', 'Q2', 'Q3', 'Q4', 'Q5', 'Q1'])
    """
    _check_count("n_blasts", n_blasts)
    records = _make_records(
        0, n_blasts, noise, pick_error, list(stations), list(quarries), random_state
    )
    names = [quarry.name for quarry in quarries]
    records.target = np.array([names.index(name) for name in records.catalogue["quarry"]], np.int64)
    records.target_names = names
    return records


def _make_records(
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
        raise ValueError("expected at least one station, and one quarry for blasts; got none")
    waveforms = np.empty((n_earthquakes + n_blasts, 3 * len(stations), N_SAMPLES))
    rows = []
    # Each event has its own stream, so that adding events does not change the first ones.
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
            by_wave = arrivals(event, station)
            apart = np.hypot(event.east - station.east, event.north - station.north)
            row[f"{station.name}.distance"] = float(apart)
            row[f"{station.name}.p"] = onset
            row[f"{station.name}.s"] = onset + by_wave["S"][0].time - by_wave["P"][0].time
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


def _check_count(name: str, value: int) -> None:
    if not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} must be a non-negative integer, got {value!r}")


def _check_scale(name: str, value: float) -> None:
    if not isinstance(value, Real) or not isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a finite non-negative number, got {value!r}")
