"""The choice of solver="auto", and the memory that solving takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viewhop.affinity import AffinitySize
from viewhop.solvers._krylov import SPARSE_WIDTH, WIDTH, max_columns
from viewhop.solvers._lapack import dense_bytes
from viewhop.walks import Walk, WalkSize

__all__ = [
    "DENSE_NODES",
    "choose_solver",
    "inverse_bytes",
    "is_many",
    "resolve_tolerance",
    "solving_bytes",
]

#: With at least this many samples and at least this tolerance, block Krylov from a coarse start is
#: faster than Lanczos for neighbour kernels: 1.5 to 2.4 times for 20,000 to 50,000 samples of two
#: and three views in single precision. For 8,000 samples of two views, Lanczos is as fast.
MANY_SAMPLES = 15_000
FEW_DIGITS = 1e-6
#: Up to this many nodes, LAPACK on the whole matrix is faster than an iteration.
DENSE_NODES = 1000
#: Share of the basis that an iteration on full kernels fills before it converges.
FILLED = 0.5
#: Arrays of nodes and coordinates that are in use while eigenpairs between samples are lifted.
LIFTED = 7.5


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


def inverse_bytes(n_nodes: int, n_kernels: int, dtype: np.dtype[np.floating]) -> int:
    """Bytes of the full matrices that are in memory while one of them is factorised.

    Parameters
    ----------
    n_nodes : int
    n_kernels : int
        Of several kernels, one at a time becomes a full matrix beside their sum.
    dtype : dtype
    """
    return (1 if n_kernels == 1 else 3) * n_nodes**2 * dtype.itemsize


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
    if walk.is_on_hub and solver != "svd":
        hub = WalkSize(walk.n_solved, walk.n_solved)
        on_hub = solving_bytes(
            hub, kernels, n_samples=n_samples, dtype=dtype, r=r, solver=solver, tol=tol
        )
        # Then the eigenpairs between nodes, from those between samples.
        return max(on_hub, LIFTED * walk.n_nodes * r * 8)
    nodes, solved, size = walk.n_nodes, walk.n_solved, dtype.itemsize
    name = solver if isinstance(solver, str) else "auto"
    pairs = 5.0 * nodes * r * 8
    is_small = nodes <= DENSE_NODES or 5 * r >= nodes
    if name == "dense" or (name == "auto" and is_small):
        return float(dense_bytes(nodes))
    if any(kernel.is_dense for kernel in kernels):
        basis = 2 * FILLED * max_columns(r, is_dense=True) * 8
        sums = kernels[0].product_groups * WIDTH * size * n_samples / solved
        # A factorisation by "auto" is not counted: it makes use of what is left.
        inverse = inverse_bytes(nodes, len(kernels), dtype) if name == "inverse" else 0
        return solved * (basis + sums + 8 * WIDTH * 8) + pairs + inverse
    if not (name == "krylov" or (name == "auto" and is_many(n_samples, dtype, tol))):
        return solved * max(2 * r + 1, 24) * 8 * 2.0 + pairs
    # The reordered kernels with their source positions, and the merged kernels.
    stored = [kernel.n_pairs for kernel in kernels]
    moved = 1.25 * sum(stored) * (size + 4) + 12 * max(stored)
    basis = 2 * max_columns(r, is_dense=False) * size + 10 * SPARSE_WIDTH * size
    start = 2.0 * nodes * (r + max(10, r // 2)) * 8
    return moved + solved * basis + start + pairs
