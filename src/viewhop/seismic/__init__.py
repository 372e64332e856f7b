"""Seismic monitoring: from waveforms to views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewhop._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from viewhop.seismic import events, io, sonogram
    from viewhop.seismic._classification import (
        Classification,
        PairScores,
        Score,
        classify,
        classify_pairs,
    )
    from viewhop.seismic._simulate import (
        DEAD_SEA,
        NORTH,
        QUARRIES,
        SOUTH,
        Blast,
        Crust,
        Earthquake,
        Layer,
        Medium,
        Quarry,
        Resonance,
        Station,
        arrivals,
        draw_blast,
        draw_earthquake,
        make_events,
        make_quarry_blasts,
        rays,
        seismogram,
    )

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

_HOMES = {
    **{name: f"viewhop.seismic.{name}" for name in ("events", "io", "sonogram")},
    **dict.fromkeys(
        ("Classification", "PairScores", "Score", "classify", "classify_pairs"),
        "viewhop.seismic._classification",
    ),
    **dict.fromkeys(
        (
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
        ),
        "viewhop.seismic._simulate",
    ),
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
