"""The pictures of Figs. 21 and 22: the coupled circles, and their clusters over the noise."""

from __future__ import annotations

import numpy as np

from viewhop.experiments._experiment import Picture, Result
from viewhop.plotting import INK, PALETTE, tidy_axes

__all__ = ["draw"]

_MARKERS = "ovsDd^Px"
_LINES = ("--", "--", "-.", "-.", (0, (5, 1)), ":", ":", "-")


def draw(result: Result) -> dict[str, Picture]:
    """Pictures of accuracy over noise, one panel per setting, and of the data."""
    from matplotlib.figure import Figure

    settings = result.numbers["accuracy"]
    figure = Figure(figsize=(12, 7.4), layout="constrained")
    panels = figure.subplots(2, 3, sharey=True).ravel()
    noises = np.asarray(result.numbers["noise"])
    for ax, name in zip(panels, settings, strict=False):
        values = np.asarray(settings[name], dtype=np.float64)
        for column, method in enumerate(result.numbers["methods"]):
            if np.isnan(values[:, :, column]).all():
                continue
            mean = values[:, :, column].mean(axis=1)
            is_ours = method == "multi-view"
            ax.plot(
                noises,
                mean,
                color=INK if is_ours else PALETTE[column],
                marker=_MARKERS[column],
                linestyle=_LINES[column],
                linewidth=2.2 if is_ours else 1.3,
                markersize=5,
                label=method,
            )
            if is_ours and values.shape[1] > 1:
                spread = values[:, :, column].std(axis=1, ddof=1)
                ax.fill_between(noises, mean - spread, mean + spread, color=INK, alpha=0.15, lw=0)
        ax.set(ylim=(0.45, 1.03), xlabel="noise σ_n (standard deviation)")
        tidy_axes(ax, name)
    for ax in panels[::3]:
        ax.set_ylabel("share in the right cluster")
    for ax in panels[len(settings) :]:
        ax.remove()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    caption = (
        "Share of samples in the right cluster against the noise, mean over trials, by setting; "
        "0.5 is chance. The band is the standard deviation over trials of multi-view."
    )
    return {"": Picture(figure, caption), "data": _draw_data(result)}


def _draw_data(result: Result) -> Picture:
    """Both views of the circles, by cluster."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.4), layout="constrained")
    target = np.asarray(result.numbers["target"])
    for ax, (name, rows) in zip(
        figure.subplots(1, 2), result.numbers["views"].items(), strict=True
    ):
        points = np.asarray(rows)
        for label, marker in enumerate("os"):
            ax.scatter(
                *points[target == label].T,
                s=9,
                marker=marker,
                color=PALETTE[2 * label],
                label=("inner circle", "outer circle")[label],
            )
        ax.set(xlabel=f"{name}[1]", ylabel=f"{name}[2]", aspect="equal")
        tidy_axes(ax, f"view {name}")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        frameon=False,
    )
    return Picture(
        figure, "The data (Fig. 21 of the paper) at σ_n = 0.16; colour and shape are the cluster."
    )
