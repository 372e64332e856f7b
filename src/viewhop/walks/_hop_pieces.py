"""Connected pieces of the hop walk, from graphs of linear size.

Each observation has a node and a hub, the point between the two kernel steps. They are joined,
because kernels are positive on the diagonal, and so are all nodes that a kernel connects. Two hubs
of a sample are joined if the walker can hop between their views.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from viewhop.affinity import Affinity
from viewhop.views import RowMap

__all__ = ["hop_pieces"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


def hop_pieces(kernels: Sequence[Affinity], hops: Floats, rows: RowMap, degrees: Floats) -> Labels:
    """Connected piece of each node, numbered from 0, (n_nodes,); −1 for a node of degree 0.

    Parameters
    ----------
    kernels : sequence of Affinity
        One per block of nodes.
    hops : (n_blocks, n_blocks) array
    rows : RowMap
        Which samples their rows belong to.
    degrees : (n_nodes,) array
    """
    return (
        _whole_pieces(kernels, hops) if rows.is_whole else _row_pieces(kernels, hops, rows, degrees)
    )


def _whole_pieces(kernels: Sequence[Affinity], hops: Floats) -> Labels:
    """The pieces if every block has a node for every sample."""
    # A pattern is symmetric, so its components are its strong components, which need no transpose.
    parts = [connected_components(K.pattern(), connection="strong") for K in kernels]
    first = np.cumsum([0, *(count for count, _ in parts)])
    labels = [label + start for (_, label), start in zip(parts, first[:-1], strict=True)]
    keys = [
        np.unique(labels[l].astype(np.int64) * first[-1] + labels[m])
        for l, m in combinations(range(len(kernels)), 2)
        if hops[l, m] > 0
    ]
    edges = np.divmod(np.concatenate([np.empty(0, dtype=np.int64), *keys]), first[-1])
    graph = coo_array((np.ones(edges[0].size), edges), shape=(first[-1], first[-1]))
    joined = connected_components(graph, directed=False)[1]
    return np.unique(joined[np.concatenate(labels)], return_inverse=True)[1]


def _row_pieces(kernels: Sequence[Affinity], hops: Floats, rows: RowMap, degrees: Floats) -> Labels:
    """The pieces of incomplete views: nodes are joined to hubs that the walker can leave."""
    n, n_blocks, starts = degrees.size, len(kernels), rows.starts
    live = rows.live(hops)
    parts = [K.pattern(mask).tocoo() for K, mask in zip(kernels, live, strict=True)]
    # Nodes first, then the hubs of the rows, then one hub per pair of views of a sample.
    ends = [
        (part.row + start, part.col + start + n)
        for part, start in zip(parts, starts[:-1], strict=True)
    ]
    for l in range(n_blocks):
        samples = rows.samples(l)
        hub = np.arange(samples.size)[live[l]] + starts[l] + n
        for m in np.flatnonzero(hops[l] > 0).tolist():
            pair = min(l, m) * n_blocks + max(l, m)
            ends.append((hub, 2 * n + pair * rows.n_samples + samples[live[l]]))
    i, j = (np.concatenate(side) for side in zip(*ends, strict=True))
    size = 2 * n + n_blocks**2 * rows.n_samples
    graph = coo_array((np.ones(i.size, dtype=bool), (i, j)), shape=(size, size))
    labels = connected_components(graph, directed=False)[1][:n]
    reached = degrees > 0
    pieces = np.full(n, -1, dtype=np.intp)
    pieces[reached] = np.unique(labels[reached], return_inverse=True)[1]
    return pieces
