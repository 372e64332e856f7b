"""The differential operator to which the walk of two views converges: Theorem 7.

The setting can be solved analytically: samples are evenly spaced on a circle, and a second view
stretches the circle. The sums of the theorem then equal integrals up to rounding, so the only
error is that of the expansion in ε.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.affinity import build_affinity
from viewhop.kernels import Precomputed
from viewhop.theory._source import Source, require_walk
from viewhop.walks import HopWalk

__all__ = ["circle_walk", "generator_expansion", "walk_step"]

Floats = NDArray[np.float64]

TURN = 2.0 * np.pi


def circle_walk(first: ArrayLike, second: ArrayLike, *, epsilon: float) -> HopWalk:
    """The walk between two views of samples on circles.

    Parameters
    ----------
    first, second : (M,) arrays
        Angles of the samples in each view.
    epsilon : float
        ε = σ² of both Gaussian kernels, in squared radians.

    Notes
    -----
    Eqs. (13)–(14) and (44) with Gaussians wrapped around the circle.
    """
    views = [_angles(angles, name) for angles, name in ((first, "first"), (second, "second"))]
    if views[0].shape != views[1].shape:
        raise ValueError(f"the views differ in length: {views[0].size} and {views[1].size}")
    if not 0 < epsilon < np.inf:
        raise ValueError(f"epsilon must be a positive number, got {epsilon!r}")
    return HopWalk(
        [
            build_affinity(f"view{k}", Precomputed(), _wrapped_gaussian(angles, epsilon))
            for k, angles in enumerate(views, start=1)
        ]
    )


def walk_step(source: Source, values: ArrayLike) -> Floats:
    """A function on the nodes after one step of the walk, P̂h, in the shape of `values`.

    Parameters
    ----------
    source : fitted estimator or Walk
    values : (n_nodes,) or (n_nodes, b) array
        h, with the views concatenated.

    Notes
    -----
    Eq. (14); Theorem 7 expands this quantity in ε.
    """
    walk = require_walk(source)
    h = np.asarray(values, dtype=np.float64)
    if h.ndim not in (1, 2) or h.shape[0] != walk.n_nodes:
        raise ValueError(
            f"values must have {walk.n_nodes} entries, one per node, got shape {h.shape}"
        )
    return np.asarray((walk @ h) / (walk.degrees if h.ndim == 1 else walk.degrees[:, None]))


def generator_expansion(second: ArrayLike, values: ArrayLike, *, epsilon: float) -> Floats:
    """A function on two circles after one step, to first order in ε, (2M,).

    Parameters
    ----------
    second : (M,) array
        y_i = β(x_i) in radians for x_i = 2πi/M: increasing, by less than a full turn in total.
    values : (2M,) array
        f(x_1), …, f(x_M), g(y_1), …, g(y_M).
    epsilon : float
        ε = σ².

    Returns
    -------
    stepped : (2M,) array
        (P̂g)(x_i) and then (P̂f)(y_i), with an error of order ε².

    Notes
    -----
    Theorem 7, Eqs. (45)–(46), corrected. With the density α of y, γ = gα,

        (P̂g)(x) = g∘β + ε/(2 α∘β) [(Δ_y γ)∘β + Δ_x(γ∘β) − (g∘β)((Δ_y α)∘β + Δ_x(α∘β))]
        (P̂f)(y) = f∘β⁻¹ + ε/2 [(Δ_x f)∘β⁻¹ + (Δ_y(α·f∘β⁻¹) − f∘β⁻¹ Δ_y α)/α].

    The printed εΔγ/α omits the expansion of the degrees and takes both Laplacians in one view; it
    is correct if β is an isometry. Derivatives are computed by FFT over x, with
    d/dy = (1/β′) d/dx and α∘β proportional to 1/β′.

    Examples
    --------
    Halving ε divides the error by about four:

    >>> import numpy as np
    >>> from viewhop import theory
    >>> x = 2 * np.pi * np.arange(300) / 300
    >>> y = x + 0.3 * np.sin(x)
    >>> h = np.concatenate([np.sin(x), np.cos(y)])
    >>> for epsilon in (0.02, 0.01, 0.005):
    ...     measured = theory.walk_step(theory.circle_walk(x, y, epsilon=epsilon), h)
    ...     error = np.abs(measured - theory.generator_expansion(y, h, epsilon=epsilon)).max()
    ...     f"{error:.1e}"
    '1.2e-03'
    '3.2e-04'
    '8.1e-05'
    """
    y = _angles(second, "second")
    f, g = _halves(values, y)
    speed = 1.0 + _derivative(y - TURN * np.arange(y.size) / y.size)
    alpha = 1.0 / speed

    def along_x(u: Floats) -> Floats:
        return _derivative(_derivative(u))

    def along_y(u: Floats) -> Floats:
        return _derivative(_derivative(u) / speed) / speed

    of_alpha = along_y(alpha) + along_x(alpha)
    in_first = (along_y(g * alpha) + along_x(g * alpha) - g * of_alpha) / alpha
    in_second = along_x(f) + (along_y(alpha * f) - f * along_y(alpha)) / alpha
    return np.concatenate([g + 0.5 * epsilon * in_first, f + 0.5 * epsilon * in_second])


def _angles(angles: ArrayLike, place: str) -> Floats:
    array = np.asarray(angles, dtype=np.float64)
    if array.ndim != 1 or array.size < 3 or not np.isfinite(array).all():
        raise ValueError(
            f"the {place} view must be at least three finite angles, got an array of shape "
            f"{array.shape}"
        )
    return array


def _halves(values: ArrayLike, y: Floats) -> tuple[Floats, Floats]:
    """The values f on x and g on y, (M,) each; ValueError unless the angles y increase."""
    h = np.asarray(values, dtype=np.float64)
    if h.shape != (2 * y.size,):
        raise ValueError(f"expected {2 * y.size} values, f on x and then g on y, got {h.shape}")
    if (np.diff(y, append=y[0] + TURN) <= 0).any():
        raise ValueError(
            "the second view must increase around the circle by less than one turn in total; pass "
            "angles that are not reduced modulo 2π"
        )
    f, g = np.split(h, 2)
    return f, g


def _wrapped_gaussian(angles: Floats, epsilon: float) -> Floats:
    """exp(−d²/(2ε)) summed over all turns, (M, M), to rounding."""
    apart = np.abs((angles[:, None] - angles + np.pi) % TURN - np.pi)
    turns = 1 + int(np.ceil(9.0 * np.sqrt(epsilon) / TURN))
    total = np.zeros_like(apart)
    for turn in range(-turns, turns + 1):
        total += np.exp(-np.square(apart + TURN * turn) / (2.0 * epsilon))
    return np.asarray(0.5 * (total + total.T))


def _derivative(u: Floats) -> Floats:
    """du/dx of values on the even grid, by FFT."""
    frequencies = np.fft.rfftfreq(u.size, 1.0 / u.size)
    return np.fft.irfft(1j * frequencies * np.fft.rfft(u), u.size)
