"""What a file holds: its arrays, sheets or columns, found without loading matrices."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viewhop._runtime import memory
from viewhop._runtime.parsing.foreign_file import ForeignFile
from viewhop.errors import TableError
from viewhop.tables._arrays import mat_variables, parse_header
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import DEFAULT, Options
from viewhop.tables._delimited import text_columns
from viewhop.tables._excel import excel_sheets
from viewhop.tables._faults import reason, table_fault
from viewhop.tables._foreign_files import open_foreign
from viewhop.tables._omics import find_matrices
from viewhop.tables._packed import check_zip
from viewhop.tables._parquet import import_pyarrow
from viewhop.tables._parquet_columns import ParquetColumns
from viewhop.tables._read import (
    TEXTS,
    check_stored_kind,
    file_content,
    file_ending,
    split_name,
    text_content,
)

__all__ = ["CONTAINERS", "Content", "list_contents"]

#: Kinds of files that hold several tables.
CONTAINERS = (".npz", ".mat", ".xlsx", ".zarr", ".zarr.zip", ".h5ad", ".h5mu")
#: Most entries of a store that are listed, and the deepest group that is looked into.
_MOST, _DEEPEST = 1000, 8


@dataclass(frozen=True)
class Content:
    """One array, sheet or table in a file.

    Attributes
    ----------
    name : str
        What to write after ``::``; "" if the file holds nothing else.
    shape : tuple of int, or None if only reading all of it would tell
    dtype : str or None
        Type of its numbers.
    columns : tuple of str, or None if they have no names
    ids : tuple of str
        Columns that could be the ids: of distinct texts, or of distinct whole numbers if it is the
        first. Of observations, the columns of ``obs``.
    """

    name: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    columns: tuple[str, ...] | None = None
    ids: tuple[str, ...] = ()


def list_contents(
    path: str | os.PathLike[str],
    *,
    options: Options = DEFAULT,
    max_memory: float | str | None = None,
) -> list[Content]:
    r"""What a file holds.

    Parameters
    ----------
    path : path
    options : Options
        The format of text files.
    max_memory : number, str or None, default=None
        As in `read`.

    Raises
    ------
    TableError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop.tables import list_contents
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rna.csv")
    ...     size = path.write_text("cell,a,kind\n007,1,T\n008,2,T\n")
    ...     list_contents(path)
    [Content(name='', shape=(2, 3), dtype=None, columns=('cell', 'a', 'kind'), ids=('cell',))]
    """
    name, _ = split_name(os.fspath(path))
    ending, _ = file_ending(name)
    budget = ReadingBudget(memory.parse_budget(max_memory))
    if ending in TEXTS:
        columns, n_rows, ids = text_columns(
            name, text_content(name, budget), options, delimiter=TEXTS[ending], budget=budget
        )
        return [Content("", (n_rows, len(columns)), None, columns, ids)]
    if ending in (".npy", ".npz", ".mat", ".parquet", ".pq"):
        data = bytes(file_content(name, ending, budget))
        if ending == ".npy":
            header = parse_header(name, io.BytesIO(data[: 2**16]), len(data))
            return [Content("", header.shape, str(header.dtype))]
        if ending == ".npz":
            return _npz_contents(name, data)
        if ending == ".mat":
            variables = mat_variables(name, data, budget)
            return [Content(key, value.shape, str(value.dtype)) for key, value in variables.items()]
        return _parquet_contents(name, data, budget)
    check_stored_kind(name, ending)
    if ending == ".xlsx":
        sheets = excel_sheets(name, name, budget=budget)
        return [Content(sheet, columns=tuple(columns)) for sheet, columns in sheets.items()]
    if ending in (".feather", ".arrow"):
        with open_foreign(name, name, "arrow", budget) as file:
            return [_arrow_content(file)]
    if ending in (".h5ad", ".h5mu"):
        with open_foreign(name, name, "hdf5", budget) as file:
            return [*_omics_contents(file)]
    if ending == ".zarr.zip":
        check_zip(name, name, budget)
    with open_foreign(name, name, "zarr", budget) as file:
        contents = [*_zarr_contents(file, "", 0)]
    if not contents:
        raise table_fault(name, "it holds no Zarr array")
    return contents[:_MOST]


def _npz_contents(path: str, data: bytes) -> list[Content]:
    contents = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = (info for info in archive.infolist() if info.filename.endswith(".npy"))
            for info in members:
                with archive.open(info) as file:
                    header = parse_header(path, file, info.file_size)
                name = info.filename.removesuffix(".npy")
                contents.append(Content(name, header.shape, str(header.dtype)))
    except TableError:
        raise
    except Exception as error:  # a damaged file can make zipfile raise almost anything
        raise table_fault(path, f"it is not a valid NPZ file ({reason(error)})") from None
    return contents


def _parquet_contents(path: str, data: bytes, budget: ReadingBudget) -> list[Content]:
    pa, parquet = import_pyarrow(path)
    try:
        content = ParquetColumns(path, data, budget, pa, parquet)
        columns = tuple(str(name) for name in content.schema.names)
        kinds = [str(field.type) for field in content.schema]
        candidates = (
            name
            for k, name in enumerate(columns)
            if _may_name(kinds[k], k)
            and _are_distinct(value for part in content.iter_values(k) for value in part)
        )
        return [Content("", (content.n_rows, len(columns)), None, columns, tuple(candidates))]
    except TableError:
        raise
    except Exception as error:  # a damaged file can make pyarrow raise almost anything
        raise table_fault(path, f"it is not a valid Parquet file ({reason(error)})") from None


def _arrow_content(file: ForeignFile) -> Content:
    facts = file.describe()
    columns, counts = facts["columns"], facts["rows"]

    def values(k: int) -> Iterator[Any]:
        for batch, count in enumerate(counts):
            for start in range(0, count, 4096):
                yield from file.read("values", batch, k, start, min(count, start + 4096))

    ids = tuple(
        column["name"]
        for k, column in enumerate(columns)
        if _may_name(column["type"], k) and _are_distinct(values(k))
    )
    names = tuple(column["name"] for column in columns)
    return Content("", (sum(counts), len(names)), None, names, ids)


def _may_name(kind: str, place: int) -> bool:
    """Whether a column of an Arrow type, at this place, could be the ids."""
    return "string" in kind or (place == 0 and "int" in kind)


def _are_distinct(values: Iterable[Any]) -> bool:
    seen = set()
    for value in values:
        if value is None or value == "" or value in seen:
            return False
        seen.add(value)
    return bool(seen)


def _omics_contents(file: ForeignFile) -> Iterator[Content]:
    for name, facts in find_matrices(file).items():
        shape: Sequence[int] | None = facts.get("shape")
        dtype = facts.get("dtype")
        if facts["kind"] == "group":
            encoding = str(facts["attrs"].get("encoding-type", "group"))
            shape, dtype = facts["attrs"].get("shape"), encoding
            if facts["data"] is not None:
                dtype = f"{encoding} of {np.dtype(facts['data'])}"
        else:
            dtype = str(np.dtype(dtype)) if facts["kind"] == "array" else str(dtype)
        yield Content(
            name, None if shape is None else tuple(shape), dtype, None, tuple(facts["obs"])
        )


def _zarr_contents(file: ForeignFile, name: str, depth: int) -> Iterator[Content]:
    facts = file.describe(name)
    if facts["kind"] == "group":
        for entry in facts["names"] if depth < _DEEPEST else ():
            yield from _zarr_contents(file, f"{name}/{entry}" if name else entry, depth + 1)
    elif facts["kind"] != "none":
        is_number = facts["kind"] == "array"
        dtype = str(np.dtype(facts["dtype"])) if is_number else facts["kind"]
        yield Content(name, tuple(facts["shape"]), dtype)
