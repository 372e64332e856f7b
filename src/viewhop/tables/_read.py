"""Reading a data file: the extension gives its kind, and its first bytes must agree."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from viewhop._runtime import memory
from viewhop.errors import TableError
from viewhop.tables._arrays import mat_table, npy_table, npz_table
from viewhop.tables._arrow import arrow_table
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import DEFAULT, Options
from viewhop.tables._delimited import Cells, text_cells, text_header, text_table
from viewhop.tables._excel import excel_table
from viewhop.tables._faults import table_fault
from viewhop.tables._omics import omics_table
from viewhop.tables._packed import PACKED, check_zip, unpack
from viewhop.tables._parquet import parquet_header, parquet_table
from viewhop.tables._stored import check_stored, digest_path, first_bytes, measure_path
from viewhop.tables._table import Table, check_table
from viewhop.tables._zarr import zarr_table

__all__ = [
    "NAMES_ROWS",
    "TEXTS",
    "check_stored_kind",
    "file_content",
    "file_ending",
    "read",
    "read_cells",
    "read_header",
    "read_table",
    "split_name",
    "text_content",
]

#: Delimiter by extension of a text file; None detects it in the first line.
TEXTS = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None, "": None}
#: Kinds of files that are opened where they are, instead of being read as a whole.
_STORED = {
    ".xlsx": ("a zip file",),
    ".feather": ("an Arrow file",),
    ".arrow": ("an Arrow file", "an Arrow stream"),
    ".h5ad": ("an HDF5 file",),
    ".h5mu": ("an HDF5 file",),
    ".zarr": ("a folder",),
    ".zarr.zip": ("a zip file",),
}
#: Kinds of files whose rows have names of their own.
NAMES_ROWS = (".h5ad", ".h5mu")
#: Kinds of files that hold several tables.
_NAMED = (".npz", ".mat", ".xlsx", ".h5ad", ".h5mu", ".zarr", ".zarr.zip")
_KINDS = {
    ".npy": "an NPY file",
    ".npz": "a zip file",
    ".parquet": "a Parquet file",
    ".pq": "a Parquet file",
}
#: Bytes of a pipe that are read at a time.
_PIECE = 2**20
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
    b"ARROW1": "an Arrow file",
    b"\xff\xff\xff\xff": "an Arrow stream",
    b"FEA1": "a Feather file of version 1",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"\xd0\xcf\x11\xe0": "an old Office file",
}


def read(
    path: str | os.PathLike[str],
    *,
    options: Options = DEFAULT,
    max_memory: float | str | None = None,
) -> Table:
    r"""One view, from a file.

    Parameters
    ----------
    path : path
        The extension gives the kind of file: CSV, TSV and other text, also packed as ``.gz`` or
        ``.zst``; Parquet, Arrow, Feather, Excel; NPY, NPZ, MAT, Zarr; AnnData and MuData.
        ``file.npz::name`` is one of several arrays, ``file.xlsx::name`` one of several sheets,
        ``file.h5ad::layers/name`` a layer.
    options : Options
        Columns to read, and the format of text files.
    max_memory : number, str or None, default=None
        Limit for what reading takes, the file and its unpacked content together: bytes, or text
        like "2GB". None is 80 % of the memory that the machine or its cgroup has available.

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
    return read_table(path, options, ReadingBudget(memory.parse_budget(max_memory)))


