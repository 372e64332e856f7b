"""Error messages about a file that name its path, line and column."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from viewhop._runtime import memory
from viewhop.errors import TableError

__all__ = ["check_size", "missing_column", "place", "quote_cell", "reason", "table_fault"]


def place(path: str, line: int | None = None, column: str | None = None, unit: str = "line") -> str:
    """File, line and column, as the start of a message."""
    prefix = path if path.isprintable() else repr(path)
    if line is not None:
        prefix += f", {unit} {line}"
    if column is not None:
        prefix += f", column {quote_cell(column)}"
    return prefix


def table_fault(
    path: str,
    what: str,
    *,
    line: int | None = None,
    column: str | None = None,
    unit: str = "line",
) -> TableError:
    """A TableError for one place in a file.

    Parameters
    ----------
    path : str
        The file, as the caller gave it.
    what : str
        What was expected, what was there instead, and what to do.
    line : int or None
        Line or row, counted from 1.
    column : str or None
        Name of the column.
    unit : {"line", "row"}
        What `line` counts.
    """
    message = "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in what)
    return TableError(f"{place(path, line, column, unit)}: {message}", path, line, column)


def reason(error: BaseException, limit: int = 100) -> str:
    """The first line of another library's error message, shortened."""
    first = (str(error).splitlines() or [""])[0] or type(error).__name__
    return first if len(first) <= limit else f"{first[: limit - 1]}…"


def quote_cell(text: str, limit: int = 40) -> str:
    """The text in quotes, shortened, with unprintable characters escaped."""
    return repr(text if len(text) <= limit else f"{text[: limit - 1]}…")


def missing_column(path: str, name: str, known: Iterable[str], *, role: str) -> TableError:
    """A TableError for a missing column, with the names closest to it.

    Parameters
    ----------
    path : str
    name : str
        The missing column.
    known : iterable of str
        The columns of the file.
    role : str
        Purpose of the column: "id column", "label column", "column to drop".
    """
    names = [*known]
    if not names:
        return table_fault(path, f"no {role} {quote_cell(name)}; its columns have no names")
    folded = {other.strip().casefold(): other for other in names}
    near = [
        folded[match] for match in get_close_matches(name.strip().casefold(), folded, n=3)
    ] or names[:8]
    listing = ", ".join(map(quote_cell, near))
    more = ", …" if near == names[:8] and len(names) > 8 else ""
    return table_fault(path, f"no {role} {quote_cell(name)}; there are {listing}{more}")


def check_size(path: str, needed: int, allowed: int | None, *, what: str = "it") -> None:
    """Raise TableError if reading would need more memory than allowed; call it before reading.

    Parameters
    ----------
    path : str
    needed : int
        Bytes needed, according to the file.
    allowed : int or None
        Bytes allowed; None sets no limit.
    what : str
        What needs the memory.
    """
    if allowed is not None and needed > allowed:
        raise table_fault(
            path,
            f"{what} takes {memory.format_bytes(needed)}, and the budget is "
            f"{memory.format_bytes(allowed)}; raise max_memory (--memory) if you trust the file",
        )
