"""Points in the plane, coloured by labels that are groups or a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from viewhop.plotting._drawn_text import draw_literally, plain_text
from viewhop.plotting._style import INK, PALE, PALETTE, add_colour_bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

__all__ = ["draw_points", "label_series"]

#: The eleventh category has the first colour again, with the next marker.
_MARKERS = ("o", "^", "s", "D", "v", "P", "X")
#: Integers with more distinct values than this are a quantity, not groups.
_MOST_CATEGORIES = 20
#: With more points than this, the points are rasterised in vector formats.
_MOST_VECTORS = 10_000


def draw_points(
    ax: Axes,
    points: NDArray[np.float64],
    values: pd.Series[Any] | None,
    *,
    legend: bool,
    point_size: float | None,
) -> None:
    """Draw points in the colours of their labels, with equal scales on both axes.

    Parameters
    ----------
    ax : matplotlib Axes
    points : (n_samples, 2) array
    values : (n_samples,) Series or None
        Labels: text, booleans, and integers with few distinct values are groups and get a legend;
        other numbers are a quantity and get a colour bar.
    legend : bool
        Whether to draw the legend or the colour bar.
    point_size : float or None
        Area of a point in square points; None draws smaller points for more samples.
    """
    size = point_size if point_size is not None else float(np.clip(600 / len(points) ** 0.5, 3, 30))
    if values is None:
        _scatter(ax, points, PALETTE[0], size=size)
    elif _is_quantity(values):
        _draw_quantity(ax, points, values, size=size, bar=legend)
    else:
        _draw_groups(ax, points, values, size=size, legend=legend)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.04)


def label_series(labels: ArrayLike, n_samples: int) -> pd.Series[Any]:
    """The labels as a Series; ValueError unless there is one per sample."""
    values: pd.Series[Any]
    try:
        values = pd.Series(labels)
    except UnicodeEncodeError:  # pandas has no type for text that is not valid Unicode
        values = pd.Series([plain_text(x) if isinstance(x, str) else x for x in np.ravel(labels)])
    if len(values) != n_samples:
        raise ValueError(f"labels must have one entry per sample: {n_samples}, got {len(values)}")
    return values


def _is_quantity(values: pd.Series[Any]) -> bool:
    kinds = pd.api.types
    if not kinds.is_numeric_dtype(values):
        return False
    return kinds.is_float_dtype(values) or values.nunique() > _MOST_CATEGORIES


def _draw_quantity(
    ax: Axes, points: NDArray[np.float64], values: pd.Series[Any], *, size: float, bar: bool
) -> None:
    is_known = values.notna().to_numpy()
    _scatter(ax, points[~is_known], PALE, size=size)
    drawn = _scatter(ax, points[is_known], values[is_known].to_numpy(dtype=np.float64), size=size)
    if bar and is_known.any():
        add_colour_bar(ax, drawn, pad=0.03, shrink=0.75)


def _draw_groups(
    ax: Axes, points: NDArray[np.float64], values: pd.Series[Any], *, size: float, legend: bool
) -> None:
    from matplotlib.colors import to_rgba_array
    from matplotlib.lines import Line2D

    grouped = pd.Categorical(values).remove_unused_categories()
    codes = np.asarray(grouped.codes)
    _scatter(ax, points[codes < 0], PALE, size=size)
    colours = to_rgba_array(PALETTE)
    markers = codes // len(PALETTE) % len(_MARKERS)
    for number, marker in enumerate(_MARKERS):
        is_drawn = (codes >= 0) & (markers == number)
        colour = colours[codes[is_drawn] % len(PALETTE)]
        _scatter(ax, points[is_drawn], colour, size=size, marker=marker)
    if not legend:
        return
    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=_MARKERS[code // len(PALETTE) % len(_MARKERS)],
            color=PALETTE[code % len(PALETTE)],
            markersize=6,
            markeredgewidth=0,
            label=plain_text(category),
        )
        for code, category in enumerate(grouped.categories)
    ]
    names = [*grouped.categories]
    if (codes < 0).any():
        handles.append(Line2D([], [], linestyle="none", marker="o", color=PALE, label="missing"))
        names.append("missing")
    # Numbers first: matplotlib leaves out a label that begins with an underscore.
    drawn = ax.legend(
        handles,
        [str(number) for number in range(len(names))],
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        ncols=1 + (len(handles) - 1) // _MOST_CATEGORIES,
        frameon=False,
        fontsize="small",
        labelcolor=INK,
        handletextpad=0.1,
        columnspacing=0.8,
    )
    for text, name in zip(drawn.get_texts(), names, strict=True):
        draw_literally(text, name)


def _scatter(
    ax: Axes, points: NDArray[np.float64], colour: Any, *, size: float, marker: str = "o"
) -> PathCollection:
    """Draw points in a random order that is always the same."""
    order = np.random.default_rng(0).permutation(len(points))
    single = isinstance(colour, str)
    return ax.scatter(
        points[order, 0],
        points[order, 1],
        c=None if single else colour[order],
        color=colour if single else None,
        s=size,
        marker=marker,
        cmap="viridis" if not single and colour.ndim == 1 else None,
        alpha=0.85,
        linewidths=0,
        rasterized=len(points) > _MOST_VECTORS,
    )