def read_table(
    path: str | os.PathLike[str],
    options: Options,
    budget: ReadingBudget,
    *,
    is_new: bool = False,
) -> Table:
    """The table of a file, counted in a budget that several files may share.

    Parameters
    ----------
    path : path
    options : Options
    budget : ReadingBudget
        Afterwards the table is counted, and what reading took besides is not.
    is_new : bool
        Whether the rows are new samples of a fitted model: then no row needs a value.
    """
    full_path = os.fspath(path)
    name, key = split_name(full_path)
    ending, packing = file_ending(name)
    if ending not in (*TEXTS, *_KINDS, *_STORED, ".mat"):
        raise table_fault(
            full_path,
            f"files with the extension {ending} are not supported; expected .csv, .tsv, .txt (or "
            "one of these and .gz or .zst), .parquet, .feather, .arrow, .xlsx, .npy, .npz, .mat, "
            ".zarr, .zarr.zip, .h5ad or .h5mu",
        )
    if packing and ending not in TEXTS:
        raise table_fault(full_path, f"only text files may be packed as {packing}; unpack it")
    if key is not None and ending not in _NAMED:
        raise table_fault(
            full_path, f"only {', '.join(_NAMED)} files contain named arrays to choose with ::"
        )
    before = budget.used
    if ending in _STORED:
        check_stored_kind(name, ending)
        table, digest, size = _stored_table(full_path, name, key, ending, options, budget)
    else:
        data = _bytes(full_path, name, budget, is_writable=ending == ".npy")
        # Before rows are dropped, where the table shares the data.
        digest, size = sha256(data).hexdigest(), len(data)
        _check_kind(name, packing or ending, data)
        if packing:
            data = unpack(name, bytes(data), packing, budget)
        table = _table(name, key, ending, data, options, budget)
    if options.id_strip and table.ids is not None:
        table = replace(table, ids=tuple(map(str.strip, table.ids)))
    table = check_table(table, missing=options.missing, is_new=is_new)
    budget.used = before + table.n_bytes
    return replace(table, sha256=digest, size=size)


def read_header(path: str | os.PathLike[str], options: Options) -> list[str] | None:
    """The column names of a file; None if it has none, or cannot be read.

    Parameters
    ----------
    path : path
    options : Options
    """
    name, _ = split_name(os.fspath(path))
    ending, _ = file_ending(name)
    try:
        if ending in TEXTS:
            data = text_content(name, ReadingBudget(memory.parse_budget(None)))
            return text_header(name, data, options, delimiter=TEXTS[ending])
        if ending in (".parquet", ".pq"):
            data = bytes(_bytes(name, name, ReadingBudget(memory.parse_budget(None))))
            return parquet_header(name, data)
    except Exception:  # what is wrong with the file is for the caller to say
        return None
    return None


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
    budget = ReadingBudget(memory.parse_budget(None))
    data = text_content(full_path, budget)
    return text_cells(full_path, data, encoding=encoding, budget=budget)


def _table(
    name: str, key: str | None, ending: str, data: Any, options: Options, budget: ReadingBudget
) -> Table:
    if ending == ".npy":
        return npy_table(name, data, options, budget=budget)
    if ending == ".npz":
        return npz_table(name, data, options, key=key, budget=budget)
    if ending == ".mat":
        return mat_table(name, data, options, key=key, budget=budget)
    if ending in (".parquet", ".pq"):
        return parquet_table(name, data, options, budget=budget)
    return text_table(name, data, options, delimiter=TEXTS[ending], budget=budget)


def text_content(path: str, budget: ReadingBudget) -> bytes:
    """The content of a text file, unpacked if it is packed.

    Parameters
    ----------
    path : str
    budget : ReadingBudget
    """
    _, packing = file_ending(path)
    data = bytes(_bytes(path, path, budget))
    _check_kind(path, packing, data)
    return unpack(path, data, packing, budget) if packing else data


def file_content(name: str, ending: str, budget: ReadingBudget) -> bytes | bytearray:
    """The content of a file of a kind that is read as a whole; its first bytes must be of the kind.

    Parameters
    ----------
    name : str
    ending : str
    budget : ReadingBudget
    """
    data = _bytes(name, name, budget)
    _check_kind(name, ending, data)
    return data


