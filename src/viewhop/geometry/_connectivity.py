"""Whether a walk is in one piece: what separates the pieces, and what would join them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from viewhop.affinity import Affinity, MergedGraph
from viewhop.errors import DisconnectedWarning
from viewhop.kernels import DistanceKernel, Kernel, Precomputed
from viewhop.solvers import quote_views
from viewhop.views import Describe, row_number
from viewhop.walks import Walk

__all__ = [
    "can_add_neighbours",
    "check_reached",
    "count_parts",
    "lost_samples",
    "separate_views",
    "warn_of_pieces",
    "ways_to_join",
]

#: A kernel value relative to those of both samples with themselves below which it joins nothing: a
#: walker that crosses so rarely stays where it is for longer than anybody lets it walk.
NEGLIGIBLE = 1e-6
#: Views that a message names before it counts the others.
NAMED = 4


def lost_samples(walk: Walk) -> NDArray[np.intp]:
    """The samples that the walk does not reach in any view.

    Parameters
    ----------
    walk : Walk
    """
    if walk.is_fused or walk.degrees.all():
        return np.empty(0, dtype=np.intp)
    lost = np.ones(walk.n_samples, dtype=bool)
    for view, degrees in enumerate(walk.blocks(walk.degrees)):
        lost[walk.rows.samples(view)[degrees > 0]] = False
    return np.flatnonzero(lost)


def count_parts(walk: Walk) -> int:
    """The number of pieces of a walk that remain without negligible kernel values.

    Parameters
    ----------
    walk : Walk
    """
    kernels = [_without_negligible(K) for K in walk.kernels]
    return int(walk.rebuild(kernels, walk.rows).pieces().max()) + 1


def _without_negligible(K: Affinity) -> Affinity:
    """A kernel of stored pairs without negligible values; any other as it is."""
    values = K.stored_pairs
    if values is None:
        return K
    root = np.sqrt(values.diagonal())
    rows = np.repeat(np.arange(K.n_samples), np.diff(values.indptr))
    kept = values.copy()
    kept.data[values.data < NEGLIGIBLE * root[rows] * root[values.indices]] = 0.0
    kept.eliminate_zeros()
    return MergedGraph(K.name, Precomputed(), kept, n_jobs=K.n_jobs)


def separate_views(walk: Walk) -> list[list[str]]:
    """Groups of views that no step leads between, however many neighbours the kernels have.

    One group, if the walk can be connected. The walker goes from a view to another at a sample that
    both observed, if the hop matrix lets it.

    Parameters
    ----------
    walk : Walk
    """
    seen = walk.rows.observed.astype(np.int64)
    are_joined = seen.T @ seen > 0
    if walk.hops is not None:
        are_joined &= walk.hops > 0
    count, labels = connected_components(are_joined, directed=False)
    names = np.array([K.name for K in walk.kernels] if walk.hops is not None else walk.names)
    return [names[labels == group].tolist() for group in range(count)]


def can_add_neighbours(kernel: Kernel, n_rows: int) -> bool:
    """Whether a kernel keeps neighbours, and there are more of them than it keeps.

    Parameters
    ----------
    kernel : Kernel
    n_rows : int
        Rows of the view.
    """
    k = kernel.n_neighbors
    return k is not None and not kernel.builds_itself and k < n_rows - 1


def ways_to_join(walk: Walk) -> list[str]:
    """What joins the pieces of a walk, as far as its kernels and its hop matrix allow it.

    Parameters
    ----------
    walk : Walk

    Returns
    -------
    ways : list of str
        Each completes the sentence "to join them, …".
    """
    groups = separate_views(walk)
    if len(groups) > 1:
        return [_way_between(walk, groups)]
    growing = [K for K in walk.affinities if can_add_neighbours(K.kernel, K.n_samples)]
    ways = []
    if growing:
        ways.append("pass connect=True, which adds neighbours until the walk is in one piece")
        ways.append(f"keep more neighbours than {_name_neighbours(growing)}")
    scaled = [
        K for K in walk.affinities if K not in growing and isinstance(K.kernel, DistanceKernel)
    ]
    if scaled:
        ways.append(f"use a larger factor in {_quote_some(scaled)}, whose kernel is almost 0 there")
    given = [K for K in walk.affinities if K not in growing and K not in scaled]
    if given:
        ways.append(
            f"make the kernel of {_quote_some(given)} positive between samples of different pieces"
        )
    return ways


def _way_between(walk: Walk, groups: Sequence[Sequence[str]]) -> str:
    """What lets the walker go between two groups of views that it never leaves."""
    hops = walk.hops
    first, second = groups[0][0], groups[1][0]
    if hops is not None and not (hops - np.diag(np.diagonal(hops))).any():
        return (
            "pass within_view_weight below 1, because the walker stays in the view where it starts"
        )
    if hops is not None:
        place = [K.name for K in walk.kernels]
        if not hops[place.index(first), place.index(second)]:
            return (
                f"make an entry of hops between views {first!r} and {second!r} positive, because "
                "the walker never goes from one to the other"
            )
    return f"add samples that both view {first!r} and view {second!r} observed: they share none"


def _name_neighbours(growing: Sequence[Affinity]) -> str:
    """The numbers of neighbours in use: ``n_neighbors=10``, with the views where they differ."""
    counts = {K.name: K.kernel.n_neighbors for K in growing}
    if len({*counts.values()}) == 1:
        return f"n_neighbors={counts[growing[0].name]}"
    return ", ".join(f"n_neighbors={k} of {name!r}" for name, k in counts.items())


def _quote_some(affinities: Sequence[Affinity]) -> str:
    names = [K.name for K in affinities]
    more = f" and {len(names) - NAMED:,} others" if len(names) > NAMED else ""
    return quote_views(names[:NAMED]) + more


def check_reached(walk: Walk, describe: Describe = row_number) -> None:
    """Raise ValueError if the walk does not reach some sample in any view.

    Parameters
    ----------
    walk : Walk
    describe : callable
        Returns the name of a sample for the message.
    """
    rows = lost_samples(walk)
    if rows.size:
        view = int(np.argmax(walk.rows.observed[rows[0]]))
        raise ValueError(
            f"{describe(int(rows[0]))} was observed by view {walk.names[view]!r}, but neither it "
            "nor its neighbours there were observed by a view that the walker may hop to "
            f"({rows.size} such rows); use more neighbours, or within_view_weight above 0, or drop "
            "these samples"
        )


def warn_of_pieces(
    walk: Walk,
    pieces: NDArray[np.intp],
    *,
    connect: bool = False,
    describe: Describe = row_number,
    stacklevel: int,
) -> None:
    """Warn if the walk is disconnected; raise ValueError if it never leaves a sample.

    Parameters
    ----------
    walk : Walk
    pieces : (n_nodes,) array
        Piece of each node, −1 for a node that the walk does not reach.
    connect : bool
        Whether neighbours were added to connect it, which was then in vain.
    describe : callable
        Returns the name of a sample for the message.
    stacklevel : int
        As in `warnings.warn`, counted from the caller.
    """
    sizes = np.bincount(pieces[pieces >= 0])
    if sizes.size == 1:
        if connect and (n_parts := count_parts(walk)) > 1:
            _warn_of_parts(walk, n_parts, stacklevel=stacklevel + 1)
        return
    advice = f"to join them, {', or '.join(ways_to_join(walk))}"
    if connect:
        advice = f"connect=True cannot join them, because {_why_apart(walk)}; {advice}"
    if sizes.size >= walk.n_samples:
        raise ValueError(
            f"the walk over {quote_views(walk.names)} falls into {sizes.size} pieces, so it never "
            f"leaves a sample; {advice}"
        )
    small = int(np.argmin(sizes))
    n_samples = np.unique(walk.node_samples[pieces == small]).size
    block, sample = walk.where(int(np.argmax(pieces == small)))
    where = f"of {quote_views(walk.names)}" if walk.is_fused else f"in view {walk.names[block]!r}"
    warnings.warn(
        DisconnectedWarning(
            f"the walk falls into {sizes.size} pieces, so {_what_is_shown(walk, sizes.size)}; "
            f"the smallest has {n_samples} "
            f"sample{'s' if n_samples > 1 else ''}, {'such as' if n_samples > 1 else 'which is'} "
            f"{describe(sample)} {where}; {advice}",
            sizes.size,
        ),
        stacklevel=stacklevel + 1,
    )


def _what_is_shown(walk: Walk, n_pieces: int) -> str:
    """What the coordinates of a walk in pieces show."""
    if walk.is_markov:
        return f"the first {n_pieces - 1} coordinates only tell pieces apart"
    return "each coordinate is about one of them, and 0 in the others"


def _warn_of_parts(walk: Walk, n_parts: int, *, stacklevel: int) -> None:
    """Warn that a connected walk hardly ever leaves its parts."""
    warnings.warn(
        DisconnectedWarning(
            f"connect=True cannot join the walk, because {_why_apart(walk)}: it nearly falls into "
            f"{n_parts} pieces, between which the kernel is below {NEGLIGIBLE:g} of that of a "
            f"sample with itself; to join them, {', or '.join(ways_to_join(walk))}",
            n_parts,
        ),
        stacklevel=stacklevel + 1,
    )


def _why_apart(walk: Walk) -> str:
    """Why more neighbours cannot join the pieces of a walk."""
    if len(separate_views(walk)) > 1:
        return "it adds neighbours within views, and no step leads between some views"
    if any(K.kernel.n_neighbors is not None for K in walk.affinities):
        return "all neighbours are in use already"
    return "it adds neighbours, and no kernel here keeps neighbours only"
