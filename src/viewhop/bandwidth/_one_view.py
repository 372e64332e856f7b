"""Scales that depend on one view: from its distances to the σ of its kernel.

"Nearest" always means nearest distinct: equal rows never give a scale of 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from viewhop.kernels import DistanceKernel, Gaussian
from viewhop.neighbours import (
    Points,
    block_distances,
    check_spread,
    distance_matrix,
    find_neighbourhoods,
)
from viewhop.views import Views

__all__ = [
    "choose_rows",
    "choose_scale",
    "constant_view_error",
    "distance_rows",
    "local",
    "log_log",
    "max_min",
    "sample_rows",
]

Floats = NDArray[np.float64]

#: Up to this many samples, the log-log rule sums over all rows; beyond, over a random subset.
ALL_ROWS = 4096


def max_min(X: ArrayLike, factor: float = 1.0) -> float:
    """The scale √C times the largest distance from a sample to its nearest distinct one.

    Parameters
    ----------
    X : (n_samples, n_features) array
    factor : float
        C.

    Notes
    -----
    Eq. (24).

    Examples
    --------
    >>> from viewhop.bandwidth import max_min
    >>> max_min([[0.0], [1.0], [1.0], [4.0]])
    3.0
    """
    points = _points(X)
    neighbours = find_neighbourhoods(points, points, k=1, k_scale=1)
    # A single number for this rule, though `choose_scale` may return one per sample.
    return choose_scale(
        Gaussian("max-min", factor=factor), "X", neighbours.nearest, neighbours.scale, None
    )  # type: ignore[return-value]


def local(X: ArrayLike, n_neighbors: int = 7, *, factor: float = 1.0) -> Floats:
    """One scale per sample: √C times the distance to its `n_neighbors`-th neighbour.

    Parameters
    ----------
    X : (n_samples, n_features) array
    n_neighbors : int
        Clipped to the number of other samples. If that neighbour is a copy of the sample, the
        nearest distinct one counts.
    factor : float
        C.

    Returns
    -------
    scales : (n_samples,) array

    Examples
    --------
    >>> from viewhop.bandwidth import local
    >>> local([[0.0], [1.0], [3.0]], 1)
    array([1., 1., 2.])
    """
    points = _points(X)
    neighbours = find_neighbourhoods(points, points, k=n_neighbors, k_scale=n_neighbors)
    # One number per sample for this rule.
    return choose_scale(
        Gaussian("local", factor=factor), "X", neighbours.nearest, neighbours.scale, None
    )  # type: ignore[return-value]


def log_log(
    X: ArrayLike, *, factor: float = 1.0, random_state: int | np.random.Generator | None = 0
) -> float:
    """The scale √C · σ at which log Σ_ij K_ij(σ) rises most steeply with log σ.

    Parameters
    ----------
    X : (n_samples, n_features) array
    factor : float
        C.
    random_state : int, Generator or None
        Draws a subset of the rows if there are more than 4,096.

    Notes
    -----
    The rule of Coifman, Shkolnisky, Sigworth and Singer (2008): between the scales at which the
    kernel is the identity and at which it is constant, the plot has a linear part.

    Examples
    --------
    >>> from viewhop.bandwidth import log_log
    >>> import numpy as np
    >>> circle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    >>> round(log_log(np.c_[np.cos(circle), np.sin(circle)]), 2)
    0.77
    """
    points = _points(X)
    neighbours = find_neighbourhoods(points, points, k=1, k_scale=1)
    kernel = Gaussian("log-log", factor=factor)
    rows = sample_rows(points, np.random.default_rng(random_state))
    # A single number, as for max-min.
    return choose_scale(kernel, "X", neighbours.nearest, neighbours.scale, lambda: rows)  # type: ignore[return-value]


def _points(X: ArrayLike) -> Points:
    rows = Views([X]).arrays[0]
    check_spread("X", rows)
    return Points(rows)


def choose_rows(n: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """All samples, or a random subset with distance rows that fit into the same memory."""
    if n <= ALL_ROWS:
        return np.arange(n)
    return np.sort(generator.choice(n, ALL_ROWS**2 // n + 1, replace=False))


def distance_rows(points: Points, rows: NDArray[np.intp]) -> Floats:
    """Distances from the given samples to all samples, (n_rows, n)."""
    if rows.size == len(points):
        return np.asarray(distance_matrix(points, np.dtype(np.float64)))
    subset = points.like(points.rows[rows])
    return np.asarray(block_distances(subset, slice(0, rows.size), points), dtype=np.float64)


def sample_rows(points: Points, generator: np.random.Generator) -> Floats:
    """Distances from all samples, or a random subset, to all samples, (n_rows, n)."""
    return distance_rows(points, choose_rows(len(points), generator))


def choose_scale(
    kernel: DistanceKernel,
    name: str,
    nearest: Floats,
    ranked: Floats,
    rows: Callable[[], NDArray[np.floating]] | None,
) -> float | Floats:
    """The scale of a kernel, including its factor: one number, or one per sample.

    Parameters
    ----------
    kernel : DistanceKernel
    name : str
        Name of the view, for error messages.
    nearest : (n,) array
        Smallest positive distance of each sample, 0 if there is none.
    ranked : (n,) array
        Distance to the neighbour that sets a local scale.
    rows : callable or None
        Returns distance rows, for the log-log rule.
    """
    if not nearest.any():
        raise constant_view_error(name, nearest.size)
    scale = float(np.sqrt(kernel.factor)) * _plain_scale(kernel, nearest, ranked, rows)
    least, most = float(np.min(scale)), float(np.max(scale))
    if not least > 0 or not np.isfinite(most):
        size = "underflows to 0" if not least > 0 else "overflows"
        raise ValueError(
            f"the scale of view {name!r}, √factor times the bandwidth, {size} with factor="
            f"{kernel.factor!r} and bandwidth={kernel.bandwidth!r}; pass a factor near 1"
        )
    return scale


def _plain_scale(
    kernel: DistanceKernel,
    nearest: Floats,
    ranked: Floats,
    rows: Callable[[], NDArray[np.floating]] | None,
) -> float | Floats:
    """The scale of a kernel without its factor; see `choose_scale`."""
    if kernel.bandwidth == "max-min":
        return float(nearest.max())
    if kernel.bandwidth == "local":
        return ranked
    if kernel.bandwidth == "log-log":
        assert rows is not None
        return _steepest(kernel, rows(), float(nearest.min()))
    return float(kernel.bandwidth)


def constant_view_error(name: str, n: int) -> ValueError:
    """The error for a view in which all samples are equal."""
    return ValueError(
        f"view {name!r} is constant: all {n} samples are equal, so it has no scale; drop the view"
    )


def _steepest(kernel: DistanceKernel, distances: NDArray[np.floating], smallest: float) -> float:
    """The scale at which d log S / d log σ peaks, with S the sum of the kernel over `distances`."""
    logs = np.log(distances[distances > 0])
    low, high = np.log(smallest), float(logs.max())
    # A histogram of log distances locates the peak to a grid step; exact sums then refine it.
    counts, edges = np.histogram(logs, bins=2048, range=(low, high + 1e-9))
    middles = np.append(np.exp(0.5 * (edges[:-1] + edges[1:])), 0.0)
    counts = np.append(counts, distances.size - logs.size)
    grid = np.linspace(low - 1.0, high + 1.0, 60)

    def rise(log_scale: float, d: NDArray[np.floating], weight: NDArray[np.int64] | float) -> float:
        u = d / np.exp(log_scale)
        values = weight * np.exp(-kernel.exponent(u))
        return float((kernel.slope(u) * values).sum() / values.sum())

    rough = int(np.argmax([rise(at, middles, counts) for at in grid]))
    bracket = grid[max(rough - 1, 0)], grid[min(rough + 1, grid.size - 1)]
    best = minimize_scalar(
        lambda at: -rise(at, distances, 1.0),
        bounds=bracket,
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(np.exp(best.x))
