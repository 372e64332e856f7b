"""Writing tables: CSV that no spreadsheet runs, or Parquet, each replaced whole."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop._runtime.files import replace_file
from viewhop.tables._delimited import DANGEROUS
from viewhop.tables._faults import table_fault
from viewhop.tables._parquet import arrow

__all__ = ["check_writable", "write", "write_embedding"]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
#: Rows that are turned into text at a time.
_BLOCK = 4096


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise TableError unless `write` knows the kind of file: to be asked before long work.

    Parameters
    ----------
    path : path
    """
    ending = Path(path).suffix.lower()
    if ending in _PARQUET:
        arrow(os.fspath(path))
    elif ending not in _DELIMITERS:
        raise table_fault(
            os.fspath(path), "tables are written as .csv, .tsv or .parquet: choose by the name"
        )


def write(path: str | os.PathLike[str], columns: Mapping[str, ArrayLike | Sequence[Any]]) -> None:
    """Write columns to a CSV, TSV or Parquet file, which is replaced whole or not at all.

    Parameters
    ----------
    path : path
        The end of its name says what is written.
    columns : dict of (n_rows,) arrays by name
        Of numbers, or of text. None and NaN are empty cells.

    Notes
    -----
    In text files numbers have all their digits, so that reading gives them back. A text that
    begins with =, +, -, @, tab or carriage return could be run as a formula by a spreadsheet: it
    is written behind a single quote, which `read` takes away again.

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
        raise ValueError(f"columns must have the same length, not {sorted(lengths)}")
    ending = Path(path).suffix.lower()
    if ending in _PARQUET:
        pa, parquet = arrow(os.fspath(path))
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
            # A line without anything would be no row.
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
    """Write coordinates, behind ids and whatever else is known of the samples.

    Parameters
    ----------
    path : path
        A CSV, TSV or Parquet file.
    embedding : (n_samples, n_coordinates) array
    names : list of str
        Names of the coordinates, as `get_feature_names_out` gives them.
    ids : (n_samples,) array or None
        None writes no such column.
    id_name : str
        Its name.
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
    found = np.asarray(values)
    if found.dtype.kind in "biuf" and found.ndim == 1:
        return found
    found = np.empty(len(values), dtype=object)
    found[:] = [value.item() if isinstance(value, np.generic) else value for value in values]
    return found


def _cells(values: NDArray[Any], delimiter: str) -> list[str]:
    if values.dtype.kind == "f":
        # The shortest text that is read as the same number, in the precision that it has.
        texts = map(repr, values.tolist()) if values.dtype == np.float64 else values.astype("U")
        return [
            "" if missing else str(text)
            for text, missing in zip(texts, np.isnan(values).tolist(), strict=True)
        ]
    return [_cell(value, delimiter) for value in values.tolist()]


def _cell(value: Any, delimiter: str) -> str:
    """A value as it stands in a text file."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool | int | float):
        return repr(value)
    text = str(value)
    if DANGEROUS.match(text):
        text = f"'{text}"
    # A mark at the beginning of the file would be taken for one of byte order.
    if any(mark in text for mark in (delimiter, '"', "\n", "\r", "\ufeff")) or text != text.strip():
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text
