"""Table 2: pictures of 101 categories, as bags of words and as directions of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import calinski_harabasz_score, silhouette_score
from sklearn.metrics.pairwise import additive_chi2_kernel

from viewhop.datasets import load_caltech101
from viewhop.experiments import _vision as vision
from viewhop.experiments._caltech_tables import (
    DENSE,
    DIMS,
    LABELS,
    NEAR,
    OURS,
    OWN,
    PAPER,
    PER_CLASS,
    TRUE,
    judge_scores,
    score_remarks,
    score_table,
)
from viewhop.experiments._comparison import pieces_remarks
from viewhop.experiments._experiment import (
    Context,
    Experiment,
    Picture,
    Result,
    Trials,
    files_in_data_home,
)
from viewhop.experiments._kmeans_runs import run_kmeans
from viewhop.experiments._timed_methods import timed_methods
from viewhop.kernels import Precomputed
from viewhop.plotting import INK, PALETTE, tidy_axes
from viewhop.views import Views

__all__ = ["EXPERIMENTS", "chi_squared", "chi_squared_kernel"]

_SETTINGS = {DENSE: None, NEAR: 10}


def run(context: Context) -> Result:
    """Both scores by kernel, number of pictures, labels, method and draw."""
    n_classes = 8 if context.quick else 101
    n_draws = 2 if context.quick else 10
    features = _features(context, n_classes)
    square = {name: chi_squared(features[name]) for name in ("SIFT", "PHOG")}
    scores: dict[str, dict[str, dict[str, Any]]] = {setting: {} for setting in _SETTINGS}
    remarks: list[str] = []
    for setting, n_neighbors in _SETTINGS.items():
        for per_class in PER_CLASS:
            # With all pictures of a category, a draw is a run of K-means.
            is_drawn = per_class < PER_CLASS[-1]
            rows_by_draw = [
                _draw_rows(features["target"], per_class, context.generator(2, draw))
                for draw in range(n_draws if is_drawn else 1)
            ]
            stage = f"{per_class} per category, {setting}"
            by_method: dict[str, Any] = {}
            for number, rows in enumerate(rows_by_draw):
                views = Views(
                    {
                        name: chi_squared_kernel(each[np.ix_(rows, rows)])
                        for name, each in square.items()
                    }
                )
                seeds = [number] if is_drawn else range(max(context.trials, 2))
                pieces = _add_scores(
                    by_method,
                    views,
                    features["target"][rows],
                    n_neighbors=n_neighbors,
                    seeds=[context.integer(1, seed) for seed in seeds],
                    context=context,
                )
                context.progress(stage, number + 1, len(rows_by_draw))
            remarks += [f"{stage}: {each}" for each in pieces_remarks(pieces)]
            scores[setting][str(per_class)] = by_method
    return Result(
        ran={
            "categories": n_classes,
            "pictures": [n_classes * per_class for per_class in PER_CLASS],
            "coordinates": f"{DIMS[0]} to {DIMS[-1]}, mean",
            "kernels": "exp(−χ²/mean χ²) of SIFT words and of PHOG, computed here",
            "visual words": features["SIFT"].shape[1],
            "draws": f"{n_draws} of {PER_CLASS[0]} of the {PER_CLASS[-1]} pictures per "
            "category, one run of K-means each",
            "K-means runs": f"{max(context.trials, 2)} with {PER_CLASS[-1]} pictures per category",
        },
        paper={
            "categories": 101,
            "pictures": [101 * per_class for per_class in PER_CLASS],
            "coordinates": f"{DIMS[0]} to {DIMS[-1]}, mean",
            "kernels": "of Gehler and Nowozin",
            "visual words": None,
            "draws": None,
            "K-means runs": None,
        },
        tables=tuple(
            score_table(setting, labels, by_method)
            for setting, by_method in scores.items()
            for labels in LABELS
        ),
        numbers={"scores": scores, "paper": PAPER},
        remarks=(*score_remarks(scores), *remarks),
        findings=(judge_scores(scores),),
    )


def _draw_rows(
    target: NDArray[np.integer], per_class: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Row numbers of so many random pictures of each category, in order."""
    shuffled = rng.permutation(len(target))
    rows = [shuffled[target[shuffled] == each][:per_class] for each in np.unique(target)]
    return np.sort(np.concatenate(rows))


def _add_scores(
    by_method: dict[str, Any],
    views: Views,
    target: NDArray[np.integer],
    *,
    n_neighbors: int | None,
    seeds: Sequence[int],
    context: Context,
) -> dict[str, int]:
    """Number of pieces by method; the scores of one draw are appended to those by method."""
    kernels = dict.fromkeys(views.names, Precomputed(n_neighbors=n_neighbors))
    methods = dict(
        timed_methods(
            views,
            kernels,
            DIMS[-1],
            seed=context.seed,
        )
    )
    n_classes = len(np.unique(target))
    clusters = {
        name: {r: run_kmeans(method.one_step.first(r), n_classes, seeds=seeds) for r in DIMS}
        for name, method in methods.items()
    }
    for name, method in methods.items():
        entry = by_method.setdefault(name, {labels: [] for labels in (*LABELS, "nmi")})
        by_category = np.mean(
            [_quality(method.one_step.first(r), target) for r in DIMS], axis=0
        ).tolist()
        entry[TRUE].append(by_category)  # K-means has no part in it
        for run_number in range(len(seeds)):
            for labels, source in ((OWN, name), (OURS, "multi-view")):
                values = [
                    _quality(method.one_step.first(r), clusters[source][r].clusters[run_number])
                    for r in DIMS
                ]
                entry[labels].append(np.mean(values, axis=0).tolist())
        entry["nmi"] += np.mean([clusters[name][r].nmi(target) for r in DIMS], axis=0).tolist()
    return {name: method.one_step.n_pieces for name, method in methods.items()}


