"""The choice of solver="auto": the fastest solver for a walk."""

from __future__ import annotations

import numpy as np

from viewhop.walks import Walk

__all__ = ["DENSE_NODES", "choose_solver", "is_many", "resolve_tolerance"]

#: With at least this many samples and at least this tolerance, block Krylov from a coarse start is
#: faster than Lanczos for neighbour kernels: 1.5 to 2.4 times for 20,000 to 50,000 samples of two
#: and three views in single precision. For 8,000 samples of two views, Lanczos is as fast.
MANY_SAMPLES = 15_000
FEW_DIGITS = 1e-6
#: Up to this many nodes, LAPACK on the whole matrix is faster than an iteration.
DENSE_NODES = 1000


def choose_solver(walk: Walk, r: int, tol: float | None = None) -> str:
    """The name of the solver that "auto" stands for.

    LAPACK for small walks and for a large part of the spectrum. Block Krylov for full kernels,
    where a block costs little more than a vector, and for many samples with neighbour kernels
    unless full accuracy is required: its coarse start saves less, the more digits are computed.
    Otherwise Lanczos, on half the problem for two views.

    Parameters
    ----------
    walk : Walk
    r : int
        Number of pairs.
    tol : float or None
        As in `solve`.
    """
    if walk.n_nodes <= DENSE_NODES or 5 * r >= walk.n_nodes:
        return "dense"
    if walk.is_dense or is_many(walk.n_samples, walk.dtype, tol):
        return "krylov"
    return "svd" if walk.is_cross else "lanczos"


def is_many(n_samples: int, dtype: np.dtype[np.floating], tol: float | None) -> bool:
    """Whether block Krylov from a coarse start is the faster solver for neighbour kernels."""
    return n_samples >= MANY_SAMPLES and resolve_tolerance(dtype, tol) >= FEW_DIGITS


def resolve_tolerance(dtype: np.dtype[np.floating], tol: float | None) -> float:
    """The residual relative to each eigenvalue; 0 means the full accuracy of float64."""
    if tol is not None:
        return tol
    return 0.0 if dtype == np.float64 else 1e-5
