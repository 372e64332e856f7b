"""Errors and warnings about disconnected walks and samples that they do not reach."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import DisconnectedWarning
from viewhop.solvers._rank import quote_views
from viewhop.views import row_number
from viewhop.walks import Walk

__all__ = ["check_reached", "warn_of_pieces"]

#: Returns the name of a sample for a message.
Describe: TypeAlias = Callable[[int], str]


def check_reached(walk: Walk, describe: Describe = row_number) -> None:
    """Raise ValueError if the walk does not reach some sample in any view.

    Parameters
    ----------
    walk : Walk
    describe : callable
        Returns the name of a sample for the message.
    """
    if walk.is_fused or walk.degrees.all():
        return
    lost = np.ones(walk.n_samples, dtype=bool)
    blocks = walk.blocks(walk.degrees)
    for view, degrees in enumerate(blocks):
        lost[walk.rows.samples(view)[degrees > 0]] = False
    rows = np.flatnonzero(lost)
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
    describe: Describe = row_number,
    stacklevel: int,
) -> None:
    """Warn if the walk is disconnected; raise ValueError if it never leaves a sample.

    Parameters
    ----------
    walk : Walk
    pieces : (n_nodes,) array
        Piece of each node, −1 for a node that the walk does not reach.
    describe : callable
        Returns the name of a sample for the message.
    stacklevel : int
        As in `warnings.warn`, counted from the caller.
    """
    sizes = np.bincount(pieces[pieces >= 0])
    if sizes.size == 1:
        return
    if sizes.size >= walk.n_samples:
        raise ValueError(
            f"the walk over {quote_views(walk.names)} falls into {sizes.size} pieces, so it never "
            "leaves a sample; raise the bandwidth (factor) or n_neighbors"
        )
    small = int(np.argmin(sizes))
    block, sample = walk.where(int(np.argmax(pieces == small)))
    where = f"of {quote_views(walk.names)}" if walk.is_fused else f"in view {walk.names[block]!r}"
    warnings.warn(
        DisconnectedWarning(
            f"the walk falls into {sizes.size} pieces, so the first {sizes.size - 1} coordinates "
            f"only tell pieces apart; the smallest has {sizes[small]} nodes, among them "
            f"{describe(sample)} {where}; a larger bandwidth, more neighbours or "
            "within_view_weight below 1 may join them",
            sizes.size,
        ),
        stacklevel=stacklevel + 1,
    )