def _stored_table(
    full_path: str,
    name: str,
    key: str | None,
    ending: str,
    options: Options,
    budget: ReadingBudget,
) -> tuple[Table, str, int]:
    """The table of a file that is opened where it is, with the hash and the size of the file."""
    size = measure_path(name)
    if ending == ".xlsx":
        table = excel_table(full_path, name, key, options, budget=budget)
    elif ending in (".feather", ".arrow"):
        table = arrow_table(name, name, options, budget=budget)
    elif ending in (".h5ad", ".h5mu"):
        table = omics_table(full_path, name, key, options, size=size, budget=budget)
    else:
        if ending == ".zarr.zip":
            check_zip(name, name, budget)
        table = zarr_table(name, name, key, options, size=size, budget=budget)
    return table, digest_path(name), size


def check_stored_kind(name: str, ending: str) -> None:
    """Refuse what is not there, or has first bytes that contradict its extension.

    Parameters
    ----------
    name : str
        The file, or the folder of a store.
    ending : str
    """
    check_stored(name, name, may_be_folder=ending == ".zarr")
    if os.path.isdir(name):
        return
    expected = _STORED[ending]
    head = first_bytes(name)
    actual = next((kind for start, kind in _SIGNATURES.items() if head.startswith(start)), None)
    if actual not in expected:
        if actual == "a Feather file of version 1":
            raise table_fault(name, f"it is {actual}; write it again with version 2")
        finding = f"are those of {actual}" if actual else "are different"
        raise table_fault(
            name, f"it is not {expected[0]}, despite its extension: its first bytes {finding}"
        )


def file_ending(name: str) -> tuple[str, str]:
    """The extension of a file that gives its kind, and that of its packing, or nothing.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> from viewhop.tables._read import file_ending
    >>> file_ending("rna.CSV.gz"), file_ending("rna.zarr.zip"), file_ending("rna.npy")
    (('.csv', '.gz'), ('.zarr.zip', ''), ('.npy', ''))
    """
    path = Path(name)
    ending = path.suffix.lower()
    if ending in PACKED:
        return Path(path.stem).suffix.lower(), ending
    if ending == ".zip" and Path(path.stem).suffix.lower() == ".zarr":
        return ".zarr.zip", ""
    return ending, ""


def split_name(path: str) -> tuple[str, str | None]:
    """The file, and the name after ``::``, unless a file with the full name exists.

    Parameters
    ----------
    path : str
    """
    name, mark, key = path.rpartition("::")
    if not mark or Path(path).exists():
        return path, None
    return name, key


def _bytes(
    full_path: str, name: str, budget: ReadingBudget, *, is_writable: bool = False
) -> bytes | bytearray:
    """The content of a file, counted in the budget; as bytearray if it must be writable."""
    try:
        if Path(name).is_dir():
            raise table_fault(full_path, "it is a folder; expected a file")
        status = Path(name).stat()
        if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
            raise table_fault(full_path, "it is a device; expected a file")
        budget.check(full_path, status.st_size)
        with open(name, "rb") as file:
            data = bytearray(status.st_size) if is_writable else file.read(status.st_size)
            if isinstance(data, bytearray):
                del data[file.readinto(data) :]
            rest = bytearray()
            # The size of a pipe is unknown before it is read, and a file may grow.
            while piece := file.read(_PIECE):
                rest += piece
                budget.check(full_path, len(data) + len(rest))
        data = data + rest if rest else data
        budget.take(full_path, len(data))
        return data
    except OSError as error:
        raise table_fault(full_path, f"it cannot be read: {error.strerror or error}") from error
    except TableError:
        raise
    except ValueError as error:  # a NUL in the name
        raise table_fault(full_path, f"it cannot be read: {error}") from error


def _check_kind(path: str, ending: str, data: bytes | bytearray) -> None:
    """Refuse a file with first bytes that contradict its extension."""
    expected = PACKED.get(ending, _KINDS.get(ending))
    actual = next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), None)
    if not data:
        what = "it is empty"
        if ending in TEXTS:
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
