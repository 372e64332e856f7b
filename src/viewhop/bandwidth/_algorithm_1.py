"""Algorithm 1 of the paper: the scales of all views, from the sums of their kernel products."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.bandwidth._degree_tables import degree_tables
from viewhop.bandwidth._linear_range import LEAST_SLOPE, check_rule, find_linear_ranges
from viewhop.bandwidth._one_view import choose_rows, constant_view_error, distance_rows
from viewhop.errors import ScaleWarning
from viewhop.neighbours import Points, check_spread, plain_points
from viewhop.views import Rows, Views, require_rows

__all__ = ["JointScales", "Surface", "common_rows", "joint", "joint_scales"]

Floats = NDArray[np.float64]


class Surface(NamedTuple):
    """log S over the scales of two views.

    Attributes
    ----------
    scales, other_scales : (n_scales,) arrays
        Values of σ_l and σ_m. At the smallest the kernel is nearly the identity, at the largest
        nearly constant.
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
    ranges : dict of (n_scales, 2) arrays by pair of view names
        Lower and upper end, in σ_l, of the linear range at each σ_m; NaN if there is none.
    rule : str
        "minimal" or "steepest": how the linear ranges were found.
    """

    scales: dict[str, float]
    surfaces: dict[tuple[str, str], Surface]
    slopes: dict[tuple[str, str], Floats]
    ranges: dict[tuple[str, str], Floats]
    rule: str


def joint(
    views: Views | list[ArrayLike] | Mapping[str, ArrayLike],
    n_scales: int = 60,
    *,
    rule: str = "minimal",
    random_state: int | np.random.Generator | None = 0,
) -> JointScales:
    """The scales of all views by Algorithm 1, with the surfaces they are read from.

    Parameters
    ----------
    views : Views, or list or dict of (n_samples, n_features) arrays
        At least two views.
    n_scales : int
        Number of grid values of each scale, at least 10.
    rule : "minimal" or "steepest"
        Which linear range of a slice to take; see Notes.
    random_state : int, Generator or None
        Seed of the random subset of rows that is used if there are more than 4,096.

    Returns
    -------
    JointScales
        ``scales`` by view name; ``surfaces``, ``slopes`` and ``ranges`` by pair of names; ``rule``.

    Warns
    -----
    ScaleWarning
        If no scale of a view lies in the linear ranges of all its slices, or if, by the rule
        "minimal", no slope of a view reaches 0.3; "steepest" is then used for that view.

    Notes
    -----
    No kernel product is formed: S^{lm} = Σ_ij (K^l K^m)_ij is the dot product of two degree
    vectors, so a surface is a matrix product of two tables of degrees, and its slopes are quotients
    of such products. For every other view m, each σ_m gives a slice: log S^{lm} as a function of
    log σ_l. σ_l is the smallest scale at which all slices are linear, that is, the largest of the
    lower ends of their linear ranges.

    "minimal" takes the first linear range from below: at least a factor of 2 wide, with a slope of
    at least 0.3 that varies by at most 10 % of its largest value; if no range is that wide, the
    widest one. "steepest" takes the interval around the steepest point in which the slope is at
    least 95 % of the maximum. The two differ where log S is linear at two scales, for example at
    that of neighbouring samples and again at that of whole clusters: "minimal" then gives the
    smaller one.

    Examples
    --------
    >>> import viewhop as vh
    >>> rolls = vh.datasets.make_swiss_rolls(noise=0.1, random_state=0)
    >>> result = vh.bandwidth.joint(rolls.views)
    >>> {name: round(sigma, 1) for name, sigma in result.scales.items()}
    {'x': 15.0, 'y': 15.1}
    """
    check_rule(rule)
    generator = np.random.default_rng(random_state)
    all_views = require_rows(Views(views))
    rows = common_rows(all_views, [*all_views.names])
    for name, X in rows.items():
        check_spread(name, X)
    points = {name: plain_points(X) for name, X in rows.items()}
    return joint_scales(points, n_scales, rule, generator)


def joint_scales(
    points: Mapping[str, Points], n_scales: int, rule: str, generator: np.random.Generator
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
        tables[name] = degree_tables(distances, grids[name])
    surfaces, slopes = {}, {}
    for l, m in permutations(points, 2):
        sums = tables[l][0].T @ tables[m][0]
        surfaces[l, m] = Surface(grids[l], grids[m], np.log(sums * (n / rows.size)))
        slopes[l, m] = (tables[l][1].T @ tables[m][0]) / sums
    log_ranges = _log_ranges(grids, slopes, rule)
    ranges = {pair: np.exp(ends) for pair, ends in log_ranges.items()}
    return JointScales(_scales(grids, log_ranges), surfaces, slopes, ranges, rule)


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


def _log_ranges(
    grids: Mapping[str, Floats], slopes: Mapping[tuple[str, str], Floats], rule: str
) -> dict[tuple[str, str], Floats]:
    """Both ends of the linear range of each slice in log σ, (n_scales, 2) by pair of views."""
    ranges: dict[tuple[str, str], Floats] = {}
    for name, grid in grids.items():
        own = {pair: slope.T for pair, slope in slopes.items() if pair[0] == name}
        use = rule
        if rule == "minimal" and max(slope.max() for slope in own.values()) < LEAST_SLOPE:
            use = "steepest"
            warnings.warn(
                ScaleWarning(
                    f"log S has no slope of at least {LEAST_SLOPE} over the scale of view "
                    f"{name!r}, most of whose samples may be equal; its scale is where the slope "
                    "is steepest",
                ),
                stacklevel=4,
            )
        for pair, slope in own.items():
            ranges[pair] = find_linear_ranges(np.log(grid), slope, use)
    return ranges


def _scales(
    grids: Mapping[str, Floats], ranges: Mapping[tuple[str, str], Floats]
) -> dict[str, float]:
    """The scale of each view: the largest lower end of its linear ranges, given in log σ."""
    scales = {}
    for name in grids:
        own = {other: ends for (view, other), ends in ranges.items() if view == name}
        best = max(float(np.nanmax(ends[:, 0])) for ends in own.values() if np.isfinite(ends).any())
        outside = [
            (other, int(k))
            for other, ends in own.items()
            for k in np.flatnonzero(best > ends[:, 1])
        ]
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


def common_rows(views: Views, names: list[str]) -> dict[str, Rows]:
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
    rows: dict[str, Rows] = {}
    for name in names:
        samples, first = np.unique(views.samples(name), return_index=True)
        rows[name] = views.rows(name)[first[is_common[samples]]]
    return rows
