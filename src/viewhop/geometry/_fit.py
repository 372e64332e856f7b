"""Fitting a geometry: build the kernels, combine them into one walk, and solve for eigenpairs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import memory
from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import map_threads, thread_count
from viewhop.affinity import Affinity, AffinitySize, build_affinity
from viewhop.bandwidth import resolve_scales
from viewhop.errors import RecallWarning
from viewhop.geometry._geometry import FitRecord, Geometry, check_every_view
from viewhop.geometry._memory_plan import MemoryPlan
from viewhop.geometry._outputs import resolve_output
from viewhop.kernels import Kernel, kernels_by_view
from viewhop.solvers import Rank, check_reached, solve_multilevel, warn_of_pieces
from viewhop.spectrum import Spectrum
from viewhop.views import Schema, Views
from viewhop.walks import Walk, warn_of_unreached

__all__ = ["Recipe", "fit_geometry"]

Floats = NDArray[np.float64]

#: Recall of a neighbour search below which a fit warns.
LEAST_RECALL = 0.95


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a geometry is built from views: the parameters of an estimator, without the estimator.

    Attributes
    ----------
    walk : type of Walk
        How the views are combined into one walk.
    rank : Rank
        The rule for the number of coordinates.
    kernel : str, Kernel, list or dict
        As in `viewhop.MultiViewDiffusionMaps`.
    hops : (L, L) array or None
        The hop matrix, for a walk that takes one.
    n_steps : float
        Diffusion time t.
    output : str
        A key of `viewhop.geometry.OUTPUTS`.
    solver : str or object
    tol : float or None
    max_memory : number, str or None
    n_jobs : int or None
    """

    walk: type[Walk]
    rank: Rank
    kernel: Any = "adaptive"
    hops: Floats | None = None
    n_steps: float = 1.0
    output: str = "auto"
    solver: Any = "auto"
    tol: float | None = None
    max_memory: float | str | None = None
    n_jobs: int | None = None


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
    kernels = kernels_by_view(recipe.kernel, views.names)
    recipe.rank.check_size(views.names, len(views))
    _check_common(recipe.walk, views)
    rank = recipe.rank.settle(_features(views, kernels), generator)
    allowed = memory.parse_budget(recipe.max_memory)
    expected = _plan_memory(recipe, views, kernels, rank).require(allowed)
    timings: dict[str, float] = {}
    with _timed(timings, "kernels"):
        affinities = build_affinities(
            views,
            resolve_scales(kernels, views, generator),
            generator=generator,
            n_jobs=thread_count(recipe.n_jobs),
            progress=progress,
            allowed=allowed,
            stacklevel=stacklevel + 1,
        )
        walk = recipe.walk.build(
            affinities, views.nodes, hops=recipe.hops, n_jobs=thread_count(recipe.n_jobs)
        )
        check_reached(walk, views.describe_sample)
    with _timed(timings, "solve"):
        pieces = walk.pieces()
        warn_of_pieces(walk, pieces, describe=views.describe_sample, stacklevel=stacklevel + 1)
        spectrum = _solve(recipe, walk, rank, pieces, generator, progress, allowed)
    geometry = Geometry(
        walk,
        spectrum,
        Schema.from_views(views) if schema is None else schema,
        recipe.n_steps,
        resolve_output(recipe.output, walk),
        FitRecord(int(pieces.max()) + 1, expected, timings),
    )
    with _timed(timings, "extension"):
        geometry.embedding()
        warn_of_unreached(views.names, geometry.unreached, stacklevel=stacklevel + 1)
        progress("extension", len(views), len(views))
    return geometry


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


def _features(views: Views, kernels: Mapping[str, Kernel]) -> dict[str, NDArray[np.floating]]:
    """The rows of each view whose columns are features, by name: all but precomputed kernels."""
    return {name: views.rows(name) for name in views.names if not kernels[name].is_pairwise}


def _plan_memory(
    recipe: Recipe, views: Views, kernels: Mapping[str, Kernel], rank: Rank
) -> MemoryPlan:
    """The sizes that determine how much memory the fit takes."""
    n_jobs = thread_count(recipe.n_jobs)
    shapes = {name: views.rows(name).shape for name in views.names}
    sizes = [
        AffinitySize(kernels[name], n, d, views.dtype, n_jobs) for name, (n, d) in shapes.items()
    ]
    return MemoryPlan(
        kernels=sizes,
        walk=recipe.walk.size(
            len(views),
            [size.n for size in sizes],
            hops=recipe.hops,
            is_dense=all(size.is_dense for size in sizes),
        ),
        n_samples=len(views),
        dtype=views.dtype,
        r=rank.expected,
        solver=recipe.solver,
        tol=recipe.tol,
        n_jobs=n_jobs,
    )


def build_affinities(
    views: Views,
    kernels: Mapping[str, Kernel],
    *,
    generator: np.random.Generator,
    n_jobs: int,
    progress: Progress,
    allowed: int | None,
    stacklevel: int,
) -> list[Affinity]:
    """One affinity per view; neighbour searches run in parallel, one view per thread group.

    Parameters
    ----------
    views : Views
    kernels : dict of Kernel by view name
    generator : Generator
    n_jobs : int
        Number of threads.
    progress : callable
    allowed : int or None
        Bytes; None is no limit.
    stacklevel : int
        Frame that a warning points to, as in `warnings.warn`; 1 is the caller.
    """
    rows = {name: _kernel_input(views, name, kernels[name]) for name in views.names}
    generators = dict(zip(views.names, generator.spawn(views.n_views), strict=True))
    are_near = all(kernel.n_neighbors is not None for kernel in kernels.values())
    at_once = min(n_jobs, views.n_views) if are_near else 1

    def build(name: str) -> Affinity:
        return build_affinity(
            name,
            kernels[name],
            rows[name],
            generator=generators[name],
            n_jobs=n_jobs // at_once,
            progress=progress,
            allowed=allowed,
            describe=partial(views.describe_row, name),
        )

    affinities = map_threads(build, views.names, at_once)
    for K in affinities:
        K.n_jobs = n_jobs
        if K.recall < LEAST_RECALL:
            warnings.warn(
                RecallWarning(
                    f"the search found only {K.recall:.1%} of the neighbours in view {K.name!r}; "
                    'pass search="exact" to its kernel to find all of them',
                    K.recall,
                ),
                stacklevel=stacklevel + 1,
            )
    return affinities


def _kernel_input(views: Views, name: str, kernel: Kernel) -> NDArray[np.floating]:
    """The observed rows of a view, in the form that its kernel takes."""
    rows = views.rows(name)
    if kernel.is_pairwise:
        if views.is_complete:
            return rows
        # Its columns are samples too.
        samples = views.samples(name)
        if rows.shape[1] != len(views) or np.unique(samples).size < samples.size:
            raise ValueError(
                f"the precomputed kernel of view {name!r} needs a row and a column for each of the "
                f"{len(views)} samples"
            )
        return rows[:, samples]
    return rows


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
