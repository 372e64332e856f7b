"""Delimited text files: CSV, TSV and similar."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from sys import getsizeof
from typing import NamedTuple

import numpy as np

from viewhop.errors import TableError
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._cell_guard import remove_guard
from viewhop.tables._column_choice import Options, choose_columns
from viewhop.tables._faults import DATE_ADVICE, NUMBER_ADVICE, quote_cell, table_fault
from viewhop.tables._table import Table
from viewhop.tables._text_lines import LineSource, utf8_content

__all__ = [
    "EMPTY",
    "Cells",
    "check_names",
    "parse_number",
    "text_cells",
    "text_columns",
    "text_header",
    "text_table",
]

#: Cells that mean "no value", in lower case.
EMPTY = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none"})

_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
#: A number with separators between thousands, and what makes one of a number with decimal commas.
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}((,[0-9]{3})+|([ '_\u00a0\u202f][0-9]{3})+)(\.[0-9]*)?")
_SWAP_MARKS = str.maketrans(".,", ",.")
_DAY = r"([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4})"
_DATE = re.compile(rf"{_DAY}([T ].*)?")
#: Bytes of a cell of a table: a number, with the spare room of a growing array.
_CELL = 8.5
#: Bytes of the references to a text in a list and in a tuple.
_REFERENCES = 17


class _Record(NamedTuple):
    line: int
    cells: list[str]


class Cells(NamedTuple):
    """The cells of a text file, as text.

    Attributes
    ----------
    header : tuple of str
        Column names.
    lines : tuple of int
        Line number of each row, counted from 1.
    rows : tuple of tuples of str
        One cell per column name in each row.
    """

    header: tuple[str, ...]
    lines: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]


def text_cells(path: str, data: bytes, *, encoding: str = "utf-8", budget: ReadingBudget) -> Cells:
    """The cells of a text file as text; its first line has the column names.

    Parameters
    ----------
    path : str
    data : bytes
        Content of the file.
    encoding : str
    budget : ReadingBudget
    """
    content = utf8_content(path, data, encoding, budget)
    delimiter = _detect_delimiter(content)
    records = _records(path, content, delimiter, budget)
    head = next(records, None)
    if head is None:
        raise table_fault(path, "it is empty; expected a line of column names")
    header = tuple(remove_guard(name) for name in head.cells)
    lines, rows = [], []
    for line, cells in records:
        if len(cells) != len(header):
            raise _ragged_row(path, line, cells, len(header), delimiter)
        row = tuple(map(remove_guard, cells))
        budget.take(path, getsizeof(row) + sum(map(getsizeof, row)) + 40, what="its text")
        lines.append(line)
        rows.append(row)
    return Cells(header, tuple(lines), tuple(rows))


def text_header(path: str, data: bytes, options: Options, *, delimiter: str | None) -> list[str]:
    """The column names of a text file.

    Parameters
    ----------
    path : str
    data : bytes
    options : Options
    delimiter : str or None
        As for `text_table`.
    """
    budget = ReadingBudget(None)
    content = utf8_content(path, data, options.encoding, budget)
    separator = options.delimiter or delimiter or _detect_delimiter(content)
    head = next(_records(path, content, separator, budget), None)
    return [] if head is None else [remove_guard(name) for name in head.cells]


def text_columns(
    path: str,
    data: bytes,
    options: Options,
    *,
    delimiter: str | None,
    budget: ReadingBudget,
) -> tuple[tuple[str, ...], int, tuple[str, ...]]:
    """The column names of a text file, its number of rows, and columns that could be the ids.

    Parameters
    ----------
    path : str
    data : bytes
    options : Options
    delimiter : str or None
        As for `text_table`.
    budget : ReadingBudget
    """
    content = utf8_content(path, data, options.encoding, budget)
    separator = options.delimiter or delimiter or _detect_delimiter(content)
    records = _records(path, content, separator, budget)
    head = next(records, None)
    if head is None:
        raise table_fault(path, "it is empty; expected a line of column names, then rows of data")
    header = tuple(map(remove_guard, head.cells))
    seen: dict[int, set[str]] = {k: set() for k in range(len(header))}
    n_rows = 0
    for line, cells in records:
        if len(cells) != len(header):
            raise _ragged_row(path, line, cells, len(header), separator)
        n_rows += 1
        for k, known in [*seen.items()]:
            cell = cells[k]
            is_number = _NUMBER.fullmatch(cell.strip()) is not None
            is_whole = k == 0 and cell.isdecimal()
            if cell in known or cell.casefold() in EMPTY or (is_number and not is_whole):
                del seen[k]
                continue
            budget.take(path, getsizeof(cell) + 2 * _REFERENCES, what="its text")
            known.add(cell)
    return header, n_rows, tuple(header[k] for k in seen) if n_rows else ()


def text_table(
    path: str,
    data: bytes,
    options: Options,
    *,
    delimiter: str | None = None,
    budget: ReadingBudget,
) -> Table:
    """The table of a text file; its first line has the column names.

    Parameters
    ----------
    path : str
    data : bytes
        Content of the file.
    options : Options
    delimiter : str or None
        Delimiter implied by the file's extension. None takes the character among comma,
        semicolon, tab and bar that is most frequent outside quotes in the first line; of two
        equally frequent ones, the first in this order.
    budget : ReadingBudget
    """
    content = utf8_content(path, data, options.encoding, budget)
    separator = options.delimiter or delimiter or _detect_delimiter(content)
    records = _records(path, content, separator, budget)
    head = next(records, None)
    if head is None:
        raise table_fault(path, "it is empty; expected a line of column names, then rows of data")
    header = [remove_guard(name) for name in head.cells]
    check_names(path, header, head.line)
    choice = choose_columns(path, header, options, head.line)
    names = [header[k] for k in choice.features]
    parse_row = _row_parser(path, names, options.decimal)
    pick_features = _feature_picker(choice.features, len(header))
    values, lines = array("d"), array("q")
    ids: list[str] = []
    labels: list[str | None] = []
    numbers, text, room = int(_CELL * (len(names) + 1)), 0, budget.left
    for line, cells in records:
        if len(cells) != len(header):
            raise _ragged_row(path, line, cells, len(header), separator)
        if choice.id is not None:
            ids.append(remove_guard(cells[choice.id]))
            text += getsizeof(ids[-1]) + _REFERENCES
        if choice.label is not None:
            labels.append(remove_guard(cells[choice.label]) or None)
            text += getsizeof(labels[-1]) + _REFERENCES
        size = numbers * (len(lines) + 1) + text
        if room is not None and size > room:
            budget.check(path, size, what=f"a table of {len(lines):,} rows and more")
        values.extend(parse_row(line, pick_features(cells)))
        lines.append(line)
    budget.take(path, numbers * len(lines) + text, what=f"a table of {len(lines):,} rows")
    return Table(
        path=path,
        matrix=np.asarray(values).reshape(len(lines), len(names)),
        columns=tuple(names),
        header=tuple(header),
        ids=None if choice.id is None else tuple(ids),
        labels=None if choice.label is None else tuple(labels),
        lines=np.asarray(lines),
        unit="line",
    )


def _detect_delimiter(content: bytes) -> str:
    first = content.lstrip(b"\r\n").split(b"\n", 1)[0].decode()
    outside = re.sub(r'"[^"]*"', "", first)
    return max(_DELIMITERS, key=outside.count)


def _records(path: str, content: bytes, delimiter: str, budget: ReadingBudget) -> Iterator[_Record]:
    """Lines that are not blank, split into cells."""
    source = LineSource(path, content, delimiter, budget)
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            source.begin_record()
            # A blank line is not a row. A row of empty cells is one; its delimiters are there.
            if len(cells) > 1 or (cells and (cells[0].strip() or cells[0] == "")):
                yield _Record(line, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        raise table_fault(path, _csv_message(error), line=line) from None


def _csv_message(error: csv.Error) -> str:
    """The error of the csv module, in terms of the file."""
    text = str(error)
    if "unexpected end of data" in text:
        return "a quote opened in this row is never closed"
    if "field larger" in text:
        limit = f"{csv.field_size_limit():,}"
        return f"a cell is longer than {limit} characters; is a quote never closed?"
    if "expected after" in text:
        return "text follows a closing quote; double the quotes inside a quoted cell"
    return text


def check_names(path: str, header: Sequence[str], line: int) -> None:
    """Refuse a first line of numbers: it would be a sample, and would be lost.

    Non-negative integers may be names: pandas writes them for columns without names.

    Parameters
    ----------
    path : str
    header : list of str
    line : int
    """
    if all(map(_NUMBER.fullmatch, header)) and not all(name.isdecimal() for name in header):
        raise table_fault(
            path, "expected column names, got numbers; add a line of column names", line=line
        )


def _ragged_row(
    path: str, line: int, cells: Sequence[str], expected: int, delimiter: str
) -> TableError:
    cell = "cell" if len(cells) == 1 else "cells"
    advice = ""
    if len(cells) > expected:
        advice = f"; quote a cell that contains {delimiter!r}"
        if delimiter == ",":
            advice += ", or a number with a decimal comma"
    return table_fault(
        path, f"{len(cells)} {cell}, but the header has {expected}{advice}", line=line
    )


def _feature_picker(features: list[int], width: int) -> Callable[[list[str]], Sequence[str]]:
    """A function that returns the cells of the features in a row."""
    if len(features) == width:
        return lambda cells: cells
    if len(features) == 1:
        (only,) = features
        return lambda cells: (cells[only],)
    return itemgetter(*features)


def _row_parser(
    path: str, names: Sequence[str], decimal: str
) -> Callable[[int, Sequence[str]], list[float]]:
    """A function that returns the numbers of a row.

    Almost every row is converted in one go. Where that fails, the row is converted cell by cell
    under a stricter rule than Python's: ``1_000`` is text.
    """

    def parse_row(line: int, cells: Sequence[str]) -> list[float]:
        joined = "\n".join(cells)
        try:
            if "_" not in joined and joined.isascii():
                if decimal == ".":
                    return [*map(float, cells)]
                if "." not in joined and joined.count("\n") == len(cells) - 1:
                    return [*map(float, joined.replace(",", ".").split("\n"))]
        except ValueError:
            pass
        return [
            parse_number(path, line, name, cell.strip(), decimal)
            for name, cell in zip(names, cells, strict=True)
        ]

    return parse_row


def parse_number(
    path: str, line: int, name: str, cell: str, decimal: str, *, unit: str = "line"
) -> float:
    """The number in a cell of text, NaN if it is empty.

    Parameters
    ----------
    path : str
    line : int
    name : str
        Of the column.
    cell : str
        Without white space around it.
    decimal : {".", ","}
    unit : {"line", "row"}
        What `line` counts.
    """
    if cell.casefold() in EMPTY:
        return float("nan")
    plain = cell if decimal == "." else cell.replace(".", " ").replace(",", ".")
    if plain.isascii() and _NUMBER.fullmatch(plain):
        return float(plain)
    if _THOUSANDS.fullmatch(cell if decimal == "." else cell.translate(_SWAP_MARKS)):
        may_be_decimal = ", or set decimal to ',' (--decimal) if the comma is a decimal comma"
        raise table_fault(
            path,
            f"expected a number, got {quote_cell(cell)}, with separators between thousands; remove "
            f"them{may_be_decimal if decimal == '.' and _COMMA.fullmatch(cell) else ''}",
            line=line,
            column=name,
            unit=unit,
        )
    if decimal == "." and _COMMA.fullmatch(cell):
        raise table_fault(
            path,
            f"{quote_cell(cell)} has a decimal comma; set decimal to ',' (--decimal), or use "
            "decimal points",
            line=line,
            column=name,
            unit=unit,
        )
    if decimal == "," and _NUMBER.fullmatch(cell):
        raise table_fault(
            path,
            f"{quote_cell(cell)} has a decimal point, but decimal is ','",
            line=line,
            column=name,
            unit=unit,
        )
    advice = DATE_ADVICE if _DATE.fullmatch(cell) else NUMBER_ADVICE
    raise table_fault(
        path,
        f"expected a number, got {quote_cell(cell)}; {advice}",
        line=line,
        column=name,
        unit=unit,
    )
