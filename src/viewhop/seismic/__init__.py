"""Seismic monitoring: reading waveforms, detecting and classifying events, simulated records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewhop._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from viewhop.seismic import events, io, sonogram
    from viewhop.seismic._classification import classify
    from viewhop.seismic._outcomes import Classification, PairScores, Score
    from viewhop.seismic._pair_classification import classify_pairs
    from viewhop.seismic._rays import DEAD_SEA, Crust, Layer, rays
    from viewhop.seismic._region import (
        NORTH,
        QUARRIES,
        SOUTH,
        Quarry,
        draw_blast,
        draw_earthquake,
    )
    from viewhop.seismic._scattering import Medium
    from viewhop.seismic._simulate import make_events, make_quarry_blasts
    from viewhop.seismic._sources import Blast, Earthquake
    from viewhop.seismic._stations import Resonance, Station
    from viewhop.seismic._summary import LeftOut
    from viewhop.seismic._synthesis import arrivals, seismogram

__all__ = [
    "DEAD_SEA",
    "NORTH",
    "QUARRIES",
    "SOUTH",
    "Blast",
    "Classification",
    "Crust",
    "Earthquake",
    "Layer",
    "LeftOut",
    "Medium",
    "PairScores",
    "Quarry",
    "Resonance",
    "Score",
    "Station",
    "arrivals",
    "classify",
    "classify_pairs",
    "draw_blast",
    "draw_earthquake",
    "events",
    "io",
    "make_events",
    "make_quarry_blasts",
    "rays",
    "seismogram",
    "sonogram",
]

_NAMES_BY_MODULE = {
    "_classification": ("classify",),
    "_outcomes": ("Classification", "PairScores", "Score"),
    "_pair_classification": ("classify_pairs",),
    "_rays": ("DEAD_SEA", "Crust", "Layer", "rays"),
    "_region": ("NORTH", "QUARRIES", "SOUTH", "Quarry", "draw_blast", "draw_earthquake"),
    "_scattering": ("Medium",),
    "_simulate": ("make_events", "make_quarry_blasts"),
    "_sources": ("Blast", "Earthquake"),
    "_stations": ("Resonance", "Station"),
    "_summary": ("LeftOut",),
    "_synthesis": ("arrivals", "seismogram"),
}

_HOMES = {
    **{name: f"viewhop.seismic.{name}" for name in ("events", "io", "sonogram")},
    **{
        name: f"viewhop.seismic.{module}"
        for module, names in _NAMES_BY_MODULE.items()
        for name in names
    },
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
