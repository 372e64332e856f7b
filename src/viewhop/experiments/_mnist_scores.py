"""Scores of the MNIST experiment: the paper's numbers, and tables beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from viewhop.experiments._experiment import Cell, Table

__all__ = ["DIMS", "PAPER", "ROWS", "score_tables", "top_by_run", "top_score"]

#: Numbers of coordinates.
DIMS = (5, 10, 15, 20)
#: NMI and accuracy in Table 1 of the paper, which does not say which kernel product it means.
PAPER = {
    "X1 alone": (0.38, 0.844),
    "X2 alone": (0.38, 0.841),
    "kernel product": (0.41, 0.852),
    "kernel product, concat": (0.41, 0.852),
    "kernel sum": (0.39, 0.846),
    "kernel CCA": (0.54, 0.905),
    "de Sa": (0.59, 0.912),
    "multi-view": (0.70, 0.947),
}
#: Rows of the tables: those of the paper, and the hop walk at times below 1.
ROWS = (*PAPER, "multi-view, t = 0.5", "multi-view, t = 0")


def score_tables(title: str, scores: Mapping[str, Any]) -> tuple[Table, Table]:
    """Table of top results as in the paper, and table of means and tightest runs.

    Parameters
    ----------
    title : str
    scores : dict
        Scores by setting and method.
    """
    top_columns, mean_columns = ["method"], ["method"]
    for setting in scores:
        top_columns += [f"{setting}: NMI", "accuracy"]
        mean_columns += [f"{setting}: mean NMI", "tightest run", "λ_10"]
    top: list[tuple[Cell, ...]] = []
    means: list[tuple[Cell, ...]] = []
    for method in ROWS:
        best: list[Cell] = [method]
        typical: list[Cell] = [method]
        for by_method in scores.values():
            best += [
                top_score(by_method.get(method), "nmi"),
                top_score(by_method.get(method), "accuracy"),
            ]
            typical += _typical(by_method.get(method))
        top.append((*best, *PAPER.get(method, (None, None))))
        means.append(tuple(typical))
    return (
        Table(
            f"{title}: the top over {', '.join(map(str, DIMS))} coordinates and all runs",
            (*top_columns, "paper: NMI", "paper: accuracy"),
            tuple(top),
        ),
        Table(
            f"{title}: mean ± deviation over runs, and the run of least inertia, "
            f"{DIMS[1]} coordinates",
            tuple(mean_columns),
            tuple(means),
        ),
    )


def top_score(scores: Mapping[str, Any] | None, score: str) -> float | None:
    """Highest value of a score over coordinates and runs; None if it is missing."""
    return None if scores is None else float(np.max(scores[score]))


def top_by_run(scores: Mapping[str, Any]) -> list[float]:
    """Highest NMI over the numbers of coordinates, one value per run of K-means."""
    return [float(each) for each in np.max(scores["nmi"], axis=0)]


def _typical(scores: Mapping[str, Any] | None) -> list[Cell]:
    if scores is None:
        return [None, None, None]
    runs = scores["nmi"][1]
    tenth = scores["eigenvalue"]
    return [
        f"{np.mean(runs):.3f} ± {np.std(runs):.3f}",
        float(runs[scores["tightest"][1]]),
        None if tenth is None else f"{tenth:.1e}",
    ]
