"""Neighbours: the training samples near each row, ties and copies included.

A matrix product proposes pairs; each is then measured from the difference of its rows, so a pair
has one distance, whichever end asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.blocks import each, row_blocks
from viewhop.distances import Points, between, products

__all__ = ["Neighbourhood", "neighbourhoods", "within"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


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
    upper = products(queries.centred(block), queries.norms[block], centred, points.norms)
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
