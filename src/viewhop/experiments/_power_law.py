"""Estimation of the exponent of a power law."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["exponent"]


def exponent(at: ArrayLike, values: ArrayLike) -> float:
    """Exponent p of values ≈ c·at^p, by least squares in logarithms.

    Parameters
    ----------
    at, values : (n,) arrays
        Positive numbers.

    Examples
    --------
    >>> from viewhop.experiments._power_law import exponent
    >>> round(exponent([1, 2, 4], [3, 12, 48]), 12)
    2.0
    """
    return float(np.polyfit(np.log(at), np.log(values), 1)[0])
