"""A gallery: sonograms of a few events of every class, on a few channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from viewhop import plotting
from viewhop.seismic._summary import plain
from viewhop.seismic.sonogram import band_edges

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from viewhop.seismic.events import EventViews

__all__ = ["gallery", "some_of_each"]


def gallery(seen: EventViews, *, n_events: int = 6, n_channels: int = 6) -> Figure:
    """The Figure with a row of sonograms for each of some events, a column for each channel.

    Parameters
    ----------
    seen : EventViews
        Of `event_views`, with sonograms of the default bands as features.
    n_events, n_channels : int
        At most so many. Events go round the classes.
    """
    from matplotlib.figure import Figure

    chosen = some_of_each(seen.labels, n_events)
    names = seen.views.names[:n_channels]
    figure = Figure(figsize=(0.6 + 2.6 * len(names), 0.4 + 1.7 * len(chosen)), layout="constrained")
    panels = figure.subplots(len(chosen), len(names), squeeze=False)
    for row, event in zip(panels, chosen, strict=True):
        for ax, name in zip(row, names, strict=True):
            bands = seen.views[name][event].reshape(seen.shapes[name])
            if np.isfinite(bands).all():
                plotting.sonogram(bands, edges=band_edges(len(bands)), ax=ax, legend=False)
            else:
                ax.set_axis_off()
                ax.text(0.5, 0.5, "not seen", ha="center", va="center", transform=ax.transAxes)
            ax.set_xlabel("time [s]" if ax in panels[-1] else "")
            ax.set_ylabel("frequency [Hz]" if ax is row[0] else "")
            label = seen.labels[event] or "no label"
            told = plain(f"{seen.events[event].id}, {label}") if ax is row[0] else ""
            title = "\n".join(filter(None, (name if ax in panels[0] else "", told)))
            # Names are no formulas, whatever is in them.
            ax.set_title(title, loc="left", fontsize="small", parse_math=False)
    return figure


def some_of_each(labels: Sequence[str | None], count: int) -> list[int]:
    """Numbers of at most `count` events, going round the classes; those of one class together.

    Parameters
    ----------
    labels : sequence of str or None
    count : int
    """
    of: dict[str, list[int]] = {}
    for k, label in enumerate(labels):
        of.setdefault(label or "", []).append(k)
    ordered = [of[label] for label in sorted(of)]
    longest = max(map(len, ordered), default=0)
    turns = [group[turn] for turn in range(longest) for group in ordered if turn < len(group)]
    kept = set(turns[:count])
    return [k for group in ordered for k in group if k in kept]
