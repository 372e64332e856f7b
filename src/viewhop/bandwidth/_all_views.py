"""Scales that depend on all views: connected samples, and Algorithm 1 of the paper."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import factorial
from sklearn.base import clone

from viewhop.bandwidth._one_view import (
    choose_rows,
    choose_scale,
    constant_view_error,
    distance_rows,
)
from viewhop.errors import ScaleWarning
from viewhop.kernels import DistanceKernel, Gaussian, Kernel
from viewhop.neighbours import FeatureMap, Points, find_neighbourhoods
from viewhop.views import Views

__all__ = ["JointScales", "Surface", "connected", "joint", "resolve_scales"]

Floats = NDArray[np.float64]

#: Share of the steepest slope that still counts as the linear part.
LINEAR = 0.95
#: Rows and columns of a tile of distances: few enough to stay in cache.
TILE = 256
#: Terms of the exponential series that leave nothing of exp(−1/2) to rounding.
TERMS = 15


def connected(views: Views | list[ArrayLike] | Mapping[str, ArrayLike]) -> dict[str, float]:
    """The smallest scales, by view, that leave every sample connected in some view.

    Parameters
    ----------
    views : Views, or list or dict of (n_samples, n_features) arrays

    Notes
    -----
    Samples are connected in view l where their distance is at most σ_l. With n_l(i) the distance
    to the nearest distinct sample and m_l its maximum (Eq. (24) with C = 1), σ_l² = C m_l² with
    one C = max_i min_l n_l(i)² / m_l² for all views, after Dov, Talmon and Cohen (2016), who
    search for it.

    Examples
    --------
    >>> from viewhop.bandwidth import connected
    >>> connected([[[0.0], [1.0], [4.0]], [[0.0], [2.0], [3.0]]])
    {'view1': 1.5, 'view2': 1.0}
    """
    given = Views(views)
    return _connected({name: Points(given.rows(name)) for name in given.names}, given)


def _connected(points: Mapping[str, Points], views: Views) -> dict[str, float]:
    nearest = {name: _nearest(name, held) for name, held in points.items()}
    share = np.full(len(views), np.inf)  # of the views that observed a sample
    for name, found in nearest.items():
        np.minimum.at(share, views.samples(name), found / found.max())
    root = float(share[np.isfinite(share)].max())
    return {name: root * float(found.max()) for name, found in nearest.items()}


def _nearest(name: str, points: Points) -> Floats:
    """Distance of each sample to its nearest distinct one, (n,)."""
    found = find_neighbourhoods(points, points, k=1, k_scale=1)
    choose_scale(Gaussian(), name, found.nearest, found.scale, None)  # refuses a constant view
    return found.nearest


class Surface(NamedTuple):
    """log S over the scales of two views.

    Attributes
    ----------
    scales, other_scales : (n_scales,) arrays
        Values of σ_l and σ_m, from where the kernels are the identity to where they are constant.
    values : (n_scales, n_scales) array
        log Σ_ij (K^l(σ_l) K^m(σ_m))_ij, one row per σ_l.
    """

    scales: Floats
    other_scales: Floats
    values: Floats


class JointScales(NamedTuple):
    """What Algorithm 1 finds.

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
    """The scales of all views together, with the surfaces they are read from: Algorithm 1.

    Parameters
    ----------
    views : Views, or list or dict of (n_samples, n_features) arrays
        At least two.
    n_scales : int
        Grid values of each scale, at least 10.
    random_state : int, Generator or None
        Draws the rows that stand for all where there are more than 4,096.

    Returns
    -------
    JointScales
        ``scales`` by view name, ``surfaces`` and ``slopes`` by pair of names.

    Warns
    -----
    ScaleWarning
        If the scale of a view lies beyond the linear range of some slice.

    Notes
    -----
    No kernel product is formed: Σ_ij (K^l K^m)_ij is the dot product of two degree vectors, so a
    surface is the Gram matrix of two tables of degrees, and its slopes in closed form are quotients
    of such matrices. For each other view m and each σ_m the linear range of log S^{lm} over
    log σ_l is the run around the steepest point where the slope is at least 95 % of it; σ_l is the
    largest lower end of these ranges, the smallest scale at which all slices are linear.

    Examples
    --------
    >>> import viewhop as vh
    >>> rolls = vh.datasets.make_swiss_rolls(noise=0.1, random_state=0)
    >>> found = vh.bandwidth.joint(rolls.views)
    >>> {name: round(sigma, 1) for name, sigma in found.scales.items()}
    {'x': 17.4, 'y': 17.7}
    """
    generator = np.random.default_rng(random_state)
    given = Views(views)
    points = {name: Points(X) for name, X in _common(given, [*given.names]).items()}
    return _joint(points, n_scales, generator)


