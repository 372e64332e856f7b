"""Parquet files, read with pyarrow (extra ``data``)."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import TableError
from viewhop.tables._column_choice import Options, choose_columns
from viewhop.tables._faults import check_size, quote_cell, reason, table_fault
from viewhop.tables._table import Table, text_ids, typed_label

__all__ = ["import_pyarrow", "parquet_table"]


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


def parquet_table(path: str, data: bytes, options: Options, *, allowed: int | None = None) -> Table:
    """The table of a Parquet file.

    Parameters
    ----------
    path : str
    data : bytes
        Content of the file.
    options : Options
    allowed : int or None
        Largest size of the columns in bytes; None sets no limit.
    """
    pa, parquet = import_pyarrow(path)
    try:
        # Read from memory: from a path, pyarrow would turn a folder called "a=b" into a column.
        file = parquet.ParquetFile(io.BytesIO(data))
        cells = file.metadata.num_rows * file.metadata.num_columns
        check_size(path, 8 * cells, allowed, what=f"a table of {cells:,} cells")
        return _table(path, file.read(), options, pa)
    except TableError:
        raise
    except Exception as error:  # a damaged file can make pyarrow raise almost anything
        raise table_fault(path, f"it is not a valid Parquet file ({reason(error)})") from None


def _table(path: str, content: Any, options: Options, pa: Any) -> Table:
    header = [str(name) for name in content.column_names]
    choice = choose_columns(path, header, options)
    columns = [content.column(k) for k in choice.features]
    single = all(column.type == pa.float32() for column in columns)
    matrix = np.empty((content.num_rows, len(columns)), dtype=np.float32 if single else np.float64)
    names = tuple(header[k] for k in choice.features)
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        matrix[:, k] = _numbers(path, name, column, pa)
    ids = None if choice.id is None else content.column(choice.id).to_pylist()
    labels = None if choice.label is None else content.column(choice.label).to_pylist()
    return Table(
        path=path,
        matrix=matrix,
        columns=names,
        header=tuple(header),
        ids=None if ids is None else text_ids(path, ids),
        labels=None if labels is None else tuple(map(typed_label, labels)),
        lines=np.arange(1, content.num_rows + 1),
    )


def _numbers(path: str, name: str, column: Any, pa: Any) -> NDArray[np.floating]:
    """A column as floats, NaN where it has no value."""
    kinds = pa.types
    type_ = column.type
    is_number = any(
        fits(type_)
        for fits in (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_decimal)
    )
    if not is_number and not kinds.is_null(type_):
        row, value = next(
            (
                (k, value)
                for k, value in enumerate(column.to_pylist(), start=1)
                if value is not None
            ),
            (None, None),
        )
        raise table_fault(
            path,
            f"expected a number, got {quote_cell(str(value))} ({type_}); drop the column if it is "
            "not a feature, or make it the id or the label",
            line=row,
            column=name,
            unit="row",
        )
    if type_ != pa.float32():
        if kinds.is_boolean(type_):
            column = column.cast(pa.int8())
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))