def _features(context: Context, n_classes: int) -> dict[str, Any]:
    """Rows of both views and categories, for the largest number of pictures."""
    pictures = load_caltech101(context.data_home, per_class=PER_CLASS[-1])
    chosen = np.flatnonzero(pictures.target < n_classes)
    greys = vision.grey(
        [pictures.images[row] for row in chosen], longest=100 if context.quick else 240
    )
    words = vision.bags_of_words(
        greys,
        n_words=50 if context.quick else 300,
        random_state=context.generator(0),
        progress=context.progress,
    )
    edges = vision.phog(greys, progress=context.progress)
    return {"SIFT": words, "PHOG": edges, "target": pictures.target[chosen]}


def chi_squared(histograms: NDArray[np.floating]) -> NDArray[np.float64]:
    """χ² = Σ (x − y)²/(x + y) of all pairs of rows, (n, n).

    Parameters
    ----------
    histograms : (n, n_bins) array
        Non-negative.
    """
    square = -additive_chi2_kernel(histograms)
    return np.asarray((square + square.T) / 2)


def chi_squared_kernel(square: NDArray[np.floating]) -> NDArray[np.float64]:
    """exp(−χ²/m) of all pairs, (n, n), with the mean m of χ² over pairs.

    Parameters
    ----------
    square : (n, n) array
        As `chi_squared` returns it.

    Notes
    -----
    χ² is scaled by its mean over pairs of different samples, as Gehler and Nowozin (2009) define
    their kernels of Caltech-101.
    """
    mean = square[~np.eye(len(square), dtype=bool)].mean()
    return np.asarray(np.exp(-square / mean))


def _quality(embedding: NDArray[np.floating], labels: NDArray[np.integer]) -> tuple[float, float]:
    """Silhouette and Calinski–Harabasz score."""
    return (
        float(silhouette_score(embedding, labels)),
        float(calinski_harabasz_score(embedding, labels)),
    )


def draw(result: Result) -> dict[str, Picture]:
    """Picture of silhouettes by method, one panel per set of labels."""
    from matplotlib.figure import Figure

    scores, printed = result.numbers["scores"], result.numbers["paper"]
    figure = Figure(figsize=(13, 4.8), layout="constrained")
    axes = figure.subplots(1, len(LABELS), sharey=True)
    methods = list(printed)
    size = str(PER_CLASS[0])
    shown: dict[str, Any] = {}
    for ax, (labels, words) in zip(axes, LABELS.items(), strict=True):
        for setting, colour, marker in zip(scores, PALETTE, "os", strict=False):
            by_method = scores[setting][size]
            lines = [line for line, method in enumerate(methods) if method in by_method]
            draws = [[each[0] for each in by_method[methods[line]][labels]] for line in lines]
            shown[f"here, {setting}"] = ax.errorbar(
                np.mean(draws, axis=1),
                lines,
                xerr=np.std(draws, axis=1, ddof=1),
                color=colour,
                marker=marker,
                linestyle="none",
                capsize=3,
            )
        paper = [printed[method][0] for method in methods]
        shown["the paper"] = ax.scatter(
            paper, range(len(methods)), color=INK, marker="x", s=46, zorder=3
        )
        ax.set(xlabel="silhouette, from −1 to 1")
        tidy_axes(ax, f"scored by {words}")
        ax.set_yticks(range(len(methods)), methods)
        ax.grid(axis="y", color="#eeeeee")
        ax.set_axisbelow(True)
    axes[0].invert_yaxis()
    figure.legend(
        list(shown.values()), list(shown), loc="outside lower center", ncols=3, frameon=False
    )
    return {
        "": Picture(
            figure,
            f"Silhouette in 10 to 15 coordinates by method, {size} pictures per category: mean and "
            "deviation over draws for dense and neighbour kernels, beside the paper's table. One "
            "panel per set of labels.",
        )
    }


EXPERIMENTS = (
    Experiment(
        name="caltech",
        where="Table 2",
        title="Pictures of 101 categories in two views",
        about=(
            "Caltech-101 with 10 and 15 pictures per category; the views are bags of SIFT words "
            "and pyramids of oriented gradients (PHOG). Silhouette and Calinski–Harabasz score, "
            "averaged over 10 to 15 coordinates, measure how well labels are separated. Multi-view "
            "should be best."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=10, quick=2, paper=None),
        extras=("vision",),
        find_data=files_in_data_home("caltech101_15.zip"),
    ),
)
