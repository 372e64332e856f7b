"""What the map of features needs of sparse rows: sizes, deviations, means and directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop.neighbours._sparse_features import SparseFeatures
from viewhop.views import SparseRows

__all__ = [
    "SparseDirections",
    "sparse_deviations",
    "sparse_directions",
    "sparse_means",
    "sparse_quotients",
    "sparse_range",
    "sparse_sizes",
]

Floats = NDArray[np.float64]


class SparseDirections(NamedTuple):
    """Centred sparse rows, times a power of two each.

    Attributes
    ----------
    rows : SparseFeatures
    lengths : (n,) array
        Their lengths.
    sizes : (n,) array
        The sizes of the numbers that they are differences of, as in a full array.
    """

    rows: SparseFeatures
    lengths: Floats
    sizes: Floats


def sparse_quotients(X: SparseRows, deviation: Floats | None) -> csr_array:
    """The rows with each feature divided by its deviation; a copy."""
    if deviation is None:
        return X.matrix.copy()
    return _with(X.matrix, X.matrix.data / deviation[X.matrix.indices])


def sparse_range(X: SparseRows) -> tuple[Floats, Floats]:
    """The smallest and the largest value of each feature, (d,), zeros included."""
    least, most = (_full(part) for part in (X.matrix.min(axis=0), X.matrix.max(axis=0)))
    return least, most


def sparse_deviations(X: SparseRows, units: float) -> Floats:
    """The standard deviation of each feature, (d,); 0 if it is at the level of rounding.

    Parameters
    ----------
    X : SparseRows
    units : float
        Relative rounding error.
    """
    size, shares = _shares(X)
    n = len(X)
    means = _column_sums(X, shares) / n
    columns = X.matrix.indices
    zeros = n - np.bincount(columns, minlength=size.size)
    squares = _column_sums(X, np.square(shares - means[columns])) + zeros * np.square(means)
    share = np.sqrt(squares / n)
    return np.where(share <= units, 0.0, size * share)


def sparse_means(X: SparseRows) -> Floats:
    """The mean of each feature, (d,), without overflow."""
    size, shares = _shares(X)
    return np.asarray(size * (_column_sums(X, shares) / len(X)))


def sparse_sizes(matrix: csr_array) -> Floats:
    """The largest magnitude of an entry of each row, (n,)."""
    sizes = np.zeros(matrix.shape[0])
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if filled.size:
        sizes[filled] = np.maximum.reduceat(np.abs(matrix.data), matrix.indptr[filled])
    return sizes


def sparse_directions(
    X: SparseRows, deviation: Floats | None, directions: Floats, *, is_correlation: bool
) -> SparseDirections:
    """Rows divided by deviations and centred, with their lengths and sizes.

    Parameters
    ----------
    X : SparseRows
    deviation : (d,) array or None
    directions : (r, d) array
        What is subtracted from each row, once that is divided: one row or none.
    is_correlation : bool
        Whether it is subtracted as often as the mean of the row, and not once.
    """
    rows = SparseFeatures.of(sparse_quotients(X, deviation).astype(np.float64))
    n, d = rows.shape
    sizes = largest = sparse_sizes(rows.sparse)
    if is_correlation:
        means = np.asarray(rows.sparse.sum(axis=1)).ravel() / d
        rows = SparseFeatures(rows.sparse, means[:, None], directions, rows.dense)
    elif len(directions):
        largest = sizes = sizes + np.abs(directions[0]).max()
        rows = SparseFeatures(rows.sparse, np.ones((n, 1)), directions, rows.dense)
    # Exact, and squares can neither overflow nor vanish.
    factors = np.ldexp(1.0, -np.frexp(largest)[1])
    rows = rows.scaled(factors)
    with np.errstate(over="ignore"):
        sizes = sizes * factors * np.sqrt(d)
    return SparseDirections(rows, np.sqrt(rows.norms()), sizes)


def _shares(X: SparseRows) -> tuple[Floats, Floats]:
    """The largest magnitude of each feature, and all entries divided by that of theirs."""
    least, most = sparse_range(X)
    size = np.maximum(-least, most).astype(np.float64)
    size[size == 0] = 1.0
    # Scaled first, so that squares of extreme features neither overflow nor vanish.
    return size, X.matrix.data / size[X.matrix.indices]


def _column_sums(X: SparseRows, values: Floats) -> Floats:
    sums: Floats = np.bincount(X.matrix.indices, values, minlength=X.shape[1]).astype(np.float64)
    return sums


def _with(pattern: csr_array, values: NDArray[np.floating]) -> csr_array:
    return csr_array((values, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)


def _full(part: object) -> Floats:
    """A row of a sparse matrix as an array, (d,); older versions of SciPy return a matrix."""
    return np.asarray(part.toarray()).ravel()  # type: ignore[attr-defined]
