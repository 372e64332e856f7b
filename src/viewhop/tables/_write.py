"""Writing tables: CSV protected against formula injection, or Parquet, replaced atomically."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop._runtime.files import replace_file
from viewhop.tables._cell_guard import add_guard
from viewhop.tables._faults import table_fault
from viewhop.tables._parquet import import_pyarrow

__all__ = ["check_writable", "write", "write_embedding"]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
#: Number of rows converted to text at a time.
_BLOCK = 4096


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise TableError if `write` does not support the kind of file; call it before long work.

    Parameters
    ----------
    path : path
    """
    ending = Path(path).suffix.lower()
    if ending in _PARQUET:
        import_pyarrow(os.fspath(path))
    elif ending not in _DELIMITERS:
        raise table_fault(
            os.fspath(path), "tables are written as .csv, .tsv or .parquet; change the extension"
        )


def write(path: str | os.PathLike[str], columns: Mapping[str, ArrayLike | Sequence[Any]]) -> None:
    """Write columns to a CSV, TSV or Parquet file; an existing file is replaced atomically.

    Parameters
    ----------
    path : path
        The extension gives the kind of file.
    columns : dict of (n_rows,) arrays by name
        Numbers or text. None and NaN become empty cells.

    Notes
    -----
    Text files keep all digits of a number, so reading returns the same values. A spreadsheet
    could run text that begins with =, +, -, @, tab or carriage return as a formula: unless it is a
    number, such text is written after a single quote, which `read` removes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop.tables import write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "some.csv")
    ...     write(path, {"id": ["=1+1", "b"], "x": [-0.1, 2.0]})
    ...     print(path.read_text())
    id,x
    '=1+1,-0.1
    b,2.0
    <BLANKLINE>
    """
    check_writable(path)
    arrays = {name: _column(values) for name, values in columns.items()}
    lengths = {len(values) for values in arrays.values()}
    if len(lengths) != 1:
        raise ValueError(f"columns must have the same length, got {sorted(lengths)}")
    ending = Path(path).suffix.lower()
    if ending in _PARQUET:
        pa, parquet = import_pyarrow(os.fspath(path))
        table = pa.table({name: pa.array(values) for name, values in arrays.items()})
        with replace_file(path) as file:
            parquet.write_table(table, file)
        return
    delimiter = _DELIMITERS[ending]
    with replace_file(path) as file:
        file.write(f"{delimiter.join(_cell(name, delimiter) for name in arrays)}\n".encode())
        for start in range(0, lengths.pop(), _BLOCK):
            cells = [
                _cells(values[start : start + _BLOCK], delimiter) for values in arrays.values()
            ]
            # An empty line would not count as a row.
            rows = [delimiter.join(row) or '""' for row in zip(*cells, strict=True)]
            file.write("".join(f"{row}\n" for row in rows).encode())


def write_embedding(
    path: str | os.PathLike[str],
    embedding: NDArray[np.floating],
    *,
    names: Sequence[str],
    ids: Sequence[Any] | NDArray[Any] | None = None,
    id_name: str = "id",
    extra: Mapping[str, ArrayLike | Sequence[Any]] | None = None,
) -> None:
    """Write coordinates, preceded by ids and other columns.

    Parameters
    ----------
    path : path
        A CSV, TSV or Parquet file.
    embedding : (n_samples, n_coordinates) array
    names : list of str
        Names of the coordinates, as `get_feature_names_out` returns them.
    ids : (n_samples,) array or None
        Ids of the samples; None writes no id column.
    id_name : str
        Name of the id column.
    extra : dict of (n_samples,) arrays by name, or None
        More columns: labels, clusters, coverage.
    """
    if embedding.shape[1] != len(names):
        raise ValueError(f"{embedding.shape[1]} coordinates, but {len(names)} names")
    columns: dict[str, Any] = {} if ids is None else {id_name: ids}
    for name, values in (*(extra or {}).items(), *zip(names, embedding.T, strict=True)):
        if name in columns:
            raise ValueError(f"two columns would have the name {name!r}")
        columns[name] = values
    write(path, columns)


def _column(values: Any) -> NDArray[Any]:
    """A column of numbers, or of objects."""
    array = np.asarray(values)
    if array.dtype.kind in "biuf" and array.ndim == 1:
        return array
    array = np.empty(len(values), dtype=object)
    array[:] = [value.item() if isinstance(value, np.generic) else value for value in values]
    return array


def _cells(values: NDArray[Any], delimiter: str) -> list[str]:
    if values.dtype.kind == "f":
        # The shortest text that reads back as the same number in the column's precision.
        texts = map(repr, values.tolist()) if values.dtype == np.float64 else values.astype("U")
        return [
            "" if missing else str(text)
            for text, missing in zip(texts, np.isnan(values).tolist(), strict=True)
        ]
    return [_cell(value, delimiter) for value in values.tolist()]


def _cell(value: Any, delimiter: str) -> str:
    """A value as a cell of a text file."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool | int | float):
        return repr(value)
    text = add_guard(str(value))
    # U+FEFF at the start of the file would be taken for a byte order mark.
    if any(mark in text for mark in (delimiter, '"', "\n", "\r", "\ufeff")) or text != text.strip():
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text
