"""Affinities: how one view's kernel on the training samples is held and multiplied."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import row_blocks
from viewhop.affinity import _dense as dense
from viewhop.affinity import _sparse as sparse
from viewhop.affinity._affinity import Affinity
from viewhop.affinity._kernel_rows import KernelRows
from viewhop.kernels import DistanceKernel, Kernel, Precomputed

__all__ = ["Affinity", "KernelRows", "build_affinity", "check_kernel_values"]


def build_affinity(
    name: str,
    kernel: Kernel,
    X: NDArray[np.floating],
    *,
    generator: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = no_progress,
    allowed: int | None = None,
) -> Affinity:
    """The kernel of one view on its training samples, dense or on neighbours as it asks.

    Parameters
    ----------
    name : str
        The view, for errors and progress.
    kernel : Kernel
    X : (n_samples, n_features) array
        For `Precomputed`, the (n_samples, n_samples) kernel.
    generator : Generator
        Draws the rows that a scale is estimated from, where there are many.
    n_jobs : int
        Threads.
    progress : callable
    allowed : int or None
        Bytes that pairs of neighbours may take, which ties can make many; None allows anything.
    """
    is_dense = kernel.n_neighbors is None
    if isinstance(kernel, Precomputed):
        _check_values(name, X)
        if is_dense:
            return dense.build_dense_precomputed(name, kernel, X, n_jobs=n_jobs)
        return sparse.build_sparse_precomputed(name, kernel, 0.5 * (X + X.T), n_jobs=n_jobs)
    assert isinstance(kernel, DistanceKernel)

    def done(count: int, total: int) -> None:
        stage = "kernel" if is_dense else "neighbours"
        progress(f"{stage} of {name}", count, total)

    if is_dense:
        return dense.build_dense(name, kernel, X, generator=generator, n_jobs=n_jobs, done=done)
    return sparse.build_sparse(
        name, kernel, X, generator=generator, n_jobs=n_jobs, done=done, allowed=allowed
    )


def check_kernel_values(name: str, X: NDArray[np.floating]) -> None:
    """Raise ValueError, naming view and row, for a negative precomputed value."""
    negative = np.flatnonzero(X.min(axis=1) < 0)
    if negative.size:
        raise ValueError(
            f"row {negative[0]} of the precomputed kernel of view {name!r} has a negative value; "
            "kernel values must be 0 or more"
        )


def _check_values(name: str, values: NDArray[np.floating]) -> None:
    """Raise ValueError for what is not a kernel matrix: square, symmetric, with a diagonal."""
    n = values.shape[0]
    if values.shape != (n, n):
        raise ValueError(
            f"the precomputed kernel of view {name!r} must be square, "
            f"(n_samples, n_samples), but it is {values.shape}"
        )
    check_kernel_values(name, values)
    alone = np.flatnonzero(np.diagonal(values) <= 0)
    if alone.size:
        raise ValueError(
            f"row {alone[0]} of the precomputed kernel of view {name!r} has 0 on the diagonal; a "
            "sample's similarity to itself must be positive"
        )
    tolerance = np.sqrt(np.finfo(values.dtype).eps) * values.max()
    for block in row_blocks(n, n):
        gap = np.abs(values[block] - values[:, block].T)
        if gap.max() > tolerance:
            row, column = np.unravel_index(int(gap.argmax()), gap.shape)
            row += block.start
            raise ValueError(
                f"the precomputed kernel of view {name!r} is not symmetric: entries "
                f"({row}, {column}) and ({column}, {row}) are {values[row, column]:.6g} and "
                f"{values[column, row]:.6g}"
            )
