"""One view as it stands in a file: numbers, ids, labels, and the line of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import TableError
from viewhop.tables._faults import place, quote_cell, table_fault
from viewhop.views._checks import LARGEST

__all__ = ["Table", "checked", "given_label", "text_ids"]


@dataclass(frozen=True)
class Table:
    """One view, read from a file.

    Attributes
    ----------
    path : str
        The file, as it was given.
    matrix : (n_rows, n_columns) array, float32 if the file has that, else float64
        A row of NaN is a sample that was not observed.
    columns : tuple of str, or None where the file has no names
        Names of the features.
    header : tuple of str, or None
        Names of all columns of the file, ids, labels and dropped ones included.
    ids : tuple of str, or None
        The id of each row, as text: "007" stays what it is.
    labels : tuple of (str, int, float or None), or None
        The label of each row, None where it is empty.
    lines : (n_rows,) int array
        Line of a text file where the row begins, or number of the row, counted from 1.
    unit : {"line", "row"}
        What `lines` counts.
    sha256 : str
        Of the file that was read.
    size : int
        Its bytes.
    """

    path: str
    matrix: NDArray[np.floating]
    columns: tuple[str, ...] | None
    header: tuple[str, ...] | None
    ids: tuple[str, ...] | None
    labels: tuple[Any, ...] | None
    lines: NDArray[np.int64]
    unit: str = "row"
    sha256: str = ""
    size: int = 0

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which rows have values, (n_rows,)."""
        return np.asarray(~np.isnan(self.matrix).all(axis=1))

    def place(self, row: int) -> str:
        """File and line of a row, as text."""
        return place(self.path, int(self.lines[row]), unit=self.unit)

    def fault(self, row: int, what: str, column: int | None = None) -> TableError:
        """The error for what is wrong with a row, or with one of its features."""
        name = None
        if column is not None:
            name = str(column + 1) if self.columns is None else self.columns[column]
        return table_fault(self.path, what, line=int(self.lines[row]), column=name, unit=self.unit)


def checked(table: Table) -> Table:
    """The table, or TableError if a row is empty in part, a value too large, or an id used twice.

    Parameters
    ----------
    table : Table
    """
    if not len(table):
        raise table_fault(table.path, "it has no row of data; expected at least one")
    matrix = table.matrix
    # One pass where all is well: a comparison with NaN is false.
    if not (float(matrix.max()) <= LARGEST and float(matrix.min()) >= -LARGEST):
        _check_values(table)
    if table.ids is not None:
        _check_ids(table, table.ids)
    return table


def _check_values(table: Table) -> None:
    missing = np.isnan(table.matrix)
    if missing.all():
        raise table_fault(table.path, "no row has a value: all cells are empty")
    found = np.argwhere(missing & ~missing.all(axis=1)[:, None])
    if found.size:
        row, column = map(int, found[0])
        raise table.fault(
            row,
            "the cell is empty, and others in its row are not; fill it in, or empty the whole "
            "row, which says that this view did not observe the sample",
            column,
        )
    found = np.argwhere(np.abs(table.matrix) > np.float64(LARGEST))
    if found.size:
        row, column = map(int, found[0])
        value = float(table.matrix[row, column])
        kind = "an infinite value" if np.isinf(value) else "a value whose square overflows"
        raise table.fault(row, f"{kind}, {value:g}; expected a finite number", column)


def _check_ids(table: Table, ids: Sequence[str]) -> None:
    first: dict[str, int] = {}
    for row, key in enumerate(ids):
        if not key:
            raise table.fault(row, "the id is empty; give the row an id, or leave it out")
        before = first.setdefault(key, row)
        if before != row:
            raise table.fault(
                row,
                f"the id {quote_cell(key)} also stands in {table.unit} {table.lines[before]}; "
                "an id may stand once in a file",
            )


def text_ids(path: str, values: Sequence[Any]) -> tuple[str, ...]:
    """Ids as text: of whole numbers their digits; TableError for other numbers.

    Parameters
    ----------
    path : str
    values : sequence
        Of text, whole numbers, or None where one is missing.
    """
    found = []
    for row, value in enumerate(values, start=1):
        if value is None or value != value:
            found.append("")
        elif isinstance(value, str):
            found.append(value)
        elif isinstance(value, int | float) and float(value).is_integer():
            found.append(str(int(value)))
        else:
            raise table_fault(
                path,
                f"the id {quote_cell(str(value))} is neither text nor a whole number",
                line=row,
                unit="row",
            )
    return tuple(found)


def given_label(value: Any) -> str | int | float | None:
    """A label as text or a number; None where there is none.

    Parameters
    ----------
    value : object
    """
    if value is None or value != value or value == "":
        return None
    return value if isinstance(value, int | float | str) else str(value)
