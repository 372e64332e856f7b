"""Cross-view distances between all pairs of views, or of snapshots."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.geometry._distances import cross_view_distance
from viewhop.geometry._fit import fit_geometry
from viewhop.geometry._recipe import Recipe
from viewhop.geometry._require import Source, require_geometry
from viewhop.kernels import Gaussian, kernels_by_view
from viewhop.solvers import FixedRank
from viewhop.views import Views
from viewhop.walks import HopWalk, hop_matrix

__all__ = ["cross_view_distances", "snapshot_distances"]

Floats = NDArray[np.float64]


def cross_view_distances(source: Source) -> Floats:
    """The cross-view distances between all views of one fit, (n_views, n_views).

    Parameters
    ----------
    source : fitted estimator or Geometry
        It needs coordinates in each view: fusion="hop" and at least two views.

    Returns
    -------
    distances : (n_views, n_views) array
        In the order of ``view_names_``; symmetric, 0 on the diagonal. NaN if two views have no
        sample in common.

    See Also
    --------
    snapshot_distances : One fit per pair, as in the paper.

    Notes
    -----
    Each entry is `cross_view_distance`, the square root of Eq. (30) over the samples that both
    views observed. All views share one walk, so the distance between two of them also depends on
    the others.

    Examples
    --------
    The view most unlike the others:

    >>> import viewhop as vh
    >>> digits = vh.datasets.load_mfeat().views[:300]
    >>> est = vh.MultiViewDiffusionMaps(5, random_state=0).fit(digits)
    >>> distances = vh.diffusion.cross_view_distances(est)
    >>> distances.shape
    (6, 6)
    >>> est.view_names_[distances.sum(axis=1).argmax()]
    'mor'
    """
    geometry = require_geometry(source)
    names = geometry.schema.names
    observed = geometry.observed
    distances = np.zeros((len(names), len(names)))
    if len(names) < 2 or geometry.walk.is_fused:
        raise ValueError(
            'distances of views need coordinates in each: fusion="hop" and at least two views'
        )
    for l, m in combinations(range(len(names)), 2):
        common = (observed[:, l] & observed[:, m]).any()
        value = cross_view_distance(geometry, names[l], names[m]) if common else np.nan
        distances[l, m] = distances[m, l] = value
    return distances


def snapshot_distances(
    snapshots: Any,
    *,
    n_components: int = 2,
    n_steps: float = 1.0,
    kernel: Any = None,
    random_state: int | np.random.Generator | None = 0,
) -> Floats:
    """The cross-view distances between all pairs of snapshots, one fit per pair, (L, L).

    Parameters
    ----------
    snapshots : list or dict of (n_samples, n_features) arrays, or Views
        X^α for several values of a parameter α: the same samples in the same order. A row of NaN
        marks a sample that is missing from the snapshot.
    n_components : int
        Number r of coordinates.
    n_steps : float
        Diffusion time t.
    kernel : str, Kernel, list or dict, or None
        As in `MultiViewDiffusionMaps`; None takes the paper's, a dense Gaussian with the max-min
        scale of each snapshot.
    random_state : int, Generator or None
        Seed of the fits, the same for each.

    Returns
    -------
    distances : (L, L) array
        In the order of the snapshots; symmetric, 0 on the diagonal. NaN if two snapshots have no
        sample in common.

    See Also
    --------
    cross_view_distances : One fit over all views.

    Notes
    -----
    Section 5.3: each entry is the square root of Eq. (30) for the paper's walk (η = 0) over two
    snapshots. It depends on these two alone, so adding a snapshot leaves the other entries
    unchanged. One fit over all L snapshots costs less and compares them in common coordinates, but
    then every entry depends on every snapshot. The distance is 0 if two snapshots differ by a
    rotation, a reflection or a shift (Theorem 4). Samples missing from both snapshots of a pair are
    left out of its fit.

    Examples
    --------
    A roll that is deformed more and more:

    >>> import numpy as np
    >>> import viewhop as vh
    >>> roll = np.asarray(vh.datasets.make_swiss_rolls(200, random_state=0).views["x"])
    >>> change = np.random.default_rng(0).standard_normal(roll.shape)
    >>> snapshots = {f"α = {alpha}": roll + alpha * change for alpha in (0, 1, 2)}
    >>> vh.diffusion.snapshot_distances(snapshots).round(1)
    array([[0. , 0.3, 0.7],
           [0.3, 0. , 0.3],
           [0.7, 0.3, 0. ]])
    """
    if not isinstance(n_components, Integral) or n_components < 1:
        raise ValueError(f"n_components must be a whole number of at least 1, got {n_components!r}")
    views = snapshots if isinstance(snapshots, Views) else Views(snapshots)
    if views.n_views < 2:
        raise ValueError("expected at least two snapshots, got 1; pass a list or a dict of arrays")
    chosen = Gaussian(bandwidth="max-min") if kernel is None else kernel
    kernels = kernels_by_view(chosen, views.names)
    recipe = Recipe(
        walk=HopWalk,
        rank=FixedRank(int(n_components)),
        hops=hop_matrix(2, within_view_weight=0.0),
        n_steps=n_steps,
        output="concat",
    )
    seed = np.random.default_rng(random_state).integers(2**63)
    distances = np.zeros((views.n_views, views.n_views))
    for l, m in combinations(range(views.n_views), 2):
        seen = views.observed[:, [l, m]]
        if not seen.all(axis=1).any():
            distances[l, m] = distances[m, l] = np.nan
            continue
        names = [views.names[place] for place in (l, m)]
        known = views[seen.any(axis=1)]
        pair = Views({name: known[name] for name in names})
        fitted = fit_geometry(
            replace(recipe, kernel={name: kernels[name] for name in names}),
            pair,
            generator=np.random.default_rng(seed),  # the same for each: their order does not matter
            stacklevel=2,
        )
        distances[l, m] = distances[m, l] = cross_view_distance(fitted, *names)
    return distances
