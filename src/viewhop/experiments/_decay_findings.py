"""Findings on the decay of spectra and on the number of clusters that they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding
from viewhop.experiments._walk_spectra import (
    DELTAS,
    ONE_STEP,
    OURS,
    TWO_STEPS,
    Spectra,
    is_first,
    rank,
)

__all__ = ["judge_counts", "judge_decay", "tally"]


def judge_decay(draws: Sequence[Spectra]) -> Finding:
    """Finding on Fig. 5: the multi-view walk has the strongest decay.

    It holds if the walk has the fewest eigenvalues above every δ in every draw, against walks of
    one step and of two. If against walks of one step alone, that is the condition.

    Parameters
    ----------
    draws : list of dicts of arrays
        In the paper's setting.
    """
    wins = {
        group: sum(all(is_first(each, delta, rivals) for delta in DELTAS) for each in draws)
        for group, rivals in (("one", ONE_STEP), ("two", TWO_STEPS))
    }
    at = DELTAS[1]
    ranks = {
        name: [rank(each[name], at) for each in draws] for name in (OURS, *ONE_STEP, *TWO_STEPS)
    }
    lists = ", ".join(
        f"{name} {np.mean(some):.1f} ± {np.std(some, ddof=min(1, len(some) - 1)):.1f}"
        for name, some in ranks.items()
    )
    evidence = (
        f"Fewest eigenvalues above every δ in {wins['one']} of {len(draws)} draws against walks "
        f"of one kernel step, in {wins['two']} against walks of two. Above {at}: {lists}."
    )
    if wins["one"] < len(draws):
        return Finding("strongest-decay", FAILS, evidence)
    if wins["two"] < len(draws):
        return Finding("strongest-decay", CONDITIONAL, evidence, "against walks of one step only")
    return Finding("strongest-decay", HOLDS, evidence)


def judge_counts(found: Mapping[str, Sequence[int]], true: Mapping[str, int]) -> Finding:
    """Finding on the number of clusters by the largest drop of log λ.

    It holds if the drop is after the number of clusters in every draw; with a condition if in more
    than half.

    Parameters
    ----------
    found : dict of lists of int
        Numbers by the drop in each draw, by case.
    true : dict of int
        Number of clusters that both views have, by case.
    """
    right = {case: sum(k == true[case] for k in found[case]) for case in found}
    n_draws = sum(map(len, found.values()))
    evidence = "The largest drop of log λ is after " + ", ".join(
        f"{true[case]} eigenvalues in {right[case]} of {len(found[case])} draws of {case} "
        f"(found {tally(found[case])})"
        for case in found
    )
    total = sum(right.values())
    if total == n_draws:
        return Finding("clusters-from-spectrum", HOLDS, evidence + ".")
    if 2 * total > n_draws:
        condition = f"in {total} of {n_draws} draws"
        return Finding("clusters-from-spectrum", CONDITIONAL, evidence + ".", condition)
    return Finding("clusters-from-spectrum", FAILS, evidence + ".")


def tally(numbers: Sequence[int]) -> str:
    """Each number with how often it occurs, most frequent first: "6 (9 times), 5"."""
    return ", ".join(
        f"{k} ({times} times)" if times > 1 else str(k)
        for k, times in Counter(numbers).most_common()
    )
