"""Fits that several benchmarks time, with dense and with neighbour kernels."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks.apart import peak
from benchmarks.data import cube_views

__all__ = [
    "NEIGHBOURS",
    "WHOLE",
    "dense_estimator",
    "dense_fit",
    "measure_fit",
    "sparse_estimator",
    "sparse_fit",
]

NEIGHBOURS = 15


def dense_estimator(r: int, tol: float) -> vh.MultiViewDiffusionMaps:
    """The paper's walk on all pairs, a max-min scale with factor 0.1."""
    kernel = vh.kernels.Gaussian(bandwidth="max-min", factor=0.1)
    return vh.MultiViewDiffusionMaps.paper_settings(r, kernel=kernel, tol=tol, random_state=0)


def sparse_estimator(r: int, tol: float) -> vh.MultiViewDiffusionMaps:
    """The paper's walk on 15 neighbours, local scales."""
    kernel = vh.kernels.Gaussian(bandwidth="local", n_neighbors=NEIGHBOURS)
    return vh.MultiViewDiffusionMaps.paper_settings(r, kernel=kernel, tol=tol, random_state=0)


def measure_fit(est: vh.MultiViewDiffusionMaps, views: list[np.ndarray]) -> dict[str, Any]:
    """Seconds, memory and accuracy of a fit; it fits the estimator."""
    start = perf_counter()
    est.fit(views)
    seconds = perf_counter() - start
    spectrum = est.spectrum_
    return {
        "seconds": seconds,
        **{stage: est.timings_[stage] for stage in ("kernels", "solve", "extension")},
        "peak": peak(),
        "residual": float((spectrum.residuals / spectrum.eigenvalues).max()),
        "gap": float(1 - spectrum.eigenvalues[0]),
        "least": float(spectrum.eigenvalues[-1]),
        "solver": est.solver_,
        "n_products": spectrum.n_products,
        "recall": min(float(K.recall) for K in est.walk_.affinities),
    }


#: Hops of two views that almost always change view; solved on all nodes, not on half of them.
WHOLE = [[1e-9, 1.0], [1.0, 1e-9]]


def dense_fit(
    n_samples: int, n_views: int, r: int, tol: float, hops: list[list[float]] | None = None
) -> dict[str, Any]:
    """A fit of views of the cube on all pairs."""
    est = _with_hops(dense_estimator(r, tol), hops)
    return measure_fit(est, cube_views(n_samples, n_views))


def sparse_fit(
    n_samples: int, n_views: int, r: int, tol: float, hops: list[list[float]] | None = None
) -> dict[str, Any]:
    """A fit of views of the cube on neighbours."""
    est = _with_hops(sparse_estimator(r, tol), hops)
    return measure_fit(est, cube_views(n_samples, n_views))


def _with_hops(
    est: vh.MultiViewDiffusionMaps, hops: list[list[float]] | None
) -> vh.MultiViewDiffusionMaps:
    """The estimator with other hops than the paper's, if there are any."""
    return est if hops is None else est.set_params(hops=hops, within_view_weight=None)
