"""Sparse feature rows: stored entries, minus multiples of a few full rows, beside full columns.

A centred row has no zeros, but it is a sparse row minus a multiple of the mean, which all rows
share. So a scalar product of two centred rows is that of their stored entries, corrected by the
product of the mean with each of them, and nothing is turned into a full array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.sparse import csr_array, hstack

from viewhop._runtime.threads import row_blocks

__all__ = ["FeatureRows", "SparseFeatures", "join_sparse", "pair_differences"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: A squared length below this share of the terms that it is a difference of is computed from the
#: full row. The relative error of all others is about 1e-12.
CANCELLED = 1e-4


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """Rows ``sparse − offsets @ directions``, with the columns of `dense` after them.

    Attributes
    ----------
    sparse : (n, d) csr_array
        Sorted, without duplicates.
    offsets : (n, r) array
    directions : (r, d) array
    dense : (n, e) array
    """

    sparse: csr_array
    offsets: Floats
    directions: Floats
    dense: NDArray[np.floating]

    @classmethod
    def of(cls, matrix: csr_array) -> SparseFeatures:
        """The rows of a matrix as they are."""
        n, d = matrix.shape
        return cls(matrix, np.empty((n, 0)), np.empty((0, d)), np.empty((n, 0), matrix.dtype))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self), int(self.sparse.shape[1]) + self.dense.shape[1]

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The dtype of the stored entries."""
        return self.sparse.dtype

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        parts = (self.sparse.data, self.sparse.indices, self.sparse.indptr)
        others = (self.offsets, self.directions, self.dense)
        return sum(part.nbytes for part in (*parts, *others))

    @property
    def gram(self) -> Floats:
        """Scalar products of the directions, (r, r)."""
        # Not with BLAS: the same sums in the same order, wherever the array is in memory.
        gram = (self.directions[:, None] * self.directions).sum(axis=2)
        return np.asarray(gram, dtype=np.float64)

    def __len__(self) -> int:
        return int(self.sparse.shape[0])

    def __getitem__(self, key: Any) -> SparseFeatures:
        """Some of the rows, by a slice, mask or list."""
        chosen = self.sparse[key]
        chosen.has_canonical_format = True
        return SparseFeatures(chosen, self.offsets[key], self.directions, self.dense[key])

    def along(self) -> Floats:
        """Scalar products of the stored entries with the directions, (n, r)."""
        return np.asarray(self.sparse @ self.directions.T, dtype=np.float64)

    def scaled(self, factors: Floats) -> SparseFeatures:
        """The rows times a factor each, (n,), in double precision."""
        counts = np.diff(self.sparse.indptr)
        entries = self.sparse.data * np.repeat(factors, counts)
        return replace(
            self,
            sparse=_like(self.sparse, entries),
            offsets=self.offsets * factors[:, None],
            dense=self.dense * factors[:, None],
        )

    def full(self, rows: Indices) -> Floats:
        """Some of the rows as a full array, (m, d + e)."""
        values = self.sparse[rows].toarray().astype(np.float64, copy=False)
        for offset, direction in zip(self.offsets[rows].T, self.directions, strict=True):
            values -= offset[:, None] * direction
        return np.hstack([values, self.dense[rows]])

    def sums(self) -> Floats:
        """Sums of absolute values, (n,), of rows without offsets."""
        return np.asarray(_row_sums(self.sparse, np.abs) + np.abs(self.dense).sum(axis=1))

    def norms(self) -> Floats:
        """Squared lengths, (n,), in double precision."""
        return _squared_lengths(self, self.along())

    def sizes(self) -> Floats:
        """Squared sums of the lengths of the terms that rows are differences of, (n,)."""
        stored = np.sqrt(_row_sums(self.sparse, np.square))
        lengths = np.sqrt(np.diagonal(self.gram))
        sizes = np.square(stored + np.abs(self.offsets) @ lengths)
        return np.asarray(sizes + np.square(self.dense, dtype=np.float64).sum(axis=1))

    def spread(self) -> float:
        """Root mean square distance of the rows from their mean."""
        n = len(self)
        mean = np.asarray(self.sparse.sum(axis=0, dtype=np.float64)).ravel() / n
        mean = mean - self.offsets.mean(axis=0) @ self.directions
        # Minus the mean is minus 1 times one more direction.
        centred = replace(
            self,
            offsets=np.hstack([self.offsets, np.ones((n, 1))]),
            directions=np.vstack([self.directions, mean]),
            dense=self.dense - self.dense.mean(axis=0, dtype=np.float64),
        )
        return float(np.sqrt(centred.norms().mean()))


