"""The window density estimate of two views, with its variance and scale: Eqs. (47) and (48)."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from viewhop._runtime.threads import row_blocks

__all__ = ["parzen_density", "suggested_epsilon", "variance_bound"]

Floats = NDArray[np.float64]


def parzen_density(
    first: ArrayLike, second: ArrayLike, points: ArrayLike, *, epsilon: float
) -> Floats:
    """The multi-view window estimate of the density at points of the first view, (q,).

    Parameters
    ----------
    first, second : (M, d) arrays
        The same samples in two views.
    points : (q, d) array
        Points of the first view.
    epsilon : float
        ε = σ² of both Gaussian windows, which are normalised to integrate to 1.

    Notes
    -----
    Eq. (47), with one sum over samples instead of two: the inner sum is the degree of a sample in
    the second view. With α the density of the second view, the estimate converges to the density
    of the samples at the point times α∘β as ε → 0 and Mε^{1.5d} → ∞.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop import theory
    >>> x = np.random.default_rng(0).uniform(size=(4000, 1))
    >>> theory.parzen_density(x, 1 - x, [[0.3], [0.5]], epsilon=0.002).round(2)
    array([1.  , 0.98])
    """
    X, Y, Q = (np.asarray(a, dtype=np.float64) for a in (first, second, points))
    for rows, name in ((X, "first"), (Y, "second"), (Q, "points")):
        if rows.ndim != 2 or not np.isfinite(rows).all():
            raise ValueError(f"{name} must be a finite (n, d) array, got shape {rows.shape}")
    if X.shape[0] != Y.shape[0] or not X.shape[0]:
        raise ValueError(
            f"the views must have the same number of samples, at least 1, got {X.shape[0]} and "
            f"{Y.shape[0]} samples"
        )
    if Q.shape[1] != X.shape[1]:
        raise ValueError(f"points have {Q.shape[1]} columns, but the first view {X.shape[1]}")
    _check_positive(epsilon, "epsilon")
    degrees = _window_sums(Y, Y, np.ones(Y.shape[0]), epsilon)
    return _window_sums(Q, X, degrees / X.shape[0] ** 2, epsilon)


def variance_bound(
    n_samples: int, dimension: int, *, epsilon: float, density_bound: float = 1.0
) -> float:
    """An upper bound on the variance of the multi-view window estimate, for any point.

    Parameters
    ----------
    n_samples : int
        M, the number of independent samples.
    dimension : int
        d, the dimension of the domain; in the first view the samples are uniform on a unit volume.
    epsilon : float
        ε = σ².
    density_bound : float
        sup α, the largest density of the samples in the second view.

    Notes
    -----
    Eq. (48) with its constants for the normalised Gaussian window:
    8 (4π)^{-d/2} (2π)^{-d} (1 + sup α) / (M ε^{1.5d}). The bound is loose; only its rate is useful.

    Examples
    --------
    >>> from viewhop import theory
    >>> f"{theory.variance_bound(1000, 1, epsilon=0.01):.3f}"
    '0.718'
    """
    M, d = _count(n_samples, "n_samples"), _count(dimension, "dimension")
    _check_positive(epsilon, "epsilon")
    _check_positive(density_bound, "density_bound")
    constant = 8.0 * (4.0 * np.pi) ** (-d / 2) * (2.0 * np.pi) ** (-d)
    return float(constant * (1.0 + density_bound) / (M * epsilon ** (1.5 * d)))


def suggested_epsilon(n_samples: int, dimension: int, *, scale: float = 1.0) -> float:
    """The ε = σ² at which the squared bias and the variance bound shrink at the same rate.

    Parameters
    ----------
    n_samples : int
        M.
    dimension : int
        d, the intrinsic dimension of the data.
    scale : float
        s, the length over which densities vary, in the units of the data.

    Notes
    -----
    s² M^{-2/(4+3d)} balances a squared bias of order ε² with the variance of Eq. (48), of order
    1/(Mε^{1.5d}). It is only a rate: the constant depends on curvature and density, and s
    represents it.

    Examples
    --------
    >>> from viewhop import theory
    >>> [round(theory.suggested_epsilon(n, 2), 3) for n in (100, 10_000)]
    [0.398, 0.158]
    """
    M, d = _count(n_samples, "n_samples"), _count(dimension, "dimension")
    _check_positive(scale, "scale")
    return float(scale**2 * M ** (-2.0 / (4.0 + 3.0 * d)))


def _window_sums(points: Floats, centres: Floats, weights: Floats, epsilon: float) -> Floats:
    """Σ_l w_l N(x; x_l, εI) at each point, in row blocks."""
    volume = (2.0 * np.pi * epsilon) ** (centres.shape[1] / 2)
    sums = np.empty(points.shape[0])
    for block in row_blocks(points.shape[0], centres.shape[0]):
        squares = cdist(points[block], centres, "sqeuclidean")
        sums[block] = np.exp(-squares / (2.0 * epsilon)) @ weights
    sums /= volume
    return sums


def _count(value: int, name: str) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


def _check_positive(value: float, name: str) -> None:
    if not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
