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
from viewhop.tables._matlab import variables
from viewhop.tables._table import Table, given_label, text_ids

__all__ = ["mat_table", "npy_table", "npz_table"]

_HDF5 = b"\x89HDF\r\n\x1a\n"


def npy_table(path: str, data: bytes, options: Options) -> Table:
    """The table of an NPY file, whose rows are samples.

    Parameters
    ----------
    path : str
    data : bytes
        What the file holds.
    options : Options
        It has neither ids nor names of columns, so none can be asked for.
    """
    return _table(path, _array(path, data), {}, options)


def npz_table(
    path: str,
    data: bytes,
    options: Options,
    *,
    key: str | None = None,
    allowed: int | None = None,
) -> Table:
    """The table of an NPZ file; ids and labels are arrays of one dimension beside it.

    Parameters
    ----------
    path : str
    data : bytes
    options : Options
    key : str or None
        Which of its arrays; None takes the only one that has two dimensions.
    allowed : int or None
        Bytes that an array may take; None allows anything.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {
                info.filename.removesuffix(".npy"): info
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }

            def loaded(name: str) -> Any:
                # No more than this is unpacked, whatever is in the file.
                check_size(f"{path}::{name}", members[name].file_size, allowed, what="the array")
                return _array(f"{path}::{name}", archive.read(members[name]))

            return _of_several(path, key, members, loaded, options)
    except TableError:
        raise
    except Exception as error:  # zipfile raises whatever a damaged file leads it to
        raise table_fault(path, f"it is not a whole NPZ file ({reason(error)})") from None


def mat_table(
    path: str,
    data: bytes,
    options: Options,
    *,
    key: str | None = None,
    allowed: int | None = None,
) -> Table:
    """The table of a MAT file of version 5 to 7; ids and labels are vectors beside it.

    Parameters
    ----------
    path : str
    data : bytes
    options : Options
    key : str or None
        Which of its variables; None takes the only one that is a matrix of numbers.
    allowed : int or None
        Bytes that a variable may take; None allows anything.
    """
    if data.startswith(_HDF5) or data[512:].startswith(_HDF5):
        raise table_fault(
            path,
            "it is a MAT file of version 7.3, which is HDF5; save it again in MATLAB with "
            "save(…, '-v7')",
        )
    try:
        found = variables(data, allowed=allowed)
    except MemoryBudgetError as error:
        raise table_fault(path, f"{error} (--memory) if you trust the file") from None
    except (ValueError, OverflowError, MemoryError, zlib.error) as error:
        raise table_fault(path, f"it is not a whole MAT file ({reason(error)})") from None
    return _of_several(path, key, found, found.__getitem__, options)


def _array(path: str, data: bytes) -> NDArray[Any]:
    """The array of an NPY file; nothing is unpickled, and its size is known before it is made."""
    file = io.BytesIO(data)
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
        if dtype.hasobject:
            raise table_fault(
                path, "it holds Python objects, which are never loaded; save an array of numbers"
            )
        needed, there = math.prod(shape) * dtype.itemsize, len(data) - file.tell()
        if needed > there:
            raise table_fault(
                path,
                f"it is cut short: an array of shape {shape} takes {needed:,} bytes, and there "
                f"are {there:,}",
            )
        file.seek(0)
        return np.asarray(npy.read_array(file, allow_pickle=False))
    except TableError:
        raise
    except Exception as error:  # numpy does so, too
        raise table_fault(path, f"it is not a whole NPY file ({reason(error)})") from None


def _of_several(
    path: str,
    key: str | None,
    names: Iterable[str],
    loaded: Callable[[str], Any],
    options: Options,
) -> Table:
    """The table of one of several named arrays, with ids and labels from others."""
    known = [*names]
    aside = {name for name in (options.id, options.label) if name is not None}
    if key is not None and key not in known:
        raise missing_column(path, key, known, role="array")
    if key is None:
        fitting = {
            name: array for name in known if name not in aside and _is_matrix(array := loaded(name))
        }
        if len(fitting) != 1:
            listed = ", ".join(f"{path}::{name}" for name in fitting) or "none"
            raise table_fault(
                path,
                f"expected one array of samples × features, got {len(fitting)} ({listed}); "
                "choose by PATH::NAME",
            )
        key, array = fitting.popitem()
    else:
        array = loaded(key)
    beside = {}
    for name, role in ((options.id, "id"), (options.label, "label")):
        if name is None or (name not in known and role == "label" and options.shared):
            continue
        if name not in known:
            raise missing_column(path, name, known, role=f"{role} array")
        beside[role] = _vector(path, name, loaded(name))
    return _table(f"{path}::{key}" if len(known) > 1 else path, array, beside, options)


def _is_matrix(array: Any) -> bool:
    return np.ndim(array) == 2 and getattr(array, "dtype", np.dtype(object)).kind in "biuf"


def _vector(path: str, name: str, array: Any) -> list[Any]:
    """Text or numbers, one for each row."""
    values = np.asarray(array)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1 or values.dtype.kind not in "biufU":
        raise table_fault(path, f"{quote_cell(name)} is not a vector of text or whole numbers")
    found: list[Any] = values.tolist()
    return found


def _table(path: str, array: Any, beside: Mapping[str, list[Any]], options: Options) -> Table:
    """The table of an array without names of columns."""
    if (options.keep or options.drop) and not options.shared:
        raise table_fault(path, "its columns have no names, so none can be kept or dropped")
    if options.id is not None and "id" not in beside:
        raise table_fault(
            path, f"it has no id column {quote_cell(options.id)}: its columns have no names"
        )
    if options.label is not None and "label" not in beside and not options.shared:
        raise table_fault(
            path, f"it has no label column {quote_cell(options.label)}: its columns have no names"
        )
    if not _is_matrix(array):
        kind = getattr(array, "dtype", type(array).__name__)
        shape = getattr(array, "shape", None)
        raise table_fault(
            path, f"expected numbers, samples × features, got {kind} of shape {shape}"
        )
    if not array.size:
        raise table_fault(path, f"it is empty: its shape is {array.shape}")
    for role, values in beside.items():
        if len(values) != len(array):
            raise table_fault(path, f"{len(values)} {role}s for {len(array)} rows")
    dtype = np.float32 if array.dtype == np.float32 else np.float64
    labels = beside.get("label")
    return Table(
        path=path,
        matrix=np.ascontiguousarray(array, dtype=dtype),
        columns=None,
        header=None,
        ids=text_ids(path, beside["id"]) if "id" in beside else None,
        labels=None if labels is None else tuple(map(given_label, labels)),
        lines=np.arange(1, len(array) + 1),
    )
