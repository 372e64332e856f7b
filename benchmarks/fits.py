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
    "WALKS",
    "dense_estimator",
    "dense_fit",
    "measure_fit",
    "sparse_estimator",
    "sparse_fit",
]

NEIGHBOURS = 15


#: Walks by name: the library's own default, and the paper's, which never stays in a view.
WALKS: dict[str, dict[str, Any]] = {"default walk": {}, "η = 0": {"within_view_weight": 0.0}}


def dense_estimator(r: int, tol: float, walk: str = "η = 0") -> vh.MultiViewDiffusionMaps:
    """A walk on all pairs, a max-min scale with factor 0.1."""
    kernel = vh.kernels.Gaussian(bandwidth="max-min", factor=0.1)
    return _estimator(r, tol, walk, kernel)


def sparse_estimator(r: int, tol: float, walk: str = "η = 0") -> vh.MultiViewDiffusionMaps:
    """A walk on 15 neighbours, local scales."""
    kernel = vh.kernels.Gaussian(bandwidth="local", n_neighbors=NEIGHBOURS)
    return _estimator(r, tol, walk, kernel)


def _estimator(
    r: int, tol: float, walk: str, kernel: vh.kernels.Gaussian
) -> vh.MultiViewDiffusionMaps:
    return vh.MultiViewDiffusionMaps(r, kernel=kernel, tol=tol, random_state=0, **WALKS[walk])


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


def dense_fit(
    n_samples: int, n_views: int, r: int, tol: float, walk: str = "η = 0"
) -> dict[str, Any]:
    """A fit of views of the cube on all pairs."""
    return measure_fit(dense_estimator(r, tol, walk), cube_views(n_samples, n_views))


def sparse_fit(
    n_samples: int, n_views: int, r: int, tol: float, walk: str = "η = 0"
) -> dict[str, Any]:
    """A fit of views of the cube on neighbours."""
    return measure_fit(sparse_estimator(r, tol, walk), cube_views(n_samples, n_views))
