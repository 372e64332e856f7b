"""Memory estimates for solving, before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viewhop.affinity import AffinitySize
from viewhop.solvers._auto import DENSE_NODES, is_many
from viewhop.solvers._krylov import SPARSE_WIDTH, WIDTH, max_columns
from viewhop.solvers._lapack import MATRICES
from viewhop.walks import WalkSize

__all__ = ["solving_bytes"]

#: Share of the basis that an iteration on full kernels fills before it converges.
FILLED = 0.5


def solving_bytes(
    walk: WalkSize,
    kernels: Sequence[AffinitySize],
    *,
    n_samples: int,
    dtype: np.dtype[np.floating],
    r: int,
    solver: Any,
    tol: float | None,
) -> float:
    """Peak bytes of solving for the spectrum, without the kernels.

    Parameters
    ----------
    walk : WalkSize
    kernels : sequence of AffinitySize
        One per view.
    n_samples : int
    dtype : dtype of the kernels
    r : int
        Number of eigenpairs.
    solver : str or object
        A custom solver counts as "auto".
    tol : float or None
    """
    nodes, solved, size = walk.n_nodes, walk.n_solved, dtype.itemsize
    name = solver if isinstance(solver, str) else "auto"
    pairs = 5.0 * nodes * r * 8
    is_small = nodes <= DENSE_NODES or 5 * r >= nodes
    if name == "dense" or (name == "auto" and is_small):
        return MATRICES * 8.0 * nodes**2
    if any(kernel.is_dense for kernel in kernels):
        basis = 2 * FILLED * max_columns(r, is_dense=True) * 8
        sums = kernels[0].product_groups * WIDTH * size * n_samples / solved
        return solved * (basis + sums + 8 * WIDTH * 8) + pairs
    if not (name == "krylov" or (name == "auto" and is_many(n_samples, dtype, tol))):
        return solved * max(2 * r + 1, 24) * 8 * 2.0 + pairs
    # The reordered kernels with their source positions, and the merged kernels.
    stored = [kernel.n_pairs for kernel in kernels]
    moved = 1.25 * sum(stored) * (size + 4) + 12 * max(stored)
    basis = 2 * max_columns(r, is_dense=False) * size + 10 * SPARSE_WIDTH * size
    start = 2.0 * nodes * (r + max(10, r // 2)) * 8
    return moved + solved * basis + start + pairs
