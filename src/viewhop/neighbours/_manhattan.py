"""Manhattan distances: sums of absolute differences, which no matrix product can give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

__all__ = ["manhattan_block", "manhattan_norms"]

Floats = NDArray[np.float64]


def manhattan_block(rows: NDArray[np.floating], others: NDArray[np.floating]) -> Floats:
    """Sums of absolute differences between two sets of rows, (p, q).

    Parameters
    ----------
    rows, others : (p, d), (q, d) arrays

    Notes
    -----
    All terms have the same sign, so the relative error is at most d half units in the last place,
    whatever the offset of the rows.
    """
    if not len(rows) or not len(others):
        return np.empty((len(rows), len(others)))
    return np.asarray(cdist(rows, others, "cityblock"))


def manhattan_norms(rows: Floats) -> Floats:
    """Sums of absolute values of each row, (n,)."""
    # Summed along contiguous rows: the sum of a row does not depend on the other rows.
    return np.asarray(np.abs(rows).sum(axis=1))
