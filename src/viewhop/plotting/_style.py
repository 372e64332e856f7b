"""What all pictures share: colours, an Axes to draw on, and how it looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["INK", "PALE", "PALETTE", "make_axes", "tidy_axes"]

#: Ten colours that stay apart with every kind of colour vision (Petroff, arXiv:2107.02270).
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
PALE = "#c8c8c8"


def make_axes(ax: Axes | None, *, figsize: tuple[float, float]) -> Axes:
    """The Axes given, or that of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib, which is not installed; "
            'this brings it: pip install "viewhop[plot]"'
        ) from error
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def tidy_axes(ax: Axes, title: str | None, *, whole_x: bool = False) -> None:
    """Quiet spines and ticks, and the title on the left."""
    from matplotlib.ticker import MaxNLocator

    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(PALE)
    ax.tick_params(color=PALE, labelcolor=INK, labelsize="small", length=3)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=whole_x))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    if title is not None:
        ax.set_title(title, loc="left", fontsize="medium", color=INK)
