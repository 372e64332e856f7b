"""Matrices in AnnData files: dense, sparse by rows or by columns, or a frame of numbers.

A sparse matrix is read block by block, by `iter_sparse`; `read_matrix` makes a dense table of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from viewhop._runtime.parsing.foreign_file import ForeignFile
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._faults import table_fault
from viewhop.tables._foreign_files import check_chunk, iter_blocks, read_array

__all__ = ["iter_sparse", "read_matrix"]

_SPARSE = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}
#: Stored numbers, and cells, of a block of a sparse matrix.
_NUMBERS, _CELLS = 2**18, 2**21


def read_matrix(
    path: str,
    file: ForeignFile,
    name: str,
    n_rows: int,
    names: Sequence[str] | None,
    chosen: Sequence[int] | None,
    budget: ReadingBudget,
) -> NDArray[np.floating]:
    """A matrix as a dense table, float32 if it is stored so, otherwise float64.

    Parameters
    ----------
    path : str
        The file, as the caller gave it.
    file : ForeignFile
    name : str
        Where the matrix is.
    n_rows : int
        Number of observations.
    names : list of str or None
        Of the variables; None takes as many as the matrix has.
    chosen : list of int or None
        The columns to read; None is all of them.
    budget : ReadingBudget
    """
    facts = file.describe(name)
    encoding = facts.get("attrs", {}).get("encoding-type")
    if facts["kind"] == "group" and encoding == "dataframe":
        columns = [(names or ())[k] for k in chosen or ()]
        return _frame_matrix(path, file, name, n_rows, columns, budget)
    is_sparse = facts["kind"] == "group" and encoding in _SPARSE
    if not is_sparse and facts["kind"] != "array":
        what = "is empty" if facts["kind"] in ("none", "other") else "is no matrix of numbers"
        raise table_fault(
            path, f"{name} {what}; choose a layer or an array of obsm with PATH::NAME"
        )
    shape = facts["attrs"].get("shape") if is_sparse else facts["shape"]
    width = _check_shape(path, name, shape, n_rows, None if names is None else len(names))
    positions = np.arange(width) if chosen is None else np.asarray(chosen, dtype=np.intp)
    dtype = _dtype(file.describe(f"{name}/data") if is_sparse else facts)
    what = f"{name} as a dense table of {n_rows:,} × {len(positions):,} cells"
    budget.take(path, n_rows * len(positions) * dtype.itemsize, what=what)
    budget.take(path, 8 * n_rows, what=f"a table of {n_rows:,} rows")
    matrix = np.empty((n_rows, len(positions)), dtype=dtype)
    if is_sparse:
        for rows, wide, block in iter_sparse(path, file, name, encoding, (n_rows, width), budget):
            places = positions - wide.start
            inside = (places >= 0) & (places < block.shape[1])
            matrix[rows, inside] = block.toarray()[:, places[inside]]
        return matrix
    check_chunk(path, name, facts, budget)
    for start, stop in iter_blocks(facts):
        with np.errstate(all="ignore"):  # of longer floats: what overflows is refused as infinite
            matrix[start:stop] = file.read(name, start, stop)[:, positions]
    return matrix


def iter_sparse(
    path: str,
    file: ForeignFile,
    name: str,
    encoding: str,
    shape: tuple[int, int],
    budget: ReadingBudget,
) -> Iterator[tuple[slice, slice, Any]]:
    """The blocks of a sparse matrix, each with its rows and its columns.

    Parameters
    ----------
    path : str
    file : ForeignFile
    name : str
    encoding : {"csr_matrix", "csc_matrix"}
    shape : tuple of int
    budget : ReadingBudget

    Yields
    ------
    rows, columns : slice
    block : csr_array or csc_array
        Of the numbers in these rows and columns.
    """
    by_rows = encoding == "csr_matrix"
    n_major, n_minor = shape if by_rows else shape[::-1]
    parts = {part: file.describe(f"{name}/{part}") for part in ("data", "indices", "indptr")}
    for part, facts in parts.items():
        if facts["kind"] != "array" or len(facts["shape"]) != 1:
            raise table_fault(path, f"{name}/{part} is damaged: it is no vector of numbers")
        check_chunk(path, f"{name}/{part}", facts, budget)
    ends = read_array(path, file, f"{name}/indptr", parts["indptr"], budget)
    lengths = {parts[part]["shape"][0] for part in ("data", "indices")}
    is_whole = (
        ends.dtype.kind in "iu"
        and len(ends) == n_major + 1
        and ends[0] == 0
        and lengths == {int(ends[-1])}
        and bool((ends[1:] >= ends[:-1]).all())
    )
    if not is_whole:
        raise table_fault(path, f"{name} is damaged: its indptr does not fit its numbers")
    ends = ends.astype(np.int64)
    start = 0
    while start < n_major:
        stop = int(np.searchsorted(ends, ends[start] + _NUMBERS, side="right")) - 1
        stop = min(n_major, max(start + 1, min(stop, start + max(1, _CELLS // max(1, n_minor)))))
        first, last = int(ends[start]), int(ends[stop])
        budget.check(path, 8 * (stop - start) * n_minor, what=f"a block of {name}")
        numbers = file.read(f"{name}/data", first, last)
        places = file.read(f"{name}/indices", first, last)
        if places.dtype.kind not in "iu" or (
            len(places) and not (int(places.min()) >= 0 and int(places.max()) < n_minor)
        ):
            raise table_fault(path, f"{name} is damaged: an index lies outside its shape")
        numbers = numbers.astype(np.float32 if numbers.dtype == np.float32 else np.float64)
        own = (numbers, places.astype(np.int64), ends[start : stop + 1] - first)
        size = (stop - start, n_minor) if by_rows else (n_minor, stop - start)
        block = _SPARSE[encoding](own, shape=size)
        across, along = slice(start, stop), slice(0, n_minor)
        yield (across, along, block) if by_rows else (along, across, block)
        start = stop


def _check_shape(path: str, name: str, shape: Any, n_rows: int, n_columns: int | None) -> int:
    """The number of columns of a matrix that fits its observations and variables."""
    is_shape = isinstance(shape, list) and len(shape) == 2
    if not is_shape or not all(isinstance(n, int) for n in shape):
        raise table_fault(path, f"{name} is no matrix: its shape is {shape}")
    if shape[0] != n_rows or n_columns not in (None, shape[1]):
        expected = f"{n_rows:,}" if n_columns is None else f"{n_rows:,} × {n_columns:,}"
        raise table_fault(
            path, f"{name} is damaged: its shape is {shape[0]:,} × {shape[1]:,}, not {expected}"
        )
    if not shape[1]:
        raise table_fault(path, f"{name} is empty: its shape is {shape[0]:,} × {shape[1]:,}")
    return int(shape[1])


def _dtype(facts: dict[str, Any]) -> np.dtype[np.floating]:
    is_single = facts["kind"] == "array" and np.dtype(facts["dtype"]) == np.float32
    return np.dtype(np.float32 if is_single else np.float64)


def _frame_matrix(
    path: str,
    file: ForeignFile,
    name: str,
    n_rows: int,
    columns: Sequence[str],
    budget: ReadingBudget,
) -> NDArray[np.floating]:
    """Columns of a frame side by side."""
    budget.take(path, 8 * n_rows * (len(columns) + 1), what=f"a table of {n_rows:,} rows")
    matrix = np.empty((n_rows, len(columns)))
    for place, column in enumerate(columns):
        facts = file.describe(f"{name}/{column}")
        if facts["kind"] != "array" or facts["shape"] != [n_rows]:
            raise table_fault(path, "expected a column of numbers", column=column)
        matrix[:, place] = read_array(path, file, f"{name}/{column}", facts, budget)
    return matrix
