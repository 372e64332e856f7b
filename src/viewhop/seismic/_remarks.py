"""What to mind when scores are compared, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._outcomes import Score
from viewhop.seismic._summary import plain
from viewhop.views import Views

__all__ = ["comparing", "doubles", "lone_classes", "shared", "told_by_missing", "warnings_of"]

Codes = NDArray[np.intp]

#: How often labels are shuffled to see what chance gives.
_SHUFFLES = 199


def shared(apart: Sequence[set[int]]) -> list[str]:
    """How many events overlap with others, as a remark."""
    count = sum(map(bool, apart))
    if not count:
        return []
    return [
        f"{count:,} of {len(apart):,} events share samples with others, which do not judge them; "
        "the catalogue may list an event twice"
    ]


def doubles(views: Views) -> list[str]:
    """Which views have the same row for several events, as remarks."""
    found = []
    for name in views.names:
        rows = views.rows(name)
        count = len(rows) - len(np.unique(rows, axis=0))
        if count:
            found.append(f"{name}: {count:,} of {len(rows):,} events have the features of another")
    return found


def told_by_missing(views: Views, codes: Codes) -> list[str]:
    """How well classes are told by which views saw an event, as a remark, if they are.

    Whoever says of each pattern of views the class of which it has the largest share is right, in
    the mean over the classes, in Σ max share / classes. By chance, that is more than one out of as
    many classes as there are; how much, labels that are shuffled tell.
    """
    known = codes >= 0
    patterns, which = np.unique(views.observed[known], axis=0, return_inverse=True)
    present, of = np.unique(codes[known], return_inverse=True)
    if len(patterns) < 2:
        return []

    def balanced(of: Codes) -> float:
        counts = np.zeros((len(patterns), len(present)))
        np.add.at(counts, (which.ravel(), of), 1)
        return float((counts / counts.sum(axis=0)).max(axis=1).sum() / len(present))

    rng = np.random.default_rng(0)
    chance = [balanced(rng.permutation(of)) for _ in range(_SHUFFLES)]
    told = balanced(of)
    # As rare as one in two hundred by chance.
    if told <= max(chance):
        return []
    return [
        "which views saw an event tells its class by itself: balanced accuracy "
        f"{told:.3f}, by chance {np.mean(chance):.3f}; the fusions know which did"
    ]


def lone_classes(codes: Codes, classes: Sequence[str], apart: Sequence[set[int]]) -> list[str]:
    """Which classes have no two events that may judge each other, as a remark."""
    lone = []
    for code, name in enumerate(classes):
        members = {int(event) for event in np.flatnonzero(codes == code)}
        if not any(members - {event} - apart[event] for event in members):
            lone.append(plain(name))
    if not lone:
        return []
    return [
        f"a class with one event ({', '.join(lone)}) cannot be told by others: it lowers every "
        "balanced accuracy"
    ]


def warnings_of(scores: Sequence[Score]) -> list[str]:
    """The warnings of the fits, a remark for each kind, with the methods and how often."""
    warned: dict[str, list[str]] = {}
    for score in scores:
        for kind, count in score.warned.items():
            told = f"{score.method}, {score.procedure} ({count:,})"
            if told not in warned.setdefault(kind, []):
                warned[kind].append(told)
    return [f"fits gave a {kind}: {'; '.join(told)}" for kind, told in warned.items()]


def comparing(scores: Sequence[Score]) -> list[str]:
    """What to mind when scores are compared, in sentences.

    Parameters
    ----------
    scores : list of Score
    """
    found = []
    absent = {score.method: score.absent for score in scores if score.absent}
    for method, classes in absent.items():
        found.append(
            f"{method} saw no event of {', '.join(map(plain, classes))}: its balanced accuracy is "
            "over the other classes"
        )
    judged = {tuple((score.target >= 0) & (score.predicted >= 0)) for score in scores}
    if len(judged) > 1:
        found.append(
            "methods were judged on different events, those that they saw: their scores may differ "
            "for that alone"
        )
    return found
