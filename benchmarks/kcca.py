"""Kernel CCA from incomplete Cholesky factors against the dense generalised problem.

The dense reference forms both sides of Eq. (8), 2M × 2M, and gives them to ``scipy.linalg.eigh``.
Both start from samples and scales and end with correlations; the library also computes variates.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks.apart import apart
from benchmarks.row import Row, ratio

TITLE = "Kernel CCA of two views"
FULL: dict[str, Any] = {"sizes": [2000, 5000]}
SMALL: dict[str, Any] = {"sizes": [150]}

R = 5
RANK = 100
GAMMA = 0.01
FACTOR = 3.0


def views(n_samples: int) -> list[np.ndarray]:
    """Two noisy views of points on a curve, ten features each."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 6, n_samples)
    waves = np.stack([np.cos(k * t) for k in range(1, 6)] + [np.sin(k * t) for k in range(1, 6)], 1)
    slow = np.c_[waves, t, t**2 / 6]
    return [
        wave @ rng.standard_normal((wave.shape[1], 10)) + 0.1 * rng.standard_normal((n_samples, 10))
        for wave in (waves, slow)
    ]


def low_rank(n_samples: int) -> dict[str, Any]:
    """The library: its scales and correlations."""
    from viewhop.estimators import KernelCCA

    data = views(n_samples)
    scales = [float(vh.bandwidth.max_min(X, FACTOR)) for X in data]
    kernels = [vh.kernels.Gaussian(sigma) for sigma in scales]
    start = perf_counter()
    est = KernelCCA(R, kernel=kernels, regularization=GAMMA, rank=RANK).fit(data)
    seconds = perf_counter() - start
    return {"seconds": seconds, "scales": scales, "correlations": est.correlations_.tolist()}


def dense(n_samples: int, scales: list[float]) -> dict[str, Any]:
    """The dense generalised problem: its largest eigenvalues."""
    from scipy.linalg import eigh

    data = views(n_samples)
    start = perf_counter()
    kernels = []
    for X, sigma in zip(data, scales, strict=True):
        norms = np.square(X).sum(axis=1)
        K = np.exp((X @ X.T - 0.5 * norms - 0.5 * norms[:, None]) / sigma**2)
        K -= K.mean(axis=0)
        K -= K.mean(axis=1, keepdims=True)
        kernels.append(K)
    n = n_samples
    A, B = np.zeros((2, 2 * n, 2 * n))
    A[:n, n:] = kernels[0] @ kernels[1]
    A[n:, :n] = A[:n, n:].T
    for l, K in enumerate(kernels):
        K[np.diag_indices(n)] += GAMMA
        B[l * n : (l + 1) * n, l * n : (l + 1) * n] = K @ K
    values = eigh(A, B, overwrite_a=True, overwrite_b=True, check_finite=False)[0]
    return {"seconds": perf_counter() - start, "correlations": values[::-1][:R].tolist()}


def run(*, sizes: list[int]) -> Iterator[Row]:
    """The library and the dense problem at each size."""
    for n in sizes:
        result = apart(low_rank, {"n_samples": n})
        name = f"KernelCCA, rank {RANK}, M = {n:,}"
        yield Row(name, result["seconds"], peak=result["peak"], at_import=result["at_import"])
        reference = apart(dense, {"n_samples": n, "scales": result["scales"]})
        loss = np.abs(np.subtract(result["correlations"], reference["correlations"])).max()
        size = f"{2 * n:,} × {2 * n:,}"
        work = f"eigh(A, B) of {size} (rank {RANK} is off by {loss:.0e})"
        yield ratio(work, reference, result["seconds"], name, ours=False)
