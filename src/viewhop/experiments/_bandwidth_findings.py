"""What Fig. 3 claims: asymptotes of log S, and the size and the cost of Algorithm 1's scales.

The asymptotes hold if log S comes within 0.01 of both ends on all data. A scale is small on some
data if, in both views, it is smaller than that of max-min (C = 1) and of the log-log rule of one
view: the mean of the log ratio over the draws is negative by more than two standard errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding, measure_lead

__all__ = ["ScaleDraw", "judge_asymptotes", "judge_cost", "judge_small"]

#: Largest difference from an asymptote.
_NEAR = 0.01


class ScaleDraw(NamedTuple):
    """Scales of one draw.

    Attributes
    ----------
    scales : dict of pairs by rule
        σ_x and σ_y by both rules of Algorithm 1 and by both rules of one view.
    ends : tuple of float
        M, and each asymptote followed by the value that should reach it.
    slope : float
        Slope of log S over log σ_x at the minimal scales.
    warned : bool
    """

    scales: dict[str, tuple[float, float]]
    ends: tuple[float, ...]
    slope: float
    warned: bool


def judge_asymptotes(draws: Mapping[str, list[ScaleDraw]]) -> Finding:
    """The finding on the claim that log S runs from log M to 3 log M."""
    errors = {
        name: max(
            max(abs(one.ends[1] - one.ends[2]), abs(one.ends[3] - one.ends[4])) for one in each
        )
        for name, each in draws.items()
    }
    evidence = (
        "Largest difference of log S from log M and from 3 log M over all draws: "
        + ", ".join(f"{name} {error:.4f}" for name, error in errors.items())
        + "."
    )
    return Finding("asymptotes", HOLDS if max(errors.values()) < _NEAR else FAILS, evidence)


def judge_small(draws: Mapping[str, list[ScaleDraw]], rules: tuple[str, ...]) -> Finding:
    """The finding on the claim that Algorithm 1 sets a small scale for both views."""
    small, texts = [], []
    for name, each in draws.items():
        are_smaller = []
        parts = []
        for rule in rules:
            ratios = np.log([np.divide(one.scales["minimal"], one.scales[rule]) for one in each])
            are_smaller += [_is_negative(ratios[:, view]) for view in (0, 1)]
            parts.append(f"{np.exp(ratios.mean()):.2f} of {rule}")
        texts.append(f"{name} ({len(each)} draws) {', '.join(parts)}")
        if all(are_smaller):
            small.append(name)
    evidence = (
        "Minimal scale of Algorithm 1 as a share of others, geometric mean over draws and views: "
        f"{'; '.join(texts)}. Smaller than both in {len(small)} of {len(draws)}: "
        f"{', '.join(small) or 'none'}."
    )
    claim = "algorithm-1-small"
    if len(small) == len(draws):
        return Finding(claim, HOLDS, evidence)
    if small:
        return Finding(claim, CONDITIONAL, evidence, f"data: {', '.join(small)}")
    return Finding(claim, FAILS, evidence)


def _is_negative(ratios: NDArray[np.float64]) -> bool:
    """Whether the mean is negative by more than two standard errors; one draw has none."""
    if ratios.size == 1:
        return bool(ratios[0] < 0)
    return measure_lead(np.zeros_like(ratios), ratios).sign > 0


def judge_cost(counts: Mapping[int, int]) -> Finding:
    """The finding on the printed cost, from counts of kernel values by number of samples."""
    sizes = np.log([*counts])
    growth = float(np.polyfit(sizes, np.log([*counts.values()]), 1)[0])
    evidence = (
        f"Steps 1 and 2 as printed evaluate {', '.join(f'{c:,}' for c in counts.values())} kernel "
        f"values at M = {', '.join(map(str, counts))}: they grow as M^{growth:.2f}, not as M "
        "(docs/errata.md, 16). Nothing is random in a count."
    )
    return Finding("algorithm-1-cost", HOLDS if growth < 1.1 else FAILS, evidence)
