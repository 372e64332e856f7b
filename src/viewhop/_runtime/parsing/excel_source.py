"""Excel workbooks, read with openpyxl: the values of cells, row by row."""

from __future__ import annotations

import datetime
import math
from typing import Any

import openpyxl

__all__ = ["Excel", "open_source"]

#: Rows of the longest sheet that Excel writes.
_MOST_ROWS = 1_048_576


def open_source(path: str) -> Excel:
    """The file at a path."""
    return Excel(path)


class Excel:
    """An Excel workbook; formulas count as the values that Excel stored with them.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self._book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        self._rows: Any = None
        self._at: tuple[str, int, int] | None = None

    def close(self) -> None:
        """Close the file."""
        self._book.close()

    def describe(self, name: str) -> dict[str, Any]:
        """The names of the sheets, or the header of one: its number of line, and its cells."""
        if not name:
            return {"names": [sheet.title for sheet in self._book.worksheets]}
        for number, cells in self._lines(name, 1, None):
            if any(cell is not None for cell in cells):
                while cells and cells[-1] is None:
                    cells.pop()
                return {"line": number, "cells": cells}
        return {"line": 0, "cells": []}

    def read(self, name: str, start: int, stop: int, width: int) -> list[Any]:
        """The rows of a sheet that are not blank, as ``[line, cells]``.

        Parameters
        ----------
        name : str
        start, stop : int
            Lines, counted from 1; `stop` is left out.
        width : int
            Cells of each row.

        Returns
        -------
        rows : list
            Cells are None, booleans, numbers, texts, or ``{"date": text}``. The last entry is
            None if the sheet ends before `stop`.
        """
        if self._at != (name, start, width):
            self._rows = self._lines(name, start, width)
        rows: list[Any] = []
        while True:
            entry = next(self._rows, None)
            if entry is None:
                rows.append(None)
                self._at = None
                return rows
            number, cells = entry
            if any(cell is not None for cell in cells):
                rows.append([number, cells])
            if number + 1 >= stop:
                self._at = (name, stop, width)
                return rows

    def _lines(self, name: str, start: int, width: int | None) -> Any:
        sheet = self._book[name]
        sheet.reset_dimensions()  # what a sheet says of its size need not be so
        rows = sheet.iter_rows(min_row=start, max_row=_MOST_ROWS, max_col=width, values_only=True)
        for number, cells in enumerate(rows, start=start):
            yield number, [_plain(cell) for cell in cells]


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return {"date": str(value)}
    text = str(value)
    return text if text.strip() else None
