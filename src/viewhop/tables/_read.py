"""Reading a data file: the extension gives its kind, and its first bytes must agree."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from viewhop._runtime import memory
from viewhop.errors import TableError
from viewhop.tables._arrays import mat_table, npy_table, npz_table
from viewhop.tables._column_choice import DEFAULT, Options
from viewhop.tables._delimited import Cells, text_cells, text_table
from viewhop.tables._faults import check_size, table_fault
from viewhop.tables._parquet import parquet_table
from viewhop.tables._table import Table, check_table

__all__ = ["read", "read_cells"]

#: Delimiter by extension of a text file; None detects it in the first line.
_TEXTS = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None, "": None}
_KINDS = {
    ".npy": "an NPY file",
    ".npz": "a zip file",
    ".parquet": "a Parquet file",
    ".pq": "a Parquet file",
}
#: Kinds of file by their first bytes.
_SIGNATURES = {
    b"\x93NUMPY": "an NPY file",
    b"PK\x03\x04": "a zip file",
    b"PK\x05\x06": "a zip file",
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "a gzip file",
    b"\x89HDF": "an HDF5 file",
    b"MATLAB": "a MAT file",
    b"%PDF": "a PDF file",
    b"\xd0\xcf\x11\xe0": "an old Office file",
}


def read(
    path: str | os.PathLike[str],
    *,
    options: Options = DEFAULT,
    max_memory: float | str | None = None,
) -> Table:
    r"""One view, from a CSV, TSV, Parquet, NPY, NPZ or MAT file.

    Parameters
    ----------
    path : path
        The extension gives the kind of file. ``file.npz::name`` is one of several arrays.
    options : Options
        Columns to read, and the format of text files.
    max_memory : number, str or None, default=None
        Limit for the size of the file and of its unpacked content: bytes, or text like "2GB".
        None is 80 % of the memory that the machine or its cgroup has available.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If the file cannot be read; the message names file, line and column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop.tables import Options, read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rna.csv")
    ...     size = path.write_text("cell,a,b\n007,1,2.5\n008,,\n")
    ...     table = read(path, options=Options(id="cell"))
    >>> table.ids, table.columns, table.observed.tolist()
    (('007', '008'), ('a', 'b'), [True, False])
    """
    full_path = os.fspath(path)
    name, key = _split(full_path)
    ending = Path(name).suffix.lower()
    if ending not in (*_TEXTS, *_KINDS, ".mat"):
        raise table_fault(
            full_path,
            f"files with the extension {ending} are not supported; expected .csv, .tsv, .txt, "
            ".parquet, .npy, .npz or .mat",
        )
    if key is not None and ending not in (".npz", ".mat"):
        raise table_fault(
            full_path, "only .npz and .mat files contain named arrays to choose with ::"
        )
    allowed = memory.parse_budget(max_memory)
    data = _bytes(full_path, name, allowed)
    _check_kind(name, ending, data)
    table = _table(name, key, ending, data, options, allowed)
    check_table(table)
    return replace(table, sha256=sha256(data).hexdigest(), size=len(data))


def read_cells(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Cells:
    r"""The cells of a CSV or TSV file as text: column names, and rows of cells.

    Parameters
    ----------
    path : path
    encoding : str

    Raises
    ------
    TableError
        If the file cannot be read; the message has file and line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop.tables import read_cells
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "events.csv")
    ...     size = path.write_text("id,time\n007,2010-05-27\n")
    ...     read_cells(path)
    Cells(header=('id', 'time'), lines=(2,), rows=(('007', '2010-05-27'),))
    """
    full_path = os.fspath(path)
    data = _bytes(full_path, full_path, memory.parse_budget(None))
    _check_kind(full_path, "", data)
    return text_cells(full_path, data, encoding=encoding)


def _table(
    name: str, key: str | None, ending: str, data: bytes, options: Options, allowed: int | None
) -> Table:
    if ending == ".npy":
        return npy_table(name, data, options)
    if ending == ".npz":
        return npz_table(name, data, options, key=key, allowed=allowed)
    if ending == ".mat":
        return mat_table(name, data, options, key=key, allowed=allowed)
    if ending in (".parquet", ".pq"):
        return parquet_table(name, data, options, allowed=allowed)
    return text_table(name, data, options, delimiter=_TEXTS[ending])


def _split(path: str) -> tuple[str, str | None]:
    """The file, and the name after ``::``, unless a file with the full name exists."""
    name, mark, key = path.rpartition("::")
    if not mark or Path(path).exists():
        return path, None
    return name, key


def _bytes(full_path: str, name: str, allowed: int | None) -> bytes:
    try:
        if Path(name).is_dir():
            raise table_fault(full_path, "it is a folder; expected a file")
        status = Path(name).stat()
        if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
            raise table_fault(full_path, "it is a device; expected a file")
        check_size(full_path, status.st_size, allowed)
        with open(name, "rb") as file:
            # The size of a pipe is unknown before it is read.
            data = file.read() if allowed is None else file.read(allowed + 1)
        check_size(full_path, len(data), allowed)
        return data
    except OSError as error:
        raise table_fault(full_path, f"it cannot be read: {error.strerror or error}") from error
    except TableError:
        raise
    except ValueError as error:  # a NUL in the name
        raise table_fault(full_path, f"it cannot be read: {error}") from error


def _check_kind(path: str, ending: str, data: bytes) -> None:
    """Refuse a file with first bytes that contradict its extension."""
    expected = _KINDS.get(ending)
    actual = next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), None)
    if not data:
        what = "it is empty"
        if ending in _TEXTS:
            what += "; expected a line of column names, then rows of data"
        raise table_fault(path, what)
    if ending == ".mat":
        if actual not in (None, "a MAT file", "an HDF5 file"):
            raise table_fault(path, f"it is not a MAT file: its first bytes are those of {actual}")
    elif expected is not None and actual != expected:
        finding = f"are those of {actual}" if actual else "are different"
        raise table_fault(
            path, f"it is not {expected}, despite its extension: its first bytes {finding}"
        )
    elif expected is None and actual not in (None, "a MAT file"):
        raise table_fault(path, f"it is not a text file: its first bytes are those of {actual}")
