"""Distances between the samples of one view, exact where a last bit decides.

A matrix product gives all squared distances of a block fast, with an error relative to the norms
of the rows rather than to their distance. So it only proposes: a pair that is close for its norms,
and every pair that a neighbour kernel stores, is measured again from the difference of its rows.
That difference is the same for a training pair and for the same pair met as a query, so both
see the same bits, and neither an offset nor a far cluster nor a tie can tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Neighbourhood", "Points", "each", "matrix", "neighbourhoods", "row_blocks", "within"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Item = TypeVar("Item")
Result = TypeVar("Result")

#: Pairs with d² below this share of ‖x‖² + ‖y‖² are measured from their difference.
NEAR = 1e-6
#: Numbers of float64 in one temporary block.
BLOCK = 2**22
#: Rows and columns of one tile of all distances: few enough to stay in cache.
TILE = 512


class Points:
    """The samples of one view in its feature space, ready to be measured against.

    Parameters
    ----------
    rows : (n, d) array
        Feature rows; they are copied.
    centre : (d,) array or None
        The point from which rows are measured in products; by default their median, which a
        far cluster does not move.
    rounding : float
        Rows no farther apart than this coincide: what computing the features cannot tell apart.

    Attributes
    ----------
    rows : (n, d) array, C order, of its own dtype
    centre : (d,) float64 array
    norms : (n,) float64 array, squared norms of the centred rows
    """

    def __init__(
        self, rows: NDArray[np.floating], centre: Floats | None = None, rounding: float = 0.0
    ) -> None:
        self.rows = np.array(rows, order="C")
        self.rounding = rounding
        self.centre = np.median(self.rows, axis=0).astype(np.float64) if centre is None else centre
        self.norms = np.concatenate(
            [np.square(self.centred(block)).sum(axis=1) for block in row_blocks(*rows.shape)]
        )

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


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices that cover `n_rows` rows, each of at most `BLOCK` numbers of `width` columns."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def each(
    work: Callable[[Item], Result], items: list[Item], n_jobs: int, done: Callable[[int], None]
) -> list[Result]:
    """Results of `work` on each item, in order, by `n_jobs` threads; ``done(k)`` after the k-th."""
    results = []
    if n_jobs == 1:
        for item in items:
            results.append(work(item))
            done(len(results))
        return results
    with ThreadPoolExecutor(n_jobs) as pool:
        for result in pool.map(work, items):
            results.append(result)
            done(len(results))
    return results


def between(a: Points, i: Indices, b: Points, j: Indices) -> Floats:
    """Distances of the pairs (a[i], b[j]), from the differences of their rows."""
    found = np.empty(i.size)
    for part in row_blocks(i.size, a.rows.shape[1]):
        # Reduced along contiguous rows: the sum of one pair does not depend on its company.
        difference = a.rows[i[part]].astype(np.float64) - b.rows[j[part]]
        found[part] = np.sqrt(np.square(difference).sum(axis=1))
    found[found <= b.rounding] = 0.0
    return found


def _products(rows: Floats, norms: Floats, others: Floats, other_norms: Floats) -> Floats:
    """Squared distances between centred rows, up to the rounding of a matrix product."""
    squares = rows @ others.T
    squares *= -2.0
    squares += norms[:, None]
    squares += other_norms
    return squares


def block_distances(a: Points, block: slice, b: Points, other: slice = slice(None)) -> Floats:
    """Distances from a block of rows of `a` to rows of `b`, accurate to about 1e-10 of each."""
    squares = _products(a.centred(block), a.norms[block], b.centred(other), b.norms[other])
    # Not above, rather than below: rows of norm 0 sit on the centre, where both sides are 0.
    i, j = np.nonzero(squares <= NEAR * a.norms[block, None] + NEAR * b.norms[other])
    distances = np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)
    if i.size:
        distances[i, j] = between(a, i + block.start, b, j + (other.start or 0))
    return distances


def matrix(
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

    each(fill, tiles, n_jobs, lambda count: done(count, len(tiles)))
    return distances


class Neighbourhood(NamedTuple):
    """Near training samples of some rows, as parallel arrays sorted by row and column.

    Attributes
    ----------
    rows, columns : (p,) index arrays
    distances : (p,) array
    radius : (n,) array
        Distance to the (k+1)-th nearest training sample, the row itself included where it is
        one of them; where that is 0, the smallest positive distance.
    scale : (n,) array
        The same with the neighbour count of local scales.
    nearest : (n,) array
        Smallest positive distance.
    """

    rows: Indices
    columns: Indices
    distances: Floats
    radius: Floats
    scale: Floats
    nearest: Floats


def rank_distance(sorted_row: Floats, k: int) -> float:
    """The (k+1)-th smallest of sorted distances; where that is 0, the smallest positive one.

    0 is returned only where no distance is positive.
    """
    value = float(sorted_row[min(k, sorted_row.size - 1)])
    if value > 0:
        return value
    positive = int(np.searchsorted(sorted_row, 0.0, side="right"))
    return float(sorted_row[positive]) if positive < sorted_row.size else 0.0


def _candidates(
    queries: Points, block: slice, points: Points, centred: Floats, k: int, reach: Floats | None
) -> tuple[Indices, Indices]:
    """Pairs that may be within the radius of the query or the `reach` of the training sample.

    Each squared distance of a matrix product is known within a bound, so a pair is left out
    only where its lower bound lies beyond the (k+1)-th smallest upper bound of its row.
    """
    n = len(points)
    sizes = queries.norms[block, None] + points.norms
    slack = (points.rows.shape[1] + 8) * np.finfo(np.float64).eps * sizes + points.rounding**2
    upper = _products(queries.centred(block), queries.norms[block], centred, points.norms)
    upper += slack
    limit = np.partition(upper, k, axis=1)[:, k] if k < n else upper.max(axis=1)
    lower = upper - 2.0 * slack
    # Where k+1 samples may coincide with the row, its radius is the nearest distinct sample's.
    short = np.flatnonzero(np.count_nonzero(lower <= 0, axis=1) > k)
    for row in short:
        apart = lower[row] > 0
        limit[row] = max(limit[row], upper[row, apart].min() if apart.any() else np.inf)
    bound = limit[:, None]
    if reach is not None:
        bound = np.maximum(bound, np.square(reach) * (1 + 1e-12))
    i, j = np.nonzero(lower <= bound)
    return i + block.start, j


def _block(
    queries: Points,
    block: slice,
    points: Points,
    centred: Floats,
    k: int,
    k_scale: int,
    reach: Floats | None,
) -> Neighbourhood:
    """Neighbourhood of one block of rows (their numbers counted from the first of all)."""
    i, j = _candidates(queries, block, points, centred, max(k, k_scale), reach)
    distances = between(queries, i, points, j)
    n_rows = block.stop - block.start
    starts = np.searchsorted(i, np.arange(block.start, block.stop + 1))
    radius, scale, nearest = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    for row in range(n_rows):
        ordered = np.sort(distances[starts[row] : starts[row + 1]])
        radius[row] = rank_distance(ordered, k)
        scale[row] = rank_distance(ordered, k_scale)
        nearest[row] = rank_distance(ordered, 0)
    bound = radius[i - block.start]
    if reach is not None:
        bound = np.maximum(bound, reach[j])
    kept = distances <= bound
    return Neighbourhood(i[kept], j[kept], distances[kept], radius, scale, nearest)


def neighbourhoods(
    queries: Points,
    points: Points,
    *,
    k: int,
    k_scale: int,
    reach: Floats | None = None,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allow: Callable[[int], None] = lambda pairs: None,
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
        As in `matrix`.
    allow : callable
        Told the number of pairs found so far; it may raise to stop the search.
    """
    centred = points.centred(slice(0, len(points)))
    pairs = 0

    def found(block: slice) -> Neighbourhood:
        nonlocal pairs
        part = _block(queries, block, points, centred, k, k_scale, reach)
        pairs += part.rows.size
        allow(pairs)
        return part

    k, k_scale = min(k, len(points) - 1), min(k_scale, len(points) - 1)
    blocks = [*row_blocks(len(queries), len(points))]
    parts = each(found, blocks, n_jobs, lambda count: done(count, len(blocks)))
    return Neighbourhood(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def within(found: Neighbourhood) -> tuple[Indices, Indices, Floats]:
    """Pairs (i, j, d) of training samples with d ≤ max(radius_i, radius_j), both ways, sorted.

    A sample's list holds the pairs within its own radius; the other half of the rule is the
    transposed list, because a distance is the same bits from both ends.
    """
    n = found.radius.size
    there = found.rows * n + found.columns
    back = found.columns * n + found.rows
    keys, first = np.unique(np.concatenate([there, back]), return_index=True)
    distances = np.concatenate([found.distances, found.distances])[first]
    return keys // n, keys % n, distances
