"""One measured line of a benchmark table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Row", "ratio", "size"]


@dataclass(frozen=True)
class Row:
    """A piece of work with its time, and a value compared with a bound.

    Attributes
    ----------
    work : str
    seconds : float or None
    value : float or None
        The value to compare with the bound: a ratio, a count, bytes.
    unit : str
        Unit of `value`: "× the search", "bytes".
    at_most, at_least : float or None
        The bound; None is no bound.
    sound : bool
        Whether the precondition of the bound, such as convergence, holds; if not, it is missed.
    timed : bool
        Whether `value` depends on time. A small run judges only values that do not.
    peak : int or None
        Peak resident memory of the process, in bytes.
    at_import : int or None
        Peak memory after importing the library, before any work.
    error : str
        First line of the error.
    ours : bool
        Whether this library did the work; failures of others do not fail the run.
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
        """Whether the bound holds; None without a bound or a value."""
        if self.value is None or (self.at_most is None and self.at_least is None):
            return None
        below = self.at_most is None or self.value <= self.at_most
        above = self.at_least is None or self.value >= self.at_least
        return below and above and self.sound

    def as_dict(self) -> dict[str, Any]:
        """The row as a dict, for JSON."""
        return asdict(self) | {"met": self.met}


def ratio(
    work: str,
    result: dict[str, Any],
    reference: float,
    of: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    sound: bool = True,
    ours: bool = True,
) -> Row:
    """The row of a measurement, compared with the seconds of a reference.

    Parameters
    ----------
    work : str
    result : dict
        The result of `apart`: "seconds", "peak", "at_import".
    reference : float
        Seconds of the reference.
    of : str
        Name of the reference.
    at_most, at_least, sound, ours
        As in `Row`.
    """
    return Row(
        work,
        result["seconds"],
        result["seconds"] / reference,
        f"× {of}",
        at_most=at_most,
        at_least=at_least,
        sound=sound,
        peak=result["peak"],
        at_import=result["at_import"],
        ours=ours,
    )


def size(work: str, n_bytes: float, *, at_most: float | None = None) -> Row:
    """The row of a number of bytes."""
    return Row(work, value=n_bytes, unit="bytes", at_most=at_most, timed=False)
