"""Kernel CCA from incomplete Cholesky factors against the dense generalised problem.

The dense reference forms both sides of Eq. (8), 2M × 2M, and gives them to ``scipy.linalg.eigh``.
Both begin with samples and scales and end with correlations; the library also has variates then.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy.linalg import eigh

import viewhop as vh
from benchmarks.row import Row
from viewhop.baselines import KernelCCA

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


def low_rank(data: list[np.ndarray], scales: list[float], rank: int) -> tuple[float, np.ndarray]:
    """Seconds of a fit, and its correlations."""
    kernels = [vh.kernels.Gaussian(sigma) for sigma in scales]
    start = perf_counter()
    est = KernelCCA(R, kernel=kernels, regularization=GAMMA, rank=rank).fit(data)
    return perf_counter() - start, est.correlations_


def dense(data: list[np.ndarray], scales: list[float]) -> tuple[float, np.ndarray]:
    """Seconds of the dense generalised problem, and its largest eigenvalues."""
    start = perf_counter()
    kernels = []
    for X, sigma in zip(data, scales, strict=True):
        norms = np.square(X).sum(axis=1)
        K = np.exp((X @ X.T - 0.5 * norms - 0.5 * norms[:, None]) / sigma**2)
        K -= K.mean(axis=0)
        K -= K.mean(axis=1, keepdims=True)
        kernels.append(K)
    n = len(data[0])
    A, B = np.zeros((2, 2 * n, 2 * n))
    A[:n, n:] = kernels[0] @ kernels[1]
    A[n:, :n] = A[:n, n:].T
    for l, K in enumerate(kernels):
        K[np.diag_indices(n)] += GAMMA
        B[l * n : (l + 1) * n, l * n : (l + 1) * n] = K @ K
    values = eigh(A, B, overwrite_a=True, overwrite_b=True, check_finite=False)[0]
    return perf_counter() - start, values[::-1][:R]


def run(*, n_samples: int = 2000, large: int = 5000, dense_large: bool = False) -> list[Row]:
    """The library at `n_samples` and at `large`; the dense problem at the first, or at both.

    The dense problem at 5,000 samples takes about (5,000 / 2,000)³ times as long as at 2,000.
    """
    rows = []
    for n in (n_samples, large):
        data = views(n)
        scales = [vh.bandwidth.max_min(X, FACTOR) for X in data]
        seconds, approximate = low_rank(data, scales, RANK)
        name = f"KernelCCA, rank {RANK}, M = {n:,}"
        rows.append(Row(name, seconds))
        if n == large and not dense_large:
            continue
        reference, values = dense(data, scales)
        loss = float(np.abs(approximate - values).max())
        size = f"{2 * n:,} × {2 * n:,}"
        work = f"eigh(A, B) of {size} (rank {RANK} is off by {loss:.0e})"
        rows.append(Row(work, reference, reference / seconds, name))
    return rows
