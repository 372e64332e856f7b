"""Error messages about a file that name its path, line and column."""

from __future__ import annotations

from collections.abc import Iterable

from viewhop._runtime.suggestion import nearest_name
from viewhop.errors import TableError

__all__ = [
    "DATE_ADVICE",
    "NUMBER_ADVICE",
    "missing_column",
    "place",
    "quote_cell",
    "reason",
    "table_fault",
]

#: What to do with a column of text, and with one of dates.
NUMBER_ADVICE = "drop the column if it is not a feature, or make it the id or the label"
DATE_ADVICE = (
    "convert dates to numbers, such as days since the first one, drop the column, or make it the "
    "label"
)


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
    near = nearest_name(name, names)
    guess = "" if near is None else f" (did you mean {quote_cell(near)}?)"
    listing = ", ".join(map(quote_cell, names[:8]))
    more = f", … ({len(names):,} in all)" if len(names) > 8 else ""
    return table_fault(path, f"no {role} {quote_cell(name)}{guess}; there are {listing}{more}")
