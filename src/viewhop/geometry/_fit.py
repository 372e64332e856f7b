"""Fitting a geometry: build the kernels, combine them into one walk, and solve for eigenpairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import memory
from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import thread_count
from viewhop.affinity import build_affinities
from viewhop.bandwidth import resolve_scales
from viewhop.geometry._connect import build_connected
from viewhop.geometry._connectivity import check_reached, warn_of_pieces
from viewhop.geometry._coordinates import check_time, resolve_output
from viewhop.geometry._fuse import fuse_kernels
from viewhop.geometry._geometry import (
    FitRecord,
    Geometry,
    check_every_view,
    check_full_kernels,
    check_kernels_with_gaps,
)
from viewhop.geometry._memory_plan import plan_memory
from viewhop.geometry._recipe import Recipe
from viewhop.kernels import Kernel, kernels_by_view
from viewhop.selection import Selection, needs_selection, select
from viewhop.solvers import Rank, solve_multilevel
from viewhop.spectrum import Spectrum
from viewhop.views import Schema, Views, require_rows
from viewhop.walks import Walk, warn_of_unreached

__all__ = ["fit_geometry"]


def fit_geometry(
    recipe: Recipe,
    views: Views,
    *,
    schema: Schema | None = None,
    generator: np.random.Generator | None = None,
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

    def reserve(kernels: Mapping[str, Kernel]) -> int:
        return plan_memory(recipe, views, kernels, rank).require(allowed)

    reserve(kernels)  # before anything is computed
    n_jobs = thread_count(recipe.n_jobs)
    timings: dict[str, float] = {}
    with _timed(timings, "selection"):
        selection = _select(recipe, kernels, views, n_jobs, progress)
        kernels = kernels if selection is None else selection.kernels
    with _timed(timings, "kernels"):
        if any(kernel.needs_all_views for kernel in kernels.values()):
            kernels = resolve_scales(kernels, views, generator)
        built = build_connected(
            kernels,
            {name: len(views.rows(name)) for name in views.names},
            build=partial(
                _build_walk, recipe, views, selection, n_jobs, progress, allowed, stacklevel + 4
            ),
            reserve=reserve,
            generator=generator,
            progress=progress,
            connect=recipe.connect,
        )
        check_reached(built.walk, views.describe_sample)
    walk = built.walk
    with _timed(timings, "solve"):
        pieces = walk.pieces()
        warn_of_pieces(
            walk,
            pieces,
            connect=recipe.connect,
            describe=views.describe_sample,
            stacklevel=stacklevel + 1,
        )
        spectrum = _solve(recipe, walk, rank, pieces, built.generator, progress, allowed)
    geometry = Geometry(
        walk,
        spectrum,
        Schema.from_views(views) if schema is None else schema,
        recipe.n_steps,
        resolve_output(recipe.output, walk, is_weighted=recipe.is_weighted),
        FitRecord(
            int(pieces.max()) + 1,
            built.memory,
            timings,
            {} if selection is None else selection.scores,
            None if selection is None else selection.agreement,
            built.weights,
        ),
    )
    with _timed(timings, "extension"):
        geometry.prepare()
        if geometry.unreached.any():
            warn_of_unreached(views.names, geometry.unreached, stacklevel=stacklevel + 1)
        geometry.warn_of_underflow(stacklevel=stacklevel + 1)
        progress("extension", len(views), len(views))
    return geometry


def _select(
    recipe: Recipe,
    kernels: Mapping[str, Kernel],
    views: Views,
    n_jobs: int,
    progress: Progress,
) -> Selection | None:
    """Metrics and weights by agreement; None if neither is left open."""
    is_open = recipe.weights == "auto" and views.n_views > 1
    if not is_open and not needs_selection(kernels):
        return None
    return select(kernels, views, n_jobs=n_jobs, progress=progress)


def _build_walk(
    recipe: Recipe,
    views: Views,
    selection: Selection | None,
    n_jobs: int,
    progress: Progress,
    allowed: int | None,
    stacklevel: int,
    kernels: Mapping[str, Kernel],
    generator: np.random.Generator,
) -> tuple[Walk, dict[str, float]]:
    """The walk over the kernels of the views, and how willingly it goes to each."""
    affinities = build_affinities(
        views,
        kernels,
        generator=generator,
        n_jobs=n_jobs,
        progress=progress,
        allowed=allowed,
        stacklevel=stacklevel,
    )
    return fuse_kernels(
        recipe,
        affinities,
        views,
        selection,
        generator=generator,
        n_jobs=n_jobs,
        progress=progress,
        allowed=allowed,
    )


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    """Record the seconds that a stage takes."""
    start = perf_counter()
    yield
    timings[stage] = perf_counter() - start


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


def _solve(
    recipe: Recipe,
    walk: Walk,
    rank: Rank,
    pieces: NDArray[np.intp],
    generator: np.random.Generator,
    progress: Progress,
    allowed: int | None,
) -> Spectrum:
    """The eigenpairs that the rank rule asks for."""

    def pairs(r: int, known: Spectrum | None) -> Spectrum:
        return solve_multilevel(
            walk,
            r,
            solver=recipe.solver,
            tol=recipe.tol,
            pieces=pieces,
            generator=generator,
            known=known,
            progress=progress,
            allowed=allowed,
        )

    return rank.choose(walk, pairs)
