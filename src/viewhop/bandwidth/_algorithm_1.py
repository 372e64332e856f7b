"""Algorithm 1 of the paper: the scales of all views, from the sums of their kernel products."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import factorial

from viewhop.bandwidth._one_view import choose_rows, constant_view_error, distance_rows
from viewhop.errors import ScaleWarning
from viewhop.neighbours import Points, check_spread
from viewhop.views import Views, require_rows

__all__ = ["JointScales", "Surface", "common_rows", "joint", "joint_scales"]

Floats = NDArray[np.float64]

#: A slope of at least this share of the steepest one counts as linear.
LINEAR = 0.95
#: Rows and columns of a tile of distances: few enough to stay in cache.
TILE = 256
#: Number of terms that give exp(−x) for x ≤ 1/2 to rounding.
TERMS = 15


class Surface(NamedTuple):
    """log S over the scales of two views.

    Attributes
    ----------
    scales, other_scales : (n_scales,) arrays
        Values of σ_l and σ_m, from kernels that are the identity to kernels that are constant.
    values : (n_scales, n_scales) array
        log Σ_ij (K^l(σ_l) K^m(σ_m))_ij, one row per σ_l.
    """

    scales: Floats
    other_scales: Floats
    values: Floats


class JointScales(NamedTuple):
    """The result of Algorithm 1.

    Attributes
    ----------
    scales : dict of float by view name
        σ_l.
    surfaces : dict of Surface by pair of view names
    slopes : dict of (n_scales, n_scales) arrays by pair of view names
        ∂ log S^{lm} / ∂ log σ_l for the pair (l, m).
    """

    scales: dict[str, float]
    surfaces: dict[tuple[str, str], Surface]
    slopes: dict[tuple[str, str], Floats]


def joint(
    views: Views | list[ArrayLike] | Mapping[str, ArrayLike],
    n_scales: int = 60,
    *,
    random_state: int | np.random.Generator | None = 0,
) -> JointScales:
    """The joint scales of all views, with the surfaces they are read from: Algorithm 1.

    Parameters
    ----------
    views : Views, or list or dict of (n_samples, n_features) arrays
        At least two views.
    n_scales : int
        Number of grid values of each scale, at least 10.
    random_state : int, Generator or None
        Draws a subset of the rows if there are more than 4,096.

    Returns
    -------
    JointScales
        ``scales`` by view name, ``surfaces`` and ``slopes`` by pair of names.

    Warns
    -----
    ScaleWarning
        If the scale of a view is outside the linear range of some slice.

    Notes
    -----
    No kernel product is formed: Σ_ij (K^l K^m)_ij is the dot product of two degree vectors, so a
    surface is the Gram matrix of two tables of degrees, and its slopes are quotients of such
    matrices. For each other view m and each σ_m, the linear range of log S^{lm} over log σ_l is the
    interval around the steepest point in which the slope is at least 95 % of the maximum; σ_l is
    the largest lower end of these ranges, the smallest scale at which all slices are linear.

    Examples
    --------
    >>> import viewhop as vh
    >>> rolls = vh.datasets.make_swiss_rolls(noise=0.1, random_state=0)
    >>> result = vh.bandwidth.joint(rolls.views)
    >>> {name: round(sigma, 1) for name, sigma in result.scales.items()}
    {'x': 17.4, 'y': 17.7}
    """
    generator = np.random.default_rng(random_state)
    all_views = require_rows(Views(views))
    rows = common_rows(all_views, [*all_views.names])
    for name, X in rows.items():
        check_spread(name, X)
    points = {name: Points(X) for name, X in rows.items()}
    return joint_scales(points, n_scales, generator)


def joint_scales(
    points: Mapping[str, Points], n_scales: int, generator: np.random.Generator
) -> JointScales:
    """The joint scales of views with the same samples; see `joint`."""
    if len(points) < 2:
        raise ValueError(
            'the joint bandwidth needs at least two views; use bandwidth="log-log" for one'
        )
    if n_scales < 10:
        raise ValueError(f"n_scales must be at least 10, got {n_scales}")
    n = len(next(iter(points.values())))
    rows = choose_rows(n, generator)
    grids, tables = {}, {}
    for name, samples in points.items():
        distances = distance_rows(samples, rows)
        grids[name] = _grid(name, distances, n_scales)
        tables[name] = _tables(distances, grids[name])
    surfaces, slopes = {}, {}
    for l, m in permutations(points, 2):
        sums = tables[l][0].T @ tables[m][0]
        surfaces[l, m] = Surface(grids[l], grids[m], np.log(sums * (n / rows.size)))
        slopes[l, m] = (tables[l][1].T @ tables[m][0]) / sums
    return JointScales(_scales(grids, slopes), surfaces, slopes)


def _grid(name: str, distances: Floats, n_scales: int) -> Floats:
    """A grid of scales, from a kernel that is the identity to a constant one, (n_scales,).

    The values are evenly spaced in logarithms from the scale at which most samples begin to be
    connected; a fifth of them cover the range of the few closest samples, so that these do not
    make the grid too coarse.
    """
    nearest = distances.min(axis=1, where=distances > 0, initial=np.inf)
    if not np.isfinite(nearest).all():
        raise constant_view_error(name, distances.shape[1])
    least, usual = nearest.min() / 6.0, np.quantile(nearest, 0.05) / 6.0
    below = n_scales // 5 if usual > 4.0 * least else 0
    low = np.geomspace(least, usual, below, endpoint=False)
    start = usual if below else least
    return np.concatenate([low, np.geomspace(start, 20.0 * distances.max(), n_scales - below)])


def _tables(distances: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """Row sums of K and of (d²/σ²) K at each scale, both (n_rows, n_scales).

    If the matrix is square, and hence symmetric, a tile also serves its mirror image.
    """
    n_rows, n = distances.shape
    sums, moments = np.zeros((2, n_rows, grid.size))
    symmetric = n_rows == n
    for top in range(0, n_rows, TILE):
        for left in range(top if symmetric else 0, n, TILE):
            row, column = slice(top, top + TILE), slice(left, left + TILE)
            squares = np.square(distances[row, column])
            # Below the first scale, the whole tile is negligible next to the 1 on the diagonal;
            # from the last one on, the exponential is a short power series.
            first = int(np.searchsorted(grid, np.sqrt(squares.min() / 80.0)))
            last = max(first, int(np.searchsorted(grid, np.sqrt(squares.max()))))
            near, far = slice(first, last), slice(last, grid.size)
            parts = [(near, _exponentials(squares, grid[near])), (far, _powers(squares, grid[far]))]
            for scales, (across, down) in parts:
                sums[row, scales] += across[0]
                moments[row, scales] += across[1]
                if symmetric and left > top:
                    sums[column, scales] += down[0]
                    moments[column, scales] += down[1]
    return sums, moments / grid**2


def _exponentials(squares: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """Sums of K and of d² K over the columns and over the rows of a tile, at each scale.

    Returns
    -------
    across, down : (2, n_rows, n_scales) and (2, n_columns, n_scales) arrays
    """
    across, down = (np.empty((2, size, grid.size)) for size in squares.shape)
    kernel, weighted = np.empty_like(squares), np.empty_like(squares)
    for k, sigma in enumerate(grid):
        np.multiply(squares, -0.5 / sigma / sigma, out=kernel)
        np.maximum(kernel, -700.0, out=kernel)  # exp is slow if it underflows
        np.exp(kernel, out=kernel)
        np.multiply(squares, kernel, out=weighted)
        for row, values in enumerate((kernel, weighted)):
            # Not with BLAS: on tiles this small its threads only wait for each other.
            across[row, :, k] = np.einsum("ij->i", values)
            down[row, :, k] = values.sum(axis=0)
    return across, down


def _powers(squares: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """The same for d² ≤ σ², from the series of exp(−x) with x = d²/2σ² ≤ 1/2."""
    largest = float(squares.max())
    shares = squares / largest if largest > 0 else squares
    power = np.ones_like(squares)
    across, down = (np.empty((size, TERMS + 1)) for size in squares.shape)
    for k in range(TERMS + 1):
        across[:, k] = np.einsum("ij->i", power)
        down[:, k] = power.sum(axis=0)
        np.multiply(power, shares, out=power)
    orders = np.arange(TERMS)
    series = (-0.5 * largest / grid**2) ** orders[:, None] / factorial(orders)[:, None]

    def evaluate(table: Floats) -> Floats:
        return np.stack([table[:, :-1] @ series, largest * (table[:, 1:] @ series)])

    return evaluate(across), evaluate(down)


def _scales(
    grids: Mapping[str, Floats], slopes: Mapping[tuple[str, str], Floats]
) -> dict[str, float]:
    """The scale of each view: the largest lower end of its linear ranges."""
    scales = {}
    for name, grid in grids.items():
        ranges = {
            (other, k): _linear_range(np.log(grid), slope[:, k])
            for (view, other), slope in slopes.items()
            if view == name
            for k in range(grid.size)
        }
        best = max(low for low, _ in ranges.values())
        outside = [place for place, (_, high) in ranges.items() if best > high]
        if outside:
            other, k = outside[0]
            warnings.warn(
                ScaleWarning(
                    f"the joint scale {np.exp(best):.3g} of view {name!r} is beyond the linear "
                    f"range of {len(outside)} slices (one at scale {grids[other][k]:.3g} of view "
                    f"{other!r}): no scale is linear in all of them",
                ),
                stacklevel=4,
            )
        scales[name] = float(np.exp(best))
    return scales


def _linear_range(logs: Floats, slope: Floats) -> tuple[float, float]:
    """Interpolated ends, in log σ, of the interval around the peak with slope ≥ 95 % of it."""
    peak = int(np.argmax(slope))
    level = LINEAR * slope[peak]
    below = np.flatnonzero(slope < level)
    before, after = below[below < peak], below[below > peak]
    low, high = float(logs[0]), float(logs[-1])
    if before.size:
        k = before[-1]
        low = float(np.interp(level, slope[k : k + 2], logs[k : k + 2]))
    if after.size:
        k = after[0]
        high = float(np.interp(level, slope[[k, k - 1]], logs[[k, k - 1]]))
    return low, high


def common_rows(views: Views, names: list[str]) -> dict[str, NDArray[np.floating]]:
    """The rows of the samples that all of the named views observed, one row per sample."""
    if views.is_complete:
        return {name: views.rows(name) for name in names}
    columns = [views.names.index(name) for name in names]
    is_common = np.asarray(views.observed[:, columns].all(axis=1))
    if is_common.sum() < 3:
        raise ValueError(
            'bandwidth="joint" needs at least 3 samples that all of its views '
            f"({', '.join(names)}) observed, and these are {is_common.sum()}; use another rule"
        )
    rows = {}
    for name in names:
        samples, first = np.unique(views.samples(name), return_index=True)
        rows[name] = views.rows(name)[first[is_common[samples]]]
    return rows
