"""Distances between the samples of one view, exact where the last bit matters.

A matrix product is a fast way to all squared distances of a block, but its error is relative to
the norms of the rows, not to their distance. So pairs that are close relative to their norms, and
all pairs that a neighbour kernel stores, are measured again from the difference of their rows. The
difference is the same for a training pair and for the same pair in a query, so both have the same
bits, whatever the offset of the data, far clusters or ties.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import map_threads, row_blocks
from viewhop.neighbours._manhattan import manhattan_block, manhattan_norms
from viewhop.neighbours._squares import Squares

__all__ = [
    "Factor",
    "Points",
    "block_distances",
    "block_squares",
    "distance_matrix",
    "pair_distances",
    "products",
    "true_positions",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
#: Attributes of `Points` that are computed when they are first needed.
FACTORS = ("single", "double")

#: Pairs with d² below this share of ‖x‖² + ‖y‖² are measured from their difference, after a double
#: and a single precision product. The relative error of all others is about 1e-10, or 1e-5.
NEAR = 1e-6
NEAR_SINGLE = 1e-2
#: Number of rows used for the median.
MEDIAN_ROWS = 10_000
#: Largest unit that single precision can represent safely.
LARGEST_UNIT = 1e37
#: If more than this share of a block is near, the whole block is computed in float64.
MANY = 1 / 64
#: Pairs are measured in this many parts of a block, since each part takes two copies of its rows.
PARTS = 8
#: Rows and columns of one tile of the distance matrix: few enough to stay in cache.
TILE = 512


class Points:
    """The samples of one view in its feature space, ready to be measured against.

    Parameters
    ----------
    rows : (n, d) array
        Feature rows; they are copied.
    centre : (d,) array or None
        The origin of the rows in products; by default their median, or the median of a subset if
        there are many, which a far cluster does not move.
    rounding : float
        Rows no farther apart than this coincide: the rounding error of the features.
    norm : {"euclidean", "manhattan"}
        The norm of the difference of two rows that is their distance.
    slack : (n,) array or 0
        Distance by which the rounding of a row may move it across a radius.
    n_jobs : int
        Number of threads that prepare the rows.

    Attributes
    ----------
    rows : (n, d) array, C order, of its own dtype
        In `SparsePoints`, `viewhop.neighbours.SparseFeatures`.
    centre : (d,) float64 array
    norms : (n,) float64 array, squared norms of the centred rows
    is_sparse : bool
        Whether products of the rows are sparse; dense ones are then not available.
    """

    rows: NDArray[np.floating]
    centre: Floats
    norms: Floats
    is_sparse: ClassVar[bool] = False

    def __init__(
        self,
        rows: NDArray[np.floating],
        centre: Floats | None = None,
        rounding: float = 0.0,
        *,
        norm: str = "euclidean",
        slack: Floats | float = 0.0,
        n_jobs: int = 1,
    ) -> None:
        self.rows = np.array(rows, order="C")
        self.norm = norm
        self.slack = np.broadcast_to(np.asarray(slack, dtype=np.float64), len(self.rows))
        self.rounding = rounding
        self.n_jobs = n_jobs
        if centre is None:
            some = self.rows[:: max(1, len(self.rows) // MEDIAN_ROWS)]
            centre = np.median(some, axis=0).astype(np.float64)
        self.centre = centre
        self.norms = np.concatenate(
            map_threads(
                self._squared_norms,
                [*row_blocks(*rows.shape)],
                n_jobs,
                blas=False,
            )
        )

    @cached_property
    def single(self) -> Factor:
        """The rows in single precision, for matrix products."""
        return Factor.from_points(self, slice(0, len(self)), self._unit, SINGLE)

    @cached_property
    def double(self) -> Factor:
        """The rows in double precision, for many matrix products."""
        return Factor.from_points(self, slice(0, len(self)), self._unit, DOUBLE)

    @property
    def _unit(self) -> float:
        """A power of 2 that single precision can square the rows in."""
        size = float(np.sqrt(self.norms.max(initial=0.0)))
        return 1.0 if 1e-6 < size < 1e6 else float(np.exp2(np.frexp(size)[1]))

    def __getstate__(self) -> dict[str, object]:
        """The state to pickle: everything but the factors of products, which are recomputed."""
        return {key: value for key, value in self.__dict__.items() if key not in FACTORS}

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        return self.rows.nbytes + self.norms.nbytes + self.centre.nbytes

    def like(self, rows: NDArray[np.floating], slack: Floats | float = 0.0) -> Points:
        """Points with other rows, and the same centre and norm."""
        return Points(rows, self.centre, self.rounding, norm=self.norm, slack=slack)

    def spread(self) -> float:
        """Root mean square distance of the rows from their mean; 1 if they are all equal."""
        size = float(np.abs(self.rows).max(initial=0.0)) or 1.0
        rows = self.rows / size
        squares = float(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean())
        return size * float(np.sqrt(squares)) or 1.0

    def differences(self, i: Indices, other: Points, j: Indices) -> Floats:
        """Distances of the pairs (self[i], other[j]), from the differences of their rows."""
        distances = np.empty(i.size)
        for part in row_blocks(i.size, PARTS * self.rows.shape[1]):
            difference = self.rows[i[part]].astype(np.float64, copy=False)
            difference -= other.rows[j[part]]
            if other.norm == "manhattan":
                distances[part] = manhattan_norms(difference)
                continue
            # Summed along contiguous rows: the sum of a pair does not depend on the other pairs.
            distances[part] = np.sqrt(np.square(difference, out=difference).sum(axis=1))
        return distances

    def distances(
        self, block: slice, other: Points, columns: slice, dtype: np.dtype[np.floating]
    ) -> NDArray[np.floating]:
        """Distances from a block of rows to rows of `other`, as accurate as `block_squares`."""
        if other.norm == "manhattan":
            values = manhattan_block(self.rows[block], other.rows[columns])
            # A sum over many features may exceed single precision, though each is within it.
            most = np.finfo(dtype).max
            return values if dtype == DOUBLE else np.minimum(values, most).astype(dtype)
        return block_squares(self, block, other, columns, dtype=dtype).distances()

    @property
    def index_width(self) -> int:
        """Number of columns of the rows that an approximate index holds."""
        return int(self.rows.shape[1])

    def index_rows(self, points: Points, block: slice) -> Floats:
        """Rows of a block of `points`, as an approximate index of these ones holds them."""
        return points.centred(block)

    def centred(self, block: slice) -> Floats:
        """Rows of a block minus the centre, in float64."""
        return np.asarray(self.rows[block] - self.centre)

    def _squared_norms(self, block: slice) -> Floats:
        centred = self.centred(block)
        return np.asarray(np.square(centred, out=centred).sum(axis=1))


class Factor(NamedTuple):
    """Centred rows in one precision, in a unit in which their squares do not overflow.

    Attributes
    ----------
    rows : (n, d + 2) array, Fortran order
        The rows, a column of ones, and their squared norms, so that one product gives distances.
        In this order BLAS reads them faster as the transposed right factor.
    norms : (n,) array
        Squared norms of these rows.
    unit : float
        A power of 2; the centred rows are the rows times the unit.
    """

    rows: NDArray[np.floating]
    norms: NDArray[np.floating]
    unit: float

    @classmethod
    def from_points(
        cls, points: Points, selection: slice, unit: float, dtype: np.dtype[np.floating]
    ) -> Factor:
        """The selected rows in the given unit and precision."""
        n, d = points.rows[selection].shape
        rows = np.empty((n, d + 2), dtype=dtype, order="F")
        norms = np.empty(n, dtype=dtype)

        def fill(block: slice) -> None:
            source = slice(selection.start + block.start, selection.start + block.stop)
            part = (points.centred(source) / unit).astype(dtype)
            rows[block, :d] = part
            norms[block] = np.square(part, dtype=np.float64).sum(axis=1)

        map_threads(fill, [*row_blocks(n, d)], points.n_jobs, blas=False)
        rows[:, d] = 1.0
        rows[:, d + 1] = norms
        return cls(rows, norms, unit)

    def part(self, block: slice) -> Factor:
        """A block of the rows."""
        return Factor(self.rows[block], self.norms[block], self.unit)

    def left(self, factor: float = 1.0) -> NDArray[np.floating]:
        """The left factor of a product that gives squared distances, times `factor`.

        It has the rows times −2, their norms, and a column of ones.
        """
        dtype = self.rows.dtype.type
        left = np.multiply(self.rows, dtype(-2.0 * factor), order="C")
        np.multiply(self.norms, dtype(factor), out=left[:, -2])
        left[:, -1] = dtype(factor)
        return np.asarray(left)


def pair_distances(a: Points, i: Indices, b: Points, j: Indices) -> Floats:
    """Distances of the pairs (a[i], b[j]), from the differences of their rows."""
    distances = a.differences(i, b, j)
    distances[distances <= b.rounding] = 0.0
    return distances


def products(rows: Floats, norms: Floats, others: Floats, other_norms: Floats) -> Floats:
    """Squared distances between centred rows, up to the rounding of a matrix product."""
    squares = rows @ others.T
    squares *= -2.0
    squares += norms[:, None]
    squares += other_norms
    return squares


def block_squares(
    a: Points,
    block: slice,
    b: Points,
    other: slice = slice(None),
    *,
    dtype: np.dtype[np.floating] = DOUBLE,
) -> Squares:
    """Squared Euclidean distances from a block of rows of `a` to rows of `b`.

    Parameters
    ----------
    a, b : Points
    block, other : slice
    dtype : dtype of the result
        The relative error of each distance is about 1e-10 in float64, and 1e-5 in float32.
    """
    result = _single_squares(a, block, b, other) if dtype == np.float32 else None
    if result is None:
        squares = products(a.centred(block), a.norms[block], b.centred(other), b.norms[other])
        # "≤" rather than "<": rows at the centre have norm 0, so that both sides are 0.
        i, j = np.nonzero(squares <= NEAR * a.norms[block, None] + NEAR * b.norms[other])
        result = squares, 1.0, i, j
    values, unit, i, j = result
    near = pair_distances(a, i + block.start, b, j + (other.start or 0)) if i.size else np.empty(0)
    return Squares(values, unit, i, j, near, dtype)


def _single_squares(
    a: Points, block: slice, b: Points, other: slice
) -> tuple[NDArray[np.floating], float, Indices, Indices] | None:
    """Squared distances in single precision, their unit, and the positions of near pairs.

    None if single precision is not accurate enough: for very far rows, or many near pairs.
    """
    near = b.single.part(other)
    if near.unit > LARGEST_UNIT:
        return None
    if a is b:
        far = b.single.part(block)
    elif a.norms[block].max(initial=0.0) <= (1e6 * near.unit) ** 2:
        far = Factor.from_points(a, block, near.unit, SINGLE)
    else:
        return None
    squares = far.left() @ near.rows.T
    limit = np.float32(NEAR_SINGLE)
    largest = far.norms.max(initial=0.0) + near.norms.max(initial=0.0)
    none = np.empty(0, dtype=np.intp)
    if squares.min(initial=np.inf) > limit * largest:
        return squares, near.unit, none, none
    i, j = true_positions(squares <= limit * largest)
    below = squares[i, j] <= limit * (far.norms[i] + near.norms[j])
    i, j = i[below], j[below]
    if i.size > max(MANY * squares.size, sum(squares.shape)):
        return None
    return squares, near.unit, i, j


def true_positions(mask: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Rows and columns of the true entries; faster than ``np.nonzero`` if there are few."""
    rows, columns = np.divmod(np.flatnonzero(mask), max(1, mask.shape[1]))
    return rows, columns


