"""Building the affinity of a view from its kernel and its rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop.affinity._affinity import Affinity
from viewhop.affinity._dense import build_dense, build_dense_precomputed
from viewhop.affinity._kernel_values import check_kernel_matrix
from viewhop.affinity._sparse import build_sparse
from viewhop.affinity._sparse_precomputed import build_sparse_precomputed
from viewhop.kernels import DistanceKernel, Kernel, Precomputed
from viewhop.views import Describe, ViewRows, row_number

__all__ = ["build_affinity"]


def build_affinity(
    name: str,
    kernel: Kernel,
    X: NDArray[np.floating],
    *,
    generator: np.random.Generator | None = None,
    n_jobs: int = 1,
    progress: Progress = no_progress,
    allowed: int | None = None,
    describe: Describe = row_number,
) -> Affinity:
    """The kernel of one view on its training samples, stored as a full matrix or on neighbours.

    If the kernel's own `Kernel.build` returns an affinity, that one is used.

    Parameters
    ----------
    name : str
        The view, for errors and progress.
    kernel : Kernel
    X : (n_samples, n_features) array
        For `Precomputed`, the (n_samples, n_samples) kernel.
    generator : Generator or None
        Draws the rows that a scale is estimated from; None means seed 0.
    n_jobs : int
        Threads.
    progress : callable
    allowed : int or None
        Bytes that pairs of neighbours may take, which ties can make many; None means no limit.
    describe : callable
        Names a row in a message.
    """
    generator = np.random.default_rng(0) if generator is None else generator
    rows = ViewRows(name, X, generator, n_jobs, progress, allowed, describe)
    own = kernel.build(rows)
    if own is not None:
        if not isinstance(own, Affinity):
            raise TypeError(
                f"build of the kernel {type(kernel).__name__} (view {name!r}) must return an "
                f"Affinity or None, not {type(own).__name__}"
            )
        own.name, own.kernel = name, kernel
        return own
    if isinstance(kernel, Precomputed):
        check_kernel_matrix(name, X, describe)
        if kernel.n_neighbors is None:
            return build_dense_precomputed(rows, kernel)
        return build_sparse_precomputed(rows, kernel)
    if not isinstance(kernel, DistanceKernel):
        raise TypeError(
            f"{type(kernel).__name__} (view {name!r}) is not a DistanceKernel, and its build "
            "returns None; derive it from DistanceKernel, or return an Affinity from build"
        )
    return build_dense(rows, kernel) if kernel.n_neighbors is None else build_sparse(rows, kernel)
