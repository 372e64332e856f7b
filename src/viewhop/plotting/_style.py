"""The common style of all plots: colours, new Axes, ticks, colour bars."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from viewhop.plotting._drawn_text import plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar

__all__ = ["INK", "PALE", "PALETTE", "add_colour_bar", "make_axes", "set_title", "tidy_axes"]

#: Ten colours that remain distinct for every kind of colour vision (Petroff, arXiv:2107.02270).
PALETTE = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#94a4a2",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#717581",
    "#92dadd",
)
INK = "#404040"
#: Characters of a title, its lines, and characters that a line has however narrow the Axes are.
LONGEST_TITLE, MOST_LINES, SHORTEST_LINE = 200, 5, 24
#: Mean width of a letter of a title, in points.
LETTER = 5.2
PALE = "#c8c8c8"


def make_axes(ax: Axes | None, *, figsize: tuple[float, float]) -> Axes:
    """The given Axes, or the Axes of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'plotting needs matplotlib, which is not installed: pip install "viewhop[plot]"'
        ) from error
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def tidy_axes(ax: Axes, title: str | None, *, whole_x: bool = False) -> None:
    """Draw spines and ticks in a light colour, and the title on the left."""
    from matplotlib.ticker import MaxNLocator

    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(PALE)
    ax.tick_params(color=PALE, labelcolor=INK, labelsize="small", length=3)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=whole_x))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    if title is not None:
        set_title(ax, title)


def set_title(ax: Axes, title: str) -> None:
    """Draw a title on the left, in several lines if it is long; dollar signs are no formula."""
    # Not by matplotlib, which parses formulas to find out how long a line is.
    width = 72 * ax.get_window_extent().width / ax.figure.dpi
    lines = [
        part
        for line in title.splitlines()
        for part in textwrap.wrap(
            plain_text(line, LONGEST_TITLE), max(SHORTEST_LINE, int(width / LETTER))
        )
    ]
    text = "\n".join(lines[:MOST_LINES])
    ax.set_title(text, loc="left", fontsize="medium", color=INK, parse_math=False)


def add_colour_bar(ax: Axes, drawn: Any, *, pad: float, shrink: float = 1.0) -> Colorbar:
    """A colour bar for what was drawn on the Axes, without outline and tick marks."""
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=shrink, aspect=26, pad=pad)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize="small", labelcolor=INK)
    return bar
