"""Square matrices as coloured cells with their values written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viewhop.plotting._drawn_text import plain_text
from viewhop.plotting._style import INK, add_colour_bar, make_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_matrix"]

#: Characters of a name: two inches, which is what `_length` allows.
LONGEST_NAME = 26
#: Limits for the size of the numbers in the cells, in points; it depends on the cell width.
_SMALLEST, _LARGEST = 4.5, 9.0


def draw_matrix(
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
        Names of the rows and columns.
    low, high : float
        Limits of the colour scale.
    text : callable
        Gives the text of a cell from its row and column.
    bar : str or None
        Label of the colour bar; None draws no bar.
    ax : matplotlib Axes or None
    title : str or None
    """
    names = [plain_text(name, LONGEST_NAME) for name in names]
    side, room = 0.6 * max(len(names), 4), _length(names) / 72
    has_bar = bar is not None
    ax = make_axes(ax, figsize=(side + room + 0.3 + 0.9 * has_bar, side + 0.7 * room + 0.5))
    is_known = ~np.isnan(matrix)
    drawn = ax.pcolormesh(
        np.ma.masked_array(matrix, ~is_known),
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
        if is_known[row, column]:
            _write(ax, row, column, text(row, column), _legible(colours[row, column]), size)
        else:
            _hatch(ax, row, column)
            _write(ax, row, column, "–", "black", 1.5 * size)
    _name_cells(ax, names, cell)
    if bar is not None:
        add_colour_bar(ax, drawn, pad=0.03, shrink=0.75).set_label(bar, color=INK)
    return ax


def _length(names: list[str]) -> float:
    """Approximate length of the longest name in points, at most two inches."""
    return min(5.5 * max(map(len, names)), 144.0)


def _cell_width(ax: Axes, names: list[str]) -> float:
    """Approximate width of a cell in points; the layout has yet to make room for the names."""
    extent, inch = ax.get_window_extent(), ax.figure.dpi
    width, height = 72 * extent.width / inch, 72 * extent.height / inch
    return min(width - _length(names), height) / len(names)


def _legible(background: NDArray[np.float64]) -> str:
    """Black or white, whichever has more contrast: at least 4.5 to 1, as WCAG 2 requires."""
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
    """Label rows and columns; the column names are slanted if they would overlap."""
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
