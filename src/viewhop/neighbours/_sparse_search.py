"""Exact search in a sparse view: every row against all others, by products of stored entries.

A product takes time for entries that two rows share, and most rows share few. Cells would exclude
nothing: rows of thousands of features are about equally far from each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import threads as blocks
from viewhop.neighbours._candidates import TINY
from viewhop.neighbours._cells import Cells
from viewhop.neighbours._limits import PairLimits
from viewhop.neighbours._lists import PartialLists, rank_pairs
from viewhop.neighbours._points import pair_distances
from viewhop.neighbours._sparse_points import SparsePoints

__all__ = ["SPARSE_PAIRS", "SparseSearch"]

Floats = NDArray[np.float64]
DOUBLE = np.dtype(np.float64)

#: Distances of a block of rows to all others: few enough to stay in cache for most passes.
SPARSE_PAIRS = 2**20
#: Training samples that bound the radii before all others are considered.
FIRST = 1024
#: Relative error of a sum of absolute differences.
OFF = 1e-9


class SparseSearch:
    """A search for the neighbours of one set of sparse samples in another.

    Parameters
    ----------
    query_cells, cells : Cells
        The query rows, and the training samples.
    k, k_scale : int
    reach : (n,) array or None
        Radii of the training samples.
    k_inner : int or None
    """

    def __init__(
        self,
        query_cells: Cells,
        cells: Cells,
        k: int,
        k_scale: int,
        reach: Floats | None,
        k_inner: int | None = None,
    ) -> None:
        queries, points = query_cells.points, cells.points
        assert isinstance(queries, SparsePoints)
        assert isinstance(points, SparsePoints)
        self.queries, self.points = queries, points
        self.k = k
        self.k_scale = k_scale
        self.k_inner = k if k_inner is None else min(k_inner, k)
        self.reach = reach
        is_manhattan = points.norm == "manhattan"
        self.error = OFF if is_manhattan else max(queries.error, points.error)
        largest = max(float(one.sizes.max(initial=0.0)) for one in (queries, points))
        size = np.sqrt(largest) if not is_manhattan else _longest(queries, points)
        # A power of two: scaling by it is exact.
        self.unit = float(np.ldexp(1.0, -int(np.frexp(size)[1]))) if size > 0 else 1.0
        self.columns = np.arange(len(points))

    def lists(self, block: slice) -> list[PartialLists]:
        """Lists of a block of rows, in several parts."""
        step = max(1, SPARSE_PAIRS // len(self.points))
        starts = range(block.start, block.stop, step)
        parts = [slice(start, min(start + step, block.stop)) for start in starts]
        return [lists for part in parts for lists in self._lists(part)]

    def n_columns(self, block: slice) -> int:
        """Number of training samples that a block of rows is multiplied with."""
        return len(self.points)

    def _lists(self, block: slice) -> list[PartialLists]:
        """Lists of a few rows, in halves if copies make them long."""
        n_rows = block.stop - block.start
        wanted = n_rows * (max(self.k, self.k_scale) + 1)
        limits = self._propose(block)
        limits.tighten()
        if n_rows > 1 and limits.n_pairs > max(2 * wanted, blocks.BLOCK):
            middle = block.start + n_rows // 2
            halves = slice(block.start, middle), slice(middle, block.stop)
            return [lists for half in halves for lists in self._lists(half)]
        i, j = limits.pairs()
        distances = pair_distances(self.queries, i + block.start, self.points, j)
        return [
            rank_pairs(
                np.arange(block.start, block.stop),
                i,
                j,
                distances,
                k=self.k,
                k_scale=self.k_scale,
                k_inner=self.k_inner,
                slack=self.queries.slack[block],
                reach=self.reach,
            )
        ]

    def _propose(self, block: slice) -> PairLimits:
        """The pairs that may be within radius or reach."""
        lower, own, others = self._bounds(block)
        apart = 2.0 * ((self.points.rounding * self.unit) ** 2 + TINY[DOUBLE])
        limits = PairLimits(
            own,
            error=self.error,
            apart=apart,
            k=max(self.k, self.k_scale),
            unit=self.unit,
            dtype=DOUBLE,
            slack=self.queries.slack[block] * self.unit,
        )
        lower -= self.error * own[:, None]
        lower -= self.error * others + apart
        first = max(FIRST, 2 * (max(self.k, self.k_scale) + 1))
        for part in (slice(0, first), slice(first, None)):
            if self.columns[part].size:
                reach = None if self.reach is None else self.reach[part]
                limits.consider(self.columns[part], lower[:, part], others[part], reach)
        return limits

    def _bounds(self, block: slice) -> tuple[Floats, Floats, Floats]:
        """Squared distances in units, (m, n), and the squared sizes of the rows and the others."""
        square = self.unit**2
        if self.points.norm != "manhattan":
            squares = self.queries.squares(block, self.points)
            if square != 1.0:
                squares *= square
            return squares, self.queries.sizes[block] * square, self.points.sizes * square
        every = slice(0, len(self.points))
        distances = self.queries.distances(block, self.points, every, DOUBLE) * self.unit
        # The error of each is relative to itself.
        ones = np.square(distances.max(initial=0.0))
        own, others = np.full(len(distances), ones), np.full(len(self.points), ones)
        return np.square(distances, out=distances), own, others


def _longest(*points: SparsePoints) -> float:
    """The largest sum of absolute values of a row."""
    return float(max(one.rows.sums().max(initial=0.0) for one in points))
