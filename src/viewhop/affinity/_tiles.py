"""A symmetric matrix stored as the upper triangle of its square tiles.

This halves both the memory and, in a product, the memory traffic: a tile is used for its rows and,
transposed, for its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import map_threads

__all__ = ["GROUPS", "LANES", "SIDE", "Tiles", "in_lanes"]

Floats = NDArray[np.float64]
Values = NDArray[np.floating]
Result = TypeVar("Result")

#: Rows and columns of a tile: small enough to stay in a core's cache while it is used twice.
SIDE = 768
#: Number of columns that a tile is multiplied by at a time.
WIDTH = 64
#: BLAS computes this many columns at once; more than half of them take as long as all of them.
LANES = 16
#: Number of partial sums of a product; fixed, so the result does not depend on threads.
GROUPS = 8


class Tiles:
    """The upper triangle of tiles of a symmetric (n, n) matrix.

    Parameters
    ----------
    n : int
    dtype : dtype of the entries
    make : callable
        ``make(rows, columns)`` returns the entries of a tile for two slices with rows ≤ columns;
        the tiles take ownership of the array.
    n_jobs : int
        Number of threads that share the tiles.
    done : callable
        Called with the number of finished tiles and the total.

    Attributes
    ----------
    n : int
    dtype : dtype
    blocks : list of slice
        Rows, and columns, of the tiles.
    """

    def __init__(
        self,
        n: int,
        dtype: np.dtype[np.floating],
        make: Callable[[slice, slice], Values],
        *,
        n_jobs: int = 1,
        done: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self.n = n
        self.dtype = dtype
        self.blocks = [slice(start, min(start + SIDE, n)) for start in range(0, n, SIDE)]
        last = len(self.blocks)
        self._places = [(a, b) for a in range(last) for b in range(a, last)]

        def tile(place: tuple[int, int]) -> Values:
            a, b = place
            return np.ascontiguousarray(make(self.blocks[a], self.blocks[b]), dtype=dtype)

        total = len(self._places)
        made = map_threads(tile, self._places, n_jobs, lambda count: done(count, total))
        self._tiles = dict(zip(self._places, made, strict=True))

    @classmethod
    def of(cls, values: Values, *, n_jobs: int = 1) -> Tiles:
        """The tiles of a full symmetric matrix, copied."""
        return cls(
            len(values),
            values.dtype,
            lambda rows, columns: values[rows, columns].copy(),
            n_jobs=n_jobs,
        )

    @classmethod
    def of_product(cls, factors: Sequence[Tiles], *, n_jobs: int = 1) -> Tiles:
        """The tiles of the element-wise product of matrices of the same size."""

        def entries(rows: slice, columns: slice) -> Values:
            place = rows.start // SIDE, columns.start // SIDE
            values = factors[0]._tiles[place].copy()
            for factor in factors[1:]:
                values *= factor._tiles[place]
            return values

        return cls(factors[0].n, factors[0].dtype, entries, n_jobs=n_jobs)

    @classmethod
    def unpacked(cls, triangle: Values, n: int, *, n_jobs: int = 1) -> Tiles:
        """The tiles of a matrix from its `packed` triangle."""

        def entries(rows: slice, columns: slice) -> Values:
            i = np.arange(rows.start, rows.stop)[:, None]
            j = np.arange(columns.start, columns.stop)
            first = np.minimum(i, j)
            return np.asarray(triangle[first * n - first * (first + 1) // 2 + np.maximum(i, j)])

        return cls(n, triangle.dtype, entries, n_jobs=n_jobs)

    def packed(self) -> Values:
        """The upper triangle row by row, diagonal included, (n (n + 1) / 2,)."""
        n = self.n
        out = np.empty(n * (n + 1) // 2, dtype=self.dtype)
        place = 0
        for a, block in enumerate(self.blocks):
            right = [self._tiles[a, b] for b in range(a, len(self.blocks))]
            for i in range(block.stop - block.start):
                row = np.concatenate([right[0][i, i:], *(tile[i] for tile in right[1:])])
                out[place : place + row.size] = row
                place += row.size
        return out

    @staticmethod
    def bytes_of(n: int, itemsize: int) -> int:
        """Size in bytes of the tiles of an (n, n) matrix."""
        whole, rest = divmod(n, SIDE)
        below = sum(k * SIDE * SIDE for k in range(whole)) + whole * SIDE * rest
        return (n * n - below) * itemsize

    @property
    def nbytes(self) -> int:
        """Size of the tiles in bytes."""
        return sum(tile.nbytes for tile in self._tiles.values())

    def product(self, V: Values, *, n_jobs: int = 1) -> Values:
        """The matrix times a vector (n,) or block (n, b), summed in the precision of `V`.

        Parameters
        ----------
        V : array
        n_jobs : int
            Number of threads; the result does not depend on it.
        """
        if V.ndim == 1:
            return self._narrow(V, n_jobs)
        out = np.empty(V.shape, dtype=V.dtype)
        for start in range(0, V.shape[1], WIDTH):
            part = V[:, start : start + WIDTH]
            product = self._narrow(in_lanes(part), n_jobs)
            out[:, start : start + WIDTH] = product[:, : part.shape[1]]
        return out

    def _narrow(self, V: Values, n_jobs: int) -> Values:
        """The product with a few columns, using each tile for its rows and columns in one pass."""
        n_groups = max(1, min(GROUPS, len(self._places) // 3))

        def partial(group: int) -> Values:
            out = np.zeros(V.shape, dtype=V.dtype)
            for place in self._places[group::n_groups]:
                a, b = place
                rows, columns = self.blocks[a], self.blocks[b]
                tile = self._tiles[place].astype(V.dtype, copy=False)
                out[rows] += tile @ V[columns]
                if a != b:
                    out[columns] += tile.T @ V[rows]
            return out

        first, *others = map_threads(partial, range(n_groups), n_jobs)
        for other in others:
            first += other
        return first

    def sums(self, *, n_jobs: int = 1) -> Floats:
        """Row sums in float64, (n,)."""
        return np.asarray(self.product(np.ones(self.n), n_jobs=n_jobs))

    def each(
        self, work: Callable[[Values, slice, slice], Result], *, n_jobs: int = 1
    ) -> list[Result]:
        """Results of ``work(tile, rows, columns)`` for all tiles; `work` may modify the tile."""

        def one(place: tuple[int, int]) -> Result:
            a, b = place
            return work(self._tiles[place], self.blocks[a], self.blocks[b])

        return map_threads(one, self._places, n_jobs)

    def panel(self, block: int) -> Values:
        """All columns of one row block, as a copy."""
        above = [self._tiles[a, block].T for a in range(block)]
        right = [self._tiles[block, b] for b in range(block, len(self.blocks))]
        return np.hstack([*above, *right])

    def columns(self, block: int, chosen: NDArray[np.intp]) -> Values:
        """Sorted chosen columns of one row block."""
        ends = np.searchsorted(chosen, [part.start for part in self.blocks] + [self.n])
        parts = []
        for b, part in enumerate(self.blocks):
            within = chosen[ends[b] : ends[b + 1]] - part.start
            if block <= b:
                parts.append(self._tiles[block, b][:, within])
            else:
                parts.append(self._tiles[b, block][within].T)
        return np.hstack(parts)

    def rows(self, chosen: NDArray[np.intp]) -> Values:
        """Chosen rows, (p, n)."""
        out = np.empty((chosen.size, self.n), dtype=self.dtype)
        block = chosen // SIDE
        for a in np.unique(block).tolist():
            here = np.flatnonzero(block == a)
            within = chosen[here] - self.blocks[a].start
            for b, columns in enumerate(self.blocks):
                tile = self._tiles[a, b] if a <= b else self._tiles[b, a].T
                out[here, columns] = tile[within]
        return out

    def part(self, chosen: NDArray[np.intp]) -> Values:
        """The rows and columns with sorted chosen indices, a full (p, p) matrix."""
        out = np.empty((chosen.size, chosen.size), dtype=self.dtype)
        ends = np.searchsorted(chosen, [block.start for block in self.blocks] + [self.n])
        for (a, b), tile in self._tiles.items():
            i, j = slice(ends[a], ends[a + 1]), slice(ends[b], ends[b + 1])
            rows = chosen[i] - self.blocks[a].start
            columns = chosen[j] - self.blocks[b].start
            out[i, j] = tile[np.ix_(rows, columns)]
            out[j, i] = out[i, j].T
        return out

    def full(self, dtype: np.dtype[np.floating] | None = None) -> Values:
        """The full matrix, in the given precision."""
        out = np.empty((self.n, self.n), dtype=self.dtype if dtype is None else dtype)
        for (a, b), tile in self._tiles.items():
            rows, columns = self.blocks[a], self.blocks[b]
            out[rows, columns] = tile
            if a != b:
                out[columns, rows] = tile.T
        return out


def in_lanes(V: Values) -> Values:
    """The columns in C order, padded with zero columns if that makes a product faster."""
    n, b = V.shape
    missing = -b % LANES
    if 2 * missing > LANES:
        return np.ascontiguousarray(V)
    padded = np.zeros((n, b + missing), dtype=V.dtype)
    padded[:, :b] = V
    return padded
