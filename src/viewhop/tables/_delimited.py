"""Text files: CSV, TSV and their relatives."""

from __future__ import annotations

import codecs
import csv
import io
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from viewhop.errors import TableError
from viewhop.tables._column_choice import Options, chosen
from viewhop.tables._faults import quote_cell, table_fault
from viewhop.tables._table import Table

__all__ = ["DANGEROUS", "Cells", "text_cells", "text_table"]

#: A text that a spreadsheet would run as a formula, or that was guarded against that by a quote.
DANGEROUS = re.compile(r"'*[=+\-@\t\r]")
#: What stands for no value, in any case.
EMPTY = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none"})

_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class _Record(NamedTuple):
    line: int
    cells: list[str]


class Cells(NamedTuple):
    """A text file as text.

    Attributes
    ----------
    header : tuple of str
        Names of the columns.
    lines : tuple of int
        Line of each row, counted from 1.
    rows : tuple of tuples of str
        Cells, as many as there are names.
    """

    header: tuple[str, ...]
    lines: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]


def text_cells(path: str, data: bytes, *, encoding: str = "utf-8") -> Cells:
    """The cells of a text file, whose first line names the columns; nothing is made a number.

    Parameters
    ----------
    path : str
    data : bytes
        What the file holds.
    encoding : str
    """
    content = _utf8(path, data, encoding)
    given = _delimiter(content)
    records = _records(path, content, given)
    head = next(records, None)
    if head is None:
        raise table_fault(path, "it is empty; expected a line of column names")
    header = tuple(_unguarded(name) for name in head.cells)
    lines, rows = [], []
    for line, cells in records:
        if len(cells) != len(header):
            raise _ragged(path, line, cells, len(header), given)
        lines.append(line)
        rows.append(tuple(map(_unguarded, cells)))
    return Cells(header, tuple(lines), tuple(rows))


def text_table(path: str, data: bytes, options: Options, *, delimiter: str | None = None) -> Table:
    """The table of a text file, whose first line names the columns.

    Parameters
    ----------
    path : str
    data : bytes
        What the file holds.
    options : Options
    delimiter : str or None
        What the name of the file says of it. None takes, of comma, semicolon, tab and bar, the
        one that stands most often outside quotes in the first line, at a tie the first of them.
    """
    content = _utf8(path, data, options.encoding)
    given = options.delimiter or delimiter or _delimiter(content)
    records = _records(path, content, given)
    head = next(records, None)
    if head is None:
        raise table_fault(path, "it is empty; expected a line of column names, and rows of numbers")
    header = [_unguarded(name) for name in head.cells]
    _check_names(path, header, head.line)
    places = chosen(path, header, options, head.line)
    names = [header[k] for k in places.features]
    numbers = _parser(path, names, options.decimal)
    taken = _taker(places.features, len(header))
    values, lines = array("d"), array("q")
    ids: list[str] = []
    labels: list[str | None] = []
    for line, cells in records:
        if len(cells) != len(header):
            raise _ragged(path, line, cells, len(header), given)
        values.extend(numbers(line, taken(cells)))
        lines.append(line)
        if places.id is not None:
            ids.append(_unguarded(cells[places.id]))
        if places.label is not None:
            labels.append(_unguarded(cells[places.label]) or None)
    return Table(
        path=path,
        matrix=np.asarray(values).reshape(len(lines), len(names)),
        columns=tuple(names),
        header=tuple(header),
        ids=None if places.id is None else tuple(ids),
        labels=None if places.label is None else tuple(labels),
        lines=np.asarray(lines),
        unit="line",
    )


def _utf8(path: str, data: bytes, encoding: str) -> bytes:
    """The text in UTF-8, without a byte order mark."""
    try:
        codec = codecs.lookup(encoding).name
    except LookupError:
        raise table_fault(
            path, f"there is no encoding {encoding!r}; try utf-8 or latin-1"
        ) from None
    skipped = 0
    if codec == "utf-8":
        if data.startswith(_UTF16):
            raise table_fault(
                path, "the text is UTF-16: save it as UTF-8, or give the encoding utf-16"
            )
        skipped = 3 * data.startswith(codecs.BOM_UTF8)
        data = data[skipped:]
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        raise table_fault(
            path,
            f"byte {error.start + skipped} ({data[error.start]:#04x}) is not {encoding} text; "
            "save the file as UTF-8, or give its encoding, latin-1 perhaps",
            line=data.count(b"\n", 0, error.start) + 1,
        ) from None
    if codec != "utf-8":
        data = text.encode()
    at = data.find(b"\0")
    if at >= 0:
        raise table_fault(
            path,
            f"a NUL character (byte {at + skipped}); the file is damaged, or no text",
            line=data.count(b"\n", 0, at) + 1,
        )
    return data


