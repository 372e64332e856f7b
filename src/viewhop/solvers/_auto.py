"""What "auto" stands for: the solver that is fastest for a walk."""

from __future__ import annotations

import numpy as np

from viewhop.walks import Walk

__all__ = ["DENSE_NODES", "choose_solver", "is_many", "resolve_tolerance"]

#: From this many samples on, and with this tolerance or a larger one, block Krylov from a coarse
#: start is faster than Lanczos on neighbours: by 1.5 to 2.4 times at 20,000 to 50,000 samples of
#: two and three views in single precision, where Lanczos is as fast at 8,000 samples of two.
MANY_SAMPLES = 15_000
FEW_DIGITS = 1e-6
#: Up to this many nodes LAPACK on the whole matrix is faster than iterating.
DENSE_NODES = 1000


def choose_solver(walk: Walk, r: int, tol: float | None = None) -> str:
    """The name of the solver that "auto" stands for.

    LAPACK for small walks or for a large part of the spectrum. Block Krylov where kernels are
    full matrices (a block costs little more than a vector there), and for many samples on
    neighbours unless all digits are wanted (it begins with a coarse solution, which is worth
    less the more digits there are to find). Otherwise Lanczos, on half the problem for two views.

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
    """The residual relative to each eigenvalue; 0 is as far as double precision goes."""
    if tol is not None:
        return tol
    return 0.0 if dtype == np.float64 else 1e-5
