"""Whether a spectrum is that of clusters, of curves, or of sections of a curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SHAPES", "describe_shape"]

Floats = NDArray[np.float64]

#: What the counted clusters are, by the eigenvalues around their number.
SHAPES = {
    "clusters": "the clusters are apart and compact",
    "curves": (
        "the clusters are apart, but each is a curve or a surface; gaps of the eigenvalues do not "
        "count them"
    ),
    "sections": (
        "the eigenvalues fall as along a curve or a surface, so these are sections of it, and no "
        "number of clusters is right"
    ),
    "overlap": "the clusters overlap, and other numbers may be as good",
}

#: On a manifold of dimension d the rates −log λ_j grow as j^{2/d}; in compact clusters they are
#: about equal. This lies between dimension 2 and 3.
CONTINUOUS = 0.8
#: Fewest rates that show a growth.
FEWEST = 5
#: Root mean square of log rates about a power law, below which they follow it.
SMOOTH = 0.15


def describe_shape(eigenvalues: Floats, n_clusters: int, *, is_sure: bool) -> str:
    """What the counted clusters are, a key of `SHAPES`.

    Parameters
    ----------
    eigenvalues : (r,) array
        λ_1 … λ_r, largest first.
    n_clusters : int
        The number k that was chosen.
    is_sure : bool
        Whether a walker mixes within a cluster faster than it leaves it.

    Notes
    -----
    λ_1 … λ_{k−1} are about the walk between the clusters, λ_k and all that follow about what is
    inside them. A curve has rates in proportion to j² (open) or ⌈j/2⌉² (closed).
    """
    tiny = np.finfo(np.float64).eps
    rates = -np.log(np.clip(eigenvalues, tiny, 1.0 - tiny))
    order = np.arange(1.0, len(rates) + 1)
    between, inside = slice(0, n_clusters - 1), slice(n_clusters - 1, None)
    is_section = _follows_curve(rates[between])
    if len(rates[inside]) >= FEWEST:
        is_continuous = _fit_power(order[inside], rates[inside])[0] >= CONTINUOUS
    else:
        is_continuous = is_section
    if is_continuous:
        return "curves" if is_sure and not is_section else "sections"
    return "clusters" if is_sure else "overlap"


def _follows_curve(rates: Floats) -> bool:
    """Whether rates from the first on grow as along an open or a closed curve, or a surface."""
    if len(rates) < FEWEST:
        return False
    order = np.arange(1.0, len(rates) + 1)
    fits = (_fit_power(order, rates), _fit_power(np.ceil(order / 2), rates))
    return any(power >= CONTINUOUS and residual <= SMOOTH for power, residual in fits)


def _fit_power(order: Floats, rates: Floats) -> tuple[float, float]:
    """Exponent of a power law, and the root mean square of its residuals, in logarithms."""
    x, y = np.log(order), np.log(rates)
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(np.sqrt(np.mean(np.square(y - offset - slope * x))))
