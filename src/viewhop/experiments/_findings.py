"""Findings: what an experiment says about a claim of the paper, by the rule of the claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CONDITIONAL",
    "FAILS",
    "HOLDS",
    "UNTESTABLE",
    "VERDICTS",
    "Finding",
    "Lead",
    "judge_lead",
    "measure_lead",
]

HOLDS = "holds"
CONDITIONAL = "holds with a condition"
FAILS = "does not hold here"
UNTESTABLE = "not testable"
#: In the order of the page.
VERDICTS = (HOLDS, CONDITIONAL, FAILS, UNTESTABLE)

#: A lead counts if it exceeds this many standard errors of the paired difference.
ERRORS = 2.0


@dataclass(frozen=True)
class Finding:
    """What one run says about a claim.

    Attributes
    ----------
    claim : str
        Key of the claim, see `viewhop.experiments.read_claims`.
    verdict : str
        One of `VERDICTS`.
    evidence : str
        One or two sentences with the measured numbers, their spread and the number of draws.
    condition : str
        The condition under which the claim holds; empty for other verdicts.
    """

    claim: str
    verdict: str
    evidence: str
    condition: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(
                f"{self.claim}: expected a verdict of {', '.join(VERDICTS)}, got {self.verdict!r}"
            )
        if bool(self.condition) != (self.verdict == CONDITIONAL):
            raise ValueError(f"{self.claim}: expected a condition if and only if there is one")


class Lead(NamedTuple):
    """The lead of one method over another.

    Attributes
    ----------
    mean, error : float
        Mean of the paired differences over the draws, and its standard error.
    """

    mean: float
    error: float

    @property
    def sign(self) -> int:
        """1 if ahead, −1 if behind, 0 if the difference is within the error."""
        return int(np.sign(self.mean)) if abs(self.mean) > ERRORS * self.error else 0


def measure_lead(ours: ArrayLike, rival: ArrayLike) -> Lead:
    """The lead of one method over a rival, from scores of the same draws.

    Parameters
    ----------
    ours, rival : (n_draws,) arrays
        Higher is better; at least two draws.

    Examples
    --------
    >>> from viewhop.experiments._findings import measure_lead
    >>> measure_lead([0.9, 0.8, 0.9], [0.5, 0.5, 0.5]).sign
    1
    """
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(rival, dtype=np.float64)
    if differences.ndim != 1 or differences.size < 2:
        raise ValueError(f"expected scores of at least two draws, got {differences.shape}")
    error = float(differences.std(ddof=1) / np.sqrt(differences.size))
    return Lead(float(differences.mean()), error)


def judge_lead(
    claim: str,
    scores: Mapping[str, Mapping[str, ArrayLike]],
    *,
    printed: str,
    rivals: Sequence[str] | None = None,
    ours: str = "multi-view",
    digits: int = 3,
) -> Finding:
    """The finding on a claim that one method is ahead of others.

    It holds if the mean lead over every rival exceeds two standard errors of the paired
    difference in the paper's own setting. If it does so only in other settings, these are the
    condition; all settings are named.

    Parameters
    ----------
    claim : str
    scores : dict of dicts of (n_draws,) arrays
        Scores by setting and method, higher is better. A setting may lack a method; draws of a
        setting are the same for all methods.
    printed : str
        The paper's own setting, one of `scores`.
    rivals : list of str or None
        Methods that the claim is about; None means all but `ours`.
    ours : str
        The method that is claimed to be ahead.
    digits : int
        Decimals in the evidence.
    """
    leads = {}
    for setting, by_method in scores.items():
        names = [name for name in by_method if name != ours and (rivals is None or name in rivals)]
        leads[setting] = {name: measure_lead(by_method[ours], by_method[name]) for name in names}
    first = [setting for setting, by_name in leads.items() if _is_ahead(by_name)]
    own: NDArray[np.float64] = np.asarray(scores[printed][ours], dtype=np.float64)
    evidence = (
        f"{printed}: {ours} {own.mean():.{digits}f} ± {own.std(ddof=1):.{digits}f} over "
        f"{own.size} draws; {_compare(leads[printed], digits)}."
    )
    if len(scores) > 1:
        evidence += (
            f" Ahead of all in {len(first)} of {len(scores)} settings"
            f"{': ' + ', '.join(first) if first else ''} (tried: {', '.join(scores)})."
        )
    if printed in first:
        return Finding(claim, HOLDS, evidence)
    if first:
        condition = f"{' or '.join(first)} instead of {printed}"
        return Finding(claim, CONDITIONAL, evidence, condition)
    return Finding(claim, FAILS, evidence)


def _is_ahead(leads: Mapping[str, Lead]) -> bool:
    return bool(leads) and all(lead.sign > 0 for lead in leads.values())


def _compare(leads: Mapping[str, Lead], digits: int) -> str:
    """Ahead of, level with and behind whom, each with its lead and twice its error."""
    words = {1: "ahead of", 0: "level with", -1: "behind"}
    parts = []
    for sign, word in words.items():
        names = [
            f"{name} ({lead.mean:+.{digits}f} ± {ERRORS * lead.error:.{digits}f})"
            for name, lead in leads.items()
            if lead.sign == sign
        ]
        if names:
            parts.append(f"{word} {', '.join(names)}")
    return "; ".join(parts)
