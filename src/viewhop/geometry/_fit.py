"""Fitting a geometry: build the kernels, combine them into one walk, and solve for eigenpairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from viewhop._runtime import memory
from viewhop._runtime.progress import Progress, no_progress
from viewhop.geometry._connectivity import check_reached, warn_of_pieces
from viewhop.geometry._coordinates import check_time, resolve_output
from viewhop.geometry._fit_cache import FitCache, rung_of
from viewhop.geometry._geometry import (
    FitRecord,
    Geometry,
    check_every_view,
    check_full_kernels,
    check_kernels_with_gaps,
)
from viewhop.geometry._memory_plan import plan_memory
from viewhop.geometry._recipe import Recipe
from viewhop.geometry._stages import Stages, timed
from viewhop.kernels import Kernel, kernels_by_view
from viewhop.views import Schema, Views, require_rows
from viewhop.walks import Walk, warn_of_unreached

__all__ = ["fit_geometry"]


def fit_geometry(
    recipe: Recipe,
    views: Views,
    *,
    schema: Schema | None = None,
    generator: np.random.Generator | None = None,
    cache: FitCache | None = None,
    progress: Progress = no_progress,
    stacklevel: int = 1,
) -> Geometry:
    """The geometry of several views: check, plan memory, build kernels, fuse them, solve.

    Parameters
    ----------
    recipe : Recipe
    views : Views
    schema : Schema or None
        The schema that new samples must match; None takes that of `views`.
    generator : Generator or None
        The only source of randomness; None takes a generator with seed 0.
    cache : FitCache or None
        Keeps kernels and eigenpairs for other fits.
    progress : callable
        ``progress(stage, done, total)``.
    stacklevel : int
        Frame that a warning points to, as in `warnings.warn`; 1 is the caller.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.geometry import Recipe, fit_geometry
    >>> from viewhop.solvers import FixedRank
    >>> from viewhop.walks import SumWalk
    >>> circles = vh.datasets.make_circles(100, random_state=0)
    >>> recipe = Recipe(walk=SumWalk, rank=FixedRank(2), kernel="gaussian")
    >>> fit_geometry(recipe, circles.views).embedding().shape
    (100, 2)
    """
    generator = np.random.default_rng(0) if generator is None else generator
    check_time(recipe.n_steps)
    kernels = kernels_by_view(recipe.kernel, require_rows(views).names)
    check_kernels_with_gaps(views, kernels)
    check_full_kernels(views, kernels)
    recipe.walk.check_views(views.names)
    recipe.rank.check_size(views.names, len(views))
    _check_common(recipe.walk, views)
    rank = recipe.rank.settle(_features(views, kernels), generator)
    rank.check_limit(recipe.walk.coordinate_limit(views.nodes, recipe.expected_hops(views.n_views)))
    allowed = memory.parse_budget(recipe.max_memory)
    n_pairs = rank.expected if cache is None else rung_of(rank.expected, len(views))

    def reserve(kernels: Mapping[str, Kernel]) -> int:
        return plan_memory(recipe, views, kernels, n_pairs).require(allowed)

    reserve(kernels)  # before anything is computed
    stages = Stages(recipe, views, kernels, reserve, generator, progress, allowed, cache)
    timings = stages.timings
    with timed(timings, "kernels"):
        fitted, key = stages.find_kernels(stacklevel=stacklevel + 1)
        walk = fitted.built.walk
        check_reached(walk, views.describe_sample)
    timings["kernels"] -= timings["selection"]
    with timed(timings, "solve"):
        pieces = fitted.pieces
        warn_of_pieces(
            walk,
            pieces,
            connect=recipe.connect,
            describe=views.describe_sample,
            stacklevel=stacklevel + 1,
        )
        solve = stages.pairs(fitted, key, stacklevel=stacklevel + 1)
        spectrum = rank.choose(walk, solve)
    geometry = Geometry(
        walk,
        spectrum,
        Schema.from_views(views) if schema is None else schema,
        recipe.n_steps,
        resolve_output(recipe.output, walk, is_weighted=recipe.is_weighted),
        FitRecord(
            int(pieces.max()) + 1,
            reserve(fitted.built.kernels),
            timings,
            fitted.scores,
            fitted.agreement,
            fitted.built.weights,
        ),
        key,
    )
    if key is not None and isinstance(recipe.solver, str):
        stages.share(fitted, geometry)
    with timed(timings, "extension"):
        geometry.prepare()
        if geometry.unreached.any():
            warn_of_unreached(views.names, geometry.unreached, stacklevel=stacklevel + 1)
        geometry.warn_of_underflow(stacklevel=stacklevel + 1)
        progress("extension", len(views), len(views))
    return geometry


def _check_common(walk: type[Walk], views: Views) -> None:
    """Raise ValueError for a view that shares no sample with others, or observed too few."""
    if views.is_complete:
        return
    check_every_view(walk, "sample")
    observed = views.observed
    for l, name in enumerate(views.names):
        others = np.delete(observed, l, axis=1)
        if not (observed[:, l] & others.any(axis=1)).any():
            raise ValueError(
                f"view {name!r} shares no sample with another view, so it cannot be "
                "combined with them"
            )
        n = len(views.rows(name))
        if n < 3:
            raise ValueError(
                f"view {name!r} observed fewer than 3 samples ({n}); a kernel needs at least 3"
            )


def _features(views: Views, kernels: Mapping[str, Kernel]) -> dict[str, Any]:
    """The rows of each view whose columns are features, by name: all but precomputed kernels."""
    return {name: views.rows(name) for name in views.names if not kernels[name].is_pairwise}
