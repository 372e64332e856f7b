"""The memory that a fit takes, planned before anything is allocated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viewhop._runtime import memory
from viewhop._runtime.threads import thread_count
from viewhop.affinity import AffinitySize
from viewhop.geometry._fuse import has_joint_view
from viewhop.geometry._leading import TOLERANCE
from viewhop.geometry._recipe import Recipe
from viewhop.kernels import Kernel
from viewhop.solvers import solving_bytes
from viewhop.views import SparseRows, Views
from viewhop.walks import WalkSize

__all__ = ["FIXED", "MemoryPlan", "plan_memory"]

#: Bytes for threads and for modules that load during a fit, whatever its size.
FIXED = 45_000_000


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
    has_joint_view : bool
        Whether the last of `kernels` is that of all views side by side.
    is_joined : bool
        Whether the walk multiplies by that one alone.
    """

    kernels: Sequence[AffinitySize]
    walk: WalkSize
    n_samples: int
    dtype: np.dtype[np.floating]
    r: int
    solver: Any
    tol: float | None
    n_jobs: int
    has_joint_view: bool = False
    is_joined: bool = False

    @property
    def n_views(self) -> int:
        """Number of views, without the joint view."""
        return len(self.kernels) - self.has_joint_view

    @property
    def peak_bytes(self) -> int:
        """Peak bytes of arrays over the whole fit."""
        stored = sum(kernel.stored_bytes for kernel in self.kernels)
        solving = solving_bytes(
            self.walk,
            self.kernels[-1:] if self.is_joined else self.kernels,
            n_samples=self.n_samples,
            dtype=self.dtype,
            r=self.r,
            solver=self.solver,
            tol=self.tol,
        )
        first = stored + self.leading_bytes
        return int(max(self.building_bytes, first, stored + solving, stored + self.placing_bytes))

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
    def leading_bytes(self) -> float:
        """Peak bytes while the leading eigenpairs of one view alone are computed."""
        if not self.walk.n_leading:
            return 0.0
        return max(
            solving_bytes(
                WalkSize(self.n_samples, self.n_samples),
                [kernel],
                n_samples=self.n_samples,
                dtype=self.dtype,
                r=self.walk.n_leading,
                solver="auto",
                tol=TOLERANCE,
            )
            for kernel in self.kernels
        )

    @property
    def placing_bytes(self) -> float:
        """Peak bytes while coordinates are computed and stored, not counting the kernels."""
        n_blocks = 1 if self.is_joined else len(self.kernels)
        return 6.0 * n_blocks * self.n_samples * (self.r + 1) * 8

    def require(self, allowed: int | None) -> int:
        """Bytes that the fit is expected to take; MemoryBudgetError if they exceed the budget.

        Parameters
        ----------
        allowed : int or None
            Budget in bytes; None is no limit.
        """
        what = f"a fit of {self.n_samples:,} samples in {self.n_views} views"
        instead = "use fewer samples, features or neighbours, or raise max_memory"
        if self.is_dense:
            what += f" with dense kernels ({memory.format_bytes(self.full_bytes)} of it)"
            instead = "use neighbour kernels (n_neighbors=…) or raise max_memory"
        memory.require_bytes(self.peak_bytes, allowed, what=what, instead=instead)
        return self.peak_bytes + FIXED


def plan_memory(
    recipe: Recipe, views: Views, kernels: Mapping[str, Kernel], n_pairs: int
) -> MemoryPlan:
    """The sizes that determine how much memory a fit takes.

    Parameters
    ----------
    recipe : Recipe
    views : Views
    kernels : dict of Kernel by view name
    n_pairs : int
        Number of eigenpairs.
    """
    n_jobs = thread_count(recipe.n_jobs)
    rows = {name: views.rows(name) for name in views.names}
    entries = {n: own.nnz if isinstance(own, SparseRows) else None for n, own in rows.items()}
    sizes = [
        AffinitySize(kernels[name], len(own), own.shape[1], views.dtype, n_jobs, entries[name])
        for name, own in rows.items()
    ]
    # Refuses kernels that cannot be joined, before anything is computed.
    joined = recipe.walk.joined_kernel([kernels[name] for name in views.names])
    has_joint = joined is not None or has_joint_view(recipe, kernels, views)
    if has_joint:
        width = sum(own.shape[1] for own in rows.values())
        stored = sum(own.nnz if isinstance(own, SparseRows) else own.size for own in rows.values())
        is_sparse = any(count is not None for count in entries.values())
        n_complete = int(views.observed.all(axis=1).sum())
        kernel = kernels[views.names[0]] if joined is None else joined
        n_entries = stored if is_sparse else None
        sizes.append(AffinitySize(kernel, n_complete, width, views.dtype, n_jobs, n_entries))
    return MemoryPlan(
        kernels=sizes,
        walk=recipe.walk.size(
            len(views),
            [size.n for size in sizes],
            hops=recipe.expected_hops(len(sizes)),
            is_dense=all(size.is_dense for size in sizes),
        ),
        n_samples=len(views),
        dtype=views.dtype,
        r=n_pairs,
        solver=recipe.solver,
        tol=recipe.tol,
        n_jobs=n_jobs,
        has_joint_view=has_joint,
        is_joined=joined is not None,
    )
