"""The pictures of Fig. 23: accuracy over both scales, and the share of good scales."""

from __future__ import annotations

import numpy as np

from viewhop.experiments._experiment import Picture, Result
from viewhop.plotting import INK, PALETTE, tidy_axes

__all__ = ["GOOD", "draw"]

#: Least accuracy of a good scale.
GOOD = 0.95


def draw(result: Result) -> dict[str, Picture]:
    """Pictures of mean accuracy over the two scales, and of the share of good scales."""
    from matplotlib.figure import Figure

    methods = result.numbers["accuracy"]
    figure = Figure(figsize=(13.5, 4.1), layout="constrained")
    panels = figure.subplots(1, len(methods), sharey=True)
    scales = np.asarray(result.numbers["scales"])
    marks = np.arange(len(scales))
    for ax, (method, values) in zip(panels, methods.items(), strict=True):
        mean = np.mean(np.asarray(values), axis=0)
        # Columns are σ_x, and rows are σ_y from bottom to top.
        image = ax.imshow(mean.T, origin="lower", cmap="viridis", vmin=0.5, vmax=1)
        for i, j in np.argwhere(mean >= GOOD):
            ax.text(i, j, "•", ha="center", va="center", color=INK, fontsize=8)
        tidy_axes(ax, method)
        names = [f"{scale:.2g}" for scale in scales]
        ax.set_xticks(marks, names)
        ax.set_yticks(marks, names)
        ax.set_xlabel("σ_x")
    panels[0].set_ylabel("σ_y")
    bar = figure.colorbar(image, ax=panels, shrink=0.85)
    bar.set_label("mean share in the right cluster")
    bar.outline.set_visible(False)
    caption = f"Mean accuracy over the scales of both views; a dot where it is at least {GOOD}."
    return {"": Picture(figure, caption), "ends": _draw_ends(result)}


def _draw_ends(result: Result) -> Picture:
    """Share of good scales over the lower end of the grid, with its spread."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4), layout="constrained")
    ax = figure.subplots()
    shares = result.numbers["shares"]
    starts = [float(start) for start in shares]
    for number, method in enumerate(result.numbers["accuracy"]):
        values = np.array([np.asarray(each[method], dtype=np.float64) for each in shares.values()])
        spread = values.std(axis=1, ddof=1) if values.shape[1] > 1 else np.zeros(len(values))
        is_ours = method == "multi-view"
        ax.errorbar(
            starts,
            values.mean(axis=1),
            yerr=spread,
            color=INK if is_ours else PALETTE[number],
            marker="sDd^"[number],
            linewidth=2.2 if is_ours else 1.3,
            linestyle=("-.", "--", ":", "-")[number],
            markersize=5,
            capsize=2,
            label=method,
        )
    ax.set(xlabel="lower end of the grid", ylabel=f"share of the grid with at least {GOOD}")
    tidy_axes(ax, None)
    ax.set_xscale("log")
    ax.legend(frameon=False, fontsize="small")
    return Picture(
        figure,
        "The share of good scales against the lower end of the grid; mean and standard deviation "
        "over trials. It is a property of the grid, too.",
    )
