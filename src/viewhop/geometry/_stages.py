"""The stages of a fit: build the kernels, fuse them into one walk, and find its eigenpairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

import numpy as np

from viewhop._runtime.progress import Progress
from viewhop._runtime.threads import thread_count
from viewhop.affinity import build_affinities, warn_of_recall
from viewhop.bandwidth import resolve_scales
from viewhop.errors import CacheWarning, ModelFileError
from viewhop.geometry._cache_codec import FittedKernels
from viewhop.geometry._connect import build_connected
from viewhop.geometry._fit_cache import FitCache
from viewhop.geometry._fuse import fuse_kernels
from viewhop.geometry._geometry import Geometry
from viewhop.geometry._recipe import Recipe
from viewhop.kernels import Kernel
from viewhop.selection import Selection, needs_selection, select
from viewhop.solvers import solve_multilevel
from viewhop.spectrum import Spectrum
from viewhop.views import Views
from viewhop.walks import Walk

__all__ = ["Stages", "timed"]


@dataclass(frozen=True)
class Stages:
    """The stages of a fit, and what they need.

    Attributes
    ----------
    recipe : Recipe
    views : Views
    kernels : dict of Kernel by view name
        As they were passed.
    reserve : callable
        Raises MemoryBudgetError if a fit with kernels exceeds the budget.
    generator : Generator
    progress : callable
    allowed : int or None
        Bytes; None is no limit.
    cache : FitCache or None
    timings : dict of float
        Seconds by stage.
    """

    recipe: Recipe
    views: Views
    kernels: Mapping[str, Kernel]
    reserve: Callable[[Mapping[str, Kernel]], int]
    generator: np.random.Generator
    progress: Progress
    allowed: int | None
    cache: FitCache | None
    timings: dict[str, float] = field(default_factory=lambda: {"selection": 0.0})

    @property
    def n_jobs(self) -> int:
        """Threads."""
        return thread_count(self.recipe.n_jobs)

    def find_kernels(self, *, stacklevel: int) -> tuple[FittedKernels, str | None]:
        """The walk over the kernels, and its fingerprint if a cache keeps it.

        Parameters
        ----------
        stacklevel : int
            As in `warnings.warn`, counted from the caller.
        """
        cache, views = self.cache, self.views
        if cache is None:
            return self._build(stacklevel + 1), None
        try:
            key = cache.walk_key(self.recipe, self.kernels, views, self.generator, self.n_jobs)
        except ModelFileError as error:
            message = f"memory= keeps nothing of this fit: {error}"
            warnings.warn(CacheWarning(message), stacklevel=stacklevel + 1)
            return self._build(stacklevel + 1), None
        is_new = []

        def build() -> FittedKernels:
            is_new.append(True)
            return self._build(stacklevel + 4)

        fitted = cache.kernels(key, build, views, self.n_jobs, stacklevel=stacklevel + 1)
        if not is_new:
            warn_of_recall(fitted.built.walk.affinities, stacklevel=stacklevel + 1)
        return fitted, key

    def pairs(
        self, fitted: FittedKernels, key: str | None, *, stacklevel: int
    ) -> Callable[[int, Spectrum | None], Spectrum]:
        """A function that returns a number of eigenpairs of the walk.

        Parameters
        ----------
        fitted : FittedKernels
        key : str or None
            Fingerprint of the walk, if a cache keeps it.
        stacklevel : int
            As in `warnings.warn`, counted from the caller.
        """
        recipe, cache, built = self.recipe, self.cache, fitted.built

        def solve(
            r: int, known: Spectrum | None, generator: np.random.Generator = built.generator
        ) -> Spectrum:
            return solve_multilevel(
                built.walk,
                r,
                solver=recipe.solver,
                tol=recipe.tol,
                pieces=fitted.pieces,
                generator=generator,
                known=known,
                progress=self.progress,
                allowed=self.allowed,
            )

        if cache is None or key is None or not isinstance(recipe.solver, str):
            return solve

        def look_up(r: int, known: Spectrum | None) -> Spectrum:
            latest = fitted.latest.get(self._pairs_name(r))
            if latest is not None:
                return latest.spectrum
            # Every rung begins with the same draws, and without a start, whatever came before.
            return cache.pairs(
                key,
                built.walk,
                r,
                lambda rung: solve(rung, None, deepcopy(built.generator)),
                solver=recipe.solver,
                tol=recipe.tol,
                stacklevel=stacklevel + 3,  # a rank chooses by a function
            )

        return look_up

    def share(self, fitted: FittedKernels, geometry: Geometry) -> None:
        """Let a geometry and that of the next fit with the same eigenpairs use one extension.

        Parameters
        ----------
        fitted : FittedKernels
        geometry : Geometry
        """
        name = self._pairs_name(len(geometry.spectrum))
        latest = fitted.latest.get(name)
        if latest is None:
            fitted.latest.clear()
            fitted.latest[name] = geometry
        else:
            geometry.share_extension(latest)

    def _pairs_name(self, r: int) -> str:
        return repr((self.recipe.solver, self.recipe.tol, r))

    def _build(self, stacklevel: int) -> FittedKernels:
        """The walk over the kernels, built now."""
        recipe, views = self.recipe, self.views
        with timed(self.timings, "selection"):
            selection = _select(recipe, self.kernels, views, self.n_jobs, self.progress)
        kernels = self.kernels if selection is None else selection.kernels
        if any(kernel.needs_all_views for kernel in kernels.values()):
            kernels = resolve_scales(kernels, views, self.generator)
        built = build_connected(
            kernels,
            {name: len(views.rows(name)) for name in views.names},
            build=partial(self._build_walk, selection, stacklevel + 3),
            reserve=self.reserve,
            generator=self.generator,
            progress=self.progress,
            connect=recipe.connect,
        )
        return FittedKernels(
            built,
            {} if selection is None else selection.scores,
            None if selection is None else selection.agreement,
        )

    def _build_walk(
        self,
        selection: Selection | None,
        stacklevel: int,
        kernels: Mapping[str, Kernel],
        generator: np.random.Generator,
    ) -> tuple[Walk, dict[str, float]]:
        """The walk over the kernels of the views, and how willingly it goes to each."""
        affinities = build_affinities(
            self.views,
            kernels,
            generator=generator,
            n_jobs=self.n_jobs,
            progress=self.progress,
            allowed=self.allowed,
            stacklevel=stacklevel + 1,
        )
        return fuse_kernels(
            self.recipe,
            affinities,
            self.views,
            selection,
            generator=generator,
            n_jobs=self.n_jobs,
            progress=self.progress,
            allowed=self.allowed,
        )


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


@contextmanager
def timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    """Record the seconds that a stage takes.

    Parameters
    ----------
    timings : dict of float
    stage : str
    """
    start = perf_counter()
    yield
    timings[stage] = perf_counter() - start
