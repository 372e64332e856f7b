"""Arrow files and streams, which Feather files (version 2) are, too (extra ``data``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from viewhop._runtime.parsing.foreign_file import ForeignFile
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import Options, choose_columns
from viewhop.tables._faults import DATE_ADVICE, NUMBER_ADVICE, quote_cell, table_fault
from viewhop.tables._foreign_files import open_foreign
from viewhop.tables._table import Table, text_ids, typed_label

__all__ = ["arrow_table"]

#: Bytes of a row number, and of a text or a number that names a row, with its two references.
_ROW, _ENTRY = 8, 64
#: Cells, and texts, that are read at a time.
_CELLS, _TEXTS = 2**20, 4096


def arrow_table(path: str, name: str, options: Options, *, budget: ReadingBudget) -> Table:
    """The table of an Arrow file or stream; only the columns that are used are converted.

    Parameters
    ----------
    path : str
        The file, as the caller gave it.
    name : str
        Where it is.
    options : Options
    budget : ReadingBudget
    """
    with open_foreign(path, name, "arrow", budget) as file:
        facts = file.describe()
        columns, counts = facts["columns"], facts["rows"]
        header = [column["name"] for column in columns]
        choice = choose_columns(path, header, options)
        for feature in choice.features:
            _check_number(path, file, columns[feature], feature, counts)
        for column in (choice.id, choice.label):
            if column is not None and columns[column]["kind"] == "other":
                raise table_fault(
                    path,
                    f"expected text or numbers, got {columns[column]['type']}",
                    column=header[column],
                )
        n, width = sum(counts), len(choice.features)
        single = all(columns[k]["kind"] == "single" for k in choice.features)
        dtype = np.dtype(np.float32 if single else np.float64)
        budget.take(path, n * width * dtype.itemsize, what=f"a table of {n * width:,} cells")
        budget.take(path, n * _ROW, what=f"a table of {n:,} rows")
        named = {
            role: _values(path, file, column, counts, budget)
            for role, column in (("id", choice.id), ("label", choice.label))
            if column is not None
        }
        matrix = np.empty((n, width), dtype=dtype)
        start = 0
        for batch, count in enumerate(counts):
            step = max(1, _CELLS // max(1, count))
            for first in range(0, width, step):
                together = choice.features[first : first + step]
                part = file.read("numbers", batch, together)
                matrix[start : start + count, first : first + step] = part
            start += count
    labels = named.get("label")
    return Table(
        path=path,
        matrix=matrix,
        columns=tuple(header[k] for k in choice.features),
        header=tuple(header),
        ids=text_ids(path, named["id"]) if "id" in named else None,
        labels=None if labels is None else tuple(map(typed_label, labels)),
        lines=np.arange(1, n + 1),
    )


def _values(
    path: str, file: ForeignFile, column: int, counts: list[int], budget: ReadingBudget
) -> list[Any]:
    """The values of a column, with their text counted."""
    values: list[Any] = []
    budget.take(path, _ENTRY * sum(counts), what="the text of a column")
    for batch, count in enumerate(counts):
        for start in range(0, count, _TEXTS):
            part = file.read("values", batch, column, start, min(count, start + _TEXTS))
            text = sum(len(value) for value in part if isinstance(value, str))
            budget.take(path, text, what="the text of a column")
            values += part
    return values


def _check_number(
    path: str, file: ForeignFile, column: dict[str, Any], place: int, counts: list[int]
) -> None:
    """Refuse a column that holds no numbers, with its first value."""
    if column["kind"] in ("number", "single"):
        return
    row, shown = None, ""
    if column["kind"] != "other" and counts and counts[0]:
        start = file.read("values", 0, place, 0, min(counts[0], 256))
        row = next((k for k, value in enumerate(start, start=1) if value is not None), None)
        shown = "" if row is None else f"{quote_cell(str(start[row - 1]))} "
    advice = DATE_ADVICE if column["kind"] == "date" else NUMBER_ADVICE
    raise table_fault(
        path,
        f"expected a number, got {shown}({column['type']}); {advice}",
        line=row,
        column=column["name"],
        unit="row",
    )
