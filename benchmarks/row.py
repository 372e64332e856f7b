"""One measured line of a benchmark table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Row", "ratio", "size"]


@dataclass(frozen=True)
class Row:
    """What was done, how long it took, and how that compares within the same run.

    Attributes
    ----------
    work : str
    seconds : float or None
    value : float or None
        What the bound is about: a ratio, a count, bytes.
    unit : str
        What `value` is counted in: "× the search", "bytes".
    at_most, at_least : float or None
        The bound; None is no bound.
    sound : bool
        Whether what the bound presupposes holds, as convergence; without it the bound is missed.
    timed : bool
        Whether `value` comes from a clock. A small run judges what does not.
    peak : int or None
        Peak resident memory of the process, in bytes.
    at_import : int or None
        The same when the process had imported the library and done nothing.
    error : str
        First line of what went wrong.
    ours : bool
        Whether it is this library's work: a failure of any other is a row, and no more.
    """

    work: str
    seconds: float | None = None
    value: float | None = None
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    sound: bool = True
    timed: bool = True
    peak: int | None = None
    at_import: int | None = None
    error: str = ""
    ours: bool = True

    @property
    def met(self) -> bool | None:
        """Whether the bound holds; None where there is none, or nothing to hold it against."""
        if self.value is None or (self.at_most is None and self.at_least is None):
            return None
        below = self.at_most is None or self.value <= self.at_most
        above = self.at_least is None or self.value >= self.at_least
        return below and above and self.sound

    def as_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self) | {"met": self.met}


def ratio(
    work: str,
    found: dict[str, Any],
    reference: float,
    of: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    sound: bool = True,
    ours: bool = True,
) -> Row:
    """The row of a measurement beside a reference of so many seconds.

    Parameters
    ----------
    work : str
    found : dict
        What `apart` gave: "seconds", "peak", "at_import".
    reference : float
        Seconds of the reference.
    of : str
        The reference.
    at_most, at_least, sound, ours
        As in `Row`.
    """
    return Row(
        work,
        found["seconds"],
        found["seconds"] / reference,
        f"× {of}",
        at_most=at_most,
        at_least=at_least,
        sound=sound,
        peak=found["peak"],
        at_import=found["at_import"],
        ours=ours,
    )


def size(work: str, n_bytes: float, *, at_most: float | None = None) -> Row:
    """The row of a number of bytes."""
    return Row(work, value=n_bytes, unit="bytes", at_most=at_most, timed=False)
