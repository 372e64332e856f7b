"""Comparison of methods over sets: ranks, their critical difference, and choices held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata, studentized_range

__all__ = ["HeldOut", "cliques", "critical_difference", "hold_out", "mean_ranks"]

#: Scores by method and set.
Scores = Mapping[str, Mapping[str, float]]


def mean_ranks(scores: Scores) -> dict[str, float]:
    """The mean rank of each method over the sets, 1 the best; equal scores share their ranks.

    Parameters
    ----------
    scores : dict of dicts
        By method and set, with the same sets for every method.
    """
    methods = list(scores)
    if not methods:
        return {}
    names = list(scores[methods[0]])
    if any(set(scores[method]) != set(names) for method in methods):
        raise ValueError("ranks need every method on the same sets")
    ranks = [rankdata([-scores[method][name] for method in methods]) for name in names]
    return dict(zip(methods, np.mean(ranks, axis=0).tolist(), strict=True))


def critical_difference(n_methods: int, n_sets: int, level: float = 0.05) -> float:
    """The difference of mean ranks from which two methods differ, by the test of Nemenyi."""
    quantile = studentized_range.ppf(1 - level, n_methods, inf) / sqrt(2)
    return float(quantile * sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def cliques(ranks: Mapping[str, float], difference: float) -> list[list[str]]:
    """Groups of methods that do not differ, the largest ones only, in the order of the ranks."""
    ordered = sorted(ranks, key=lambda method: ranks[method])
    groups: list[list[str]] = []
    for start, first in enumerate(ordered):
        group = [m for m in ordered[start:] if ranks[m] - ranks[first] < difference]
        if len(group) > 1 and not (groups and set(group) <= set(groups[-1])):
            groups.append(group)
    return groups


class HeldOut(NamedTuple):
    """A choice among candidates, and its honest estimate.

    Attributes
    ----------
    best : str
        The candidate with the best mean over all sets.
    mean : float
        That mean.
    chosen : dict of str
        By set, the candidate with the best mean over the other sets.
    scores : dict of float
        By set, the score on it of the candidate chosen without it.
    held_out_mean : float
        Their mean.
    """

    best: str
    mean: float
    chosen: dict[str, str]
    scores: dict[str, float]
    held_out_mean: float


def hold_out(scores: Scores, sets: Sequence[str]) -> HeldOut:
    """The best candidate, and how well the choice does on a set that it has not seen.

    Of candidates with equal means, the first is chosen.
    """
    table = np.array([[scores[candidate][name] for name in sets] for candidate in scores])
    candidates = list(scores)
    best = int(table.mean(axis=1).argmax())
    chosen, held_out = {}, {}
    for column, name in enumerate(sets):
        pick = int(np.delete(table, column, axis=1).mean(axis=1).argmax())
        chosen[name] = candidates[pick]
        held_out[name] = float(table[pick, column])
    return HeldOut(
        candidates[best],
        float(table[best].mean()),
        chosen,
        held_out,
        float(np.mean(list(held_out.values()))),
    )
