"""Weights of views: a view that agrees with the others is visited more often."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["agreement_weights"]

Floats = NDArray[np.float64]

#: The smallest sum of agreements of a view, before scaling: no view is left out altogether.
LEAST = 1e-4


def agreement_weights(agreement: Floats) -> Floats:
    """The weight of each view by its mean agreement with the others, (L,), the largest 1.

    Parameters
    ----------
    agreement : (L, L) array
        Agreement of two views; NaN where there is no evidence. The diagonal is ignored.

    Notes
    -----
    A view without any evidence gets the mean of the others; without evidence anywhere, all weights
    are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.selection import agreement_weights
    >>> agreement_weights(np.array([[1, 0.4, 0.0], [0.4, 1, 0.0], [0.0, 0.0, 1]])).tolist()
    [1.0, 1.0, 0.00025]
    """
    others = np.where(np.eye(len(agreement), dtype=bool), np.nan, agreement)
    known = np.isfinite(others)
    count = known.sum(axis=1)
    if not count.any():
        return np.ones(len(agreement))
    total = np.where(known, others, 0.0).sum(axis=1)
    mean = np.divide(total, count, out=np.zeros(len(count)), where=count > 0)
    weights = np.maximum(mean, LEAST / max(1, len(agreement) - 1))
    weights[count == 0] = weights[count > 0].mean()
    return np.asarray(weights / weights.max())
