"""What was left out of a batch, or is doubtful in it, and why: the rest goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

__all__ = ["LeftOut", "Summary", "counted", "plain", "samples_of_each", "stamp"]


@dataclass(frozen=True)
class LeftOut:
    """One thing that was left out, or that was kept and is doubtful.

    Attributes
    ----------
    trace : str
        The trace (``NET.STA.LOC.CHA``), or the station, file or event that has a problem.
    reason : str
        A word or two, the same for all problems of a kind: ``"gap"``, ``"clipped"``.
    detail : str
        What was expected and what came.
    time : Timestamp or None
        When, in UTC, where that is known.
    event : str or None
        Id of the event that lost this trace; None if the trace was lost altogether.
    """

    trace: str
    reason: str
    detail: str
    time: pd.Timestamp | None = None
    event: str | None = None

    def __str__(self) -> str:
        where = plain(self.trace)
        if self.event is not None:
            where += f", event {plain(self.event)}"
        if self.time is not None:
            where += f", {stamp(self.time)}"
        return f"{where}: {plain(self.detail)}"


@dataclass(frozen=True)
class Summary:
    """How many things were kept, each that was not, and what of the kept ones is doubtful.

    Attributes
    ----------
    kept : int
    unit : str
        What is counted, in the plural: traces, events, windows.
    left_out : tuple of LeftOut
    doubtful : tuple of LeftOut
        What was kept all the same: the pick of a trace that is clipped, for instance.

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
        """Number of things that were left out, by reason, most frequent first."""
        return dict(Counter(lost.reason for lost in self.left_out).most_common())

    def after(self, earlier: Iterable[LeftOut]) -> Summary:
        """The summary with what an earlier step left out before its own."""
        return replace(self, left_out=(*earlier, *self.left_out))

    def to_frame(self) -> Any:
        """A DataFrame with a row for each thing that was left out."""
        names = ("trace", "reason", "detail", "time", "event")
        return pd.DataFrame(
            {name: [getattr(lost, name) for lost in self.left_out] for name in names}
        )

    def __str__(self) -> str:
        unit = self.unit.removesuffix("s") if self.kept == 1 else self.unit
        told = f"{self.kept:,} {unit}; {counted('left out', self.left_out)}"
        return f"{told}; {counted('doubtful', self.doubtful)}" if self.doubtful else told


def counted(what: str, problems: Sequence[LeftOut]) -> str:
    """How many problems there are, and of which kinds, most frequent first."""
    if not problems:
        return f"nothing {what}"
    counts = Counter(each.reason for each in problems).most_common()
    return f"{what} {len(problems):,}: " + ", ".join(f"{n:,} {reason}" for reason, n in counts)


def samples_of_each(problems: Sequence[LeftOut], count: int) -> list[LeftOut]:
    """At most `count` problems, or one of every kind if there are more kinds; in their order.

    Kinds take turns, so that the many of one do not hide the few of another.

    Parameters
    ----------
    problems : list of LeftOut
    count : int
    """
    seen: Counter[str] = Counter()
    turns: list[tuple[int, int]] = []
    for k, each in enumerate(problems):
        turns.append((seen[each.reason], k))
        seen[each.reason] += 1
    chosen = sorted(turns)[: max(count, len(seen))]
    return [problems[k] for _, k in sorted(chosen, key=lambda turn: turn[1])]


def plain(text: str) -> str:
    """A text in which nothing moves a terminal's cursor: what cannot be printed is escaped."""
    return text if text.isprintable() else repr(text)


def stamp(time: pd.Timestamp) -> str:
    """A time in UTC as text, with all its digits."""
    return time.isoformat().replace("+00:00", "Z")