def _delimiter(content: bytes) -> str:
    first = content.lstrip(b"\r\n").split(b"\n", 1)[0].decode()
    outside = re.sub(r'"[^"]*"', "", first)
    return max(_DELIMITERS, key=outside.count)


def _records(path: str, content: bytes, delimiter: str) -> Iterator[_Record]:
    """Lines that are not blank, cut into cells."""
    file = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            # A line of blanks is no row; a row of empty cells is one, and has its delimiters.
            if len(cells) > 1 or (cells and (cells[0].strip() or cells[0] == "")):
                yield _Record(line, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        raise table_fault(path, _told(error), line=line) from None


def _told(error: csv.Error) -> str:
    """What the csv module found, in terms of the file."""
    text = str(error)
    if "unexpected end of data" in text:
        return "a quote is opened in this row and never closed"
    if "field larger" in text:
        limit = f"{csv.field_size_limit():,}"
        return f"a cell is longer than {limit} characters; is a quote never closed?"
    if "expected after" in text:
        return "text follows a closing quote; a quote inside a quoted cell is written twice"
    return text


def _check_names(path: str, header: Sequence[str], line: int) -> None:
    """Refuse a first line of numbers: it is a sample that would be lost.

    Whole numbers that are not negative may be names: pandas gives these.
    """
    if all(map(_NUMBER.fullmatch, header)) and not all(name.isdecimal() for name in header):
        raise table_fault(
            path, "expected the names of the columns, got numbers; add them", line=line
        )


def _ragged(
    path: str, line: int, cells: Sequence[str], expected: int, delimiter: str
) -> TableError:
    cell = "cell" if len(cells) == 1 else "cells"
    advice = ""
    if len(cells) > expected:
        advice = f"; a cell with {delimiter!r} in it needs quotes"
        if delimiter == ",":
            advice += ", and so does a decimal comma"
    return table_fault(
        path, f"{len(cells)} {cell}, where the header has {expected}{advice}", line=line
    )


def _taker(features: list[int], width: int) -> Callable[[list[str]], Sequence[str]]:
    """The function that takes the cells of the features out of a row."""
    if len(features) == width:
        return lambda cells: cells
    if len(features) == 1:
        (only,) = features
        return lambda cells: (cells[only],)
    return itemgetter(*features)


def _parser(
    path: str, names: Sequence[str], decimal: str
) -> Callable[[int, Sequence[str]], list[float]]:
    """The function that reads the numbers of a row.

    Nearly all rows are read at once. Where that fails, the row is read cell by cell, with a rule
    that is narrower than Python's: ``1_000`` is text.
    """

    def parsed(line: int, cells: Sequence[str]) -> list[float]:
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
            _number(path, line, name, cell.strip(), decimal)
            for name, cell in zip(names, cells, strict=True)
        ]

    return parsed


def _number(path: str, line: int, name: str, cell: str, decimal: str) -> float:
    if cell.casefold() in EMPTY:
        return float("nan")
    plain = cell if decimal == "." else cell.replace(".", " ").replace(",", ".")
    if plain.isascii() and _NUMBER.fullmatch(plain):
        return float(plain)
    if decimal == "." and _COMMA.fullmatch(cell):
        raise table_fault(
            path,
            f"{quote_cell(cell)} has a decimal comma; say that the file has these (decimal ','), or "
            "write points",
            line=line,
            column=name,
        )
    if decimal == "," and _NUMBER.fullmatch(cell):
        raise table_fault(
            path,
            f"{quote_cell(cell)} has a decimal point in a file that was said to have commas",
            line=line,
            column=name,
        )
    raise table_fault(
        path,
        f"expected a number, got {quote_cell(cell)}; drop the column if it is no feature, or name it "
        "as the id or the label",
        line=line,
        column=name,
    )


def _unguarded(text: str) -> str:
    """The text without the quote that guards it in a spreadsheet, as `tables.writing` sets it."""
    return text[1:] if text.startswith("'") and DANGEROUS.match(text) else text
