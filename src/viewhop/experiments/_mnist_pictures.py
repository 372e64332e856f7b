"""Pictures of the MNIST experiment: scores by method, and samples of both views."""

from __future__ import annotations

from typing import Any

import numpy as np

from viewhop.experiments._draws import lead_settings
from viewhop.experiments._experiment import Picture, Result
from viewhop.experiments._mnist_scores import ROWS, top_score
from viewhop.plotting import INK, PALETTE, tidy_axes

__all__ = ["draw"]


def draw(result: Result) -> dict[str, Picture]:
    """Pictures of NMI by method, at full size and over draws, and of samples of both views.

    Parameters
    ----------
    result : Result
    """
    return {
        "": Picture(
            _draw_scores(result),
            "Top NMI between K-means clusters and digits over 5, 10, 15 and 20 coordinates, by "
            "method, beside the paper's table. Left: one set of noisy images. Right: mean and "
            "deviation over draws of real digits with fresh noise.",
        ),
        "views": Picture(
            _draw_samples(result),
            "Samples of both views: normal noise of variance 0.5 above, half of the pixels dropped "
            "below.",
        ),
    }


def _draw_scores(result: Result) -> Any:
    from matplotlib.figure import Figure

    numbers = result.numbers
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    lines = np.arange(len(ROWS))
    shown: dict[str, Any] = {}
    styles = dict(zip(numbers["scores"], zip(PALETTE, "os^", strict=False), strict=False))
    for setting, (colour, marker) in styles.items():
        by_method = numbers["scores"][setting]
        tops = [(top_score(by_method.get(method), "nmi"), at) for at, method in enumerate(ROWS)]
        points = [(value, at) for value, at in tops if value is not None]
        shown[setting] = left.scatter(*zip(*points, strict=True), color=colour, marker=marker, s=46)
        for at, (mean, spread) in _draw_means(numbers["draws"], setting).items():
            right.errorbar(mean, at, xerr=spread, color=colour, marker=marker, ms=6, capsize=3)
    printed = [
        (numbers["paper"][method][0], at)
        for at, method in enumerate(ROWS)
        if method in numbers["paper"]
    ]
    for ax, title in ((left, numbers["size"]), (right, numbers["draw_size"])):
        shown["the paper (40,000)"] = ax.scatter(
            *zip(*printed, strict=True), color=INK, marker="x", s=46, zorder=3
        )
        ax.set(xlabel="NMI", xlim=(0, 1))
        tidy_axes(ax, title)
        ax.set_yticks(lines, ROWS)
        ax.grid(axis="y", color="#eeeeee", zorder=0)
        ax.set_axisbelow(True)
    left.invert_yaxis()
    figure.legend(
        list(shown.values()), list(shown), loc="outside lower center", ncols=2, frameon=False
    )
    return figure


def _draw_means(draws: Any, setting: str) -> dict[int, tuple[float, float]]:
    """Mean and deviation over draws by line of the picture; shorter times where scored."""
    scores = dict(lead_settings(draws)[setting])
    for key, name in (("1", "multi-view, t = 0.5"), ("0", "multi-view, t = 0")):
        if key in draws[setting]["multi-view"]:
            scores[name] = draws[setting]["multi-view"][key]
    return {
        at: (float(np.mean(scores[method])), float(np.std(scores[method], ddof=1)))
        for at, method in enumerate(ROWS)
        if method in scores
    }


def _draw_samples(result: Result) -> Any:
    from matplotlib.figure import Figure

    examples = result.numbers["examples"]
    n_examples = len(next(iter(examples.values())))
    figure = Figure(figsize=(10, 2.5), layout="constrained")
    axes = figure.subplots(len(examples), n_examples)
    for row, (name, images) in zip(axes, examples.items(), strict=True):
        for ax, image in zip(row, images, strict=True):
            ax.imshow(image, cmap="gray", vmin=0, vmax=255)
            ax.set(xticks=[], yticks=[])
        row[0].set_ylabel(name, rotation=0, ha="right", va="center", color=INK)
    return figure
