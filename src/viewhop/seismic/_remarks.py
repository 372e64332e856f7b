"""Remarks on scores: sentences about what limits their comparison."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._outcomes import Score
from viewhop.seismic._summary import printable
from viewhop.views import Views

__all__ = [
    "comparison_remarks",
    "duplicate_remarks",
    "lone_class_remarks",
    "missingness_remarks",
    "overlap_remarks",
    "warning_remarks",
]

Codes = NDArray[np.intp]

#: Number of label permutations that estimate the accuracy by chance.
_SHUFFLES = 199


def overlap_remarks(apart: Sequence[set[int]]) -> list[str]:
    """Remark on the number of events that share samples with others."""
    count = sum(map(bool, apart))
    if not count:
        return []
    return [
        f"{count:,} of {len(apart):,} events share samples with others and are not classified by "
        "them; the catalogue may list an event twice"
    ]


def duplicate_remarks(views: Views) -> list[str]:
    """Remarks on views with identical rows for several events."""
    remarks = []
    for name in views.names:
        rows = views.rows(name)
        count = len(rows) - len(np.unique(rows, axis=0))
        if count:
            remarks.append(
                f"{name}: {count:,} of {len(rows):,} events have the same features as another"
            )
    return remarks


def missingness_remarks(views: Views, codes: Codes) -> list[str]:
    """Remark if the set of views that recorded an event predicts its class.

    Predicting, for each pattern of views, the class with the largest share in it has the balanced
    accuracy Σ max share / classes. By chance that exceeds 1 / classes; shuffled labels show by how
    much.
    """
    labelled = codes >= 0
    patterns, which = np.unique(views.observed[labelled], axis=0, return_inverse=True)
    present, members = np.unique(codes[labelled], return_inverse=True)
    if len(patterns) < 2:
        return []

    def balanced(members: Codes) -> float:
        counts = np.zeros((len(patterns), len(present)))
        np.add.at(counts, (which.ravel(), members), 1)
        return float((counts / counts.sum(axis=0)).max(axis=1).sum() / len(present))

    rng = np.random.default_rng(0)
    chance = [balanced(rng.permutation(members)) for _ in range(_SHUFFLES)]
    accuracy = balanced(members)
    # Significant at the level of 1 in 200.
    if accuracy <= max(chance):
        return []
    return [
        "which views recorded an event predicts its class: balanced accuracy "
        f"{accuracy:.3f}, by chance {np.mean(chance):.3f}; the fusions can use this"
    ]


def lone_class_remarks(
    codes: Codes, classes: Sequence[str], apart: Sequence[set[int]]
) -> list[str]:
    """Remark on classes without two events that may classify each other."""
    lone = []
    for code, name in enumerate(classes):
        members = {int(event) for event in np.flatnonzero(codes == code)}
        if not any(members - {event} - apart[event] for event in members):
            lone.append(printable(name))
    if not lone:
        return []
    return [
        f"a class with one event ({', '.join(lone)}) cannot be predicted from others; it lowers "
        "every balanced accuracy"
    ]


def warning_remarks(scores: Sequence[Score]) -> list[str]:
    """One remark per kind of warning raised by the fits, with methods and counts."""
    warned: dict[str, list[str]] = {}
    for score in scores:
        for kind, count in score.warned.items():
            source = f"{score.method}, {score.procedure} ({count:,})"
            if source not in warned.setdefault(kind, []):
                warned[kind].append(source)
    return [f"fits raised {kind}: {'; '.join(source)}" for kind, source in warned.items()]


def comparison_remarks(scores: Sequence[Score]) -> list[str]:
    """Remarks on scores that cover different classes or events.

    Parameters
    ----------
    scores : list of Score
    """
    remarks = []
    absent = {score.method: score.absent for score in scores if score.absent}
    for method, classes in absent.items():
        remarks.append(
            f"{method} recorded no event of {', '.join(map(printable, classes))}; its balanced "
            "accuracy covers the other classes"
        )
    judged = {tuple((score.target >= 0) & (score.predicted >= 0)) for score in scores}
    if len(judged) > 1:
        remarks.append(
            "methods were scored on different events, those that they recorded; that alone may "
            "change their scores"
        )
    return remarks