def block_distances(
    a: Points,
    block: slice,
    b: Points,
    other: slice = slice(None),
    *,
    dtype: np.dtype[np.floating] = DOUBLE,
) -> NDArray[np.floating]:
    """Distances from a block of rows of `a` to rows of `b`, as accurate as `block_squares`."""
    return a.distances(block, b, other, dtype)


def distance_matrix(
    points: Points,
    dtype: np.dtype[np.floating],
    *,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
) -> NDArray[np.floating]:
    """All distances between the samples of one view, exactly symmetric.

    Parameters
    ----------
    points : Points
    dtype : dtype of the result
    n_jobs : int
        Number of threads that share the tiles.
    done : callable
        Called with the number of finished tiles and the total.

    Returns
    -------
    distances : (n, n) array
    """
    n = len(points)
    distances = np.empty((n, n), dtype=dtype)
    blocks = [slice(start, min(start + TILE, n)) for start in range(0, n, TILE)]
    tiles = [(row, column) for k, row in enumerate(blocks) for column in blocks[k:]]

    def fill(tile: tuple[slice, slice]) -> None:
        row, column = tile
        values = block_distances(points, row, points, column)
        if row == column:
            values = np.minimum(values, values.T)
        distances[row, column] = values
        distances[column, row] = values.T

    map_threads(fill, tiles, n_jobs, lambda count: done(count, len(tiles)))
    return distances
