"""Distances between the samples of one view, exact where a last bit decides.

A matrix product gives all squared distances of a block fast, with an error relative to the norms
of the rows rather than to their distance. So it only proposes: a pair that is close for its norms,
and every pair that a neighbour kernel stores, is measured again from the difference of its rows.
That difference is the same for a training pair and for the same pair met as a query, so both
see the same bits, and neither an offset nor a far cluster nor a tie can tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import map_threads, row_blocks

__all__ = [
    "Points",
    "block_distances",
    "block_squares",
    "distance_matrix",
    "pair_distances",
    "products",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

DOUBLE = np.dtype(np.float64)

#: Pairs with d² below this share of ‖x‖² + ‖y‖² are measured from their difference; after a
#: product in single precision, too. What is left is accurate to about 1e-10, or 1e-5, of each d.
NEAR = 1e-6
NEAR_SINGLE = 1e-2
#: Rows from which a median is taken.
MEDIAN_ROWS = 10_000
#: A unit beyond this is out of reach of single precision.
LARGEST_UNIT = 1e37
#: If more than this share of a block is that near, all of it is taken from a float64 product.
MANY = 1 / 64
#: Rows and columns of one tile of all distances: few enough to stay in cache.
TILE = 512


class Points:
    """The samples of one view in its feature space, ready to be measured against.

    Parameters
    ----------
    rows : (n, d) array
        Feature rows; they are copied.
    centre : (d,) array or None
        The point from which rows are measured in products; by default their median, or that of
        some where they are many, which a far cluster does not move.
    rounding : float
        Rows no farther apart than this coincide: what computing the features cannot tell apart.
    n_jobs : int
        Threads that prepare the rows.

    Attributes
    ----------
    rows : (n, d) array, C order, of its own dtype
    centre : (d,) float64 array
    norms : (n,) float64 array, squared norms of the centred rows
    """

    def __init__(
        self,
        rows: NDArray[np.floating],
        centre: Floats | None = None,
        rounding: float = 0.0,
        *,
        n_jobs: int = 1,
    ) -> None:
        self.rows = np.array(rows, order="C")
        self.rounding = rounding
        self.n_jobs = n_jobs
        if centre is None:
            some = self.rows[:: max(1, len(self.rows) // MEDIAN_ROWS)]
            centre = np.median(some, axis=0).astype(np.float64)
        self.centre = centre
        self.norms = np.concatenate(
            map_threads(
                lambda block: np.square(self.centred(block)).sum(axis=1),
                [*row_blocks(*rows.shape)],
                n_jobs,
                blas=False,
            )
        )

    @cached_property
    def single(self) -> Single:
        """The rows in single precision, for products."""
        size = float(np.sqrt(self.norms.max(initial=0.0)))
        unit = 1.0 if 1e-6 < size < 1e6 else float(np.exp2(np.frexp(size)[1]))
        return Single.of(self, slice(0, len(self)), unit)

    def __getstate__(self) -> dict[str, object]:
        """What is stored: all but the rows in single precision, which are made again."""
        return {key: value for key, value in self.__dict__.items() if key != "single"}

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.rows.nbytes + self.norms.nbytes + self.centre.nbytes

    def like(self, rows: NDArray[np.floating]) -> Points:
        """Other rows, measured from the same centre."""
        return Points(rows, self.centre, self.rounding)

    def centred(self, block: slice) -> Floats:
        """Rows of a block minus the centre, in float64."""
        return self.rows[block].astype(np.float64) - self.centre


class Single(NamedTuple):
    """Centred rows in single precision, in a unit in which none of their squares overflows.

    Attributes
    ----------
    rows : (n, d + 2) float32 array, Fortran order
        The rows, a column of ones, and their squared norms, so that one product gives distances.
        BLAS reads the transpose of its right side, which is what they are, faster than its rows.
    norms : (n,) float32 array
        Squared norms of these rows.
    unit : float
        A power of 2; rows times it are the centred rows.
    """

    rows: NDArray[np.float32]
    norms: NDArray[np.float32]
    unit: float

    @classmethod
    def of(cls, points: Points, chosen: slice, unit: float) -> Single:
        """The chosen rows in the given unit."""
        n, d = points.rows[chosen].shape
        rows = np.empty((n, d + 2), dtype=np.float32, order="F")
        norms = np.empty(n, dtype=np.float32)

        def fill(block: slice) -> None:
            there = slice(chosen.start + block.start, chosen.start + block.stop)
            part = (points.centred(there) / unit).astype(np.float32)
            rows[block, :d] = part
            norms[block] = np.square(part, dtype=np.float64).sum(axis=1)

        map_threads(fill, [*row_blocks(n, d)], points.n_jobs, blas=False)
        rows[:, d] = 1.0
        rows[:, d + 1] = norms
        return cls(rows, norms, unit)

    def part(self, block: slice) -> Single:
        """Some of the rows."""
        return Single(self.rows[block], self.norms[block], self.unit)

    def asking(self) -> NDArray[np.float32]:
        """The rows as the other side of a product: times −2, their norms, and a column of ones."""
        left = np.multiply(self.rows, np.float32(-2.0), order="C")
        left[:, -2] = self.norms
        left[:, -1] = 1.0
        return left


def pair_distances(a: Points, i: Indices, b: Points, j: Indices) -> Floats:
    """Distances of the pairs (a[i], b[j]), from the differences of their rows."""
    found = np.empty(i.size)
    for part in row_blocks(i.size, a.rows.shape[1]):
        # Reduced along contiguous rows: the sum of one pair does not depend on its company.
        difference = a.rows[i[part]].astype(np.float64) - b.rows[j[part]]
        found[part] = np.sqrt(np.square(difference).sum(axis=1))
    found[found <= b.rounding] = 0.0
    return found


def products(rows: Floats, norms: Floats, others: Floats, other_norms: Floats) -> Floats:
    """Squared distances between centred rows, up to the rounding of a matrix product."""
    squares = rows @ others.T
    squares *= -2.0
    squares += norms[:, None]
    squares += other_norms
    return squares


class Squares(NamedTuple):
    """Squared distances of a block of pairs from a matrix product, and near pairs by themselves.

    Attributes
    ----------
    values : (p, q) array
        Squared distances over the squared unit; near pairs are not accurate here.
    unit : float
    i, j : index arrays
        Places of the near pairs.
    near : array
        Their distances, from the differences of their rows.
    dtype : dtype of what is asked for
    """

    values: NDArray[np.floating]
    unit: float
    i: Indices
    j: Indices
    near: Floats
    dtype: np.dtype[np.floating]

    def distances(self) -> NDArray[np.floating]:
        """The distances; the values are written over."""
        found = self.values
        if self.i.size:
            np.maximum(found, 0.0, out=found)
        np.sqrt(found, out=found)
        if self.unit != 1.0:
            found *= found.dtype.type(self.unit)
        found[self.i, self.j] = self.near
        return found.astype(self.dtype, copy=False)

    def over(self, scale: float) -> NDArray[np.floating]:
        """Squared distances over the squared scale, infinite where that overflows.

        The values are written over.
        """
        found = self.values
        factor = (self.unit / scale) ** 2
        limits = np.finfo(self.dtype)
        with np.errstate(over="ignore"):
            if not limits.tiny < factor < limits.max:
                return np.asarray(np.square(self.distances() / self.dtype.type(scale)))
            found *= found.dtype.type(factor)
            found[self.i, self.j] = np.square(self.near / scale)
            return found.astype(self.dtype, copy=False)


def block_squares(
    a: Points,
    block: slice,
    b: Points,
    other: slice = slice(None),
    *,
    dtype: np.dtype[np.floating] = DOUBLE,
) -> Squares:
    """Squared distances from a block of rows of `a` to rows of `b`.

    Parameters
    ----------
    a, b : Points
    block, other : slice
    dtype : dtype of the result
        In float64 each distance is accurate to about 1e-10 of itself, in float32 to 1e-5.
    """
    found = _single_squares(a, block, b, other) if dtype == np.float32 else None
    if found is None:
        squares = products(a.centred(block), a.norms[block], b.centred(other), b.norms[other])
        # Not above, rather than below: rows of norm 0 sit on the centre, where both sides are 0.
        i, j = np.nonzero(squares <= NEAR * a.norms[block, None] + NEAR * b.norms[other])
        found = squares, 1.0, i, j
    values, unit, i, j = found
    near = pair_distances(a, i + block.start, b, j + (other.start or 0)) if i.size else np.empty(0)
    return Squares(values, unit, i, j, near, dtype)


def _single_squares(
    a: Points, block: slice, b: Points, other: slice
) -> tuple[NDArray[np.floating], float, Indices, Indices] | None:
    """Squared distances in single precision, their unit, and the places of near pairs.

    None where that would not be accurate: for very far rows, or with many near pairs.
    """
    near = b.single.part(other)
    if near.unit > LARGEST_UNIT:
        return None
    if a is b:
        far = b.single.part(block)
    elif a.norms[block].max(initial=0.0) <= (1e6 * near.unit) ** 2:
        far = Single.of(a, block, near.unit)
    else:
        return None
    squares = far.asking() @ near.rows.T
    limit = np.float32(NEAR_SINGLE)
    largest = far.norms.max(initial=0.0) + near.norms.max(initial=0.0)
    none = np.empty(0, dtype=np.intp)
    if squares.min(initial=np.inf) > limit * largest:
        return squares, near.unit, none, none
    i, j = _places(squares <= limit * largest)
    below = squares[i, j] <= limit * (far.norms[i] + near.norms[j])
    i, j = i[below], j[below]
    if i.size > max(MANY * squares.size, sum(squares.shape)):
        return None
    return squares, near.unit, i, j


def _places(chosen: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Rows and columns of the true entries; faster than ``np.nonzero`` where they are few."""
    rows, columns = np.divmod(np.flatnonzero(chosen), max(1, chosen.shape[1]))
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
    return block_squares(a, block, b, other, dtype=dtype).distances()


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
        Threads that share the tiles.
    done : callable
        Told the number of finished tiles and of all.

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
        found = block_distances(points, row, points, column)
        if row == column:
            found = np.minimum(found, found.T)
        distances[row, column] = found
        distances[column, row] = found.T

    map_threads(fill, tiles, n_jobs, lambda count: done(count, len(tiles)))
    return distances
