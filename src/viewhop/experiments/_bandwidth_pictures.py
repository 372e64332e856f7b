"""The picture of Fig. 3: log S over both scales, and its slice with the linear range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from viewhop.bandwidth import JointScales, Surface
from viewhop.experiments._experiment import Picture, Result
from viewhop.plotting import INK, bandwidth_slice, bandwidth_surface

__all__ = ["draw"]


def draw(result: Result) -> dict[str, Picture]:
    """Picture with a row per data: the surface, and a slice by either rule."""
    from matplotlib.figure import Figure

    shown = result.numbers["shown"]
    figure = Figure(figsize=(14.5, 4.1 * len(shown)), layout="constrained")
    for axes, (name, by_rule) in zip(
        figure.subplots(len(shown), 3, squeeze=False), shown.items(), strict=True
    ):
        results = {rule: restore(kept, rule) for rule, kept in by_rule.items()}
        surface, *slices = axes
        bandwidth_surface(results["minimal"], ax=surface, title=f"{name}: log S over both scales")
        for x, y, text, colour, sides in (
            (0.04, 0.05, "log M", "white", ("left", "bottom")),
            (0.96, 0.94, "3 log M", INK, ("right", "top")),
        ):
            surface.text(
                x, y, text, color=colour, transform=surface.transAxes, ha=sides[0], va=sides[1]
            )
        log = float(np.log(result.numbers["samples"][name]))
        for ax, (rule, each) in zip(slices, results.items(), strict=True):
            bandwidth_slice(each, ax=ax, title=f"slice at the smallest σ_y, {rule}")
            start, end = each.surfaces["x", "y"].scales[[0, -1]]
            ax.text(end, log, f"log M = {log:.2f}", color=INK, ha="right", va="bottom")
            ax.text(start, 2 * log, f"2 log M = {2 * log:.2f}", color=INK, ha="left", va="top")
    caption = (
        "Left: log S(σ_x, σ_y), with the minimal scales of Algorithm 1. Middle and right: the "
        "slice at the smallest σ_y, with its linear range (grey) and the chosen scale by the rules "
        "minimal and steepest. Dashed: the ends of the slice."
    )
    return {"": Picture(figure, caption)}


def restore(numbers: Mapping[str, Any], rule: str) -> JointScales:
    """Joint scales restored from stored numbers."""
    keys = ("scales", "other_scales", "values")
    surface = Surface(*(np.asarray(numbers[key]) for key in keys))
    pair = ("x", "y")
    ranges = {pair: np.asarray(numbers["ranges"], dtype=np.float64)}
    return JointScales(dict(numbers["chosen"]), {pair: surface}, {}, ranges, rule)
