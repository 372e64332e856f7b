"""The picture of how alike the views are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.plotting.style import INK, axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["view_similarity"]

#: Sizes of the numbers in the cells, in points; between them, the cells set the size.
_SMALLEST, _LARGEST = 4.5, 9.0


def view_similarity(
    similarity: ArrayLike,
    names: Iterable[str],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Axes:
    """The Axes with the similarity of every two views, as colours and as numbers.

    Parameters
    ----------
    similarity : (n_views, n_views) array
        What `view_similarity` of a fitted estimator returns: 1 for views that put every sample in
        the same place, about 0 for views that have nothing in common. NaN, for two views that
        share no sample, is a hatched cell with a dash.
    names : n_views str
        Names of the views; rows and columns keep their order.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the Axes.
    legend : bool
        Whether to draw the colour bar.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    The colours run from 0 to 1 in every picture, so that two pictures can be compared; only where
    a similarity is negative do they begin lower.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from viewhop import plotting
    >>> ax = plotting.view_similarity([[1, 0.4], [0.4, 1]], ["sound", "image"])
    >>> [text.get_text() for text in ax.texts]
    ['1.00', '0.40', '0.40', '1.00']
    """
    names = list(map(str, names))
    matrix = _matrix(similarity, len(names))
    side, room = 0.6 * max(len(names), 4), _length(names) / 72
    ax = axes(ax, figsize=(side + room + 0.3 + 0.9 * legend, side + 0.7 * room + 0.5))
    known = ~np.isnan(matrix)
    drawn = ax.pcolormesh(
        np.ma.masked_array(matrix, ~known),
        cmap="viridis",
        vmin=float(matrix.min(initial=0.0, where=known)),
        vmax=1.0,
        edgecolors="white",
        linewidth=1.2,
    )
    tidy(ax, title)
    ax.set_aspect("equal")
    ax.invert_yaxis()
    ax.spines[:].set_visible(False)
    cell = _cell_width(ax, names)
    size = float(np.clip(0.27 * cell, _SMALLEST, _LARGEST))
    colours = drawn.to_rgba(matrix)
    for (row, column), value in np.ndenumerate(matrix):
        if known[row, column]:
            _write(ax, row, column, _number(value), _legible(colours[row, column]), size)
        else:
            _hatch(ax, row, column)
            _write(ax, row, column, "–", "black", 1.5 * size)
    _name_cells(ax, names, cell)
    if legend:
        bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.75, aspect=26, pad=0.03)
        bar.outline.set_visible(False)
        bar.set_label("similarity", color=INK)
        bar.ax.tick_params(length=0, labelsize="small", labelcolor=INK)
    return ax


def _matrix(similarity: ArrayLike, n_views: int) -> NDArray[np.float64]:
    matrix = np.asarray(similarity, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"similarity must be (n_views, n_views), got {matrix.shape}")
    if len(matrix) != n_views:
        raise ValueError(f"names must have one entry per view: {len(matrix)}, got {n_views}")
    if np.isinf(matrix).any():
        raise ValueError("similarity must hold finite numbers, or NaN where unknown, got infinity")
    return matrix


def _length(names: list[str]) -> float:
    """The length of the longest name in points, near enough, and at most two inches."""
    return min(5.5 * max(map(len, names)), 144.0)


def _cell_width(ax: Axes, names: list[str]) -> float:
    """The side of a cell in points, as far as known before the layout makes room for names."""
    extent, inch = ax.get_window_extent(), ax.figure.dpi
    width, height = 72 * extent.width / inch, 72 * extent.height / inch
    return min(width - _length(names), height) / len(names)


def _number(value: float) -> str:
    """Two decimals, without a negative zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _legible(background: NDArray[np.float64]) -> str:
    """Black or white, whichever has more contrast: at least 4.5 to 1, as WCAG 2 asks for text."""
    channels = background[:3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"


def _write(ax: Axes, row: int, column: int, text: str, colour: str, size: float) -> None:
    ax.text(column + 0.5, row + 0.5, text, color=colour, fontsize=size, ha="center", va="center")


def _hatch(ax: Axes, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(
        Rectangle(
            (column + 0.03, row + 0.03),
            0.94,
            0.94,
            facecolor="#f7f7f7",
            edgecolor="#dcdcdc",
            hatch="///",
            linewidth=0,
        )
    )


def _name_cells(ax: Axes, names: list[str], cell: float) -> None:
    """The names at rows and columns; slanted below where they would run into each other."""
    middles = np.arange(len(names)) + 0.5
    slanted = _length(names) > 0.9 * cell
    ax.set_xticks(
        middles,
        names,
        rotation=40 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor",
        parse_math=False,
    )
    ax.set_yticks(middles, names, parse_math=False)
    ax.tick_params(length=0)
