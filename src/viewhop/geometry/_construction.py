"""Construction: the kernels of all views from what each observed, if memory allows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from viewhop import affinity
from viewhop._runtime import memory
from viewhop._runtime.progress import Progress
from viewhop._runtime.threads import map_threads
from viewhop.affinity import Affinity
from viewhop.errors import RecallWarning
from viewhop.geometry._memory_plan import FIXED, Footprint
from viewhop.kernels import Kernel, Precomputed
from viewhop.neighbours import FeatureMap
from viewhop.views import Views

__all__ = ["affinities", "check_common", "check_memory"]

#: Share of the true neighbours below which a search is told to have missed some.
LEAST_RECALL = 0.95


def check_common(views: Views) -> None:
    """Raise ValueError for views that cannot be joined with the others, or hardly saw anybody."""
    if views.is_complete:
        return
    seen = views.observed
    for l, name in enumerate(views.names):
        others = np.delete(seen, l, axis=1)
        if not (seen[:, l] & others.any(axis=1)).any():
            raise ValueError(
                f"view {name!r} observed no sample that another view observed too; without a "
                "common sample it cannot be joined with them"
            )
        n = len(views.rows(name))
        if n < 3:
            raise ValueError(f"view {name!r} observed {n} samples; it needs at least 3")


def check_memory(foreseen: Footprint, allowed: int | None) -> int:
    """Bytes that a fit is expected to take, or MemoryBudgetError if they are not allowed.

    Parameters
    ----------
    foreseen : Footprint
    allowed : int or None
        Bytes; None allows anything.
    """
    what = f"a fit of {foreseen.n_samples:,} samples in {len(foreseen.kernels)} views"
    instead = "use fewer samples, features or neighbours, or raise max_memory"
    if foreseen.is_dense:
        what += f" with dense kernels ({memory.format_bytes(foreseen.dense)} of it)"
        instead = "use neighbour kernels (n_neighbors=…) or raise max_memory"
    memory.require_bytes(foreseen.peak, allowed, what=what, instead=instead)
    return foreseen.peak + FIXED


def affinities(
    views: Views,
    kernels: Mapping[str, Kernel],
    *,
    generator: np.random.Generator,
    n_jobs: int,
    progress: Progress,
    allowed: int | None,
    stacklevel: int,
) -> list[Affinity]:
    """One affinity per view. Searches of several views share the threads, one view each.

    Parameters
    ----------
    views : Views
    kernels : dict of Kernel by view name
    generator : Generator
    n_jobs : int
        Threads.
    progress : callable
    allowed : int or None
        Bytes; None allows anything.
    stacklevel : int
        Whose line a warning names, counted as `warnings.warn` does from the caller.
    """
    held = [(name, _held(views, name, kernels[name])) for name in views.names]
    items = [*zip(held, generator.spawn(views.n_views), strict=True)]
    are_near = all(kernel.n_neighbors is not None for kernel in kernels.values())
    at_once = min(n_jobs, views.n_views) if are_near else 1

    def build(item: tuple[tuple[str, NDArray[np.floating]], np.random.Generator]) -> Affinity:
        (name, X), own = item
        return affinity.build_affinity(
            name,
            kernels[name],
            X,
            generator=own,
            n_jobs=n_jobs // at_once,
            progress=progress,
            allowed=allowed,
        )

    found = map_threads(build, items, at_once)
    for K in found:
        K.n_jobs = n_jobs
        if K.recall < LEAST_RECALL:
            warnings.warn(
                RecallWarning(
                    f"the search found {K.recall:.1%} of the neighbours in view {K.name!r}; "
                    'pass search="exact" to its kernel to find all',
                    K.recall,
                ),
                stacklevel=stacklevel + 1,
            )
    return found


def _held(views: Views, name: str, kernel: Kernel) -> NDArray[np.floating]:
    """What a view observed, as its kernel takes it."""
    rows = views.rows(name)
    if views.is_complete:
        return rows
    if isinstance(kernel, Precomputed):
        # Its columns are samples, too.
        samples = views.samples(name)
        if rows.shape[1] != len(views) or np.unique(samples).size < samples.size:
            raise ValueError(
                f"the precomputed kernel of view {name!r} needs a row and a column for each of the "
                f"{len(views)} samples"
            )
        return rows[:, samples]
    # Here, where rows are counted from the first sample.
    FeatureMap.of(kernel, rows).check(views[name], name)
    return rows
