"""What is wrong with a file, said with the place where it is."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from viewhop._runtime import memory
from viewhop.errors import TableError

__all__ = ["check_size", "missing_column", "place", "quote_cell", "reason", "table_fault"]


def place(path: str, line: int | None = None, column: str | None = None, unit: str = "line") -> str:
    """File, line and column, as the beginning of a message."""
    told = path if path.isprintable() else repr(path)
    if line is not None:
        told += f", {unit} {line}"
    if column is not None:
        told += f", column {quote_cell(column)}"
    return told


def table_fault(
    path: str,
    what: str,
    *,
    line: int | None = None,
    column: str | None = None,
    unit: str = "line",
) -> TableError:
    """The error for what is wrong at a place of a file.

    Parameters
    ----------
    path : str
        The file, as it was given.
    what : str
        What was expected, what came, and what to do.
    line : int or None
        Line, or row, counted from 1.
    column : str or None
        Name of the column.
    unit : {"line", "row"}
        What `line` counts.
    """
    told = "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in what)
    return TableError(f"{place(path, line, column, unit)}: {told}", path, line, column)


def reason(error: BaseException, limit: int = 100) -> str:
    """What another library says of a file, shortened to a line."""
    first = (str(error).splitlines() or [""])[0] or type(error).__name__
    return first if len(first) <= limit else f"{first[: limit - 1]}…"


def quote_cell(text: str, limit: int = 40) -> str:
    """The text in quotes, shortened, with what a terminal would not print escaped."""
    return repr(text if len(text) <= limit else f"{text[: limit - 1]}…")


def missing_column(path: str, name: str, known: Iterable[str], *, role: str) -> TableError:
    """The error for a column that is not there, with those that are called almost so.

    Parameters
    ----------
    path : str
    name : str
        The column that was asked for.
    known : iterable of str
        The columns that are there.
    role : str
        What it was asked for as: "id column", "label column", "column to drop".
    """
    names = [*known]
    if not names:
        return table_fault(path, f"no {role} {quote_cell(name)}; nothing in it has a name")
    folded = {other.strip().casefold(): other for other in names}
    near = [
        folded[match] for match in get_close_matches(name.strip().casefold(), folded, n=3)
    ] or names[:8]
    listed = ", ".join(map(quote_cell, near))
    more = ", …" if near == names[:8] and len(names) > 8 else ""
    return table_fault(path, f"no {role} {quote_cell(name)}; there are {listed}{more}")


def check_size(path: str, needed: int, allowed: int | None, *, what: str = "it") -> None:
    """Raise TableError, before anything is read, for more bytes than are allowed.

    Parameters
    ----------
    path : str
    needed : int
        Bytes that it takes, as the file says.
    allowed : int or None
        None allows anything.
    what : str
        What takes them.
    """
    if allowed is not None and needed > allowed:
        raise table_fault(
            path,
            f"{what} takes {memory.format_bytes(needed)}, and the budget is {memory.format_bytes(allowed)}; raise "
            "max_memory (--memory) if you trust the file",
        )
