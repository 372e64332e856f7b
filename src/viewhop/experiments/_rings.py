"""Recovery of a closed curve from two coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.scores import circular_rank_correlation

__all__ = ["CLOSED", "ENOUGH", "Ring", "ring"]

#: Minimum correlation for a circle to count as recovered.
ENOUGH = 0.99
#: Minimum share of a turn for a curve to count as closed.
CLOSED = 0.97
#: Angles closer than this, in radians, count as equal: coincident points differ by rounding.
_SAME = 1e-6


class Ring(NamedTuple):
    """Scores of a recovered closed curve.

    Attributes
    ----------
    correlation : float
        Circular rank correlation of the recovered angles with the true ones.
    gap : float
        The widest angle between neighbours, in degrees: small for a closed curve, large for a bow.
    """

    correlation: float
    gap: float

    @property
    def closed(self) -> float:
        """Share of a turn that the curve closes: 1 without its widest gap."""
        return 1.0 - self.gap / 360.0

    @property
    def is_circle(self) -> bool:
        """Whether it is a closed curve in the order of the true angles."""
        return self.correlation >= ENOUGH and self.closed >= CLOSED


def ring(embedding: NDArray[np.floating], truth: NDArray[np.floating]) -> Ring:
    """Scores of the order of samples around the centre of their embedding.

    Parameters
    ----------
    embedding : (n_samples, 2) array
        Samples with NaN are left out.
    truth : (n_samples,) array
        True angles in radians.
    """
    is_placed = np.isfinite(embedding).all(axis=1)
    points = embedding[is_placed] - embedding[is_placed].mean(axis=0)
    angles = np.round(np.arctan2(points[:, 1], points[:, 0]) / _SAME) * _SAME
    around = np.sort(angles)
    steps = np.diff(np.append(around, around[0] + 2 * np.pi))
    return Ring(
        circular_rank_correlation(angles, truth[is_placed]),
        float(np.degrees(steps.max())),
    )
