"""How well two coordinates bring back a closed curve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.scores import circular_rank_correlation

__all__ = ["ENOUGH", "Ring", "ring"]

#: A circle counts as recovered from this correlation on.
ENOUGH = 0.99
#: Angles closer than this, in radians, are the same: what rounding leaves of one point.
_SAME = 1e-6


class Ring(NamedTuple):
    """What is left of a closed curve.

    Attributes
    ----------
    correlation : float
        Circular rank correlation of the recovered angles with the true ones.
    gap : float
        The widest angle between neighbours, in degrees: small for a closed curve, large for a bow.
    """

    correlation: float
    gap: float


def ring(embedding: NDArray[np.floating], truth: NDArray[np.floating]) -> Ring:
    """The order of samples around the middle of their embedding, against the true one.

    Parameters
    ----------
    embedding : (n_samples, 2) array
        Samples with NaN are left out.
    truth : (n_samples,) array
        True angles in radians.
    """
    known = np.isfinite(embedding).all(axis=1)
    points = embedding[known] - embedding[known].mean(axis=0)
    angles = np.round(np.arctan2(points[:, 1], points[:, 0]) / _SAME) * _SAME
    around = np.sort(angles)
    steps = np.diff(np.append(around, around[0] + 2 * np.pi))
    return Ring(
        circular_rank_correlation(angles, truth[known]),
        float(np.degrees(steps.max())),
    )
