"""What was left out of a batch, and why: the rest goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

__all__ = ["LeftOut", "Summary"]


@dataclass(frozen=True)
class LeftOut:
    """One thing that was left out.

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
        where = self.trace if self.trace.isprintable() else repr(self.trace)
        if self.event is not None:
            where += f", event {self.event}"
        if self.time is not None:
            where += f", {stamp(self.time)}"
        return f"{where}: {self.detail}"


@dataclass(frozen=True)
class Summary:
    """How many things were kept, and each that was not.

    Attributes
    ----------
    kept : int
    unit : str
        What is counted: traces, events, windows.
    left_out : tuple of LeftOut

    Examples
    --------
    >>> from viewhop.seismic.summary import LeftOut, Summary
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

    @property
    def counts(self) -> dict[str, int]:
        """Number of things that were left out, by reason, most frequent first."""
        return dict(Counter(lost.reason for lost in self.left_out).most_common())

    def after(self, earlier: Iterable[LeftOut]) -> Summary:
        """The summary with what an earlier step left out before its own."""
        return Summary(self.kept, self.unit, (*earlier, *self.left_out))

    def to_frame(self) -> Any:
        """A DataFrame with a row for each thing that was left out."""
        names = ("trace", "reason", "detail", "time", "event")
        return pd.DataFrame(
            {name: [getattr(lost, name) for lost in self.left_out] for name in names}
        )

    def __str__(self) -> str:
        told = f"{self.kept:,} {self.unit}"
        if not self.left_out:
            return f"{told}; nothing left out"
        listed = ", ".join(f"{count:,} {reason}" for reason, count in self.counts.items())
        return f"{told}; left out {len(self.left_out):,}: {listed}"


def stamp(time: pd.Timestamp) -> str:
    """A time in UTC as text, with all its digits."""
    return time.isoformat().replace("+00:00", "Z")
