"""Gallery of sonograms: a few events of every class on a few channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from viewhop import plotting
from viewhop.seismic._summary import printable
from viewhop.seismic.sonogram import band_edges

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from viewhop.seismic.events import EventViews

__all__ = ["choose_events", "draw_gallery"]


def draw_gallery(dataset: EventViews, *, n_events: int = 6, n_channels: int = 6) -> Figure:
    """Figure of sonograms, one row per event and one column per channel.

    Parameters
    ----------
    dataset : EventViews
        From `event_views`, with sonograms in the default bands as features.
    n_events, n_channels : int
        Maximum numbers. Classes take turns in the choice of events.
    """
    from matplotlib.figure import Figure

    chosen = choose_events(dataset.labels, n_events)
    names = dataset.views.names[:n_channels]
    figure = Figure(figsize=(0.6 + 2.6 * len(names), 0.4 + 1.7 * len(chosen)), layout="constrained")
    panels = figure.subplots(len(chosen), len(names), squeeze=False)
    for row, event in zip(panels, chosen, strict=True):
        for ax, name in zip(row, names, strict=True):
            bands = dataset.views[name][event].reshape(dataset.shapes[name])
            if np.isfinite(bands).all():
                plotting.sonogram(bands, edges=band_edges(len(bands)), ax=ax, legend=False)
            else:
                ax.set_axis_off()
                ax.text(0.5, 0.5, "not recorded", ha="center", va="center", transform=ax.transAxes)
            ax.set_xlabel("time [s]" if ax in panels[-1] else "")
            ax.set_ylabel("frequency [Hz]" if ax is row[0] else "")
            label = dataset.labels[event] or "no label"
            event_text = printable(f"{dataset.events[event].id}, {label}") if ax is row[0] else ""
            title = "\n".join(filter(None, (name if ax in panels[0] else "", event_text)))
            # Names may contain dollar signs; they are not formulas.
            ax.set_title(title, loc="left", fontsize="small", parse_math=False)
    return figure


def choose_events(labels: Sequence[str | None], count: int) -> list[int]:
    """Indices of at most `count` events; classes take turns and are grouped in the result.

    Parameters
    ----------
    labels : sequence of str or None
    count : int
    """
    by_label: dict[str, list[int]] = {}
    for k, label in enumerate(labels):
        by_label.setdefault(label or "", []).append(k)
    ordered = [by_label[label] for label in sorted(by_label)]
    longest = max(map(len, ordered), default=0)
    turns = [group[turn] for turn in range(longest) for group in ordered if turn < len(group)]
    chosen = set(turns[:count])
    return [k for group in ordered for k in group if k in chosen]
