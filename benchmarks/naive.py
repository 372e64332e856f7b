"""The paper's method as printed: form the LM × LM matrix and compute all of its eigenpairs.

Both start from samples and end with coordinates. ``scipy.linalg.eigh`` calls LAPACK with its
default driver and with the divide-and-conquer driver: a kernel has many eigenvalues close to 0,
which slow the default driver down.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks.apart import ApartError, apart
from benchmarks.data import cube_views
from benchmarks.fits import measure_fit
from benchmarks.row import Row, ratio

TITLE = "The naive method: dense Gaussians of 2,000 digits and of a cube"
FULL: dict[str, Any] = {
    "n_samples": 2000,
    "n_views": 3,
    "drivers": ["evr", "evd"],
    "grid": [750, 1000, 1250, 1500],
    "limit": 60.0,
}
SMALL: dict[str, Any] = {
    "n_samples": 100,
    "n_views": 3,
    "drivers": ["evr"],
    "grid": [100],
    "limit": 20.0,
}

R = 20
_DRIVERS = {"evr": "the default driver", "evd": "divide and conquer"}


def samples(source: str, n_samples: int, n_views: int) -> list[np.ndarray]:
    """Views of the digits in the package, or of the cube, in float64."""
    if source == "cube":
        return [X.astype(np.float64) for X in cube_views(n_samples, n_views)]
    digits = vh.datasets.load_mfeat().views
    step = len(digits) // n_samples  # the digits come class by class
    return [X[::step][:n_samples] for _, X in [*digits.items()][:n_views]]


def estimator() -> vh.MultiViewDiffusionMaps:
    return vh.MultiViewDiffusionMaps.paper_settings(R, random_state=0)


def ours(source: str, n_samples: int, n_views: int) -> dict[str, Any]:
    """The library's fit."""
    est = estimator()
    result = measure_fit(est, samples(source, n_samples, n_views))
    scales = [float(sigma) for sigma in est.bandwidths_.values()]
    return result | {"scales": scales, "eigenvalues": est.eigenvalues_.tolist()}


def naive(
    source: str, n_samples: int, n_views: int, scales: list[float], driver: str
) -> dict[str, Any]:
    """The whole matrix and all its eigenpairs, at given scales."""
    from scipy.linalg import eigh
    from scipy.spatial.distance import cdist

    data = samples(source, n_samples, n_views)
    start = perf_counter()
    kernels = [
        np.exp(-cdist(X, X, "sqeuclidean") / (2 * sigma**2))
        for X, sigma in zip(data, scales, strict=True)
    ]
    A = np.zeros((n_views, n_samples, n_views, n_samples))
    for l, K in enumerate(kernels):
        for m, other in enumerate(kernels):
            if l != m:
                A[l, :, m] = K @ other
    A = A.reshape(n_views * n_samples, -1)
    root = np.sqrt(A.sum(axis=1))
    A /= root[:, None]
    A /= root
    values, vectors = eigh(A, overwrite_a=True, check_finite=False, driver=driver)
    vectors = vectors[:, ::-1][:, 1 : R + 1] / vectors[:, -1:]
    seconds = perf_counter() - start
    return {"seconds": seconds, "eigenvalues": values[::-1][1 : R + 1].tolist()}


def run(
    *, n_samples: int, n_views: int, drivers: list[str], grid: list[int], limit: float
) -> Iterator[Row]:
    """Both methods on the digits, and the largest M for the naive method within a time limit.

    Parameters
    ----------
    n_samples, n_views : int
        Number of digits, and of their views.
    drivers : list of str
        Drivers of LAPACK; the bound is for the first.
    grid : list of int
        Numbers of samples of the cube, in increasing order.
    limit : float
        Time limit of the naive method on the grid, in seconds.
    """
    yield _plain_row(f"viewhop, digits, 6 views, M = {n_samples:,}, r = {R}", _ours(n_samples, 6))
    fit = _ours(n_samples, n_views)
    name = f"viewhop, digits, {n_views} views"
    yield _plain_row(name, fit)
    bound: float | None = 50.0
    for driver in drivers:
        order = {"source": "digits", "n_samples": n_samples, "n_views": n_views}
        result = apart(naive, order | {"scales": fit["scales"], "driver": driver})
        gap = np.abs(np.subtract(result["eigenvalues"], fit["eigenvalues"])).max()
        n = n_views * n_samples
        work = f"naive, {n:,} × {n:,}, {_DRIVERS[driver]} (eigenvalues agree to {gap:.0e})"
        yield ratio(work, result, fit["seconds"], name, at_least=bound, ours=False)
        bound = None
    for driver in drivers:
        yield from _largest(grid, n_views, driver, limit)


def _largest(grid: list[int], n_views: int, driver: str, limit: float) -> Iterator[Row]:
    """The largest size that the naive method finishes in time, and the library at that size."""
    last: tuple[int, dict[str, Any], dict[str, Any]] | None = None
    why = "the largest that was tried"
    for n in grid:
        order = {"source": "cube", "n_samples": n, "n_views": n_views}
        fit = apart(ours, order)
        try:
            result = apart(
                naive,
                order | {"scales": fit["scales"], "driver": driver},
                limit=limit + 30.0,  # the limit is for the work, not for importing and the data
            )
        except ApartError as error:
            why = f"at {n:,}: {error}"
            break
        if result["seconds"] > limit:
            why = f"{n:,} take {result['seconds']:.0f} s"
            break
        last = n, result, fit
    if last is None:
        yield Row(
            f"naive, cube, {_DRIVERS[driver]}: no size in {limit:.0f} s", error=why, ours=False
        )
        return
    n, result, fit = last
    name = f"viewhop, cube, {n_views} views, M = {n:,}"
    yield _plain_row(name, fit)
    work = f"naive there, {_DRIVERS[driver]}: the largest M in {limit:.0f} s ({why})"
    yield ratio(work, result, fit["seconds"], name, ours=False)


def _ours(n_samples: int, n_views: int) -> dict[str, Any]:
    return apart(ours, {"source": "digits", "n_samples": n_samples, "n_views": n_views})


def _plain_row(work: str, result: dict[str, Any]) -> Row:
    return Row(work, result["seconds"], peak=result["peak"], at_import=result["at_import"])
