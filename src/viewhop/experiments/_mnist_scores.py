"""Scores of the MNIST experiment: the paper's numbers, and tables beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from viewhop.experiments._experiment import Cell, Table

__all__ = ["DIMS", "PAPER", "score_tables", "top_score"]

#: Numbers of coordinates.
DIMS = (5, 10, 15, 20)
#: NMI and accuracy in Table 1 of the paper.
PAPER = {
    "X1 alone": (0.38, 0.844),
    "X2 alone": (0.38, 0.841),
    "kernel product": (0.41, 0.852),
    "kernel sum": (0.39, 0.846),
    "kernel CCA": (0.54, 0.905),
    "de Sa": (0.59, 0.912),
    "multi-view": (0.70, 0.947),
}


def score_tables(title: str, scores: Mapping[str, Any]) -> tuple[Table, Table]:
    """Table of top results as in the paper, and table of the tightest runs."""
    top_columns, tight_columns = ["method"], ["method"]
    for setting in scores:
        top_columns += [f"{setting}: NMI", "accuracy"]
        tight_columns += [f"{setting}: NMI, {r}" for r in (DIMS[0], DIMS[-1])]
    top: list[tuple[Cell, ...]] = []
    tight: list[tuple[Cell, ...]] = []
    for method, printed in PAPER.items():
        best: list[Cell] = [method]
        least: list[Cell] = [method]
        for by_method in scores.values():
            best += [
                top_score(by_method.get(method), "nmi"),
                top_score(by_method.get(method), "accuracy"),
            ]
            least += _tight(by_method.get(method))
        top.append((*best, *printed))
        tight.append(tuple(least))
    return (
        Table(
            f"{title}: the top over {', '.join(map(str, DIMS))} coordinates and all runs",
            (*top_columns, "paper: NMI", "paper: accuracy"),
            tuple(top),
        ),
        Table(
            f"{title}: the run of least inertia, by coordinates", tuple(tight_columns), tuple(tight)
        ),
    )


def top_score(scores: Mapping[str, Any] | None, score: str) -> float | None:
    """Highest value of a score over coordinates and runs; None if it is missing."""
    return None if scores is None else float(np.max(scores[score]))


def _tight(scores: Mapping[str, Any] | None) -> list[Cell]:
    if scores is None:
        return [None, None]
    return [float(scores["nmi"][k][scores["tightest"][k]]) for k in (0, -1)]
