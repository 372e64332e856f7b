"""Scales that depend on all views: connected samples, and rules resolved to numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from viewhop.bandwidth._algorithm_1 import common_rows, joint_scales
from viewhop.bandwidth._one_view import choose_scale
from viewhop.kernels import DistanceKernel, Gaussian, Kernel
from viewhop.neighbours import (
    FeatureMap,
    Points,
    check_spread,
    find_neighbourhoods,
    plain_points,
)
from viewhop.views import Views, require_rows

__all__ = ["connected", "resolve_scales"]

Floats = NDArray[np.float64]

#: Linear ranges of a kernel with bandwidth="joint": decided by docs/joint-rules.md.
RULE_OF_KERNELS = "minimal"


def connected(views: Views | list[ArrayLike] | Mapping[str, ArrayLike]) -> dict[str, float]:
    """The smallest scales, by view name, at which every sample is connected in some view.

    Parameters
    ----------
    views : Views, or list or dict of (n_samples, n_features) arrays

    Notes
    -----
    Two samples are connected in view l if their distance is at most σ_l. With n_l(i) the distance
    to the nearest distinct sample and m_l its maximum (Eq. (24) with C = 1), σ_l² = C m_l² with
    one C = max_i min_l n_l(i)² / m_l² for all views, after Dov, Talmon and Cohen (2016), who find
    C by search.

    Examples
    --------
    >>> from viewhop.bandwidth import connected
    >>> connected([[[0.0], [1.0], [4.0]], [[0.0], [2.0], [3.0]]])
    {'view1': 1.5, 'view2': 1.0}
    """
    all_views = require_rows(Views(views))
    for name in all_views.names:
        check_spread(name, all_views.rows(name))
    points = {name: plain_points(all_views.rows(name)) for name in all_views.names}
    return _connected(points, all_views)


def resolve_scales(
    kernels: Mapping[str, Kernel], views: Views, generator: np.random.Generator
) -> dict[str, Kernel]:
    """The kernels by view name, with the rules that depend on several views resolved.

    The rules "joint" and "connected" depend on all views that use them; each such kernel is
    returned with a number as its bandwidth.

    Parameters
    ----------
    kernels : dict of Kernel by view name
    views : Views
    generator : Generator
        Draws a subset of the rows if there are many.
    """
    resolved = dict(kernels)
    for rule in ("joint", "connected"):
        users = {
            name: kernel
            for name, kernel in kernels.items()
            if isinstance(kernel, DistanceKernel) and kernel.bandwidth == rule
        }
        if not users:
            continue
        points = {}
        for name, kernel in users.items():
            rows = views.rows(name)
            features = FeatureMap.of(kernel, rows, name)
            features.check(rows, name, partial(views.describe_row, name))
            if rule == "joint":
                rows = common_rows(views, [*users])[name]
            points[name] = features.points(features(rows, name))
        if rule == "joint":
            scales = joint_scales(points, 60, RULE_OF_KERNELS, generator).scales
        else:
            scales = _connected(points, views)
        for name, kernel in users.items():
            resolved[name] = clone(kernel).set_params(bandwidth=scales[name])
    return resolved


def _connected(points: Mapping[str, Points], views: Views) -> dict[str, float]:
    nearest = {name: _nearest(name, samples) for name, samples in points.items()}
    share = np.full(len(views), np.inf)  # smallest over the views that observed the sample
    for name, distances in nearest.items():
        np.minimum.at(share, views.samples(name), distances / distances.max())
    root = float(share[np.isfinite(share)].max())
    return {name: root * float(distances.max()) for name, distances in nearest.items()}


def _nearest(name: str, points: Points) -> Floats:
    """Distance of each sample to its nearest distinct one, (n,)."""
    neighbours = find_neighbourhoods(points, points, k=1, k_scale=1)
    # Refuses a constant view.
    choose_scale(Gaussian(), name, neighbours.nearest, neighbours.scale, None)
    return neighbours.nearest
