"""Opening a file of data: by its name, after a look at its first bytes."""

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
from viewhop.tables._table import Table, checked

__all__ = ["read", "read_cells"]

#: Delimiter by the end of a text file's name; None looks at its first line.
_TEXTS = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None, "": None}
_KINDS = {
    ".npy": "an NPY file",
    ".npz": "a zip file",
    ".parquet": "a Parquet file",
    ".pq": "a Parquet file",
}
#: What files of other kinds begin with.
_BEGINNINGS = {
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
        The end of its name says what it is. ``file.npz::name`` is one array of several.
    options : Options
        Columns, and how text is written.
    max_memory : number, str or None, default=None
        Bytes, or text like "2GB", that the file and what is packed in it may take; None is 80 %
        of what the machine or its cgroup has left.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If the file cannot be read; the message has file, line and column.

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
    given = os.fspath(path)
    name, key = _split(given)
    ending = Path(name).suffix.lower()
    if ending not in (*_TEXTS, *_KINDS, ".mat"):
        raise table_fault(
            given,
            f"files that end with {ending} are not read; expected .csv, .tsv, .txt, .parquet, "
            ".npy, .npz or .mat",
        )
    if key is not None and ending not in (".npz", ".mat"):
        raise table_fault(
            given, "only .npz and .mat files have several arrays to choose from by ::"
        )
    allowed = memory.parse_budget(max_memory)
    data = _bytes(given, name, allowed)
    _check_kind(name, ending, data)
    table = checked(_table(name, key, ending, data, options, allowed))
    return replace(table, sha256=sha256(data).hexdigest(), size=len(data))


def read_cells(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Cells:
    r"""A CSV or TSV file as text: names of columns, and rows of cells.

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
    given = os.fspath(path)
    data = _bytes(given, given, memory.parse_budget(None))
    _check_kind(given, "", data)
    return text_cells(given, data, encoding=encoding)


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
    """The file, and what stands behind ``::``; a file that is called so comes first."""
    name, mark, key = path.rpartition("::")
    if not mark or Path(path).exists():
        return path, None
    return name, key


def _bytes(given: str, name: str, allowed: int | None) -> bytes:
    try:
        if Path(name).is_dir():
            raise table_fault(given, "it is a folder; expected a file")
        found = Path(name).stat()
        if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
            raise table_fault(given, "it is a device; expected a file")
        check_size(given, found.st_size, allowed)
        with open(name, "rb") as file:
            # A pipe has no size beforehand.
            data = file.read() if allowed is None else file.read(allowed + 1)
        check_size(given, len(data), allowed)
        return data
    except OSError as error:
        raise table_fault(given, f"it cannot be read: {error.strerror or error}") from error
    except TableError:
        raise
    except ValueError as error:  # a NUL in the name
        raise table_fault(given, f"it cannot be read: {error}") from error


def _check_kind(path: str, ending: str, data: bytes) -> None:
    """Refuse a file that does not begin like what its name says."""
    expected = _KINDS.get(ending)
    found = next((kind for start, kind in _BEGINNINGS.items() if data.startswith(start)), None)
    if not data:
        what = "it is empty"
        if ending in _TEXTS:
            what += "; expected a line of column names, and rows of numbers"
        raise table_fault(path, what)
    if ending == ".mat":
        if found not in (None, "a MAT file", "an HDF5 file"):
            raise table_fault(path, f"it is not a MAT file: it begins like {found}")
    elif expected is not None and found != expected:
        told = f"begins like {found}" if found else "does not begin like one"
        raise table_fault(path, f"it is not {expected}, as its name says: it {told}")
    elif expected is None and found not in (None, "a MAT file"):
        raise table_fault(path, f"it is not text, as its name says: it begins like {found}")
