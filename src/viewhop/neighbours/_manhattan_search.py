"""Exact search in Manhattan distances, which the triangle inequality alone makes faster.

Rows are compared with the cells of training samples in the order of their distance, until no cell
that is left can contain a neighbour. Pairs that may be near are measured again, so that a pair has
the same distance from both ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import threads as blocks
from viewhop.neighbours._cells import Cells
from viewhop.neighbours._lists import PartialLists, rank_pairs
from viewhop.neighbours._manhattan import manhattan_block
from viewhop.neighbours._points import pair_distances

__all__ = ["ManhattanSearch"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Columns that a cell of rows is compared with at a time.
CHUNK = 1024
#: Relative error allowed for distances: far more than rounding leaves.
OFF = 1e-9


class Candidates(NamedTuple):
    """Pairs that may be near, as positions in a block of rows and among the training samples.

    Attributes
    ----------
    i, j : (p,) index arrays
    n_columns : int
        Number of training samples that the block was compared with.
    """

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    n_columns: int


class ManhattanSearch:
    """A search for the neighbours of one set of samples in another.

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
        self.query_cells = query_cells
        self.cells = cells
        self.k = k
        self.k_scale = k_scale
        self.k_inner = k if k_inner is None else min(k_inner, k)
        self.reach = reach
        self.sizes = np.diff(cells.starts)
        # Without a reach of its own, a training sample beyond the radius of a row is never kept.
        self.own = np.full(len(cells.points), -np.inf) if reach is None else reach[cells.order]
        self.own_of_cells = np.maximum.reduceat(self.own, cells.starts[:-1])

    def lists(self, block: slice) -> list[PartialLists]:
        """Lists of a block of rows, in several parts if copies make them long."""
        n_rows = block.stop - block.start
        wanted = n_rows * (max(self.k, self.k_scale) + 1)
        most = max(2 * wanted, blocks.BLOCK) if n_rows > 1 else np.inf
        candidates = self._propose(block, most)
        if candidates is None:
            middle = block.start + n_rows // 2
            halves = slice(block.start, middle), slice(middle, block.stop)
            return [part for half in halves for part in self.lists(half)]
        i, j = candidates.i, candidates.j
        distances = pair_distances(self.query_cells.points, i + block.start, self.cells.points, j)
        return [
            rank_pairs(
                self.query_cells.order[block],
                i,
                self.cells.order[j],
                distances,
                k=self.k,
                k_scale=self.k_scale,
                k_inner=self.k_inner,
                slack=self.query_cells.points.slack[block],
                reach=self.reach,
            )
        ]

    def n_columns(self, block: slice) -> int:
        """Number of training samples that a block of rows is compared with."""
        candidates = self._propose(block, np.inf)
        assert candidates is not None
        return candidates.n_columns

    def _propose(self, block: slice, most: float) -> Candidates | None:
        """Pairs that may be within radius or reach; None if there are more than `most`."""
        rows = self.query_cells.points.rows[block]
        slack = self.query_cells.points.slack[block]
        short = float(slack.max())  # what a reach may fall short of for these rows
        gaps = manhattan_block(rows, self.cells.centres) * (1 - OFF) - self.cells.radii
        left = np.argsort(gaps.min(axis=0), kind="stable")
        ranks = _Ranks(len(rows), max(self.k, self.k_scale))
        bounds = ranks.limits
        found: list[tuple[NDArray[np.intp], NDArray[np.intp], Floats]] = []
        n_pairs = n_columns = 0
        while left.size:
            n_cells = int(np.searchsorted(np.cumsum(self.sizes[left]), CHUNK)) + 1
            columns = self._columns(left[:n_cells])
            left = left[n_cells:]
            distances = manhattan_block(rows, self.cells.points.rows[columns])
            is_bounded = bool(np.isfinite(bounds).all())
            if not is_bounded:
                ranks.add(distances)
                bounds = ranks.limits * (1 + OFF) + slack
            near = distances <= bounds[:, None]
            near |= distances <= (self.own[columns] + short) * (1 + OFF)
            # Faster than ``np.nonzero`` if there are few.
            flat = np.flatnonzero(near)
            i, j = np.divmod(flat, columns.size)
            values = distances.ravel()[flat]
            if is_bounded:  # pairs beyond the bounds cannot lower them
                ranks.add(_table(i, values, len(rows)))
                bounds = ranks.limits * (1 + OFF) + slack
            found.append((i, columns[j], values))
            n_pairs += i.size
            n_columns += columns.size
            if n_pairs > most:
                return None
            is_open = (gaps[:, left] <= bounds[:, None]).any(axis=0)
            is_open |= gaps[:, left].min(axis=0) <= self.own_of_cells[left] + short
            left = left[is_open]
        i, j, values = (np.concatenate(part) for part in zip(*found, strict=True))
        kept = values <= bounds[i]
        kept |= values <= (self.own[j] + short) * (1 + OFF)
        return Candidates(i[kept], j[kept], n_columns)

    def _columns(self, cells: Indices) -> NDArray[np.intp]:
        """Positions of the training samples of some cells."""
        starts, sizes = self.cells.starts[cells], self.sizes[cells]
        first = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        return np.asarray(first + np.arange(sizes.sum()), dtype=np.intp)


def _table(i: NDArray[np.intp], values: Floats, n_rows: int) -> Floats:
    """Values of pairs, sorted by row, as the rows of a table with infinite entries after them."""
    counts = np.bincount(i, minlength=n_rows)
    place = np.arange(i.size) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((n_rows, int(counts.max(initial=0))), np.inf)
    table[i, place] = values
    return table


class _Ranks:
    """The smallest distances of some rows so far, which bound their radii from above.

    Attributes
    ----------
    limits : (m,) array
        The (k+1)-th smallest distance of each row; if that is 0, the smallest positive one.
    """

    def __init__(self, n_rows: int, k: int) -> None:
        self._k = k
        self._best = np.full((n_rows, k + 1), np.inf)
        self._distinct = np.full(n_rows, np.inf)

    def add(self, distances: Floats) -> None:
        """Add the distances of all rows to further samples, (m, c)."""
        both = np.concatenate([self._best, distances], axis=1)
        self._best = np.partition(both, self._k, axis=1)[:, : self._k + 1]
        # As long as the smallest ones are not all 0, they contain the smallest positive one.
        copies = self._best[:, self._k] == 0
        if copies.any():
            least = both[copies].min(axis=1, where=both[copies] > 0, initial=np.inf)
            self._distinct[copies] = np.minimum(self._distinct[copies], least)

    @property
    def limits(self) -> Floats:
        """The limits so far; infinite where fewer than k+1 samples were added."""
        ranked = self._best[:, self._k]
        return np.where(ranked > 0, ranked, self._distinct)
