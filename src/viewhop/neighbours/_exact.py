"""Exact search: every training sample within the radius of a row, including ties and copies.

Queries are processed cell by cell. The triangle inequality excludes whole cells of training samples
that are too far away; in the others, a matrix product about the centre of the query cell proposes
pairs. These are measured from the difference of their rows, so a pair has the same distance from
both ends, and no result depends on the cells. Manhattan distances have no such product and a search
of their own, and so do sparse rows, which no cell brings together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import threads as blocks
from viewhop.neighbours._candidates import Proposals
from viewhop.neighbours._cells import Cells
from viewhop.neighbours._lists import Neighbourhood, PartialLists, join_lists, rank_pairs
from viewhop.neighbours._manhattan_search import ManhattanSearch
from viewhop.neighbours._points import Points, pair_distances, products
from viewhop.neighbours._sparse_search import SparseSearch

__all__ = ["columns_per_row", "exact_lists", "find_neighbourhoods"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Columns of the first product, which bounds the radii, and the maximum for later ones.
FIRST, CHUNK = 1024, 4096
#: Single precision is too coarse if it proposes more than this many pairs per pair wanted.
COARSE = 16
#: Number of cells searched to estimate how many columns the others need.
SAMPLED_CELLS = 16
#: Relative error allowed for distances in a triangle inequality.
OFF = 1e-9


def find_neighbourhoods(
    queries: Points,
    points: Points,
    *,
    k: int,
    k_scale: int,
    k_inner: int | None = None,
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
        Query rows, and the training samples of the view.
    k, k_scale : int
        Number of neighbours that set the radius and the local scale, both clipped to
        ``len(points) - 1``.
    k_inner : int or None
        Number of neighbours that set the inner radius; None is k.
    reach : (len(points),) array or None
        Radii of the training samples: pairs with d ≤ max(radius, reach) are kept, up to the slack
        of the row.
    n_jobs, done
        As in `viewhop.neighbours._points.distance_matrix`.
    allow : callable
        Called with the number of pairs so far; it may raise to stop the search.
    cells : Cells or None
        The cells of `points`, if they exist already.
    """
    cells = Cells.of(points, n_jobs) if cells is None else cells
    parts = exact_lists(
        queries,
        cells,
        k=min(k, len(points) - 1),
        k_scale=min(k_scale, len(points) - 1),
        k_inner=k_inner,
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
    k_inner: int | None = None,
    reach: Floats | None = None,
    itself: bool = False,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allow: Callable[[int], None] = lambda pairs: None,
) -> list[PartialLists]:
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
    k_inner, reach, n_jobs, done, allow
        As in `find_neighbourhoods`.
    """
    query_cells = cells if itself else Cells.of(queries, n_jobs)
    search = _search_of(cells)(query_cells, cells, k, k_scale, reach, k_inner)
    pairs = 0

    def search_block(block: slice) -> list[PartialLists]:
        nonlocal pairs
        parts = []
        for part in search.lists(block):
            pairs += part.columns.size
            allow(pairs)
            parts.append(part)
        return parts

    work = query_cells.blocks
    parts = blocks.map_threads(search_block, work, n_jobs, lambda count: done(count, len(work)))
    return [part for some in parts for part in some]


def columns_per_row(cells: Cells, *, k: int, generator: np.random.Generator) -> float:
    """Estimated number of training samples per row that an exact search multiplies it with.

    Parameters
    ----------
    cells : Cells
    k : int
    generator : Generator
        Draws the cells to search.
    """
    search = _search_of(cells)(cells, cells, k, k, None)
    work = cells.blocks
    sampled = generator.choice(len(work), min(SAMPLED_CELLS, len(work)), replace=False)
    return float(np.mean([search.n_columns(work[cell]) for cell in sampled]))


def _search_of(cells: Cells) -> type[_Search] | type[ManhattanSearch] | type[SparseSearch]:
    """The search for the kind of rows and the norm of the samples."""
    if cells.points.is_sparse:
        return SparseSearch
    return ManhattanSearch if cells.points.norm == "manhattan" else _Search


class _Search:
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
        # Relative to the centre of the samples: small norms lose little precision.
        self.centres = cells.centres - cells.points.centre
        self.norms = np.square(self.centres).sum(axis=1)

    def lists(self, block: slice) -> list[PartialLists]:
        """Lists of a block of rows, in several parts if copies make them long."""
        n_rows = block.stop - block.start
        wanted = n_rows * (max(self.k, self.k_scale) + 1)
        proposals = self._propose(block, np.dtype(np.float32), COARSE * wanted)
        if proposals is None:
            most = max(2 * wanted, blocks.BLOCK) if n_rows > 1 else np.inf
            proposals = self._propose(block, np.dtype(np.float64), most)
        if proposals is None:
            middle = block.start + n_rows // 2
            halves = slice(block.start, middle), slice(middle, block.stop)
            return [part for half in halves for part in self.lists(half)]
        i, j = proposals.pairs()
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
        """Number of training samples that a block of rows is multiplied with."""
        proposals = self._propose(block, np.dtype(np.float32), np.inf)
        return len(self.cells.points) if proposals is None else proposals.n_columns

    def _propose(self, block: slice, dtype: np.dtype[np.floating], most: float) -> Proposals | None:
        """Pairs that may be within radius or reach; None if there are more than `most`.

        In single precision, also None if some pairs are too far apart for it.
        """
        rows = self.query_cells.points.rows[block].astype(np.float64)
        centre = rows.mean(axis=0)
        rows -= centre
        norms = np.square(rows).sum(axis=1)
        slack = self.query_cells.points.slack[block]
        # What a radius of a training sample may fall short of for these rows.
        short = float(slack.max())
        extent = float(np.sqrt(norms.max())) * (1 + OFF)
        about = (centre - self.cells.points.centre)[None]
        away = _lower_bounds(about, np.square(about).sum(axis=1), self.centres, self.norms)[0]
        left = np.argsort(away, kind="stable")
        farthest = max(extent, float((away + self.cells.radii).max()))
        proposals: Proposals | None = None
        bounds, gaps = np.full(len(rows), np.inf), np.empty((len(rows), 0))
        size = max(FIRST, 2 * self.k)
        while left.size:
            n_cells = int(np.searchsorted(np.cumsum(self.sizes[left]), size)) + 1
            columns, others, other_norms = self._centred_rows(centre, left[:n_cells])
            left = left[n_cells:]
            if proposals is None:
                nearby = float(np.sqrt(max(norms.max(), other_norms.max())))
                proposals = Proposals(
                    rows,
                    norms,
                    k=max(self.k, self.k_scale),
                    rounding=self.cells.points.rounding,
                    unit=nearby if dtype == np.float32 else farthest,
                    dtype=dtype,
                    slack=slack,
                )
            # A sample near some row is no farther from the centre than the row plus its radius.
            most_away = extent + np.maximum(bounds.max(), self.own[columns] + short)
            inside = np.sqrt(other_norms) * (1 - OFF) <= most_away
            if not inside.all():
                columns, others, other_norms = columns[inside], others[inside], other_norms[inside]
            reach = None if self.reach is None else self.own[columns]
            if not proposals.add(columns, others, other_norms, reach):
                return None
            if proposals.n_pairs > most:
                proposals.tighten()
                if proposals.n_pairs > most:
                    return None
            known = np.isfinite(bounds).any()
            bounds = proposals.radii()
            if known:
                gaps = gaps[:, n_cells:]
            else:
                least = away[left] - extent - self.cells.radii[left]
                left = left[least <= np.maximum(bounds.max(), self.own_of_cells[left] + short)]
                centres = self.cells.centres[left] - centre
                gaps = self._gaps(rows, norms, centres, self.cells.radii[left])
            open_cells = (gaps <= bounds[:, None]).any(axis=0)
            open_cells |= gaps.min(axis=0) <= self.own_of_cells[left] + short
            left, gaps = left[open_cells], gaps[:, open_cells]
            size = min(2 * size, max(CHUNK, 2 * self.k))
        return proposals

    def _centred_rows(self, centre: Floats, cells: Indices) -> tuple[Indices, Floats, Floats]:
        """Positions of the training samples of some cells, their rows minus a centre, norms."""
        starts, sizes = self.cells.starts[cells], self.sizes[cells]
        columns = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        others = self.cells.points.rows[columns] - centre
        return columns, others, np.einsum("ij,ij->i", others, others)

    @staticmethod
    def _gaps(rows: Floats, norms: Floats, centres: Floats, balls: Floats) -> Floats:
        """Lower bounds of the distances from rows to the samples in balls."""
        gaps = _lower_bounds(rows, norms, centres, np.square(centres).sum(axis=1))
        gaps -= balls
        return gaps


def _lower_bounds(rows: Floats, norms: Floats, others: Floats, other_norms: Floats) -> Floats:
    """Distances between rows from a matrix product, minus its largest possible error."""
    squares = products(rows, norms, others, other_norms)
    squares -= (rows.shape[1] + 8) * np.finfo(np.float64).eps * (norms[:, None] + other_norms)
    bounds = np.sqrt(np.fmax(squares, 0.0, out=squares), out=squares)
    bounds *= 1 - OFF
    return bounds
