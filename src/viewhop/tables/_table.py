"""One view as read from a file: numbers, ids, labels, and the line of each row."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from sys import getsizeof
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import DroppedRowsWarning, TableError
from viewhop.tables._faults import place, quote_cell, table_fault
from viewhop.views import LARGEST

__all__ = ["Table", "check_table", "text_ids", "typed_label"]

#: Cells that are checked at a time.
_CELLS = 2**20


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
    n_dropped : int
        Number of rows that were empty in part and count as not observed.
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
    n_dropped: int = 0

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which rows have values, (n_rows,)."""
        seen = np.empty(len(self), dtype=bool)
        for rows in _blocks(self.matrix):
            seen[rows] = ~np.isnan(self.matrix[rows]).all(axis=1)
        return seen

    @property
    def n_bytes(self) -> int:
        """Bytes that the table takes."""
        names = sum(8 + getsizeof(key) for key in self.ids or ())
        # Labels are numbers, or texts that many rows share.
        return self.matrix.nbytes + self.lines.nbytes + names + 40 * len(self.labels or ())

    def place(self, row: int) -> str:
        """File and line of a row, as text."""
        return place(self.path, int(self.lines[row]), unit=self.unit)

    def fault(self, row: int, what: str, column: int | None = None) -> TableError:
        """A TableError about a row, or about one feature in it."""
        name = None
        if column is not None:
            name = str(column + 1) if self.columns is None else self.columns[column]
        return table_fault(self.path, what, line=int(self.lines[row]), column=name, unit=self.unit)


def check_table(table: Table, *, missing: str = "error", is_new: bool = False) -> Table:
    """The table, if it is valid; rows that are empty in part are errors, or not observed.

    Parameters
    ----------
    table : Table
    missing : {"error", "drop"}
        Whether a row that is empty in part is an error, or counts as not observed.
    is_new : bool
        Whether the rows are new samples of a fitted model: then no row and no column needs a
        value.

    Raises
    ------
    TableError
        For a partly empty row, a column without values, a value that is too large, or a repeated
        id.
    """
    if not len(table):
        raise table_fault(table.path, "it has no row of data; expected at least one")
    matrix = table.matrix
    # A valid table needs one pass only: comparisons with NaN are false.
    if not (float(matrix.max()) <= LARGEST and float(matrix.min()) >= -LARGEST):
        table = _check_values(table, missing, is_new)
    if table.ids is not None:
        _check_ids(table, table.ids)
    return table


def _check_values(table: Table, missing: str, is_new: bool) -> Table:
    observed = table.observed
    if not observed.any():
        if is_new:
            return table
        raise table_fault(table.path, "no row has a value: all cells are empty")
    partial, has_values = _scan_gaps(table.matrix, observed)
    empty = np.flatnonzero(~has_values)
    if empty.size and observed.sum() > 1 and not is_new:
        raise _empty_column(table, empty)
    if partial.size:
        if missing == "error":
            row = int(partial[0])
            raise table.fault(
                row,
                "the cell is empty but the rest of its row is not; fill it in, empty the whole row "
                "to mark the sample as not observed in this view, or do so with every such row by "
                'missing="drop" (--missing drop)',
                int(np.isnan(table.matrix[row]).argmax()),
            )
        table = _drop_rows(table, partial)
        if not is_new and not table.observed.any():
            raise table_fault(
                table.path, "every row is empty in part, so that none is left: all were dropped"
            )
    _check_sizes(table)
    return table


def _check_sizes(table: Table) -> None:
    """Raise TableError for a value whose square overflows."""
    for rows in _blocks(table.matrix):
        too_large = np.argwhere(np.abs(table.matrix[rows]) > np.float64(LARGEST))
        if too_large.size:
            row, column = rows.start + int(too_large[0][0]), int(too_large[0][1])
            value = float(table.matrix[row, column])
            if np.isinf(value):
                raise table.fault(row, f"expected a finite number, got {value:g}", column)
            raise table.fault(row, f"the square of {value:g} overflows; rescale the column", column)


def _blocks(matrix: NDArray[np.floating]) -> Iterator[slice]:
    """Slices of rows with few cells each: masks of a whole matrix would take memory."""
    step = max(1, _CELLS // max(1, matrix.shape[1]))
    for start in range(0, len(matrix), step):
        yield slice(start, start + step)


def _scan_gaps(
    matrix: NDArray[np.floating], observed: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The rows that are empty in part, and whether each column has a value."""
    partial = []
    has_values = np.zeros(matrix.shape[1], dtype=bool)
    for rows in _blocks(matrix):
        missing = np.isnan(matrix[rows])
        has_values |= ~missing.all(axis=0)
        partial.append(rows.start + np.flatnonzero(missing.any(axis=1) & observed[rows]))
    return np.concatenate(partial), has_values


def _empty_column(table: Table, columns: NDArray[np.intp]) -> TableError:
    """The error of columns without any value."""
    first = int(columns[0])
    name = str(first + 1) if table.columns is None else table.columns[first]
    more = ""
    if columns.size > 1:
        have = "column has" if columns.size == 2 else "columns have"
        more = f", and {columns.size - 1:,} more {have} none either"
    advice = "remove it"
    if table.columns is not None:
        advice = f"drop it (--drop {name}), or fill it in"
    return table_fault(
        table.path, f"the column has no value in any row{more}; {advice}", column=name
    )


def _drop_rows(table: Table, rows: NDArray[np.intp]) -> Table:
    """The table in which these rows are not observed, with a warning."""
    table.matrix[rows] = np.nan
    what = "row is" if rows.size == 1 else "rows are"
    warnings.warn(
        DroppedRowsWarning(
            f"{place(table.path)}: {rows.size:,} {what} empty in part and taken as not observed, "
            f"the first in {table.unit} {table.lines[rows[0]]}",
            int(rows.size),
        ),
        stacklevel=2,
    )
    return replace(table, n_dropped=int(rows.size))


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
