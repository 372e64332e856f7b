"""Coordinates of the methods that the paper compares, at any diffusion time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.experiments._comparison import Coordinates, de_sa_coordinates, fit_coordinates
from viewhop.kernels import Kernel
from viewhop.solvers import keep_positive, solve_multilevel
from viewhop.views import Views
from viewhop.walks import SumWalk

__all__ = ["CONCAT", "PRODUCT", "PRODUCTS", "TimedCoordinates", "timed_methods"]

#: Names of the two kernel products: element by element, and one Gaussian on the views side by side.
PRODUCT, CONCAT = "kernel product", "kernel product, concat"
#: Fusion of each kernel product by its name.
PRODUCTS = {PRODUCT: "product", CONCAT: "concat"}

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
    products: Sequence[str] = tuple(PRODUCTS),
) -> Iterator[tuple[str, TimedCoordinates]]:
    """Iterator over names of methods with their first `r` coordinates.

    The methods are each view alone, the kernel sum, de Sa's rows for two views, the walk between
    views and, last, the kernel products. All but the products share the kernels of one fit.

    Parameters
    ----------
    views : Views
    kernels : dict by view name
    r : int
    seed : int
    tol : float or None
        As for the estimators.
    products : list of str
        Those of `PRODUCTS` that the kernels have.
    """
    hop = MultiViewDiffusionMaps.paper_settings(r, kernel=dict(kernels), tol=tol, random_state=seed)
    between = TimedCoordinates(fit_coordinates(hop, views), hop.eigenvalues_, kernel_steps=2)
    for name in views.names:
        yield name, _sum_of_kernels(hop, [name], r, seed=seed)
    yield "kernel sum", _sum_of_kernels(hop, views.names, r, seed=seed)
    if views.n_views == 2:
        yield "de Sa", TimedCoordinates(de_sa_coordinates(hop), None, kernel_steps=2)
    yield "multi-view", between
    del hop, between  # Kernels are large.
    for name in products:
        fused = MultiViewDiffusionMaps(
            r,
            kernel=dict(kernels),
            fusion=PRODUCTS[name],
            solver="dense" if len(views) <= _FEW else "auto",
            tol=tol,
            random_state=seed,
        )
        one_step = fit_coordinates(fused, views)
        yield name, TimedCoordinates(one_step, fused.eigenvalues_)
        del fused, one_step


def _sum_of_kernels(
    estimator: MultiViewDiffusionMaps, names: Sequence[str], r: int, *, seed: int
) -> TimedCoordinates:
    """Coordinates of the sum of some kernels of a fit; of one kernel, its diffusion map."""
    walk = SumWalk([K for K in estimator.walk_.affinities if K.name in names])
    pieces = walk.pieces()
    spectrum = keep_positive(
        walk,
        solve_multilevel(
            walk,
            r,
            solver="dense" if walk.n_samples <= _FEW else "auto",
            tol=estimator.tol,
            pieces=pieces,
            generator=np.random.default_rng(seed),
        ),
    )
    one_step = Coordinates((spectrum.stepped,), int(pieces.max()) + 1)
    return TimedCoordinates(one_step, spectrum.eigenvalues)
