"""The option ``--hops``: a matrix on the command line, or in a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["read_hops"]

#: Bytes beyond which a file holds no matrix of views.
_LARGEST = 1_000_000


def read_hops(text: str, names: Sequence[str]) -> tuple[tuple[float, ...], ...]:
    """The hop matrix, a row and a column for every view in their order.

    Parameters
    ----------
    text : str
        Rows of numbers between semicolons, such as ``"0,1;1,0"``, or a file with a line for every
        row. A first line with the names of the views sets the order of rows and columns.
    names : sequence of str
        The views.

    Raises
    ------
    click.UsageError
        If the file cannot be read, or holds no square matrix of numbers.

    Examples
    --------
    >>> from viewhop.cli._hops_option import read_hops
    >>> read_hops("0,1;1,0.5", ["rna", "protein"])
    ((0.0, 1.0), (1.0, 0.5))
    """
    source, lines = "--hops", text.split(";")
    if not _is_number(text.replace(";", ",").split(",")[0]):
        source = f"--hops {text}"
        lines = _lines_of_file(text)
    rows = [[cell.strip() for cell in line.replace("\t", ",").split(",")] for line in lines]
    order = [*names]
    if rows and not _is_number(rows[0][0]):
        order = rows.pop(0)
        if sorted(order) != sorted(names):
            raise click.UsageError(
                f"{source}: its first line names {', '.join(order)}, but the views are "
                f"{', '.join(names)}"
            )
    for number, row in enumerate(rows, start=1):
        wrong = next((cell for cell in row if not _is_number(cell)), None)
        if wrong is not None:
            raise click.UsageError(f"{source}: expected a number in row {number}, got {wrong!r}")
        if len(row) != len(rows) or len(rows) != len(names):
            raise click.UsageError(
                f"{source}: expected {len(names)} rows of {len(names)} numbers, one for each of "
                f"{', '.join(names)}; row {number} of {len(rows)} has {len(row)}"
            )
    places = [order.index(name) for name in names]
    return tuple(tuple(float(rows[i][j]) for j in places) for i in places)


def _lines_of_file(path: str) -> list[str]:
    try:
        if os.path.getsize(path) > _LARGEST:
            raise click.UsageError(f"--hops {path}: too long for a matrix of views")
        content = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise click.UsageError(
            f"--hops {path}: neither a matrix like '0,1;1,0' nor a file that can be read: {reason}"
        ) from None
    lines = [line for line in content.splitlines() if line.strip()]
    if not lines:
        raise click.UsageError(f"--hops {path}: it is empty")
    return lines


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
