"""Parquet files, read with pyarrow (extra ``data``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viewhop.errors import TableError
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import Options, choose_columns
from viewhop.tables._faults import DATE_ADVICE, NUMBER_ADVICE, quote_cell, reason, table_fault
from viewhop.tables._parquet_columns import ParquetColumns
from viewhop.tables._table import Table, text_ids, typed_label

__all__ = ["import_pyarrow", "parquet_header", "parquet_table"]

#: Bytes of a row number, and of a text or a number that names a row, with its two references.
_ROW, _ENTRY = 8, 64


def import_pyarrow(path: str) -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet; TableError names the extra if they are missing.

    Parameters
    ----------
    path : str
        The file that needs them.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise table_fault(
            path, 'Parquet files need pyarrow: pip install "viewhop[data]", or use CSV'
        ) from None
    return pyarrow, pyarrow.parquet


def parquet_table(path: str, data: bytes, options: Options, *, budget: ReadingBudget) -> Table:
    """The table of a Parquet file; only the columns that are used are unpacked.

    Parameters
    ----------
    path : str
    data : bytes
        Content of the file.
    options : Options
    budget : ReadingBudget
        Counts the table, the text of ids and labels, and what reading takes besides.
    """
    pa, parquet = import_pyarrow(path)
    try:
        return _table(path, ParquetColumns(path, data, budget, pa, parquet), options, budget, pa)
    except TableError:
        raise
    except MemoryError as error:
        raise table_fault(
            path, f"there is not enough memory to read it ({reason(error)})"
        ) from None
    except Exception as error:  # a damaged file can make pyarrow raise almost anything
        raise table_fault(path, f"it is not a valid Parquet file ({reason(error)})") from None


def parquet_header(path: str, data: bytes) -> list[str]:
    """The column names of a Parquet file.

    Parameters
    ----------
    path : str
    data : bytes
    """
    pa, parquet = import_pyarrow(path)
    return [str(name) for name in parquet.read_schema(pa.BufferReader(data)).names]


def _table(
    path: str, content: ParquetColumns, options: Options, budget: ReadingBudget, pa: Any
) -> Table:
    header = [str(name) for name in content.schema.names]
    choice = choose_columns(path, header, options)
    for feature in choice.features:
        _check_number(path, content, feature, pa)
    for column in (choice.id, choice.label):
        if column is not None:
            _check_name(path, content.schema.field(column), pa)
    single = all(content.schema.field(k).type == pa.float32() for k in choice.features)
    dtype = np.dtype(np.float32 if single else np.float64)
    n, width = content.n_rows, len(choice.features)
    budget.take(path, n * width * dtype.itemsize, what=f"a table of {n * width:,} cells")
    entries = _ENTRY * sum(column is not None for column in (choice.id, choice.label))
    budget.take(path, n * (_ROW + entries), what=f"a table of {n:,} rows")
    ids = None if choice.id is None else text_ids(path, _values(content, choice.id))
    labels = None
    if choice.label is not None:
        labels = tuple(map(typed_label, _values(content, choice.label)))
    matrix = np.empty((n, width), dtype=dtype)
    content.fill_matrix(matrix, choice.features)
    return Table(
        path=path,
        matrix=matrix,
        columns=tuple(header[k] for k in choice.features),
        header=tuple(header),
        ids=ids,
        labels=labels,
        lines=np.arange(1, n + 1),
    )


def _values(content: ParquetColumns, column: int) -> Sequence[Any]:
    """All values of a column."""
    return [value for values in content.iter_values(column) for value in values]


def _check_number(path: str, content: ParquetColumns, column: int, pa: Any) -> None:
    """Refuse a column that holds no numbers, with its first value."""
    kinds, field = pa.types, content.schema.field(column)
    is_number = any(
        fits(field.type)
        for fits in (
            kinds.is_integer,
            kinds.is_floating,
            kinds.is_boolean,
            kinds.is_decimal,
            kinds.is_null,
        )
    )
    if is_number:
        return
    row, shown = None, ""
    if not kinds.is_nested(field.type):
        row, value = content.first_value(column)
        shown = "" if row is None else f"{quote_cell(str(value))} "
    advice = DATE_ADVICE if kinds.is_temporal(field.type) else NUMBER_ADVICE
    raise table_fault(
        path,
        f"expected a number, got {shown}({field.type}); {advice}",
        line=row,
        column=str(field.name),
        unit="row",
    )


def _check_name(path: str, field: Any, pa: Any) -> None:
    """Refuse ids and labels that are neither text nor numbers nor dates."""
    kinds, type_ = pa.types, field.type
    if kinds.is_dictionary(type_):
        type_ = type_.value_type
    is_bytes = (
        kinds.is_binary(type_) or kinds.is_large_binary(type_) or kinds.is_fixed_size_binary(type_)
    )
    if kinds.is_nested(type_) or is_bytes:
        raise table_fault(
            path,
            f"expected text or whole numbers as ids and labels, got {field.type}",
            column=str(field.name),
        )
