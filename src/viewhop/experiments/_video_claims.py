"""Findings on the films: closed curves, bows and distorted maps over repeated recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from viewhop.experiments._experiment import Table
from viewhop.experiments._films import Fault
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding
from viewhop.experiments._rings import ENOUGH, Ring

__all__ = ["find_curves", "ring_table"]

#: Rings of all films by "method; scale" or "method; scale; kind of waggons".
Rings = Mapping[str, Sequence[Ring]]

#: A wider gap, in degrees, makes a bow of a closed curve.
_OPEN = 60.0
_STRIPED = "contrasting waggons"


def ring_table(rings: Rings) -> Table:
    """Table of correlations and gaps over all films."""
    rows = []
    for name, each in rings.items():
        correlations, gaps = np.array(each).T
        rows.append((name, correlations.mean(), correlations.min(), gaps.mean(), gaps.max()))
    return Table(
        f"The train, {len(next(iter(rings.values())))} films: rank correlation of the angle with "
        "the place on the track, widest gap in degrees",
        ("method; scale", "mean correlation", "least", "mean gap", "widest"),
        tuple((str(name), *map(float, values)) for name, *values in rows),
        digits=4,
    )


def find_curves(rings: Rings, fault: Fault) -> tuple[Finding, ...]:
    """The findings on one kind of fault.

    Parameters
    ----------
    rings : dict of lists of Ring
    fault : {"gap", "noise"}
    """
    circle = _find_circle(rings, f"video-{fault}-circle")
    spoilt = ["kernel product, concat"]
    if fault == "noise":
        return circle, _find_spoilt(rings, "video-noise-product", ["x alone", "y alone", *spoilt])
    return _find_bow(rings), circle, _find_spoilt(rings, "video-gap-product", spoilt)


def _is_closed(each: Ring) -> bool:
    return each.correlation >= ENOUGH and each.gap <= _OPEN


def _find_circle(rings: Rings, claim: str) -> Finding:
    """Whether both multi-view maps are closed curves, by kernel and kind of film."""
    closed = {}
    for scale in ("max-min", "10 neighbours"):
        for kind in ("", f"; {_STRIPED}"):
            pairs = zip(
                *(rings[f"multi-view, {view}; {scale}{kind}"] for view in "xy"), strict=True
            )
            closed[f"{scale}{kind or '; plain waggons'}"] = [
                all(map(_is_closed, pair)) for pair in pairs
            ]
    counts = ", ".join(f"{sum(each)} of {len(each)} ({name})" for name, each in closed.items())
    evidence = f"Films in which both maps are closed curves in the right order: {counts}."
    printed = [name for name in closed if name.startswith("max-min")]
    held = [name for name, each in closed.items() if all(each)]
    if set(printed) <= set(held):
        return Finding(claim, HOLDS, evidence)
    if held:
        return Finding(claim, CONDITIONAL, evidence, " or ".join(held))
    return Finding(claim, FAILS, evidence)


def _find_bow(rings: Rings) -> Finding:
    """Whether each camera alone has the right order and an open end, in the mean over films."""
    means = {view: np.mean(rings[f"{view} alone; max-min"], axis=0) for view in "xy"}
    evidence = "; ".join(
        f"camera {view}: correlation {correlation:.3f}, gap {gap:.0f}° in the mean"
        for view, (correlation, gap) in means.items()
    )
    holds = all(correlation >= ENOUGH and gap > _OPEN for correlation, gap in means.values())
    n_films = len(rings["x alone; max-min"])
    return Finding(
        "video-gap-order", HOLDS if holds else FAILS, f"{evidence}, over {n_films} films."
    )


def _find_spoilt(rings: Rings, claim: str, methods: Sequence[str]) -> Finding:
    """Whether none of the methods gives a closed curve in the right order, in any film."""
    closed = {name: sum(map(_is_closed, rings[f"{name}; max-min"])) for name in methods}
    n_films = len(rings[f"{methods[0]}; max-min"])
    evidence = (
        f"Films of {n_films} that are closed curves in the right order all the same: "
        f"{', '.join(f'{count} ({name})' for name, count in closed.items())}."
    )
    return Finding(claim, FAILS if any(closed.values()) else HOLDS, evidence)
