"""The memory that reading files may take, counted while they are read."""

from __future__ import annotations

from viewhop._runtime import memory
from viewhop.tables._faults import table_fault

__all__ = ["ReadingBudget"]


class ReadingBudget:
    """Bytes that the files read so far take, against what they may take.

    Parameters
    ----------
    allowed : int or None
        Bytes allowed; None sets no limit.

    Attributes
    ----------
    allowed : int or None
    used : int
        Bytes taken.

    Examples
    --------
    >>> from viewhop.tables._budget import ReadingBudget
    >>> budget = ReadingBudget(1000)
    >>> budget.take("x.csv", 600)
    >>> budget.left
    400
    """

    def __init__(self, allowed: int | None) -> None:
        self.allowed = allowed
        self.used = 0

    @property
    def left(self) -> int | None:
        """Bytes that may still be taken; None without a limit."""
        return None if self.allowed is None else max(0, self.allowed - self.used)

    def check(self, path: str, needed: int, *, what: str = "it") -> None:
        """Raise TableError unless `needed` more bytes are allowed; call it before allocating them.

        Parameters
        ----------
        path : str
        needed : int
        what : str
            What needs the memory.
        """
        if self.allowed is None or self.used + needed <= self.allowed:
            return
        above = ""
        if needed <= self.allowed:
            above = f" besides {memory.format_bytes(self.used)} for what comes before"
        raise table_fault(
            path,
            f"{what} takes {memory.format_bytes(needed)}{above}, and the budget is "
            f"{memory.format_bytes(self.allowed)}; raise max_memory (--memory) if you trust the "
            "file",
        )

    def take(self, path: str, needed: int, *, what: str = "it") -> None:
        """Count bytes that stay in memory; TableError as in `check`.

        Parameters
        ----------
        path : str
        needed : int
        what : str
            What needs the memory.
        """
        self.check(path, needed, what=what)
        self.used += needed
