"""Sparse rows: those of a view of which only the entries that are not zero are stored."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from viewhop.views._refusals import check_depth

__all__ = [
    "FORMATS",
    "Rows",
    "SparseRows",
    "as_sparse_frame",
    "check_sparse",
    "is_sparse_frame",
    "read_sparse",
]

#: Formats that give rows without a search.
FORMATS = ("csr", "csc")


class SparseRows:
    """The rows of a sparse view, with as much of an array's interface as views need.

    Parameters
    ----------
    matrix : (n, d) csr_array
        Sorted, without duplicates and stored zeros. It is shared and must not be written to.

    Attributes
    ----------
    matrix : (n, d) csr_array
    ndim : int
        2, as for any view.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from viewhop.views import SparseRows
    >>> rows = SparseRows(csr_array(np.eye(3, 5)))
    >>> len(rows), rows.shape, rows.nnz
    (3, (3, 5), 3)
    >>> rows[[0, 2]].shape, rows[:, 2]
    ((2, 5), array([0., 0., 1.]))
    """

    ndim = 2

    def __init__(self, matrix: csr_array) -> None:
        self.matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        n, d = self.matrix.shape
        return int(n), int(d)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The dtype of the entries."""
        return self.matrix.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return int(self.matrix.nnz)

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        parts = (self.matrix.data, self.matrix.indices, self.matrix.indptr)
        return sum(part.nbytes for part in parts)

    def __len__(self) -> int:
        return self.shape[0]

    def astype(self, dtype: Any, copy: bool = True) -> SparseRows:
        """The rows in another precision."""
        if self.dtype == dtype and not copy:
            return self
        return SparseRows(_canonical(self.matrix.astype(dtype, copy=copy)))

    def __getitem__(self, key: Any) -> Any:
        """Some rows by a slice, mask or list, and by a second key some columns of all rows.

        A column by its number is a full array, (n,).
        """
        if not isinstance(key, tuple):
            return SparseRows(_canonical(self.matrix[key]))
        rows, columns = key
        if not (isinstance(rows, slice) and rows == slice(None)):
            raise IndexError("select rows or columns of sparse rows, not both")
        if np.ndim(columns) == 0 and not isinstance(columns, slice):
            return self.matrix[:, [columns]].toarray().ravel()
        return SparseRows(_canonical(self.matrix[:, columns]))


#: Rows of a view: an array, or the entries of one.
Rows: TypeAlias = NDArray[np.floating] | SparseRows


def is_sparse_frame(X: object) -> bool:
    """Whether `X` is a pandas DataFrame with sparse columns only."""
    if not hasattr(X, "iloc") or not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return False
    names = {str(dtype) for dtype in X.dtypes}
    return bool(names) and all(name.startswith("Sparse[") for name in names)


def as_sparse_frame(what: str, frame: Any) -> Any:
    """A DataFrame with sparse columns as a sparse matrix; ValueError unless they leave out zeros.

    Parameters
    ----------
    what : str
        What the frame is, for messages: "X" or "view 'a'".
    frame : DataFrame
    """
    for column, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if dtype.subtype.kind not in "biuf":
            raise ValueError(
                f"{what}: column {column!r} is not numeric ({dtype}): drop it or encode it"
            )
        if dtype.fill_value != 0:  # true for NaN as well
            raise ValueError(
                f"{what}: the sparse column {column!r} leaves out the value {dtype.fill_value!r}, "
                "and a sparse view leaves out zeros: pass frame.astype(pd.SparseDtype(float, 0)), "
                "or its .sparse.to_dense()"
            )
    return frame.sparse.to_coo().tocsr()


def read_sparse(what: str, matrix: Any) -> SparseRows:
    """The rows of a sparse matrix or array, in single or double precision.

    Parameters
    ----------
    what : str
        What the matrix is, for messages: "X" or "view 'a'".
    matrix : sparse matrix or array
        CSR or CSC; it is not changed.

    Raises
    ------
    TypeError
        For other formats.
    ValueError
        If it is not numeric, or if its indices are not those of a matrix of its shape.
    """
    if matrix.format not in FORMATS:
        raise TypeError(
            f"{what} is a sparse {type(matrix).__name__}; viewhop reads sparse rows in CSR or CSC "
            "format: pass its .tocsr()"
        )
    check_depth(what, matrix)
    if matrix.dtype.kind not in "biuf":
        what_kind = "Complex data" if matrix.dtype.kind == "c" else f"Data of type {matrix.dtype}"
        raise ValueError(f"{what}: {what_kind} not supported; a sparse view has real numbers")
    is_csr = matrix.format == "csr"
    starts, places, values = (np.asarray(p) for p in (matrix.indptr, matrix.indices, matrix.data))
    n_major, n_minor = matrix.shape if is_csr else matrix.shape[::-1]
    _check_structure(what, starts, places, values, n_major, n_minor)
    used = int(starts[-1])
    dtype = np.float32 if values.dtype == np.float32 else np.float64
    parts: Any = (values[:used].astype(dtype, copy=False), places[:used], starts)
    kind: Any = csr_array if is_csr else csc_array
    rows = kind(parts, shape=matrix.shape).tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()
    return SparseRows(rows)


def check_sparse(what: str, matrix: Any) -> csr_array:
    """A sparse matrix in CSR format with sorted indices; see `read_sparse` for what is refused.

    Parameters
    ----------
    what : str
    matrix : sparse matrix or array
    """
    return read_sparse(what, matrix).matrix


def _check_structure(
    what: str,
    starts: NDArray[Any],
    places: NDArray[Any],
    values: NDArray[Any],
    n_major: int,
    n_minor: int,
) -> None:
    """Raise ValueError unless the three arrays describe a matrix: SciPy reads beyond them."""
    fault = None
    if starts.ndim != 1 or places.ndim != 1 or values.ndim != 1 or places.size != values.size:
        fault = "its arrays have different lengths"
    elif starts.dtype.kind != "i" or places.dtype.kind != "i":
        fault = "its indices are not integers"
    elif starts.size != n_major + 1 or starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        fault = "indptr must rise from 0, with one entry more than there are rows (columns in CSC)"
    elif starts[-1] > places.size:
        fault = f"indptr ends at {starts[-1]}, but there are {places.size} indices"
    else:
        used = places[: int(starts[-1])]
        if used.size and (used.min() < 0 or used.max() >= n_minor):
            bad = used.min() if used.min() < 0 else used.max()
            fault = f"index {bad} is out of range for a size of {n_minor}"
    if fault is not None:
        raise ValueError(f"{what} is a damaged sparse matrix: {fault}")


def _canonical(matrix: Any) -> csr_array:
    """A new matrix with sorted indices; there are no duplicates in it."""
    rows = csr_array(matrix)
    rows.sort_indices()
    rows.has_canonical_format = True
    return rows
