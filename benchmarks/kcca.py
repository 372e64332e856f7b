"""Kernel CCA from incomplete Cholesky factors against the dense generalised problem.

The dense reference forms both sides of Eq. (8), 2M × 2M, and gives them to ``scipy.linalg.eigh``;
forming them is counted, the kernels are not. The library is timed from the samples on: scales,
kernel columns, factors and the small problem.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy.linalg import eigh

import viewhop as vh
from benchmarks.digits import Row
from viewhop.baselines import KernelCCA

R = 5
RANK = 100
GAMMA = 0.01
KERNEL = vh.kernels.Gaussian(factor=3.0)


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


def low_rank(n_samples: int, rank: int) -> tuple[float, KernelCCA]:
    """Seconds of a fit, and the fit."""
    data = views(n_samples)
    est = KernelCCA(R, kernel=KERNEL, regularization=GAMMA, rank=rank)
    start = perf_counter()
    est.fit(data)
    return perf_counter() - start, est


def dense(n_samples: int, est: KernelCCA) -> tuple[float, np.ndarray]:
    """Seconds of the dense generalised problem, and its largest eigenvalues."""
    kernels = []
    for X, sigma in zip(views(n_samples), est.bandwidths_.values(), strict=True):
        norms = np.square(X).sum(axis=1)
        K = np.exp((X @ X.T - 0.5 * norms - 0.5 * norms[:, None]) / sigma**2)
        K -= K.mean(axis=0)
        K -= K.mean(axis=1, keepdims=True)
        kernels.append(K)
    n = n_samples
    start = perf_counter()
    A, B = np.zeros((2, 2 * n, 2 * n))
    A[:n, n:] = kernels[0] @ kernels[1]
    A[n:, :n] = A[:n, n:].T
    for l, K in enumerate(kernels):
        K[np.diag_indices(n)] += GAMMA
        B[l * n : (l + 1) * n, l * n : (l + 1) * n] = K @ K
    values = eigh(A, B, overwrite_a=True, overwrite_b=True, check_finite=False)[0]
    return perf_counter() - start, values[::-1][:R]


def run(*, n_samples: int = 1500, large: int = 5000) -> list[Row]:
    """The library at `n_samples` and at `large`, at full rank, and the dense problem."""
    seconds, est = low_rank(n_samples, RANK)
    exact = low_rank(n_samples, n_samples)
    reference, values = dense(n_samples, est)
    gap, loss = (float(np.abs(e.correlations_ - values).max()) for e in (exact[1], est))
    beyond = low_rank(large, RANK)[0]
    return [
        Row(f"KernelCCA, rank {RANK}, M = {n_samples:,} (off by {loss:.0e})", seconds, 1.0, None),
        Row(f"KernelCCA, full rank, M = {n_samples:,}", exact[0], exact[0] / seconds, None),
        Row(
            f"eigh(A, B) of {2 * n_samples:,} × {2 * n_samples:,} (full rank agrees to {gap:.0e})",
            reference,
            reference / seconds,
            None,
        ),
        Row(f"KernelCCA, rank {RANK}, M = {large:,}", beyond, beyond / seconds, None),
    ]
