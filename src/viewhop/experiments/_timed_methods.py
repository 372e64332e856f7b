"""Coordinates of the methods that the paper compares, at any diffusion time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import memory
from viewhop.affinity import AffinitySize
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.experiments._comparison import (
    PRODUCTS,
    Coordinates,
    de_sa_coordinates,
    fit_coordinates,
    list_products,
)
from viewhop.kernels import Kernel
from viewhop.solvers import keep_positive, solve_multilevel
from viewhop.views import Views
from viewhop.walks import SumWalk, Walk

__all__ = ["TimedCoordinates", "timed_methods"]

#: Up to this many samples, walks are solved by LAPACK: iterations do not converge close to the
#: identity, where a product of narrow kernels lies.
_FEW = 3000


@dataclass(frozen=True)
class TimedCoordinates:
    """Coordinates of one method with its eigenvalues.

    Attributes
    ----------
    one_step : Coordinates
        At t = 1, the paper's time.
    eigenvalues : (r,) array or None
        Without the trivial one; None for a method without a diffusion time.
    kernel_steps : int
        Number of kernels in one step of the walk: 2 if it hops between views, otherwise 1.
    """

    one_step: Coordinates
    eigenvalues: NDArray[np.floating] | None
    kernel_steps: int = 1

    def after(self, n_kernel_steps: float) -> Coordinates:
        """Coordinates after so many steps of one kernel each.

        Parameters
        ----------
        n_kernel_steps : float
            0 leaves the eigenvectors as they are.
        """
        if self.eigenvalues is None:
            return self.one_step
        time = n_kernel_steps / self.kernel_steps
        weights = np.minimum(self.eigenvalues, 1.0) ** (time - 1.0)
        return replace(
            self.one_step, blocks=tuple(block * weights for block in self.one_step.blocks)
        )

    def eigenvalue(self, k: int) -> float | None:
        """The k-th eigenvalue of one step, counted from 1; None if there is none."""
        if self.eigenvalues is None or len(self.eigenvalues) < k:
            return None
        return float(self.eigenvalues[k - 1])


def timed_methods(
    views: Views,
    kernels: Mapping[str, Kernel],
    r: int,
    *,
    seed: int,
    tol: float | None = None,
    has_product: bool = True,
) -> Iterator[tuple[str, TimedCoordinates]]:
    """Iterator over names of methods with their first `r` coordinates.

    The methods are each view alone, the kernel sum, de Sa's rows for two views, the walk between
    views and, last, the kernel products that the kernels have: see `list_products`. All share the
    kernels of one fit. A walk has fewer coordinates if fewer of its eigenvalues are positive.

    Parameters
    ----------
    views : Views
    kernels : dict by view name
    r : int
    seed : int
    tol : float or None
        As for the estimators.
    has_product : bool
        False leaves out the kernel products.
    """
    hop = MultiViewDiffusionMaps.paper_settings(r, kernel=dict(kernels), tol=tol, random_state=seed)
    between = TimedCoordinates(fit_coordinates(hop, views), hop.eigenvalues_, kernel_steps=2)
    affinities = hop.walk_.affinities
    for name in views.names:
        one_kernel = SumWalk([K for K in affinities if K.name == name])
        yield name, _solve(one_kernel, r, tol=tol, seed=seed)
    yield "kernel sum", _solve(SumWalk(affinities), r, tol=tol, seed=seed)
    if views.n_views == 2:
        yield "de Sa", TimedCoordinates(de_sa_coordinates(hop), None, kernel_steps=2)
    yield "multi-view", between
    del between
    for name in list_products(kernels) if has_product else ():
        _check_memory(hop)
        yield name, _solve(PRODUCTS[name](affinities), r, tol=tol, seed=seed)


def _check_memory(estimator: MultiViewDiffusionMaps) -> None:
    """MemoryBudgetError if a kernel of all views does not fit beside those of the fit."""
    first = estimator.walk_.affinities[0]
    width = sum(estimator.geometry_.schema.widths)
    size = AffinitySize(first.kernel, first.n_samples, width, first.dtype, first.n_jobs)
    memory.require_bytes(
        int(size.peak_bytes),
        memory.parse_budget(estimator.max_memory),
        what=f"a kernel product of {first.n_samples:,} samples",
        instead="use fewer samples",
    )


def _solve(walk: Walk, r: int, *, tol: float | None, seed: int) -> TimedCoordinates:
    """Coordinates and eigenvalues of a walk with one geometry for all its views."""
    pieces = walk.pieces()
    spectrum = keep_positive(
        walk,
        solve_multilevel(
            walk,
            r,
            solver="dense" if walk.n_samples <= _FEW else "auto",
            tol=tol,
            pieces=pieces,
            generator=np.random.default_rng(seed),
        ),
    )
    one_step = Coordinates((spectrum.stepped,), int(pieces.max()) + 1)
    return TimedCoordinates(one_step, spectrum.eigenvalues)
