"""The picture of the demonstration: the multi-view embedding, and the scores of all methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop import plotting
from viewhop.experiments._demo_scores import ScoreTable
from viewhop.plotting import INK, PALETTE, tidy_axes

__all__ = ["draw_demo"]

#: Coordinates that are drawn against each other.
_PLANES = ((0, 1), (2, 3), (4, 5))
_GREY = "#b4bcc2"


def draw_demo(
    embedding: NDArray[np.floating], target: NDArray[np.integer], table: ScoreTable
) -> Any | None:
    """Figure of an embedding above the scores of all methods; None without matplotlib.

    Parameters
    ----------
    embedding : (n_samples, r) array
        With at least six coordinates.
    target : (n_samples,) array
        The digits.
    table : ScoreTable
        With a condition per plane.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(12.5, 7.6), layout="constrained")
    planes, bars = figure.subplots(2, len(_PLANES), height_ratios=(1.35, 1))
    for ax, (first, second) in zip(planes, _PLANES, strict=True):
        plotting.embedding(
            embedding,
            labels=target,
            dims=(first, second),
            ax=ax,
            title=f"all views: coordinates {first + 1} and {second + 1}",
            legend=ax is planes[-1],
        )
        # Distances are the same in both directions; the box need not be.
        ax.set_aspect("equal", adjustable="datalim")
    for column, (ax, condition) in enumerate(zip(bars, table.conditions, strict=True)):
        _draw_scores(ax, table, column, condition, is_named=column == 0)
    return figure


def _draw_scores(
    ax: Any, table: ScoreTable, column: int, condition: str, *, is_named: bool
) -> None:
    """Bars of the scores in one condition, the last method highlighted."""
    methods = list(table.rows)
    places = np.arange(len(methods))[::-1]
    scores = [table.rows[method][column] for method in methods]
    colours = [_GREY] * (len(methods) - 1) + [PALETTE[0]]
    ax.barh(places, [score or 0.0 for score in scores], color=colours, height=0.72)
    for place, method, score in zip(places, methods, scores, strict=True):
        ax.text(
            max(score or 0.0, 0.0) + 0.015,
            place,
            "–" if score is None else f"{score:.2f}",
            va="center",
            fontsize="small",
            color=INK,
            fontweight="bold" if table.is_best(method, column) else "normal",
        )
    ax.set(xlim=(0, 1.08), xlabel="AMI of clusters and digits")
    tidy_axes(ax, condition)
    ax.set_yticks(places, methods if is_named else [""] * len(methods))
    ax.tick_params(axis="y", length=0)
