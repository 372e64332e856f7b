"""Parquet files, by pyarrow (extra ``data``)."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.tables.choice import Options, chosen
from viewhop.tables.faults import fault, quoted
from viewhop.tables.table import Table, text_ids

__all__ = ["arrow", "parquet_table"]


def arrow(path: str) -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet, or TableError with the extra to install.

    Parameters
    ----------
    path : str
        The file that needs them.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise fault(
            path, 'Parquet files need pyarrow: pip install "viewhop[data]", or use CSV'
        ) from None
    return pyarrow, pyarrow.parquet


def parquet_table(path: str, data: bytes, options: Options) -> Table:
    """The table of a Parquet file.

    Parameters
    ----------
    path : str
    data : bytes
        What the file holds.
    options : Options
    """
    pa, parquet = arrow(path)
    try:
        # Not by its path: a folder called "a=b" would become a column.
        file = parquet.ParquetFile(io.BytesIO(data))
        header = [str(name) for name in file.schema_arrow.names]
        places = chosen(path, header, options)
        wanted = file.read()
    except (pa.ArrowException, OSError) as error:
        told = str(error).splitlines()[0]
        raise fault(path, f"it is not a whole Parquet file ({told})") from None
    n = wanted.num_rows
    types = {wanted.column(k).type for k in places.features}
    single = all(type_ == pa.float32() for type_ in types)
    matrix = np.empty((n, len(places.features)), dtype=np.float32 if single else np.float64)
    for place, k in enumerate(places.features):
        matrix[:, place] = _numbers(path, header[k], wanted.column(k), pa)
    labels = None if places.label is None else wanted.column(places.label).to_pylist()
    return Table(
        path=path,
        matrix=matrix,
        columns=tuple(header[k] for k in places.features),
        header=tuple(header),
        ids=None if places.id is None else text_ids(path, wanted.column(places.id).to_pylist()),
        labels=None if labels is None else tuple(map(_label, labels)),
        lines=np.arange(1, n + 1),
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
        raise fault(
            path,
            f"expected a number, got {quoted(str(value))} ({type_}); drop the column if it is no "
            "feature, or name it as the id or the label",
            line=row,
            column=name,
            unit="row",
        )
    if type_ != pa.float32():
        if kinds.is_boolean(type_):
            column = column.cast(pa.int8())
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _label(value: Any) -> Any:
    """A label as text or a number; None where there is none."""
    if value is None or value != value or value == "":
        return None
    return value if isinstance(value, int | float | str) else str(value)
