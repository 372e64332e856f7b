"""Files of arrays: NPY, NPZ and MAT."""

from __future__ import annotations

import io
import math
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from viewhop.errors import MemoryBudgetError, TableError
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import Options
from viewhop.tables._faults import DATE_ADVICE, missing_column, quote_cell, reason, table_fault
from viewhop.tables._matlab import read_variables
from viewhop.tables._table import Table, text_ids, typed_label

__all__ = [
    "ArrayHeader",
    "choose_array",
    "mat_table",
    "mat_variables",
    "npy_table",
    "npz_table",
    "parse_header",
]

_HDF5 = b"\x89HDF\r\n\x1a\n"
#: Arrays that `scipy.sparse.save_npz` writes for every sparse matrix.
_SPARSE = {"format", "shape", "data"}
#: Bytes that are unpacked at a time.
_PIECE = 2**16
#: Bytes of a text or a number that names a row, with its two references.
_ENTRY = 64


class ArrayHeader(NamedTuple):
    """Shape, order and type of an array."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


def npy_table(
    path: str, data: bytes | bytearray, options: Options, *, budget: ReadingBudget
) -> Table:
    """The table of an NPY file; each row is a sample.

    Parameters
    ----------
    path : str
    data : bytes or bytearray
        Content of the file; the numbers of the table stay where they are.
    options : Options
        The file has no ids and no column names, so options that need them are refused.
    budget : ReadingBudget
    """
    file = io.BytesIO(bytes(data[: 2**16]))  # no header is longer
    header = parse_header(path, file, len(data))
    return _table(path, _array_in(data, header, file.tell()), {}, options, budget)


def npz_table(
    path: str,
    data: bytes,
    options: Options,
    *,
    key: str | None = None,
    budget: ReadingBudget,
) -> Table:
    """The table of one array in an NPZ file; ids and labels are 1-D arrays of the same file.

    Parameters
    ----------
    path : str
    data : bytes
    options : Options
    key : str or None
        Name of the array; None takes the only 2-D array.
    budget : ReadingBudget
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {
                info.filename.removesuffix(".npy"): info
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
            if {*members} >= _SPARSE and {"indptr", "row", "offsets"} & {*members}:
                raise table_fault(
                    path,
                    "it is a sparse matrix of scipy.sparse.save_npz, and viewhop needs a dense "
                    "array: np.save(new_path, scipy.sparse.load_npz(path).toarray())",
                )

            def describe(name: str) -> ArrayHeader:
                with archive.open(members[name]) as file:
                    return parse_header(f"{path}::{name}", file, members[name].file_size)

            def load(name: str) -> Any:
                return _unpack_member(f"{path}::{name}", archive, members[name], budget)

            return choose_array(path, key, members, describe, load, options, budget)
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
    budget: ReadingBudget,
) -> Table:
    """The table of one variable in a MAT file (versions 5 to 7); ids and labels are vectors.

    Parameters
    ----------
    path : str
    data : bytes
    options : Options
    key : str or None
        Name of the variable; None takes the only numeric matrix.
    budget : ReadingBudget
    """
    variables = mat_variables(path, data, budget)
    load = variables.__getitem__
    return choose_array(path, key, variables, load, load, options, budget)


def mat_variables(path: str, data: bytes, budget: ReadingBudget) -> dict[str, Any]:
    """The variables of a MAT file (versions 5 to 7) by name, counted in the budget.

    Parameters
    ----------
    path : str
    data : bytes
    budget : ReadingBudget
    """
    if data.startswith(_HDF5) or data[512:520] == _HDF5:
        raise table_fault(
            path,
            "MAT files of version 7.3 (HDF5) are not supported; save it again in MATLAB with "
            "save(…, '-v7')",
        )
    try:
        variables = read_variables(data, allowed=budget.allowed, used=budget.used)
    except MemoryBudgetError as error:
        raise table_fault(path, f"{error} (--memory) if you trust the file") from None
    except (ValueError, OverflowError, MemoryError, zlib.error) as error:
        raise table_fault(path, f"it is not a valid MAT file ({reason(error)})") from None
    arrays = [value for value in variables.values() if isinstance(value, np.ndarray)]
    budget.take(path, sum(array.nbytes for array in arrays), what="its variables")
    return variables


def parse_header(path: str, file: BinaryIO | Any, size: int) -> ArrayHeader:
    """The header of an NPY file, which must hold numbers or text, and all of its array.

    Parameters
    ----------
    path : str
    file : binary file
        At its start; afterwards it is at the first value.
    size : int
        Bytes of the file.
    """
    try:
        version = npy.read_magic(file)
        parse = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a header by Python 2, or with strange text
            shape, is_fortran, dtype = parse(file)
        header = ArrayHeader(tuple(map(int, shape)), is_fortran, dtype)
        np.broadcast_to(np.empty((), dtype), header.shape)  # a shape that an array can have
        available = size - file.tell()
    except Exception as error:  # a damaged file can make numpy raise almost anything
        raise table_fault(path, f"it is not a valid NPY file ({reason(error)})") from None
    if header.dtype.hasobject:
        raise table_fault(
            path, "it contains Python objects, which are never loaded; save a numeric array"
        )
    if not header.dtype.itemsize:
        raise table_fault(path, "its values have no bytes; save a numeric array")
    if header.size > available:
        raise table_fault(
            path,
            f"it is cut short: an array of shape {header.shape} needs {header.size:,} bytes, got "
            f"{available:,}",
        )
    return header


