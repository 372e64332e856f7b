"""One view as read from a file: numbers, ids, labels, and the line of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import TableError
from viewhop.tables._faults import place, quote_cell, table_fault
from viewhop.views import LARGEST

__all__ = ["Table", "check_table", "text_ids", "typed_label"]


@dataclass(frozen=True)
class Table:
    """One view, read from a file.

    Attributes
    ----------
    path : str
        The file, as the caller gave it.
    matrix : (n_rows, n_columns) array, float32 if the file has float32, otherwise float64
        A row of NaN is a sample that this view did not observe.
    columns : tuple of str, or None if the file has no column names
        Names of the features.
    header : tuple of str, or None
        Names of all columns in the file, including ids, labels and dropped columns.
    ids : tuple of str, or None
        The id of each row, as text: "007" keeps its zeros.
    labels : tuple of (str, int, float or None), or None
        The label of each row, None where it is empty.
    lines : (n_rows,) int array
        Line of a text file on which the row starts, or row number, counted from 1.
    unit : {"line", "row"}
        What `lines` counts.
    sha256 : str
        Hash of the file.
    size : int
        Size of the file in bytes.
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
        """A TableError about a row, or about one feature in it."""
        name = None
        if column is not None:
            name = str(column + 1) if self.columns is None else self.columns[column]
        return table_fault(self.path, what, line=int(self.lines[row]), column=name, unit=self.unit)


def check_table(table: Table) -> None:
    """Raise TableError for a partly empty row, a value that is too large, or a repeated id.

    Parameters
    ----------
    table : Table
    """
    if not len(table):
        raise table_fault(table.path, "it has no row of data; expected at least one")
    matrix = table.matrix
    # A valid table needs one pass only: comparisons with NaN are false.
    if not (float(matrix.max()) <= LARGEST and float(matrix.min()) >= -LARGEST):
        _check_values(table)
    if table.ids is not None:
        _check_ids(table, table.ids)


def _check_values(table: Table) -> None:
    missing = np.isnan(table.matrix)
    if missing.all():
        raise table_fault(table.path, "no row has a value: all cells are empty")
    gaps = np.argwhere(missing & ~missing.all(axis=1)[:, None])
    if gaps.size:
        row, column = map(int, gaps[0])
        raise table.fault(
            row,
            "the cell is empty but the rest of its row is not; fill it in, or empty the whole row "
            "to mark the sample as not observed in this view",
            column,
        )
    too_large = np.argwhere(np.abs(table.matrix) > np.float64(LARGEST))
    if too_large.size:
        row, column = map(int, too_large[0])
        value = float(table.matrix[row, column])
        if np.isinf(value):
            raise table.fault(row, f"expected a finite number, got {value:g}", column)
        raise table.fault(row, f"the square of {value:g} overflows; rescale the column", column)


def _check_ids(table: Table, ids: Sequence[str]) -> None:
    first: dict[str, int] = {}
    for row, key in enumerate(ids):
        if not key:
            raise table.fault(row, "the id is empty; fill it in, or remove the row")
        before = first.setdefault(key, row)
        if before != row:
            raise table.fault(
                row,
                f"the id {quote_cell(key)} also stands in {table.unit} {table.lines[before]}; "
                "each id may appear only once in a file",
            )


def text_ids(path: str, values: Sequence[Any]) -> tuple[str, ...]:
    """Ids as text; integers become their digits, other numbers raise TableError.

    Parameters
    ----------
    path : str
    values : sequence
        Text or integers, None where an id is missing.
    """
    ids = []
    for row, value in enumerate(values, start=1):
        if value is None or value != value:
            ids.append("")
        elif isinstance(value, str):
            ids.append(value)
        elif isinstance(value, int | float) and float(value).is_integer():
            ids.append(str(int(value)))
        else:
            raise table_fault(
                path,
                f"the id {quote_cell(str(value))} is neither text nor an integer",
                line=row,
                unit="row",
            )
    return tuple(ids)


def typed_label(value: Any) -> str | int | float | None:
    """A label as text or a number; None if it is missing.

    Parameters
    ----------
    value : object
    """
    if value is None or value != value or value == "":
        return None
    return value if isinstance(value, int | float | str) else str(value)
