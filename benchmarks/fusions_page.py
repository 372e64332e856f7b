"""The page that compares the fusions, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.fusions import METHODS, TWO, Scores
from benchmarks.quality.cells import Record
from benchmarks.quality.markdown import DASH, format_value, table

__all__ = ["compare", "mean_score", "write_page"]

#: Least difference on a set that counts.
LEVEL = 0.01
#: The fusion that the others are compared with.
FIRST = "hop"
TITLES = {
    "all views": "## Real sets, all views",
    TWO: "## Real sets, the first two views",
    "synthetic": "## Synthetic sets",
}
#: What an error says when the fusion is not for the set, rather than that it failed.
NOT_FOR_IT = "is for two views"


def write_page(tables: Mapping[str, Scores]) -> str:
    """The page, in Markdown.

    Parameters
    ----------
    tables : dict of Scores by table
    """
    lines = [
        "# The fusions compared",
        "",
        "*Made by `make bench-fusions`.* [The guide](guide.md#which-fusion) says what each fusion",
        "is and when to use it; this page says what came out. The rule was fixed before any score",
        "was computed; `benchmarks/fusions.py` states it in full. Real sets are those of",
        "[quality.md](quality.md), with at most 1,000 samples, and the score is the adjusted",
        "mutual information of K-means on K − 1 coordinates with the K classes; on synthetic sets",
        "it is that of quality.md. Every fusion has the defaults of the estimator otherwise.",
        "“t = 0” weighs all coordinates alike. The leading eigenvector of the composite operator",
        "is not scored.",
    ]
    for name, scores in tables.items():
        lines += ["", TITLES[name], "", _table(scores, with_mean=name != "synthetic")]
        reasons = _reasons(scores)
        lines += ["", "Gaps:", "", *reasons] if reasons else []
        verdicts = [_verdict(row, scores) for row in METHODS if row != FIRST]
        lines += ["", f"Won and lost against `{FIRST}`, by {LEVEL} or more:", "", *verdicts]
    return "\n".join(lines) + "\n"


def mean_score(row: str, scores: Scores) -> float | None:
    """The mean over the sets, an error counting as 0; None if the row is not for all of them."""
    records = [record for (_, method), record in scores.items() if method == row]
    if any(NOT_FOR_IT in (record.error or "") for record in records):
        return None
    return float(np.mean([_score(record) or 0.0 for record in records]))


def compare(row: str, scores: Scores) -> tuple[dict[str, float], dict[str, float]]:
    """The sets on which a row wins over the hop walk, and those on which it loses, by how much."""
    won, lost = {}, {}
    for (name, method), record in scores.items():
        if method != row or NOT_FOR_IT in (record.error or ""):
            continue
        gain = (_score(record) or 0.0) - (_score(scores[name, FIRST]) or 0.0)
        if gain >= LEVEL:
            won[name] = gain
        elif gain <= -LEVEL:
            lost[name] = -gain
    return won, lost


def _score(record: Record) -> float | None:
    return record.scores.get("ami", record.scores.get("score"))


def _table(scores: Scores, *, with_mean: bool) -> str:
    sets = list(dict.fromkeys(name for name, _ in scores))
    rows = []
    for row in METHODS:
        values = [_score(scores[name, row]) for name in sets]
        cells = [DASH if value is None else format_value(value) for value in values]
        mean = mean_score(row, scores)
        first = [DASH if mean is None else format_value(mean, 3)] if with_mean else []
        rows.append([row if "," in row else f"`{row}`", *first, *cells])
    return table(["fusion", *(["mean"] if with_mean else []), *sets], rows)


def _reasons(scores: Scores) -> list[str]:
    """A line for every error, with the sets on which it came."""
    places: dict[tuple[str, str], list[str]] = {}
    for (name, row), record in scores.items():
        if record.error:
            what = NOT_FOR_IT if NOT_FOR_IT in record.error else record.error.split(";")[0]
            places.setdefault((row, what), []).append(name)
    return [
        f"- {row} {what}: not run on {', '.join(names)}."
        if what == NOT_FOR_IT
        else f"- {row} failed on {', '.join(names)} (0 in the mean): {what}."
        for (row, what), names in places.items()
    ]


def _verdict(row: str, scores: Scores) -> str:
    """One line on where a row wins and loses against the hop walk."""
    won, lost = compare(row, scores)
    n = sum(
        method == row and NOT_FOR_IT not in (record.error or "")
        for (_, method), record in scores.items()
    )
    sets = f"{n} set" if n == 1 else f"{n} sets"
    return (
        f"- {row}, on {sets}: ahead of {FIRST} on {_list(won, '+')}; behind on {_list(lost, '−')}."
    )


def _list(gains: Mapping[str, float], sign: str) -> str:
    """The number of sets, and the three with the largest difference."""
    if not gains:
        return "none"
    largest = sorted(gains, key=lambda name: -gains[name])[:3]
    named = ", ".join(f"{name} {sign}{gains[name]:.2f}" for name in largest)
    return f"{len(gains)} ({named}{', …' if len(gains) > 3 else ''})"
