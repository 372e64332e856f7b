"""The section of the page on the choice of the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.quality.cells import Record
from benchmarks.quality.choices import CHOICE, candidate_scores, name_candidate
from benchmarks.quality.markdown import format_value, table
from benchmarks.quality.ranks import hold_out

__all__ = ["write_choices"]

#: What the grid leaves out, which a reader must know to judge the estimate.
BEFORE = (
    "The grid does not hold all that was tried: prototypes on the same fourteen sets came before "
    "it, and settled the weight of the joint view (of 3), the exponent of its blocks (of 2), the "
    "form of the taper (of 6), and, earlier, the rule that chooses metrics with its margin. No "
    "rule of choice was fixed before the first prototype. The estimate below, which leaves sets "
    "out of the grid only, is therefore optimistic."
)
#: Candidates shown.
SHOWN = 10
#: Scores of one method that differ by less are equal.
SAME = 1e-6


def write_choices(
    records: Sequence[Record], names: Sequence[str], measured: Mapping[str, float | None]
) -> str:
    """The best candidates, the line of the default, and the estimate with a set held out.

    Parameters
    ----------
    records : list of Record
    names : list of str
        The counted sets.
    measured : dict of float
        By set, the AMI of the library's default, with which the marked line must agree.
    """
    if not records:
        return ""
    scores, reasons = candidate_scores(records, names)
    text = (
        "## The choice of the default\n\nAMI with K known. The candidates: weights of the walk × "
        "α × neighbours of the local scale × metric × joint view × output, and other numbers of "
        "neighbours and tapers around the default; "
        f"{len(scores) + len(reasons)} in all.\n\n{BEFORE}\n\n"
    )
    if scores:
        means = {name: float(np.mean(list(by_set.values()))) for name, by_set in scores.items()}
        order = sorted(means, key=lambda name: -means[name])
        places = {name: place for place, name in enumerate(order, 1)}
        default = name_candidate(*CHOICE)
        shown = order[:SHOWN] + [default] * (default in order[SHOWN:])
        rows = [
            [
                f"**{name}** (the default)" if name == default else name,
                str(places[name]),
                format_value(means[name], 3),
                *(format_value(scores[name][set_name]) for set_name in names),
            ]
            for name in shown
        ]
        text += table(["candidate", "place", "mean", *names], rows)
        text += _check_default(scores.get(default), measured)
        held = hold_out(scores, names)
        spread = means[order[0]] - means[order[min(SHOWN, len(order)) - 1]]
        others = sorted(set(held.chosen.values()) - {held.best})
        text += (
            f"\n\nThe best mean is {held.mean:.3f}; the first {min(SHOWN, len(order))} candidates "
            f"lie within {spread:.3f}. Leave one set out: for each set, the candidate with the "
            "best mean on the others is scored on it. The mean of these scores is "
            f"**{held.held_out_mean:.3f}**. "
        )
        text += (
            f"For {_count(held.chosen, held.best)} of the sets, leaving it out changes the choice: "
            f"to {'; '.join(others)}."
            if others
            else "The choice is the same whichever set is left out."
        )
    by_reason: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        by_reason.setdefault(reason, []).append(name)
    for reason, candidates in by_reason.items():
        text += f"\n\n– {reason}: {len(candidates)} candidates, such as {candidates[0]}."
    return text


def _check_default(marked: Mapping[str, float] | None, measured: Mapping[str, float | None]) -> str:
    """A warning if the candidate that is marked is not what the library does by default."""
    if marked is None:
        return "\n\nThe default has no line: it has not been computed on every set."
    apart = [
        name
        for name, number in measured.items()
        if number is not None and abs(number - marked[name]) > SAME
    ]
    if not apart:
        return ""
    return (
        "\n\n**The line marked as the default is not the library's default**, which has other "
        f"scores on {', '.join(apart)}."
    )


def _count(chosen: dict[str, str], best: str) -> int:
    return sum(name != best for name in chosen.values())
