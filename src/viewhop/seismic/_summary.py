"""Summaries of a batch: what was left out or is doubtful, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

__all__ = ["LeftOut", "Summary", "count_by_reason", "printable", "sample_by_reason", "stamp"]


@dataclass(frozen=True)
class LeftOut:
    """One item that was left out, or that was kept but is doubtful.

    Attributes
    ----------
    trace : str
        The trace (``NET.STA.LOC.CHA``), station, file or event with the problem.
    reason : str
        Short code shared by all problems of a kind, such as ``"gap"`` or ``"clipped"``.
    detail : str
        What was expected and what was found.
    time : Timestamp or None
        Time in UTC, if known.
    event : str or None
        Id of the event that lost this trace; None if the whole trace was lost.
    """

    trace: str
    reason: str
    detail: str
    time: pd.Timestamp | None = None
    event: str | None = None

    def __str__(self) -> str:
        where = printable(self.trace)
        if self.event is not None:
            where += f", event {printable(self.event)}"
        if self.time is not None:
            where += f", {stamp(self.time)}"
        return f"{where}: {printable(self.detail)}"


@dataclass(frozen=True)
class Summary:
    """Number of items kept, with every item that was left out or is doubtful.

    Attributes
    ----------
    kept : int
    unit : str
        The counted items, in the plural: traces, events, windows.
    left_out : tuple of LeftOut
    doubtful : tuple of LeftOut
        Items kept despite a problem, such as the pick of a clipped trace.

    Examples
    --------
    >>> from viewhop.seismic._summary import LeftOut, Summary
    >>> lost = LeftOut("BW.UH1..SHZ", "clipped", "it stays at 8388607 for 12 samples")
    >>> summary = Summary(5, "windows", (lost,))
    >>> print(summary)
    5 windows; left out 1: 1 clipped
    >>> summary.counts
    {'clipped': 1}
    >>> print(summary.left_out[0])
    BW.UH1..SHZ: it stays at 8388607 for 12 samples
    """

    kept: int
    unit: str
    left_out: tuple[LeftOut, ...] = ()
    doubtful: tuple[LeftOut, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Number of items left out by reason, most frequent first."""
        return dict(Counter(lost.reason for lost in self.left_out).most_common())

    def after(self, earlier: Iterable[LeftOut]) -> Summary:
        """Summary with the items of an earlier step listed before these."""
        return replace(self, left_out=(*earlier, *self.left_out))

    def to_frame(self) -> Any:
        """DataFrame with one row per item left out."""
        names = ("trace", "reason", "detail", "time", "event")
        return pd.DataFrame(
            {name: [getattr(lost, name) for lost in self.left_out] for name in names}
        )

    def __str__(self) -> str:
        unit = self.unit.removesuffix("s") if self.kept == 1 else self.unit
        text = f"{self.kept:,} {unit}; {count_by_reason('left out', self.left_out)}"
        return f"{text}; {count_by_reason('doubtful', self.doubtful)}" if self.doubtful else text


def count_by_reason(what: str, problems: Sequence[LeftOut]) -> str:
    """Text with the number of problems by reason, most frequent first."""
    if not problems:
        return f"nothing {what}"
    counts = Counter(each.reason for each in problems).most_common()
    return f"{what} {len(problems):,}: " + ", ".join(f"{n:,} {reason}" for reason, n in counts)


def sample_by_reason(problems: Sequence[LeftOut], count: int) -> list[LeftOut]:
    """At most `count` problems, or one per reason if there are more reasons, in their order.

    Reasons take turns, so that a frequent one does not hide a rare one.

    Parameters
    ----------
    problems : list of LeftOut
    count : int
    """
    counts: Counter[str] = Counter()
    turns: list[tuple[int, int]] = []
    for k, each in enumerate(problems):
        turns.append((counts[each.reason], k))
        counts[each.reason] += 1
    chosen = sorted(turns)[: max(count, len(counts))]
    return [problems[k] for _, k in sorted(chosen, key=lambda turn: turn[1])]


def printable(text: str) -> str:
    """Text with unprintable characters escaped, so that it cannot control a terminal."""
    return text if text.isprintable() else repr(text)


def stamp(time: pd.Timestamp) -> str:
    """ISO text of a time in UTC, at full precision."""
    return time.isoformat().replace("+00:00", "Z")
