"""Files of arrays: NPY, NPZ and MAT."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from viewhop.errors import MemoryBudgetError, TableError
from viewhop.tables._column_choice import Options
from viewhop.tables._faults import check_size, missing_column, quote_cell, reason, table_fault
from viewhop.tables._matlab import read_variables
from viewhop.tables._table import Table, text_ids, typed_label

__all__ = ["mat_table", "npy_table", "npz_table"]

_HDF5 = b"\x89HDF\r\n\x1a\n"


def npy_table(path: str, data: bytes, options: Options) -> Table:
    """The table of an NPY file; each row is a sample.

    Parameters
    ----------
    path : str
    data : bytes
        Content of the file.
    options : Options
        The file has no ids and no column names, so options that need them are refused.
    """
    return _table(path, _parse_npy(path, data), {}, options)


def npz_table(
    path: str,
    data: bytes,
    options: Options,
    *,
    key: str | None = None,
    allowed: int | None = None,
) -> Table:
    """The table of one array in an NPZ file; ids and labels are 1-D arrays of the same file.

    Parameters
    ----------
    path : str
    data : bytes
    options : Options
    key : str or None
        Name of the array; None takes the only 2-D array.
    allowed : int or None
        Largest size of an array in bytes; None sets no limit.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {
                info.filename.removesuffix(".npy"): info
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }

            def load(name: str) -> Any:
                # zipfile unpacks at most `file_size` bytes, whatever the member contains.
                check_size(f"{path}::{name}", members[name].file_size, allowed, what="the array")
                return _parse_npy(f"{path}::{name}", archive.read(members[name]))

            return _table_of_several_arrays(path, key, members, load, options)
    except TableError:
        raise
    except Exception as error:  # a damaged file can make zipfile raise almost anything
        raise table_fault(path, f"it is not a valid NPZ file ({reason(error)})") from None


def mat_table(
    path: str,
    data: bytes,
    options: Options,
    *,
    key: str | None = None,
    allowed: int | None = None,
) -> Table:
    """The table of one variable in a MAT file (versions 5 to 7); ids and labels are vectors.

    Parameters
    ----------
    path : str
    data : bytes
    options : Options
    key : str or None
        Name of the variable; None takes the only numeric matrix.
    allowed : int or None
        Largest size of a variable in bytes; None sets no limit.
    """
    if data.startswith(_HDF5) or data[512:].startswith(_HDF5):
        raise table_fault(
            path,
            "MAT files of version 7.3 (HDF5) are not supported; save it again in MATLAB with "
            "save(…, '-v7')",
        )
    try:
        variables = read_variables(data, allowed=allowed)
    except MemoryBudgetError as error:
        raise table_fault(path, f"{error} (--memory) if you trust the file") from None
    except (ValueError, OverflowError, MemoryError, zlib.error) as error:
        raise table_fault(path, f"it is not a valid MAT file ({reason(error)})") from None
    return _table_of_several_arrays(path, key, variables, variables.__getitem__, options)


def _parse_npy(path: str, data: bytes) -> NDArray[Any]:
    """The array of an NPY file; nothing is unpickled, and its size is checked first."""
    file = io.BytesIO(data)
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
        if dtype.hasobject:
            raise table_fault(
                path, "it contains Python objects, which are never loaded; save a numeric array"
            )
        needed, available = math.prod(shape) * dtype.itemsize, len(data) - file.tell()
        if needed > available:
            raise table_fault(
                path,
                f"it is cut short: an array of shape {shape} needs {needed:,} bytes, got "
                f"{available:,}",
            )
        file.seek(0)
        return np.asarray(npy.read_array(file, allow_pickle=False))
    except TableError:
        raise
    except Exception as error:  # a damaged file can make numpy raise almost anything
        raise table_fault(path, f"it is not a valid NPY file ({reason(error)})") from None


def _table_of_several_arrays(
    path: str,
    key: str | None,
    names: Iterable[str],
    load: Callable[[str], Any],
    options: Options,
) -> Table:
    """The table of one of several named arrays, with ids and labels from others."""
    available = [*names]
    annotations = {name for name in (options.id, options.label) if name is not None}
    if key is not None and key not in available:
        raise missing_column(path, key, available, role="array")
    if key is None:
        candidates = {
            name: array
            for name in available
            if name not in annotations and _is_matrix(array := load(name))
        }
        if len(candidates) != 1:
            listing = ", ".join(f"{path}::{name}" for name in candidates) or "none"
            raise table_fault(
                path,
                f"expected one array of samples × features, got {len(candidates)} ({listing}); "
                "choose one with PATH::NAME",
            )
        key, array = candidates.popitem()
    else:
        array = load(key)
    vectors = {}
    for name, role in ((options.id, "id"), (options.label, "label")):
        if name is None or (name not in available and role == "label" and options.shared):
            continue
        if name not in available:
            raise missing_column(path, name, available, role=f"{role} array")
        vectors[role] = _vector(path, name, load(name))
    return _table(f"{path}::{key}" if len(available) > 1 else path, array, vectors, options)


def _is_matrix(array: Any) -> bool:
    return np.ndim(array) == 2 and getattr(array, "dtype", np.dtype(object)).kind in "biuf"


def _vector(path: str, name: str, array: Any) -> list[Any]:
    """A text or a number for each row."""
    values = np.asarray(array)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1 or values.dtype.kind not in "biufU":
        raise table_fault(path, f"{quote_cell(name)} is not a vector of text or whole numbers")
    entries: list[Any] = values.tolist()
    return entries


def _table(path: str, array: Any, vectors: Mapping[str, list[Any]], options: Options) -> Table:
    """The table of an array without column names."""
    if (options.keep or options.drop) and not options.shared:
        raise table_fault(path, "its columns have no names, so none can be kept or dropped")
    if options.id is not None and "id" not in vectors:
        raise table_fault(path, f"no id column {quote_cell(options.id)}: its columns have no names")
    if options.label is not None and "label" not in vectors and not options.shared:
        raise table_fault(
            path, f"no label column {quote_cell(options.label)}: its columns have no names"
        )
    if not _is_matrix(array):
        kind = getattr(array, "dtype", type(array).__name__)
        shape = getattr(array, "shape", None)
        raise table_fault(
            path, f"expected numbers (samples × features), got {kind} of shape {shape}"
        )
    if not array.size:
        raise table_fault(path, f"it is empty: its shape is {array.shape}")
    for role, values in vectors.items():
        if len(values) != len(array):
            raise table_fault(path, f"{len(values)} {role}s for {len(array)} rows")
    dtype = np.float32 if array.dtype == np.float32 else np.float64
    labels = vectors.get("label")
    return Table(
        path=path,
        matrix=np.ascontiguousarray(array, dtype=dtype),
        columns=None,
        header=None,
        ids=text_ids(path, vectors["id"]) if "id" in vectors else None,
        labels=None if labels is None else tuple(map(typed_label, labels)),
        lines=np.arange(1, len(array) + 1),
    )