def _unpack_member(
    path: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: ReadingBudget
) -> NDArray[Any]:
    """An array of an NPZ file, unpacked to its place; its size is counted first."""
    with archive.open(info) as file:
        header = parse_header(path, file, info.file_size)
        budget.take(path, header.size, what="the array")
        content = bytearray(header.size)
        for start in range(0, header.size, _PIECE):
            piece = memoryview(content)[start : start + _PIECE]
            piece[:] = file.read(len(piece))
        file.read(1)  # at its end the checksum is compared
    return _array_in(content, header, 0)


def _array_in(data: bytes | bytearray, header: ArrayHeader, start: int) -> NDArray[Any]:
    """The array whose values begin at `start`; it shares the memory of the data."""
    if not header.size:  # a dimension of 0 hides others of any length
        return np.broadcast_to(np.empty((), dtype=header.dtype), header.shape)
    values = np.frombuffer(data, header.dtype, count=math.prod(header.shape), offset=start)
    return values.reshape(header.shape, order="F" if header.is_fortran else "C")


def choose_array(
    path: str,
    key: str | None,
    names: Iterable[str],
    describe: Callable[[str], Any],
    load: Callable[[str], Any],
    options: Options,
    budget: ReadingBudget,
) -> Table:
    """The table of one of several named arrays, with ids and labels from others.

    Parameters
    ----------
    path : str
    key : str or None
        Name of the array; None takes the only matrix of numbers.
    names : list of str
        All arrays.
    describe, load : callable
        Something with the shape and dtype of an array, and the array itself, by its name.
    options : Options
    budget : ReadingBudget
    """
    available = [*names]
    annotations = {name for name in (options.id, options.label) if name is not None}
    if key is not None and key not in available:
        raise missing_column(path, key, available, role="array")
    if key is None:
        kinds = {name: describe(name) for name in available if name not in annotations}
        candidates = [name for name, kind in kinds.items() if _is_matrix(kind)]
        if len(candidates) != 1:
            raise _no_choice(path, kinds, candidates)
        (key,) = candidates
    array = load(key)
    vectors = {}
    for name, role in ((options.id, "id"), (options.label, "label")):
        if name is None or (name not in available and role == "label" and options.shared):
            continue
        if name not in available:
            raise missing_column(path, name, available, role=f"{role} array")
        vectors[role] = _vector(path, name, load(name), budget)
    return _table(f"{path}::{key}" if len(available) > 1 else path, array, vectors, options, budget)


def _no_choice(path: str, kinds: Mapping[str, Any], candidates: list[str]) -> TableError:
    """The error of a file with no matrix of numbers, or with several."""
    what = f"expected one array of samples × features, got {len(candidates)}"
    if candidates:
        listing = ", ".join(f"{path}::{name}" for name in candidates)
        return table_fault(path, f"{what} ({listing}); choose one with PATH::NAME")
    listing = ", ".join(f"{name} ({_describe_kind(kind)})" for name, kind in kinds.items())
    return table_fault(path, f"{what} (none)" + (f"; there are {listing}" if listing else ""))


def _describe_kind(array: Any) -> str:
    """Type and shape of an array, as text."""
    kind = getattr(array, "dtype", type(array).__name__)
    shape = getattr(array, "shape", None)
    return f"{kind} of shape {shape}"


def _is_matrix(array: Any) -> bool:
    """Whether an array, or one with this header, is a matrix of numbers."""
    shape, kind = getattr(array, "shape", ()), getattr(array, "dtype", None)
    return len(shape) == 2 and isinstance(kind, np.dtype) and kind.kind in "biuf"


def _vector(path: str, name: str, array: Any, budget: ReadingBudget) -> list[Any]:
    """A text or a number for each row."""
    values = np.asarray(array)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1 or values.dtype.kind not in "biufU":
        raise table_fault(path, f"{quote_cell(name)} is not a vector of text or whole numbers")
    text = values.nbytes if values.dtype.kind == "U" else 0
    budget.take(path, _ENTRY * values.size + text, what=f"the text of {quote_cell(name)}")
    entries: list[Any] = values.tolist()
    return entries


def _table(
    path: str,
    array: Any,
    vectors: Mapping[str, list[Any]],
    options: Options,
    budget: ReadingBudget,
) -> Table:
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
        is_date = getattr(getattr(array, "dtype", None), "kind", "") in ("M", "m")
        raise table_fault(
            path,
            f"expected numbers (samples × features), got {_describe_kind(array)}"
            + (f"; {DATE_ADVICE}" if is_date else ""),
        )
    if not array.size:
        raise table_fault(path, f"it is empty: its shape is {array.shape}")
    for role, values in vectors.items():
        if len(values) != len(array):
            raise table_fault(path, f"{len(values)} {role}s for {len(array)} rows")
    labels = vectors.get("label")
    return Table(
        path=path,
        matrix=_floats(path, array, budget),
        columns=None,
        header=None,
        ids=text_ids(path, vectors["id"]) if "id" in vectors else None,
        labels=None if labels is None else tuple(map(typed_label, labels)),
        lines=np.arange(1, len(array) + 1),
    )


def _floats(path: str, array: NDArray[Any], budget: ReadingBudget) -> NDArray[np.floating]:
    """The numbers in single or double precision, where they are if they have it already."""
    budget.take(path, 8 * len(array), what=f"a table of {len(array):,} rows")
    dtype = np.dtype(np.float32 if array.dtype == np.float32 else np.float64)
    is_usable = array.dtype == dtype and array.flags.aligned and array.flags.writeable
    if is_usable:
        return array
    budget.take(path, array.size * dtype.itemsize, what=f"a table of {array.size:,} cells")
    with np.errstate(all="ignore"):  # of longer floats: what overflows is refused as infinite
        return array.astype(dtype)
