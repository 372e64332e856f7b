"""One measured line of a benchmark table."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Row"]


@dataclass(frozen=True)
class Row:
    """What was done, how long it took, and how that compares within the same run.

    Attributes
    ----------
    work : str
    seconds : float
    ratio : float or None
        Its time over that of the line named in `of`.
    of : str
    peak : int or None
        Peak resident memory in bytes.
    """

    work: str
    seconds: float
    ratio: float | None = None
    of: str = ""
    peak: int | None = None
