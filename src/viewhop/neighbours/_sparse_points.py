"""Distances between the samples of a sparse view, from products of stored entries.

As with full rows, a product proposes and a difference decides: pairs that are close relative to the
sizes of their rows, and all pairs that a neighbour kernel stores, are measured from the difference
of their rows, which has the same bits from both ends.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import manhattan_distances

from viewhop.neighbours._points import NEAR, Points
from viewhop.neighbours._sparse_features import FeatureRows, SparseFeatures, pair_differences
from viewhop.views import Rows, SparseRows

__all__ = ["SparsePoints", "make_points", "plain_points"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Relative rounding errors of one term of a product, and terms besides those of the entries.
EPS, TERMS = float(np.finfo(np.float64).eps), 24
#: Columns of a random projection, and its seed: an index that is read from a file is the same.
PROJECTED, SEED = 256, 20_241_019
#: Attributes that are computed when they are first needed.
CACHED = ("transposed", "projection")


class SparsePoints(Points):
    """The samples of a sparse view in its feature space, ready to be measured against.

    Parameters
    ----------
    rows : SparseFeatures
        They are shared, and never written to.
    rounding, norm, slack
        As in `Points`.

    Attributes
    ----------
    rows : SparseFeatures
    norms : (n,) array
        Squared lengths of the rows.
    sizes : (n,) array
        Squared sizes of the rows; the error of a product is relative to these.
    along : (n, r) array
        Products of the stored entries with the directions.
    """

    is_sparse: ClassVar[bool] = True
    rows: SparseFeatures  # type: ignore[assignment]  # with the same interface

    def __init__(
        self,
        rows: SparseFeatures,
        rounding: float = 0.0,
        *,
        norm: str = "euclidean",
        slack: Floats | float = 0.0,
        centre: Floats | None = None,
    ) -> None:
        self.rows = rows
        self.norm = norm
        self.rounding = rounding
        self.slack = np.broadcast_to(np.asarray(slack, dtype=np.float64), len(rows))
        self.n_jobs = 1
        if centre is None:
            centre = np.median(rows.dense, axis=0) if len(rows) else np.zeros(rows.dense.shape[1])
        # The full columns of a joint view may be far from the origin.
        self.centre = np.asarray(centre, dtype=np.float64)
        self.along = rows.along()
        near = self._near_rows
        self.norms, self.sizes = near.norms(), near.sizes()

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without what is recomputed."""
        return {key: value for key, value in self.__dict__.items() if key not in CACHED}

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        return self.rows.nbytes + self.norms.nbytes + self.sizes.nbytes + self.along.nbytes

    @cached_property
    def transposed(self) -> csr_array:
        """The stored entries by feature, (d, n), for products."""
        return self.rows.sparse.T.tocsr()

    @property
    def error(self) -> float:
        """The largest error of a squared distance from a product, per size of each of the rows."""
        longest = int(np.diff(self.rows.sparse.indptr).max(initial=0))
        width = longest + self.rows.dense.shape[1]
        return 4.0 * EPS * float(width + TERMS * (1 + self.rows.offsets.shape[1]))

    def like(self, rows: Any, slack: Floats | float = 0.0) -> SparsePoints:
        """Points with other rows, and the same norm."""
        return SparsePoints(rows, self.rounding, norm=self.norm, slack=slack, centre=self.centre)

    def reordered(self, order: NDArray[np.integer]) -> SparsePoints:
        """The points in another order."""
        points = copy(self)
        points.__dict__ = {**self.__getstate__(), "rows": self.rows[order]}
        for name in ("norms", "sizes", "along", "slack"):
            setattr(points, name, getattr(self, name)[order])
        return points

    def spread(self) -> float:
        """Root mean square distance of the rows from their mean; 1 if they are all equal."""
        return self.rows.spread() or 1.0

    def differences(self, i: Indices, other: Points, j: Indices) -> Floats:
        """Distances of the pairs (self[i], other[j]), from the differences of their rows."""
        assert isinstance(other, SparsePoints)
        return pair_differences(self.rows, i, other.rows, j, norm=other.norm)

    def distances(
        self, block: slice, other: Points, columns: slice, dtype: np.dtype[np.floating]
    ) -> NDArray[np.floating]:
        """Distances from a block of rows to rows of `other`; the relative error is about 1e-10."""
        assert isinstance(other, SparsePoints)
        if other.norm == "manhattan":
            values = self._manhattan(block, other, columns)
        else:
            values = self.squares(block, other, columns)
            sizes = self.sizes[block, None] + other.sizes[columns]
            # "≤" rather than "<": rows at the origin have size 0, so that both sides are 0.
            i, j = np.nonzero(values <= NEAR * sizes)
            np.sqrt(np.maximum(values, 0.0, out=values), out=values)
            if i.size:
                first, second = i + block.start, j + (columns.start or 0)
                values[i, j] = self.differences(first, other, second)
        values[values <= other.rounding] = 0.0
        return np.minimum(values, np.finfo(dtype).max).astype(dtype, copy=False)

    @cached_property
    def projection(self) -> NDArray[np.float32]:
        """A random projection of the sparse columns, (d, PROJECTED), the same in every run."""
        generator = np.random.default_rng(SEED)
        size = self.rows.sparse.shape[1], PROJECTED
        drawn = generator.standard_normal(size, dtype=np.float32)
        return np.asarray(drawn / np.float32(np.sqrt(PROJECTED)))

    @property
    def index_width(self) -> int:
        """Number of columns of the rows that an approximate index holds."""
        return PROJECTED + int(self.rows.dense.shape[1])

    def index_rows(self, points: Points, block: slice) -> Floats:
        """Rows of a block of `points`, projected, with their full columns."""
        assert isinstance(points, SparsePoints)
        rows = points.rows[block]
        projected = np.asarray(rows.sparse @ self.projection, dtype=np.float64)
        projected -= rows.offsets @ (rows.directions @ self.projection)
        return np.hstack([projected, rows.dense - self.centre])

    def squares(self, block: slice, other: SparsePoints, columns: slice = slice(None)) -> Floats:
        """Squared distances from products, (p, q); accurate only relative to the sizes.

        Parameters
        ----------
        block : slice
        other : SparsePoints
        columns : slice
            Rows of `other`.
        """
        rows, others = self.rows, other.rows
        is_whole = columns == slice(None) or columns == slice(0, len(other))
        right = other.transposed if is_whole else others.sparse[columns].T.tocsr()
        squares = (_double(rows.sparse[block]) @ _double(right)).toarray()
        for p, offset in enumerate(others.offsets[columns].T):
            squares -= self.along[block, p, None] * offset
        gram = others.gram
        for p, offset in enumerate(rows.offsets[block].T):
            shared = others.offsets[columns] @ gram[p]
            squares += offset[:, None] * (shared - other.along[columns, p])
        if others.dense.shape[1]:
            first = rows.dense[block] - other.centre
            squares += first @ (others.dense[columns] - other.centre).T
        squares *= -2.0
        squares += self.norms[block, None]
        squares += other.norms[columns]
        return np.asarray(squares)

    def _manhattan(self, block: slice, other: SparsePoints, columns: slice) -> Floats:
        """Sums of absolute differences, (p, q)."""
        first, second = self.rows[block], other.rows[columns]
        return np.asarray(manhattan_distances(_double(first.sparse), _double(second.sparse)))

    @property
    def _near_rows(self) -> SparseFeatures:
        """The rows with their full columns relative to the centre."""
        rows = self.rows
        return SparseFeatures(
            rows.sparse, rows.offsets, rows.directions, np.asarray(rows.dense - self.centre)
        )


def make_points(
    rows: FeatureRows,
    *,
    rounding: float = 0.0,
    norm: str = "euclidean",
    slack: Floats | float = 0.0,
    n_jobs: int = 1,
) -> Points:
    """Feature rows of either kind as points.

    Parameters
    ----------
    rows : (n, d) array or SparseFeatures
    rounding, norm, slack, n_jobs
        As in `Points`.
    """
    if isinstance(rows, SparseFeatures):
        return SparsePoints(rows, rounding, norm=norm, slack=slack)
    return Points(rows, rounding=rounding, norm=norm, slack=slack, n_jobs=n_jobs)


def plain_points(rows: Rows) -> Points:
    """The rows of a view as they are, as points with Euclidean distances.

    Parameters
    ----------
    rows : (n, d) array or SparseRows
    """
    return make_points(SparseFeatures.of(rows.matrix) if isinstance(rows, SparseRows) else rows)


def _double(matrix: csr_array) -> csr_array:
    return csr_array(matrix.astype(np.float64, copy=False))
