"""Lists of neighbours: the rules for radius, local scale and ties of measured pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = [
    "Neighbourhood",
    "PartialLists",
    "index_type",
    "join_lists",
    "rank_distances",
    "rank_pairs",
    "symmetrise",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Replaces a distance of 0, which sparse arithmetic would drop; smaller than any distance.
_ZERO = 5e-324
#: Relative difference of two distances up to which they count as equal.
TIED = 1e-6


class Neighbourhood(NamedTuple):
    """Neighbours of some rows among the training samples, sorted by row and column.

    Attributes
    ----------
    rows, columns : (p,) index arrays
    distances : (p,) array
    inner : (n,) array
        Distance to the (k_inner+1)-th nearest training sample, counting the row itself if it is a
        training sample; if that distance is 0, the smallest positive one.
    radius : (n,) array
        The same for k. If both are about the same, they are set equal, and wider by the slack of
        the row.
    scale : (n,) array
        The same with the number of neighbours for local scales.
    nearest : (n,) array
        Smallest positive distance.
    """

    rows: Indices
    columns: Indices
    distances: Floats
    inner: Floats
    radius: Floats
    scale: Floats
    nearest: Floats


class PartialLists(NamedTuple):
    """The lists of some rows, in any order of rows.

    Attributes
    ----------
    members : (m,) index array
        The rows that the lists belong to.
    counts : (m,) index array
        Length of each list.
    columns, distances : (p,) arrays
        The concatenated lists, each sorted by column.
    inner, radius, scale, nearest : (m,) arrays
    """

    members: Indices
    counts: Indices
    columns: Indices
    distances: Floats
    inner: Floats
    radius: Floats
    scale: Floats
    nearest: Floats


def index_type(n: int) -> np.dtype[np.signedinteger]:
    """The smaller of int32 and int64 that can represent `n`."""
    return np.dtype(np.int32 if n <= np.iinfo(np.int32).max else np.int64)


def rank_distances(ordered: Floats, starts: Indices, k: int) -> Floats:
    """The (k+1)-th smallest distance of each list; if that is 0, the smallest positive one.

    Parameters
    ----------
    ordered : (p,) array
        The concatenated lists, each sorted.
    starts : (n + 1,) index array
        Start of each list; no list is empty.
    k : int

    Returns
    -------
    values : (n,) array
        0 only if no distance in the list is positive.
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
    k_inner: int | None = None,
    slack: Floats | float = 0.0,
    reach: Floats | None = None,
) -> PartialLists:
    """Lists of the pairs within the radius of their row or the reach of their column.

    Parameters
    ----------
    members : (m,) index array
        Indices of the rows.
    i : (p,) index array
        Position of each pair's row in `members`; every row has a pair.
    j : (p,) index array
        Training sample of each pair.
    distances : (p,) array
        Distance of each pair.
    k, k_scale : int
        Number of neighbours that set the radius and the local scale.
    k_inner : int or None
        Number of neighbours that set the inner radius; None is k.
    slack : (m,) array or 0
        Distance by which rounding of a row may move it across a radius.
    reach : (n,) array or None
        Radii of the training samples.
    """
    counts = np.bincount(i, minlength=members.size)
    starts = np.concatenate([[0], np.cumsum(counts)])
    ordered = distances[_order_in_lists(i, distances)]
    slack = np.broadcast_to(slack, members.shape)
    inner = rank_distances(ordered, starts, k if k_inner is None else k_inner)
    radius = rank_distances(ordered, starts, k)
    # Both radii are the same where they differ by little more than rounding.
    is_tied = radius - inner <= TIED * radius + slack
    radius = np.where(is_tied, radius + slack, radius)
    inner = np.where(is_tied, radius, inner)
    bound = radius[i]
    if reach is not None:
        bound = np.maximum(bound, reach[j] + slack[i])
    kept = np.flatnonzero(distances <= bound)
    kept = kept[_order_in_lists(i[kept], j[kept])]
    return PartialLists(
        members,
        np.bincount(i[kept], minlength=members.size),
        j[kept],
        distances[kept],
        inner,
        radius,
        rank_distances(ordered, starts, k_scale),
        rank_distances(ordered, starts, 0),
    )


def _order_in_lists(i: Indices, values: NDArray[Any]) -> NDArray[np.intp]:
    """Indices that sort the pairs by row, and by value within a row."""
    by_value = np.argsort(values)
    # NumPy uses a radix sort for 16-bit integers.
    rows = i[by_value]
    rows = rows.astype(np.uint16) if rows.max(initial=0) < 2**16 else rows
    return by_value[np.argsort(rows, kind="stable")]


def join_lists(parts: Sequence[PartialLists], n: int, n_columns: int) -> Neighbourhood:
    """The lists of all `n` rows, from parts that contain each row once."""
    counts = np.zeros(n, dtype=np.int64)
    inner, radius, scale, nearest = (np.empty(n) for _ in range(4))
    for part in parts:
        counts[part.members] = part.counts
        inner[part.members] = part.inner
        radius[part.members] = part.radius
        scale[part.members] = part.scale
        nearest[part.members] = part.nearest
    starts = np.concatenate([[0], np.cumsum(counts)])
    columns = np.empty(starts[-1], dtype=index_type(n_columns))
    distances = np.empty(starts[-1])
    for part in parts:
        # Each list is one run: it moves from its start in the part to the start of its row.
        shift = starts[part.members] - (np.cumsum(part.counts) - part.counts)
        place = np.arange(part.columns.size) + np.repeat(shift, part.counts)
        columns[place] = part.columns
        distances[place] = part.distances
    rows = np.repeat(np.arange(n, dtype=index_type(n)), counts)
    return Neighbourhood(rows, columns, distances, inner, radius, scale, nearest)


def symmetrise(neighbours: Neighbourhood) -> csr_array:
    """Distances of all training pairs with d ≤ max(radius_i, radius_j), with explicit zeros.

    The list of a sample has the pairs within its own radius; the transposed lists add the other
    half of the rule, because a distance has the same bits from both ends.

    Parameters
    ----------
    neighbours : Neighbourhood
        Neighbours of the training samples among themselves.

    Returns
    -------
    distances : (n, n) csr_array, sorted
    """
    n = neighbours.radius.size
    size = index_type(max(n, 2 * neighbours.rows.size))
    starts = np.searchsorted(neighbours.rows, np.arange(n + 1, dtype=neighbours.rows.dtype)).astype(
        size
    )
    data = np.where(neighbours.distances > 0, neighbours.distances, _ZERO)
    one_way = csr_array((data, neighbours.columns.astype(size, copy=False), starts), shape=(n, n))
    both = one_way.maximum(one_way.T.tocsr())
    both.data[both.data == _ZERO] = 0.0
    return both
