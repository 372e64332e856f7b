"""Shift and invert, for full kernels whose leading eigenvalues crowd near 1.

The narrower a kernel, the closer its eigenvalues, and the more products an iteration needs. The
inverse of sI − A, with s just above 1, has the same eigenvectors, and its eigenvalues 1/(s − λ) are
far apart where those of A are close. One Cholesky factorisation gives it. Residuals multiplied by
it extend the basis, which then spans the Krylov space of the inverse; Rayleigh–Ritz and residuals
are still those of A, so that the errors of the inverse do not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from viewhop._runtime import memory
from viewhop._runtime.progress import Stage
from viewhop._runtime.threads import map_threads
from viewhop.solvers._auto import inverse_bytes
from viewhop.solvers._krylov import BlockKrylov, KrylovSolver, Outlook
from viewhop.solvers._lapack import DenseSolver, dense_bytes, run_interruptibly
from viewhop.solvers._problem import Floats, Problem, Solution, Solver, Whole
from viewhop.solvers._tall import Columns
from viewhop.walks import Walk

__all__ = ["AdaptiveSolver", "Inverse", "InverseSolver", "equivalent_columns"]

#: Columns of products with a kernel that take as long as the blocks of the inverse iteration.
SOLVES = 150
#: How much faster a factorisation computes than a product with few columns.
RATE = 1.5
#: A single-precision factor serves if 1 − λ is this many times the distance of its shift from 1.
CLEAR = 10.0
SINGLE = np.dtype(np.float32)
#: How much longer LAPACK takes for the eigenpairs than for a factorisation.
LAPACK = 8


class Inverse:
    """(sI − A)⁻¹ from a Cholesky factorisation.

    Parameters
    ----------
    walk : Walk
    dtype : dtype
        Precision of the factor.

    Attributes
    ----------
    shift : float
        s above all eigenvalues, so that sI − A is positive definite.
    """

    def __init__(self, walk: Walk, dtype: np.dtype[np.floating]) -> None:
        self._n_jobs = walk.n_jobs
        self._dtype = dtype
        # As small as rounding allows: s decides how far apart the eigenvalues are.
        self._largest = walk.largest_possible
        self.shift = self._largest + _beyond(dtype)
        factor = self._factorise(walk.matrix(dtype))
        while factor is None:
            factor = self._factorise(walk.matrix(dtype))
        self._factor = factor

    def __call__(self, V: Columns) -> Columns:
        """(sI − A)⁻¹ times a block (n, b)."""
        solve: Any = get_lapack_funcs("potrs", (self._factor,))
        out = np.empty(V.shape, dtype=V.dtype, order="F")
        step = -(-V.shape[1] // self._n_jobs)

        def fill(start: int) -> None:
            part = V[:, start : start + step].astype(self._dtype)
            out[:, start : start + step] = solve(self._factor, part, lower=1)[0]

        map_threads(fill, range(0, V.shape[1], step), self._n_jobs)
        return out

    def _factorise(self, A: Columns) -> Floats | None:
        """The Cholesky factor in place of A; None, and a larger shift, if there is none."""
        np.negative(A, out=A)
        A = A if A.flags.f_contiguous else A.T  # symmetric, and LAPACK goes by columns
        A[np.diag_indices(len(A))] += A.dtype.type(self.shift)
        decompose: Any = get_lapack_funcs("potrf", (A,))
        factor, failed = run_interruptibly(lambda: decompose(A, lower=1, clean=0, overwrite_a=1))
        if failed:
            self.shift = self._largest + 10.0 * (self.shift - self._largest)
            return None
        return factor


def _beyond(dtype: np.dtype[np.floating]) -> float:
    """Distance of the shift from the largest possible eigenvalue, at first."""
    return float(np.sqrt(np.finfo(dtype).eps))


class InverseSolver(Solver):
    """Block Krylov iteration on the inverse of sI − A."""

    name = "inverse"
    takes_start = True

    def solve(self, problem: Problem) -> Solution:
        """The wanted pairs, or those that converged within the limit."""
        problem.progress(Stage("solve", "factorisation"), 0, problem.r)
        inverse = Inverse(problem.walk, problem.walk.dtype)
        return BlockKrylov(Whole(problem)).run(sharpen=inverse)

    def reserve(self, problem: Problem, allowed: int | None) -> None:
        """Raise MemoryBudgetError if the matrices would take more than the allowed bytes."""
        n = problem.walk.n_nodes
        memory.require_bytes(
            _needed_bytes(problem.walk),
            allowed,
            what=f"the factorisation of a {n:,} × {n:,} matrix",
            instead='use solver="krylov", or a larger max_memory',
        )


class AdaptiveSolver(KrylovSolver):
    """Block Krylov iteration that turns to other means if it would take too many products.

    After a few blocks, the decrease of the residuals tells how many columns are left. If a
    factorisation takes less time, the iteration goes on with the inverse, from what it has found.
    If even that is slow, because many eigenvalues equal 1 up to rounding, LAPACK takes over.
    """

    def __init__(self) -> None:
        self._allowed: int | None = None

    def reserve(self, problem: Problem, allowed: int | None) -> None:
        """Note what is allowed; other means are used only if it suffices."""
        self._allowed = allowed

    def solve(self, problem: Problem) -> Solution:
        """The wanted pairs, or those that converged within the limit."""
        walk = problem.walk
        is_whole = walk.reduced is None and walk.factored is None
        if not is_whole or not self._has_room(walk, _needed_bytes(walk)):
            return super().solve(problem)
        columns = equivalent_columns(walk)
        iteration, outlook = BlockKrylov(Whole(problem)), Outlook(columns)
        solution = iteration.run(outlook)
        if outlook.was_poor and iteration.is_clear(CLEAR * _beyond(SINGLE)):
            # In single precision it takes half the time, but serves only if λ is not too near 1.
            outlook = Outlook(columns)
            solution = iteration.run(outlook, self._invert(problem, SINGLE))
        if outlook.was_poor:
            outlook = Outlook(LAPACK * columns)
            solution = iteration.run(outlook, self._invert(problem, walk.dtype))
        if outlook.was_poor and self._has_room(walk, dense_bytes(walk.n_nodes)):
            self.name = DenseSolver.name
            solution = DenseSolver().solve(problem)
        return solution

    def _has_room(self, walk: Walk, needed: int) -> bool:
        """Whether the allowed memory has room for the kernels and something else."""
        stored = sum(kernel.nbytes for kernel in walk.affinities)
        return self._allowed is None or stored + needed <= self._allowed

    def _invert(self, problem: Problem, dtype: np.dtype[np.floating]) -> Inverse:
        self.name = InverseSolver.name
        problem.progress(Stage("solve", "factorisation"), 0, problem.r)
        return Inverse(problem.walk, dtype)


def equivalent_columns(walk: Walk) -> float:
    """Number of columns of products with the kernels that take as long as the inverse.

    Parameters
    ----------
    walk : Walk
        With full kernels.
    """
    n = walk.n_nodes
    return SOLVES + (walk.matrix_flops + n**3 / 3.0) / walk.product_flops / RATE


def _needed_bytes(walk: Walk) -> int:
    """Bytes of the matrices that are in memory at a time."""
    return inverse_bytes(walk.n_nodes, len(walk.kernels), walk.dtype)
