"""Findings on the lead of multi-view in the seismic experiments, for r = 3 and 4 together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._findings import (
    CONDITIONAL,
    ERRORS,
    FAILS,
    HOLDS,
    Finding,
    Lead,
    measure_lead,
)
from viewhop.experiments._seismic_setting import MULTI, RANKS, percents
from viewhop.seismic import Classification

__all__ = ["collect_settings", "judge_ranks"]

Floats = NDArray[np.float64]


def collect_settings(
    calibrated: Mapping[str, Sequence[Classification]],
    sweep: Mapping[str, Floats],
    noises: Sequence[float],
) -> dict[str, Floats]:
    """Accuracies in per cent by setting, (n_methods, n_trials, n_ranks), calibrated ones first.

    Parameters
    ----------
    calibrated : dict of lists of Classification by kernel
    sweep : dict of (n_noises, n_methods, n_trials, n_ranks) arrays by kernel
    noises : list of float
    """
    settings = {
        f"calibrated with {name}": percents(trials, procedure="transductive")
        for name, trials in calibrated.items()
    }
    for name, accuracies in sweep.items():
        for level, values in zip(noises, accuracies, strict=True):
            settings[f"defaults at noise {level:g} with {name}"] = values
    return settings


def judge_ranks(
    claim: str, scores: Mapping[str, Floats], methods: Sequence[str], *, printed: str
) -> tuple[Finding, ...]:
    """The finding that multi-view is ahead of all others at every r; none for a single trial.

    Parameters
    ----------
    claim : str
    scores : dict of (n_methods, n_trials, n_ranks) arrays
        Accuracies in per cent by setting; all settings that were tried.
    methods : list of str
    printed : str
        The setting that stands for the paper's, one of `scores`.
    """
    if scores[printed].shape[1] < 2:
        return ()
    leads = {name: _measure_leads(values, methods) for name, values in scores.items()}
    first = [
        name
        for name, by_rank in leads.items()
        if all(lead.sign > 0 for by_rival in by_rank for lead in by_rival.values())
    ]
    own = scores[printed][list(methods).index(MULTI)]
    evidence = (
        f"Simulated records in place of recordings that are not public; {printed}: "
        + "; ".join(
            f"r = {r}: multi-view {own[:, k].mean():.1f} ± {own[:, k].std(ddof=1):.1f} % over "
            f"{len(own)} draws, {_describe(leads[printed][k])}"
            for k, r in enumerate(RANKS)
        )
        + f". Ahead of all at both r in {len(first)} of {len(scores)} settings"
        + (f": {', '.join(first)}" if first else "")
        + f" (tried: {', '.join(scores)})."
    )
    if printed in first:
        return (Finding(claim, HOLDS, evidence),)
    if first:
        condition = f"{' or '.join(first)} instead of {printed}"
        return (Finding(claim, CONDITIONAL, evidence, condition),)
    return (Finding(claim, FAILS, evidence),)


def _measure_leads(values: Floats, methods: Sequence[str]) -> list[dict[str, Lead]]:
    """Leads of multi-view by r and rival."""
    by_method = dict(zip(methods, values, strict=True))
    return [
        {
            name: measure_lead(by_method[MULTI][:, k], rows[:, k])
            for name, rows in by_method.items()
            if name != MULTI
        }
        for k in range(len(RANKS))
    ]


def _describe(leads: Mapping[str, Lead]) -> str:
    """The rival with the smallest lead over it, and the number of rivals behind."""
    name, lead = min(leads.items(), key=lambda item: item[1].mean)
    behind = sum(each.sign > 0 for each in leads.values())
    return (
        f"ahead of {behind} of {len(leads)}, and {lead.mean:+.1f} ± {ERRORS * lead.error:.1f} "
        f"points against the best other, {name}"
    )
