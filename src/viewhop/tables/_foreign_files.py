"""Files that other libraries parse, opened within a budget; errors name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.parsing.foreign_file import ForeignError, ForeignFile, Parser
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._faults import table_fault

__all__ = ["check_chunk", "iter_blocks", "open_foreign", "read_array", "read_texts"]

#: The module, the extra, and the name of each kind of file.
_KINDS = {
    "hdf5": ("h5py", "omics", "AnnData files", "an HDF5 file"),
    "zarr": ("zarr", "zarr", "Zarr stores", "a Zarr store"),
    "arrow": ("pyarrow", "data", "Arrow files", "an Arrow file"),
    "excel": ("openpyxl", "excel", "Excel files", "an Excel workbook"),
}
#: Bytes of numbers that are read at a time, unless a chunk has more.
_BLOCK = 2**23
#: Bytes of a text or a number that names a row, with its two references.
_ENTRY = 64


@contextmanager
def open_foreign(path: str, name: str, kind: str, budget: ReadingBudget) -> Iterator[ForeignFile]:
    """A block in which a file is open; what its library refuses becomes a TableError.

    Parameters
    ----------
    path : str
        The file, as the caller gave it.
    name : str
        Where it is.
    kind : {"hdf5", "zarr", "arrow", "excel"}
    budget : ReadingBudget
    """
    module, extra, what, noun = _KINDS[kind]
    if find_spec(module) is None:
        raise table_fault(path, f'{what} need {module}: pip install "viewhop[{extra}]"')

    def count(n_bytes: int) -> None:
        budget.check(path, n_bytes, what="a part of it")

    with Parser() as parser:
        try:
            yield ForeignFile(name, kind, parser, allowed=budget.left, count=count)
        except ForeignError as error:
            raise table_fault(path, f"it cannot be read as {noun} ({error})") from None


def check_chunk(path: str, name: str, facts: dict[str, Any], budget: ReadingBudget) -> None:
    """Raise TableError if a chunk of an array, which is unpacked as a whole, has too many bytes.

    Parameters
    ----------
    path : str
    name : str
        Of the array.
    facts : dict
        As `ForeignFile.describe` returns them.
    budget : ReadingBudget
    """
    budget.check(path, facts["bytes"], what=f"a chunk of {name!r}")


def iter_blocks(facts: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Ranges of rows of an array that are read at a time: whole chunks, of some megabytes.

    Parameters
    ----------
    facts : dict
        As `ForeignFile.describe` returns them.
    """
    n_rows, *more = facts["shape"]
    width = facts["itemsize"]
    for length in more:
        width *= max(1, length)
    chunk_rows = max(1, facts["chunk"][0]) if facts["chunk"] else 1
    step = max(1, _BLOCK // (width * chunk_rows)) * chunk_rows
    for start in range(0, n_rows, step):
        yield start, min(n_rows, start + step)


def read_array(
    path: str, file: ForeignFile, name: str, facts: dict[str, Any], budget: ReadingBudget
) -> NDArray[Any]:
    """An array of numbers, counted in the budget.

    Parameters
    ----------
    path : str
    file : ForeignFile
    name : str
    facts : dict
        As `file.describe` returns them; "kind" is "array".
    budget : ReadingBudget
    """
    check_chunk(path, name, facts, budget)
    size = facts["itemsize"]
    for length in facts["shape"]:
        size *= length
    budget.take(path, size, what=f"the array {name!r}")
    array = np.empty(facts["shape"], dtype=facts["dtype"])
    for start, stop in iter_blocks(facts):
        block = file.read(name, start, stop)
        _check_shape(path, name, block.shape, (stop - start, *facts["shape"][1:]))
        array[start:stop] = block
    return array


def _check_shape(path: str, name: str, shape: Any, expected: Any) -> None:
    if tuple(shape) != tuple(expected):
        raise table_fault(path, f"the array {name!r} is damaged: its parts have other shapes")


def read_texts(
    path: str,
    file: ForeignFile,
    name: str,
    facts: dict[str, Any],
    budget: ReadingBudget,
    *,
    size: int,
) -> list[str]:
    """A vector of texts, counted in the budget.

    Parameters
    ----------
    path : str
    file : ForeignFile
    name : str
    facts : dict
        As `file.describe` returns them; "kind" is "text".
    budget : ReadingBudget
    size : int
        Bytes of the file: no text is longer, so that the batches that fit are known.
    """
    if len(facts["shape"]) != 1:
        raise table_fault(path, f"{name!r} is no vector of texts: its shape is {facts['shape']}")
    check_chunk(path, name, facts, budget)
    (n,) = facts["shape"]
    budget.take(path, _ENTRY * n, what=f"the text of {name!r}")
    left = budget.left
    step = 65_536 if left is None else min(65_536, max(1, left // (8 * size + 1)))
    texts: list[str] = []
    for start in range(0, n, step):
        part = file.read(name, start, min(n, start + step))
        budget.take(path, sum(map(len, part)), what=f"the text of {name!r}")
        texts += part
    if len(texts) != n:
        raise table_fault(path, f"{name!r} is damaged: it has {len(texts):,} texts, not {n:,}")
    return texts
