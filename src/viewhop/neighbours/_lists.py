"""Lists of neighbours: the rules of radius, local scale and ties on pairs that were measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["Found", "Neighbourhood", "join_lists", "rank_pairs", "symmetrise"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Stands for a distance of 0 where sparse arithmetic drops zeros; no distance is as small.
_ZERO = 5e-324


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


class Found(NamedTuple):
    """A part of the lists: those of some rows, in any order of rows.

    Attributes
    ----------
    members : (m,) index array
        The rows whose lists these are.
    counts : (m,) index array
        Length of each list.
    columns, distances : (p,) arrays
        The lists one after the other, each sorted by column.
    radius, scale, nearest : (m,) arrays
    """

    members: Indices
    counts: Indices
    columns: Indices
    distances: Floats
    radius: Floats
    scale: Floats
    nearest: Floats


def index_type(n: int) -> np.dtype[np.signedinteger]:
    """The smaller integer type that counts to `n`."""
    return np.dtype(np.int32 if n <= np.iinfo(np.int32).max else np.int64)


def rank_distances(ordered: Floats, starts: Indices, k: int) -> Floats:
    """The (k+1)-th smallest distance of each list; where that is 0, the smallest positive one.

    Parameters
    ----------
    ordered : (p,) array
        Lists one after the other, each sorted.
    starts : (n + 1,) index array
        Where each begins; none is empty.
    k : int

    Returns
    -------
    values : (n,) array
        0 only where no distance of the list is positive.
    """
    first, end = starts[:-1], starts[1:]
    values = ordered[np.minimum(first + k, end - 1)]
    positive = first + np.add.reduceat((ordered == 0).astype(np.intp), first)
    distinct = np.where(positive < end, ordered[np.minimum(positive, end - 1)], 0.0)
    return np.where(values > 0, values, distinct)


def rank_pairs(
    members: Indices,
    i: Indices,
    j: Indices,
    distances: Floats,
    *,
    k: int,
    k_scale: int,
    reach: Floats | None = None,
) -> Found:
    """Lists of the pairs within the radius of their row or the reach of their column.

    Parameters
    ----------
    members : (m,) index array
        The rows, by their numbers.
    i : (p,) index array
        Place of each pair's row in `members`; every row has a pair.
    j : (p,) index array
        Training sample of each pair.
    distances : (p,) array
        Measured.
    k, k_scale : int
        Neighbours that set the radius and the local scale.
    reach : (n,) array or None
        Radii of the training samples.
    """
    counts = np.bincount(i, minlength=members.size)
    starts = np.concatenate([[0], np.cumsum(counts)])
    ordered = distances[_sorted_in_lists(i, distances)]
    radius = rank_distances(ordered, starts, k)
    bound = radius[i]
    if reach is not None:
        bound = np.maximum(bound, reach[j])
    kept = np.flatnonzero(distances <= bound)
    kept = kept[_sorted_in_lists(i[kept], j[kept])]
    return Found(
        members,
        np.bincount(i[kept], minlength=members.size),
        j[kept],
        distances[kept],
        radius,
        rank_distances(ordered, starts, k_scale),
        rank_distances(ordered, starts, 0),
    )


def _sorted_in_lists(i: Indices, values: NDArray[Any]) -> NDArray[np.intp]:
    """The order of pairs by row and then by value."""
    by_value = np.argsort(values)
    # NumPy sorts 16-bit integers by counting.
    rows = i[by_value]
    rows = rows.astype(np.uint16) if rows.max(initial=0) < 2**16 else rows
    return by_value[np.argsort(rows, kind="stable")]


def join_lists(parts: Sequence[Found], n: int, n_columns: int) -> Neighbourhood:
    """The lists of all `n` rows, from parts that hold each row once."""
    counts = np.zeros(n, dtype=np.int64)
    radius, scale, nearest = np.empty(n), np.empty(n), np.empty(n)
    for part in parts:
        counts[part.members] = part.counts
        radius[part.members] = part.radius
        scale[part.members] = part.scale
        nearest[part.members] = part.nearest
    starts = np.concatenate([[0], np.cumsum(counts)])
    columns = np.empty(starts[-1], dtype=index_type(n_columns))
    distances = np.empty(starts[-1])
    for part in parts:
        # Each list moves as one run: from where it begins in its part to where its row begins.
        shift = starts[part.members] - (np.cumsum(part.counts) - part.counts)
        place = np.arange(part.columns.size) + np.repeat(shift, part.counts)
        columns[place] = part.columns
        distances[place] = part.distances
    rows = np.repeat(np.arange(n, dtype=index_type(n)), counts)
    return Neighbourhood(rows, columns, distances, radius, scale, nearest)


def symmetrise(found: Neighbourhood) -> csr_array:
    """Distances of all training pairs with d ≤ max(radius_i, radius_j), zeros stored too.

    A sample's list holds the pairs within its own radius; the other half of the rule is the
    transposed list, because a distance is the same bits from both ends.

    Parameters
    ----------
    found : Neighbourhood
        Of the training samples themselves.

    Returns
    -------
    distances : (n, n) csr_array, sorted
    """
    n = found.radius.size
    size = index_type(max(n, 2 * found.rows.size))
    starts = np.searchsorted(found.rows, np.arange(n + 1, dtype=found.rows.dtype)).astype(size)
    held = np.where(found.distances > 0, found.distances, _ZERO)
    one_way = csr_array((held, found.columns.astype(size, copy=False), starts), shape=(n, n))
    both = one_way.maximum(one_way.T.tocsr())
    both.data[both.data == _ZERO] = 0.0
    return both