def _joint(
    points: Mapping[str, Points], n_scales: int, generator: np.random.Generator
) -> JointScales:
    if len(points) < 2:
        raise ValueError(
            'the joint bandwidth needs at least two views; use bandwidth="log-log" for one'
        )
    if n_scales < 10:
        raise ValueError(f"n_scales must be at least 10, not {n_scales}")
    n = len(next(iter(points.values())))
    rows = choose_rows(n, generator)
    grids, tables = {}, {}
    for name, held in points.items():
        distances = distance_rows(held, rows)
        grids[name] = _grid(name, distances, n_scales)
        tables[name] = _tables(distances, grids[name])
    surfaces, slopes = {}, {}
    for l, m in permutations(points, 2):
        sums = tables[l][0].T @ tables[m][0]
        surfaces[l, m] = Surface(grids[l], grids[m], np.log(sums * (n / rows.size)))
        slopes[l, m] = (tables[l][1].T @ tables[m][0]) / sums
    return JointScales(_scales(grids, slopes), surfaces, slopes)


def _grid(name: str, distances: Floats, n_scales: int) -> Floats:
    """Scales from where the kernel is the identity to where it is constant.

    Even in logarithms where most samples begin to see each other; a fifth of the values reach
    down to the few that are much closer, which would spread the others too thin.
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

    Where the matrix is square, and so symmetric, a tile serves its mirror image too.
    """
    n_rows, n = distances.shape
    sums, moments = np.zeros((2, n_rows, grid.size))
    symmetric = n_rows == n
    for top in range(0, n_rows, TILE):
        for left in range(top if symmetric else 0, n, TILE):
            row, column = slice(top, top + TILE), slice(left, left + TILE)
            squares = np.square(distances[row, column])
            # Below the first scale the whole tile is lost to rounding beside the 1 of the diagonal;
            # from the last on, the exponential is a short sum of powers.
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
        np.maximum(kernel, -700.0, out=kernel)  # exp is slow where it underflows
        np.exp(kernel, out=kernel)
        np.multiply(squares, kernel, out=weighted)
        for place, values in enumerate((kernel, weighted)):
            # Not by BLAS, whose threads only wait for each other on tiles this small.
            across[place, :, k] = np.einsum("ij->i", values)
            down[place, :, k] = values.sum(axis=0)
    return across, down


def _powers(squares: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """The same where d² ≤ σ², by the series of exp(−x) with x = d²/2σ² ≤ 1/2."""
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

    def evaluated(table: Floats) -> Floats:
        return np.stack([table[:, :-1] @ series, largest * (table[:, 1:] @ series)])

    return evaluated(across), evaluated(down)


def _scales(
    grids: Mapping[str, Floats], slopes: Mapping[tuple[str, str], Floats]
) -> dict[str, float]:
    """The largest lower end of the linear ranges of each view."""
    found = {}
    for name, grid in grids.items():
        ranges = {
            (other, k): _linear_range(np.log(grid), slope[:, k])
            for (view, other), slope in slopes.items()
            if view == name
            for k in range(grid.size)
        }
        best = max(low for low, _ in ranges.values())
        beyond = [where for where, (_, high) in ranges.items() if best > high]
        if beyond:
            other, k = beyond[0]
            warnings.warn(
                ScaleWarning(
                    f"the joint scale {np.exp(best):.3g} of view {name!r} lies beyond the linear "
                    f"range of {len(beyond)} slices (one is at scale {grids[other][k]:.3g} of view "
                    f"{other!r}): no single scale is linear in all of them",
                ),
                stacklevel=4,
            )
        found[name] = float(np.exp(best))
    return found


def _linear_range(logs: Floats, slope: Floats) -> tuple[float, float]:
    """Ends, in log σ, of the run around the peak with slope ≥ 95 % of it, interpolated."""
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


def _common(views: Views, names: list[str]) -> dict[str, NDArray[np.floating]]:
    """The rows of the samples that all of some views observed, once each."""
    if views.is_complete:
        return {name: views.rows(name) for name in names}
    places = [views.names.index(name) for name in names]
    seen = np.asarray(views.observed[:, places].all(axis=1))
    if seen.sum() < 3:
        raise ValueError(
            f'bandwidth="joint" compares views on the samples that all of {", ".join(names)} '
            f"observed, and these are {seen.sum()}; use another rule"
        )
    found = {}
    for name in names:
        samples, first = np.unique(views.samples(name), return_index=True)
        found[name] = views.rows(name)[first[seen[samples]]]
    return found


def resolve_scales(
    kernels: Mapping[str, Kernel], views: Views, generator: np.random.Generator
) -> dict[str, Kernel]:
    """Kernels whose scale depends on their own view alone.

    The rules "joint" and "connected" look at all views that ask for them; each such kernel is
    returned with its number in their place.

    Parameters
    ----------
    kernels : dict of Kernel by view name
    views : Views
    generator : Generator
        Draws rows where there are many.
    """
    settled = dict(kernels)
    for rule in ("joint", "connected"):
        asking = {
            name: kernel
            for name, kernel in kernels.items()
            if isinstance(kernel, DistanceKernel) and kernel.bandwidth == rule
        }
        if not asking:
            continue
        points = {}
        for name, kernel in asking.items():
            rows = views.rows(name)
            features = FeatureMap.of(kernel, rows)
            if rule == "joint":
                rows = _common(views, [*asking])[name]
            points[name] = Points(features(rows, name), rounding=features.rounding)
        if rule == "joint":
            found = _joint(points, 60, generator).scales
        else:
            found = _connected(points, views)
        for name, kernel in asking.items():
            settled[name] = clone(kernel).set_params(bandwidth=found[name])
    return settled
