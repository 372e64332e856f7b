"""Excel workbooks (extra ``excel``): a sheet is a table below the names of its columns."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from viewhop._runtime.parsing.foreign_file import ForeignFile
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import Options, choose_columns
from viewhop.tables._delimited import check_names, parse_number
from viewhop.tables._faults import DATE_ADVICE, missing_column, quote_cell, table_fault
from viewhop.tables._foreign_files import open_foreign
from viewhop.tables._packed import check_zip
from viewhop.tables._table import Table, text_ids, typed_label

__all__ = ["excel_sheets", "excel_table"]

#: Lines that are read at a time, and the last line of a sheet.
_LINES, _LAST = 1024, 1_048_577
#: Bytes of a cell of a table, and of a text or a number that names a row.
_CELL, _ENTRY = 8.5, 64


def excel_sheets(path: str, name: str, *, budget: ReadingBudget) -> dict[str, list[str]]:
    """The column names of each sheet.

    Parameters
    ----------
    path : str
        The file, as the caller gave it.
    name : str
        Where it is.
    budget : ReadingBudget
    """
    check_zip(path, name, budget)
    with open_foreign(path, name, "excel", budget) as file:
        return {
            sheet: [_text(cell) for cell in file.describe(sheet)["cells"]]
            for sheet in file.describe()["names"]
        }


def excel_table(
    path: str, name: str, key: str | None, options: Options, *, budget: ReadingBudget
) -> Table:
    """The table of one sheet.

    Parameters
    ----------
    path : str
        The file, as the caller gave it.
    name : str
        Where it is.
    key : str or None
        The sheet; None takes the only one.
    options : Options
    budget : ReadingBudget
    """
    check_zip(path, name, budget)
    with open_foreign(path, name, "excel", budget) as file:
        sheets = file.describe()["names"]
        if key is None and len(sheets) != 1:
            listing = ", ".join(f"{name}::{sheet}" for sheet in sheets[:8])
            raise table_fault(
                path, f"it has {len(sheets)} sheets; choose one with PATH::SHEET ({listing})"
            )
        sheet = sheets[0] if key is None else key
        if sheet not in sheets:
            raise missing_column(path, sheet, sheets, role="sheet")
        return _table(path, file, sheet, options, budget)


def _table(
    path: str, file: ForeignFile, sheet: str, options: Options, budget: ReadingBudget
) -> Table:
    head = file.describe(sheet)
    header = [_text(cell) for cell in head["cells"]]
    if not header:
        raise table_fault(path, f"the sheet {quote_cell(sheet)} is empty")
    check_names(path, header, head["line"])
    choice = choose_columns(path, header, options, head["line"])
    values, lines = array("d"), array("q")
    ids: list[Any] = []
    labels: list[Any] = []
    row_bytes = int(_CELL * (len(choice.features) + 1))
    for line, cells in _rows(file, sheet, head["line"] + 1, len(header)):
        if cells[len(header)] is not None:
            raise table_fault(
                path,
                f"a cell beyond the last column name: {quote_cell(_text(cells[len(header)]))}; "
                "name the column, or leave a blank one between the table and notes",
                line=line,
                unit="row",
            )
        for column, kept in ((choice.id, ids), (choice.label, labels)):
            if column is not None:
                kept.append(_named(cells[column]))
                budget.take(path, _ENTRY + len(_text(cells[column])), what="its text")
        budget.check(path, row_bytes * (len(lines) + 1), what=f"a table of {len(lines):,} rows")
        values.extend(
            _number(path, line, header[k], cells[k], options.decimal) for k in choice.features
        )
        lines.append(line)
    budget.take(path, row_bytes * len(lines), what=f"a table of {len(lines):,} rows")
    return Table(
        path=path,
        matrix=np.asarray(values).reshape(len(lines), len(choice.features)),
        columns=tuple(header[k] for k in choice.features),
        header=tuple(header),
        ids=None if choice.id is None else text_ids(path, ids),
        labels=None if choice.label is None else tuple(map(typed_label, labels)),
        lines=np.asarray(lines),
        unit="row",
    )


def _rows(file: ForeignFile, sheet: str, start: int, width: int) -> Any:
    """Line and cells of each row, and the cell beyond them."""
    for begin in range(start, _LAST, _LINES):
        for row in file.read(sheet, begin, min(_LAST, begin + _LINES), width + 1):
            if row is None:
                return
            yield row


def _number(path: str, line: int, name: str, cell: Any, decimal: str) -> float:
    if cell is None:
        return float("nan")
    if isinstance(cell, int | float):
        try:
            return float(cell)
        except OverflowError:
            return float("inf")
    if isinstance(cell, dict):
        raise table_fault(
            path,
            f"expected a number, got the date {quote_cell(cell['date'])}; {DATE_ADVICE}",
            line=line,
            column=name,
            unit="row",
        )
    return parse_number(path, line, name, cell.strip(), decimal, unit="row")


def _named(cell: Any) -> Any:
    """An id or a label: numbers and texts as they are, dates as text."""
    return cell["date"] if isinstance(cell, dict) else cell


def _text(cell: Any) -> str:
    return "" if cell is None else str(_named(cell))
