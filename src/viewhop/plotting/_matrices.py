"""Square tables of numbers: a cell for each, coloured by it and with it written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viewhop.plotting._style import INK, make_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["squares"]

#: Sizes of the numbers in the cells, in points; between them, the cells set the size.
_SMALLEST, _LARGEST = 4.5, 9.0


def squares(
    matrix: NDArray[np.float64],
    names: list[str],
    *,
    low: float,
    high: float,
    text: Callable[[int, int], str],
    bar: str | None,
    ax: Axes | None,
    title: str | None,
) -> Axes:
    """The Axes with a cell for every entry; NaN is a hatched cell with a dash.

    Parameters
    ----------
    matrix : (n, n) array
    names : n str
        Of rows and of columns.
    low, high : float
        Ends of the colours.
    text : callable
        What is written in the cell of a row and a column.
    bar : str or None
        Label of the colour bar; None draws none.
    ax : matplotlib Axes or None
    title : str or None
    """
    side, room = 0.6 * max(len(names), 4), _length(names) / 72
    has_bar = bar is not None
    ax = make_axes(ax, figsize=(side + room + 0.3 + 0.9 * has_bar, side + 0.7 * room + 0.5))
    known = ~np.isnan(matrix)
    drawn = ax.pcolormesh(
        np.ma.masked_array(matrix, ~known),
        cmap="viridis",
        vmin=low,
        vmax=high,
        edgecolors="white",
        linewidth=1.2,
    )
    tidy_axes(ax, title)
    ax.set_aspect("equal")
    ax.invert_yaxis()
    ax.spines[:].set_visible(False)
    cell = _cell_width(ax, names)
    size = float(np.clip(0.27 * cell, _SMALLEST, _LARGEST))
    colours = drawn.to_rgba(matrix)
    for row, column in np.ndindex(*matrix.shape):
        if known[row, column]:
            _write(ax, row, column, text(row, column), _legible(colours[row, column]), size)
        else:
            _hatch(ax, row, column)
            _write(ax, row, column, "–", "black", 1.5 * size)
    _name_cells(ax, names, cell)
    if bar is not None:
        legend = ax.figure.colorbar(drawn, ax=ax, shrink=0.75, aspect=26, pad=0.03)
        legend.outline.set_visible(False)
        legend.set_label(bar, color=INK)
        legend.ax.tick_params(length=0, labelsize="small", labelcolor=INK)
    return ax


def _length(names: list[str]) -> float:
    """The length of the longest name in points, near enough, and at most two inches."""
    return min(5.5 * max(map(len, names)), 144.0)


def _cell_width(ax: Axes, names: list[str]) -> float:
    """The side of a cell in points, as far as known before the layout makes room for names."""
    extent, inch = ax.get_window_extent(), ax.figure.dpi
    width, height = 72 * extent.width / inch, 72 * extent.height / inch
    return min(width - _length(names), height) / len(names)


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
