"""Exact search: every training sample within the radius of a row, ties and copies included.

Rows are asked cell by cell. Whole cells of training samples are passed over where the triangle
inequality puts them too far; of the others, a matrix product about the centre of the asking cell
proposes pairs. Those are measured from the difference of their rows, so a pair has one distance,
whichever end asks, and no result depends on the cells.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import threads as blocks
from viewhop.neighbours._candidates import Proposals
from viewhop.neighbours._cells import Cells
from viewhop.neighbours._lists import Found, Neighbourhood, join_lists, rank_pairs
from viewhop.neighbours._points import Points, pair_distances, products

__all__ = ["columns_per_row", "exact_lists", "find_neighbourhoods"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Columns of the first product, which bounds the radii, and the most of a later one.
FIRST, CHUNK = 1024, 4096
#: Single precision is too coarse where it proposes this many pairs for each that is wanted.
COARSE = 16
#: Cells whose search tells how many columns the others need.
SAMPLED_CELLS = 16
#: Share by which distances in a triangle inequality may be off.
OFF = 1e-9


def find_neighbourhoods(
    queries: Points,
    points: Points,
    *,
    k: int,
    k_scale: int,
    reach: Floats | None = None,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allow: Callable[[int], None] = lambda pairs: None,
    cells: Cells | None = None,
) -> Neighbourhood:
    """Training samples within the radius of each row, or within their own reach of it.

    Parameters
    ----------
    queries, points : Points
        Rows that ask, and the training samples of the view.
    k, k_scale : int
        Neighbours that set the radius and the local scale, both clipped to ``len(points) - 1``.
    reach : (len(points),) array or None
        Radii of the training samples: pairs with d ≤ max(radius, reach) are kept.
    n_jobs, done
        As in `viewhop.neighbours._points.distance_matrix`.
    allow : callable
        Told the number of pairs found so far; it may raise to stop the search.
    cells : Cells or None
        Those of `points`, where they are known already.
    """
    cells = Cells.of(points, n_jobs) if cells is None else cells
    parts = exact_lists(
        queries,
        cells,
        k=min(k, len(points) - 1),
        k_scale=min(k_scale, len(points) - 1),
        reach=reach,
        itself=queries is points,
        n_jobs=n_jobs,
        done=done,
        allow=allow,
    )
    return join_lists(parts, len(queries), len(points))


def exact_lists(
    queries: Points,
    cells: Cells,
    *,
    k: int,
    k_scale: int,
    reach: Floats | None = None,
    itself: bool = False,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allow: Callable[[int], None] = lambda pairs: None,
) -> list[Found]:
    """The lists of `find_neighbourhoods`, in parts.

    Parameters
    ----------
    queries : Points
    cells : Cells
        The training samples.
    k, k_scale : int
        Less than the number of training samples.
    itself : bool
        Whether the queries are the training samples.
    reach, n_jobs, done, allow
        As in `find_neighbourhoods`.
    """
    asking = cells if itself else Cells.of(queries, n_jobs)
    search = _Search(asking, cells, k, k_scale, reach)
    pairs = 0

    def found(block: slice) -> list[Found]:
        nonlocal pairs
        parts = []
        for part in search.lists(block):
            pairs += part.columns.size
            allow(pairs)
            parts.append(part)
        return parts

    work = asking.blocks
    parts = blocks.map_threads(found, work, n_jobs, lambda count: done(count, len(work)))
    return [part for some in parts for part in some]


def columns_per_row(cells: Cells, *, k: int, generator: np.random.Generator) -> float:
    """Training samples that an exact search of them all multiplies each one with, estimated.

    Parameters
    ----------
    cells : Cells
    k : int
    generator : Generator
        Draws the cells that are searched.
    """
    search = _Search(cells, cells, k, k, None)
    work = cells.blocks
    chosen = generator.choice(len(work), min(SAMPLED_CELLS, len(work)), replace=False)
    return float(np.mean([search.n_columns(work[cell]) for cell in chosen]))


class _Search:
    """A search for the neighbours of one set of samples in another.

    Parameters
    ----------
    asking, cells : Cells
        The samples that ask, and the training samples.
    k, k_scale : int
    reach : (n,) array or None
        Radii of the training samples.
    """

    def __init__(
        self, asking: Cells, cells: Cells, k: int, k_scale: int, reach: Floats | None
    ) -> None:
        self.asking = asking
        self.cells = cells
        self.k = k
        self.k_scale = k_scale
        self.reach = reach
        self.sizes = np.diff(cells.starts)
        # What lets a far training sample near a row: nothing, unless it has a reach of its own.
        self.own = np.full(len(cells.points), -np.inf) if reach is None else reach[cells.order]
        self.own_of_cells = np.maximum.reduceat(self.own, cells.starts[:-1])
        # Centres about that of the samples, so that little is lost to their norms.
        self.centres = cells.centres - cells.points.centre
        self.norms = np.square(self.centres).sum(axis=1)

    def lists(self, block: slice) -> list[Found]:
        """Lists of a block of rows, in several parts where copies make them long."""
        n_rows = block.stop - block.start
        wanted = n_rows * (max(self.k, self.k_scale) + 1)
        found = self._proposed(block, np.dtype(np.float32), COARSE * wanted)
        if found is None:
            most = max(2 * wanted, blocks.BLOCK) if n_rows > 1 else np.inf
            found = self._proposed(block, np.dtype(np.float64), most)
        if found is None:
            middle = block.start + n_rows // 2
            halves = slice(block.start, middle), slice(middle, block.stop)
            return [part for half in halves for part in self.lists(half)]
        i, j = found.pairs()
        distances = pair_distances(self.asking.points, i + block.start, self.cells.points, j)
        return [
            rank_pairs(
                self.asking.order[block],
                i,
                self.cells.order[j],
                distances,
                k=self.k,
                k_scale=self.k_scale,
                reach=self.reach,
            )
        ]

    def n_columns(self, block: slice) -> int:
        """Training samples that a block of rows is multiplied with."""
        found = self._proposed(block, np.dtype(np.float32), np.inf)
        return len(self.cells.points) if found is None else found.n_columns

    def _proposed(
        self, block: slice, dtype: np.dtype[np.floating], most: float
    ) -> Proposals | None:
        """Pairs that may be within radius or reach; None where they are more than `most`.

        None in single precision also where some are too far apart for it.
        """
        rows = self.asking.points.rows[block].astype(np.float64)
        centre = rows.mean(axis=0)
        rows -= centre
        norms = np.square(rows).sum(axis=1)
        extent = float(np.sqrt(norms.max())) * (1 + OFF)
        about = (centre - self.cells.points.centre)[None]
        away = _below(about, np.square(about).sum(axis=1), self.centres, self.norms)[0]
        left = np.argsort(away, kind="stable")
        farthest = max(extent, float((away + self.cells.radii).max()))
        found: Proposals | None = None
        bounds, gaps = np.full(len(rows), np.inf), np.empty((len(rows), 0))
        size = max(FIRST, 2 * self.k)
        while left.size:
            n_cells = int(np.searchsorted(np.cumsum(self.sizes[left]), size)) + 1
            columns, others, other_norms = self._about(centre, left[:n_cells])
            left = left[n_cells:]
            if found is None:
                nearby = float(np.sqrt(max(norms.max(), other_norms.max())))
                found = Proposals(
                    rows,
                    norms,
                    k=max(self.k, self.k_scale),
                    rounding=self.cells.points.rounding,
                    unit=nearby if dtype == np.float32 else farthest,
                    dtype=dtype,
                )
            # What is near some row is no farther from the centre than that row and its radius.
            most_away = extent + np.maximum(bounds.max(), self.own[columns])
            inside = np.sqrt(other_norms) * (1 - OFF) <= most_away
            if not inside.all():
                columns, others, other_norms = columns[inside], others[inside], other_norms[inside]
            reach = None if self.reach is None else self.own[columns]
            if not found.add(columns, others, other_norms, reach):
                return None
            if found.n_pairs > most:
                found.tighten()
                if found.n_pairs > most:
                    return None
            known = np.isfinite(bounds).any()
            bounds = found.radii()
            if known:
                gaps = gaps[:, n_cells:]
            else:
                least = away[left] - extent - self.cells.radii[left]
                left = left[least <= np.maximum(bounds.max(), self.own_of_cells[left])]
                centres = self.cells.centres[left] - centre
                gaps = self._gaps(rows, norms, centres, self.cells.radii[left])
            open_cells = (gaps <= bounds[:, None]).any(axis=0)
            open_cells |= gaps.min(axis=0) <= self.own_of_cells[left]
            left, gaps = left[open_cells], gaps[:, open_cells]
            size = min(2 * size, max(CHUNK, 2 * self.k))
        return found

    def _about(self, centre: Floats, cells: Indices) -> tuple[Indices, Floats, Floats]:
        """Places of the training samples of some cells, and their rows about a centre."""
        starts, sizes = self.cells.starts[cells], self.sizes[cells]
        columns = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        others = self.cells.points.rows[columns] - centre
        return columns, others, np.einsum("ij,ij->i", others, others)

    @staticmethod
    def _gaps(rows: Floats, norms: Floats, centres: Floats, balls: Floats) -> Floats:
        """Bounds that the distances from rows to the samples in balls do not fall below."""
        gaps = _below(rows, norms, centres, np.square(centres).sum(axis=1))
        gaps -= balls
        return gaps


def _below(rows: Floats, norms: Floats, others: Floats, other_norms: Floats) -> Floats:
    """Distances between rows by a matrix product, less what that may be off."""
    squares = products(rows, norms, others, other_norms)
    squares -= (rows.shape[1] + 8) * np.finfo(np.float64).eps * (norms[:, None] + other_norms)
    found = np.sqrt(np.fmax(squares, 0.0, out=squares), out=squares)
    found *= 1 - OFF
    return found
