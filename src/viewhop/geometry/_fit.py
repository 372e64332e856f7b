"""Fitting a geometry: build the kernels, combine them into one walk, and solve for eigenpairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import memory
from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import thread_count
from viewhop.affinity import (
    AffinitySize,
    build_affinities,
    build_joint_view,
    joint_kernel,
    lowest_precision,
)
from viewhop.bandwidth import resolve_scales
from viewhop.geometry._coordinates import resolve_output
from viewhop.geometry._geometry import FitRecord, Geometry, check_every_view
from viewhop.kernels import Kernel, kernels_by_view
from viewhop.selection import Selection, needs_selection, select
from viewhop.solvers import Rank, check_reached, solve_multilevel, solving_bytes, warn_of_pieces
from viewhop.spectrum import Spectrum
from viewhop.views import Schema, Views
from viewhop.walks import Walk, WalkSize, build_weighted_walk, warn_of_unreached

__all__ = ["FIXED", "MemoryPlan", "Recipe", "fit_geometry"]

Floats = NDArray[np.float64]

#: Bytes for threads and for modules that load during a fit, whatever its size.
FIXED = 45_000_000


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
        The hop matrix, for a walk that takes one; None without weights is that of Eq. (13).
    weights : dict of float by view name, "auto" or None
        w of the hop matrix w wᵀ, instead of `hops`. Kernels are first divided by their mean degree.
        "auto" takes the agreement of the views.
    joint_view : bool or "auto"
        Whether a walk with weights has a joint view. "auto" adds it if the kernels are alike and
        every view observed most samples.
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
    weights: Mapping[str, float] | str | None = None
    joint_view: bool | str = False
    n_steps: float = 1.0
    output: str = "auto"
    solver: Any = "auto"
    tol: float | None = None
    max_memory: float | str | None = None
    n_jobs: int | None = None


@dataclass(frozen=True)
class MemoryPlan:
    """The sizes that determine how much memory a fit takes.

    Attributes
    ----------
    kernels : sequence of AffinitySize
        One per view.
    walk : WalkSize
    n_samples : int
    dtype : dtype of the kernels
    r : int
        Number of eigenpairs.
    solver : str or object
    tol : float or None
    n_jobs : int
        Number of threads.
    """

    kernels: Sequence[AffinitySize]
    walk: WalkSize
    n_samples: int
    dtype: np.dtype[np.floating]
    r: int
    solver: Any
    tol: float | None
    n_jobs: int

    @property
    def peak_bytes(self) -> int:
        """Peak bytes of arrays over the whole fit."""
        stored = sum(kernel.stored_bytes for kernel in self.kernels)
        solving = solving_bytes(
            self.walk,
            self.kernels,
            n_samples=self.n_samples,
            dtype=self.dtype,
            r=self.r,
            solver=self.solver,
            tol=self.tol,
        )
        return int(max(self.building_bytes, stored + solving, stored + self.placing_bytes))

    @property
    def is_dense(self) -> bool:
        """Whether some kernel is stored as a full matrix."""
        return any(kernel.is_dense for kernel in self.kernels)

    @property
    def full_bytes(self) -> int:
        """Bytes of the full kernel matrices alone, including that of the walk."""
        joint = AffinitySize.matrix_bytes(self.walk.n_joint, self.dtype)
        return sum(kernel.full_bytes for kernel in self.kernels) + joint

    @property
    def building_bytes(self) -> float:
        """Peak bytes while the kernels are built."""
        are_near = not any(kernel.is_dense for kernel in self.kernels)
        at_once = min(self.n_jobs, len(self.kernels)) if are_near else 1
        extra = sorted(kernel.peak_bytes - kernel.stored_bytes for kernel in self.kernels)
        stored = sum(kernel.stored_bytes for kernel in self.kernels)
        joint = self.full_bytes / (len(self.kernels) + 1) if self.walk.n_joint else 0.0
        return stored + max(sum(extra[-at_once:]), joint)

    @property
    def placing_bytes(self) -> float:
        """Peak bytes while coordinates are computed and stored, not counting the kernels."""
        return 6.0 * len(self.kernels) * self.n_samples * (self.r + 1) * 8

    def require(self, allowed: int | None) -> int:
        """Bytes that the fit is expected to take; MemoryBudgetError if they exceed the budget.

        Parameters
        ----------
        allowed : int or None
            Budget in bytes; None is no limit.
        """
        what = f"a fit of {self.n_samples:,} samples in {len(self.kernels)} views"
        instead = "use fewer samples, features or neighbours, or raise max_memory"
        if self.is_dense:
            what += f" with dense kernels ({memory.format_bytes(self.full_bytes)} of it)"
            instead = "use neighbour kernels (n_neighbors=…) or raise max_memory"
        memory.require_bytes(self.peak_bytes, allowed, what=what, instead=instead)
        return self.peak_bytes + FIXED


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
    n_jobs = thread_count(recipe.n_jobs)
    timings: dict[str, float] = {}
    with _timed(timings, "selection"):
        selection = _select(recipe, kernels, views, n_jobs, progress)
        kernels = kernels if selection is None else selection.kernels
    with _timed(timings, "kernels"):
        if any(kernel.needs_all_views for kernel in kernels.values()):
            kernels = resolve_scales(kernels, views, generator)
        affinities = build_affinities(
            views,
            kernels,
            generator=generator,
            n_jobs=n_jobs,
            progress=progress,
            allowed=allowed,
            stacklevel=stacklevel + 1,
        )
        weights = _weights(recipe, selection)
        if weights is None:
            walk = recipe.walk.build(affinities, views.nodes, hops=recipe.hops, n_jobs=n_jobs)
        else:
            joint = None
            if _has_joint_view(recipe, kernels, views):
                joint = build_joint_view(
                    affinities,
                    views.nodes,
                    weights,
                    generator=generator,
                    n_jobs=n_jobs,
                    progress=progress,
                    allowed=allowed,
                    precision=lowest_precision([views.precision(name) for name in views.names]),
                )
            walk = build_weighted_walk(affinities, views.nodes, weights, joint=joint)
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
        resolve_output(recipe.output, walk, is_weighted=weights is not None),
        FitRecord(
            int(pieces.max()) + 1,
            expected,
            timings,
            {} if selection is None else selection.scores,
            None if selection is None else selection.agreement,
            _told_weights(walk, views.names, weights),
        ),
    )
    with _timed(timings, "extension"):
        geometry.prepare()
        if geometry.unreached.any():
            warn_of_unreached(views.names, geometry.unreached, stacklevel=stacklevel + 1)
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


def _weights(recipe: Recipe, selection: Selection | None) -> Mapping[str, float] | None:
    """The weights of the views; None for a walk with another hop matrix or without one."""
    if not recipe.walk.takes_hops or recipe.weights is None:
        return None
    if not isinstance(recipe.weights, str):
        return recipe.weights
    return None if selection is None else selection.weights


def _told_weights(
    walk: Walk, names: Sequence[str], weights: Mapping[str, float] | None
) -> dict[str, float]:
    """How willingly the walker goes to each view, the largest 1."""
    if weights is not None:
        sizes = np.array([weights[name] for name in names])
    elif walk.hops is not None:
        sizes = walk.hops.sum(axis=0)
    else:
        sizes = np.ones(len(names))
    return {name: float(size) for name, size in zip(names, sizes / sizes.max(), strict=True)}


def _has_joint_view(recipe: Recipe, kernels: Mapping[str, Kernel], views: Views) -> bool:
    """Whether the walk gets a joint view; ValueError if it was asked for and cannot have one."""
    if recipe.joint_view is False or recipe.weights is None or not recipe.walk.takes_hops:
        return False
    n_complete = int(views.observed.all(axis=1).sum())
    if views.n_views < 2 or joint_kernel([kernels[name] for name in views.names]) is None:
        why = "at least two views with the same Gaussian kernel on neighbours with local scales"
    elif n_complete < 3:
        why = "samples that every view observed"
    elif recipe.joint_view is True:
        return True
    else:
        return 2 * n_complete > len(views)
    if recipe.joint_view is True:
        raise ValueError(f"joint_view=True needs {why}; pass joint_view=False or 'auto'")
    return False


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
    if _has_joint_view(recipe, kernels, views):
        width = sum(d for _, d in shapes.values())
        n_complete = int(views.observed.all(axis=1).sum())
        first = kernels[views.names[0]]
        sizes.append(AffinitySize(first, n_complete, width, views.dtype, n_jobs))
    is_weighted = recipe.walk.takes_hops and recipe.weights is not None
    return MemoryPlan(
        kernels=sizes,
        walk=recipe.walk.size(
            len(views),
            [size.n for size in sizes],
            hops=np.ones((len(sizes), len(sizes))) if is_weighted else recipe.hops,
            is_dense=all(size.is_dense for size in sizes),
        ),
        n_samples=len(views),
        dtype=views.dtype,
        r=rank.expected,
        solver=recipe.solver,
        tol=recipe.tol,
        n_jobs=n_jobs,
    )


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