#: Rows of a view in the space of a kernel.
FeatureRows: TypeAlias = "NDArray[np.floating] | SparseFeatures"


def join_sparse(
    parts: Mapping[str, tuple[FeatureRows, float]], dtype: np.dtype[np.floating]
) -> SparseFeatures:
    """Feature rows side by side, each view times its factor; full rows after all sparse ones.

    Parameters
    ----------
    parts : dict of (rows, factor) by view name
        At least one of them sparse.
    dtype : dtype of the entries
    """
    sparse = [(rows, f) for rows, f in parts.values() if isinstance(rows, SparseFeatures)]
    full = [(rows, f) for rows, f in parts.values() if not isinstance(rows, SparseFeatures)]
    full += [(rows.dense, factor) for rows, factor in sparse]
    entries = hstack([rows.sparse * np.float64(factor) for rows, factor in sparse], format="csr")
    return SparseFeatures(
        csr_array(entries).astype(dtype, copy=False),
        np.hstack([rows.offsets * factor for rows, factor in sparse]),
        block_diag(*(rows.directions for rows, _ in sparse)),
        np.hstack([rows * np.float64(factor) for rows, factor in full]).astype(dtype, copy=False),
    )


def pair_differences(
    a: SparseFeatures, i: Indices, b: SparseFeatures, j: Indices, *, norm: str
) -> Floats:
    """Distances of the pairs (a[i], b[j]), (p,), from the differences of their rows.

    Parameters
    ----------
    a, b : SparseFeatures
        With the same directions.
    i, j : (p,) index arrays
    norm : {"euclidean", "manhattan"}
    """
    distances = np.empty(i.size)
    stored = len(a) and (a.sparse.nnz + b.sparse.nnz) // max(1, min(len(a), len(b)))
    for part in row_blocks(i.size, 8 * (int(stored) + a.dense.shape[1] + 1)):
        difference = SparseFeatures(
            _double(a.sparse[i[part]]) - _double(b.sparse[j[part]]),
            a.offsets[i[part]] - b.offsets[j[part]],
            b.directions,
            a.dense[i[part]].astype(np.float64) - b.dense[j[part]],
        )
        if norm == "manhattan":
            sums = _row_sums(difference.sparse, np.abs)
            distances[part] = sums + np.abs(difference.dense).sum(axis=1)
        else:
            distances[part] = np.sqrt(_squared_lengths(difference, difference.along()))
    return distances


def _squared_lengths(rows: SparseFeatures, along: Floats) -> Floats:
    """Squared lengths of rows, given the products of their entries with the directions.

    A row and its negative have the same bits, whatever the other rows are.
    """
    squares = _row_sums(rows.sparse, np.square)
    if rows.offsets.shape[1]:
        gram, shared, crossed = rows.gram, np.zeros(len(rows)), np.zeros(len(rows))
        for p, offset in enumerate(rows.offsets.T):
            crossed += offset * along[:, p]
            for q, other in enumerate(rows.offsets.T):
                shared += offset * gram[p, q] * other
        terms = squares + shared
        squares = terms - 2.0 * crossed
        cancelled = np.flatnonzero(squares < CANCELLED * terms)
        plain = replace(rows, dense=rows.dense[:, :0])
        for block in row_blocks(cancelled.size, rows.sparse.shape[1]):
            full = plain.full(cancelled[block])
            squares[cancelled[block]] = np.square(full, out=full).sum(axis=1)
    if rows.dense.shape[1]:
        squares = squares + np.square(rows.dense, dtype=np.float64).sum(axis=1)
    return squares


def _row_sums(matrix: csr_array, function: Any) -> Floats:
    """Sums of a function of the stored entries of each row, (n,), in order."""
    values = function(matrix.data.astype(np.float64, copy=False))
    # A product adds the entries of a row one after the other, whatever the other rows are.
    return np.asarray(_like(matrix, values) @ np.ones(matrix.shape[1]))


def _double(matrix: csr_array) -> csr_array:
    matrix.has_canonical_format = True
    return matrix.astype(np.float64, copy=False)


def _like(pattern: csr_array, values: NDArray[np.floating]) -> csr_array:
    """A matrix with the stored places of `pattern` and other values."""
    matrix = csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    matrix.has_canonical_format = True
    return matrix
