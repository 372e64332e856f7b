"""The picture: mean ranks with their critical difference, and AMI by set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.quality.methods import DEFAULT
from benchmarks.quality.ranks import cliques, critical_difference
from benchmarks.quality.summary import Summary
from viewhop.plotting._style import INK, PALE, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_picture"]

OURS, PEER, OTHER = PALETTE[0], PALETTE[6], "#9a9a9a"


def draw_picture(summary: Summary, path: Path) -> bool:
    """Write the picture; False if there is nothing to compare."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    ranks = summary.ranks()
    if len(ranks) < 2 or not summary.sets:
        return False
    rank_height = 0.21 * len(ranks) + 1.0
    set_height = 0.33 * len(summary.sets) + 1.0
    with mpl.rc_context({"font.size": 9, "text.color": INK, "axes.labelcolor": INK}):
        figure = Figure(figsize=(8.6, rank_height + set_height), layout="constrained", dpi=160)
        top, bottom = figure.subplots(2, 1, height_ratios=[rank_height, set_height])
        _draw_ranks(top, ranks, set(summary.peers()), len(summary.sets))
        _draw_sets(bottom, summary)
        figure.savefig(path)
    return True


def _draw_ranks(ax: Axes, ranks: dict[str, float], peers: set[str], n_sets: int) -> None:
    """One line per method, best first, with bars beside those that do not differ."""
    ordered = sorted(ranks, key=lambda method: ranks[method])
    difference = critical_difference(len(ranks), n_sets)
    places = {method: place for place, method in enumerate(ordered)}
    for method, place in places.items():
        colour = _colour(method, peers)
        ax.hlines(place, 1, ranks[method], color=colour, lw=1.0, alpha=0.35)
        ax.plot(ranks[method], place, "o", color=colour, ms=7 if method == DEFAULT else 5)
        ax.text(
            ranks[method] + 0.18,
            place,
            f"{ranks[method]:.1f}",
            va="center",
            color=INK,
            fontsize="small",
        )
    right = len(ranks) + 0.6
    for index, group in enumerate(cliques(ranks, difference)):
        x = right + 0.28 * index
        span = [places[group[0]] - 0.25, places[group[-1]] + 0.25]
        ax.plot([x, x], span, color=INK, lw=2.5, solid_capstyle="butt", clip_on=False)
    ax.set_yticks(range(len(ordered)), ordered)
    for label, method in zip(ax.get_yticklabels(), ordered, strict=True):
        label.set_color(_colour(method, peers) if method == DEFAULT else INK)
        label.set_fontweight("bold" if method == DEFAULT else "normal")
    ax.set_ylim(len(ordered) - 0.4, -1.9)
    ax.set_xlim(1, right + 0.28 * len(cliques(ranks, difference)) + 0.2)
    ax.plot([1, 1 + difference], [-1.2, -1.2], color=INK, lw=2.5, solid_capstyle="butt")
    ax.text(
        1 + difference + 0.18,
        -1.2,
        f"critical difference {difference:.1f} (Nemenyi, 5 %)",
        va="center",
        fontsize="small",
    )
    ax.set_xticks(range(1, len(ranks) + 1))
    ax.set_xlabel(f"mean rank over {n_sets} sets, 1 is best; a bar on the right joins methods "
                  "that do not differ")  # fmt: skip
    _tidy(ax, "Mean ranks, clustering with K known")


def _draw_sets(ax: Axes, summary: Summary) -> None:
    """All methods as pale dots, the default and the best peer on top."""
    order = sorted(summary.sets, key=lambda name: -(summary.default(name) or 0.0))
    columns = summary.columns("clusters")
    for place, name in enumerate(order):
        values = [summary.value(name, column, "clusters", "ami").number for column in columns]
        known = np.array([value for value in values if value is not None])
        ax.hlines(place, 0, 1, color=PALE, lw=0.6, zorder=0)
        ax.plot(known, np.full(len(known), place), "o", color=PALE, ms=4.5, mec="white", mew=0.4)
        peer, ours = summary.best_peer(name), summary.default(name)
        if peer is not None:
            ax.plot(peer[1], place, "D", mfc="white", mec=PEER, mew=1.6, ms=6, clip_on=False)
            ax.text(1.015, place, peer[0], va="center", color=PEER, fontsize="small")
        if ours is not None:
            ax.plot(ours, place, "o", color=OURS, ms=7.5, clip_on=False)
    ax.plot([], [], "o", color=OURS, ms=7.5, label=DEFAULT)
    if summary.peers():
        ax.plot([], [], "D", mfc="white", mec=PEER, mew=1.6, ms=6, label="best peer, named")
    ax.plot([], [], "o", color=PALE, ms=4.5, label="all other methods")
    ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False, fontsize="small",
        borderaxespad=0.2, handletextpad=0.3,
    )  # fmt: skip
    ax.set_yticks(range(len(order)), order)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.0)
    ax.set_xlabel("AMI")
    _tidy(ax, "AMI by set", pad=22)


def _colour(method: str, peers: set[str]) -> str:
    return OURS if method == DEFAULT else PEER if method in peers else OTHER


def _tidy(ax: Axes, title: str, pad: float = 6) -> None:
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(PALE)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", color=PALE, labelcolor=INK)
    ax.set_title(title, loc="left", color=INK, fontweight="bold", pad=pad)
