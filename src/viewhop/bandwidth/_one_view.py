"""Scales that depend on one view: from its distances to the σ of its kernel.

"Nearest" always means nearest distinct: equal rows never give a scale of 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop._runtime.threads import row_blocks
from viewhop.bandwidth._log_log import Histogram, find_peak
from viewhop.errors import ScaleWarning
from viewhop.kernels import DistanceKernel, Gaussian
from viewhop.neighbours import (
    Points,
    block_distances,
    check_spread,
    distance_matrix,
    find_neighbourhoods,
    plain_points,
)
from viewhop.views import Views

__all__ = [
    "choose_rows",
    "choose_scale",
    "constant_view_error",
    "count_distances",
    "distance_rows",
    "local",
    "log_log",
    "max_min",
]

Floats = NDArray[np.float64]

#: Up to this many samples, Algorithm 1 sums over all rows; beyond, over a random subset.
ALL_ROWS = 4096
#: Up to this many samples, the log-log rule counts all distances; beyond, as many from a random
#: subset of rows, in this many groups.
ALL_PAIRS = 8192
GROUPS = 16
#: Standard error of log σ above which a scale by the log-log rule is uncertain.
UNCERTAIN = 0.05


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


@overload
def log_log(
    X: ArrayLike,
    *,
    factor: float = ...,
    random_state: int | np.random.Generator | None = ...,
    return_error: Literal[False] = ...,
) -> float: ...


@overload
def log_log(
    X: ArrayLike,
    *,
    factor: float = ...,
    random_state: int | np.random.Generator | None = ...,
    return_error: Literal[True],
) -> tuple[float, float]: ...


def log_log(
    X: ArrayLike,
    *,
    factor: float = 1.0,
    random_state: int | np.random.Generator | None = 0,
    return_error: bool = False,
) -> float | tuple[float, float]:
    """The scale √C · σ at which log Σ_ij K_ij(σ) rises most steeply with log σ.

    Parameters
    ----------
    X : (n_samples, n_features) array
    factor : float
        C.
    random_state : int, Generator or None
        Draws a subset of the rows if there are more than 8,192.
    return_error : bool
        Whether to return the standard error of the scale, too: 0 if all pairs were counted.

    Returns
    -------
    scale : float
    error : float
        Only if `return_error`. By the jackknife over groups of rows.

    Warns
    -----
    ScaleWarning
        If the standard error exceeds 5 % of the scale: the sum rises almost equally over many
        scales, as it does on a curve.

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
    nearest = neighbours.nearest
    unit = float(nearest[nearest > 0].min(initial=np.inf))
    histogram = count_distances(points, unit, np.random.default_rng(random_state))
    # A single number, as for max-min.
    scale: float = choose_scale(kernel, "X", nearest, neighbours.scale, lambda unit: histogram)  # type: ignore[assignment]
    return (scale, scale * find_peak(kernel, histogram).error) if return_error else scale


def _points(X: ArrayLike) -> Points:
    views = Views([X])
    rows = views.rows(views.names[0])
    check_spread("X", rows)
    return plain_points(rows)


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


def count_distances(points: Points, unit: float, generator: np.random.Generator) -> Histogram:
    """Histogram of all distances, or of those from a random subset to all samples.

    Parameters
    ----------
    points : Points
    unit : float
        Smallest positive distance.
    generator : Generator
        Draws the subset, if there are more than 8,192 samples.
    """
    n = len(points)
    rows = np.arange(n)
    if n > ALL_PAIRS:
        rows = generator.choice(n, ALL_PAIRS**2 // n + 1, replace=False)
    groups = np.array_split(rows, 1 if n <= ALL_PAIRS else min(GROUPS, rows.size))
    histogram = Histogram(np.dtype(np.float64), unit, len(groups))
    for group, members in enumerate(groups):
        for part in row_blocks(members.size, n):
            histogram.add(histogram.count(distance_rows(points, members[part])), group=group)
    return histogram


def choose_scale(
    kernel: DistanceKernel,
    name: str,
    nearest: Floats,
    ranked: Floats,
    count: Callable[[float], Histogram] | None,
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
    count : callable or None
        Returns a histogram of distances in a given unit, for the log-log rule.
    """
    if not nearest.any():
        raise constant_view_error(name, nearest.size)
    scale = float(np.sqrt(kernel.factor)) * _plain_scale(kernel, name, nearest, ranked, count)
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
    name: str,
    nearest: Floats,
    ranked: Floats,
    count: Callable[[float], Histogram] | None,
) -> float | Floats:
    """The scale of a kernel without its factor; see `choose_scale`."""
    if kernel.bandwidth == "max-min":
        return float(nearest.max())
    if kernel.bandwidth == "local":
        return ranked
    if kernel.bandwidth == "log-log":
        assert count is not None
        scale, error = find_peak(kernel, count(float(nearest[nearest > 0].min())))
        if error > UNCERTAIN:
            warnings.warn(
                ScaleWarning(
                    f"the log-log scale of view {name!r}, {scale:.3g}, is uncertain by "
                    f"{error:.0%}: the sum of the kernel rises almost equally over many scales, "
                    "and only some of the rows were counted; pass a bandwidth, or use another rule"
                ),
                stacklevel=2,
            )
        return scale
    return float(kernel.bandwidth)


def constant_view_error(name: str, n: int) -> ValueError:
    """The error for a view in which all samples are equal."""
    return ValueError(
        f"view {name!r} is constant: all {n} samples are equal, so it has no scale; drop the view"
    )
