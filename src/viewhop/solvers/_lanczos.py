"""Lanczos iteration and singular values: one vector at a time, for neighbour kernels."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from scipy.linalg import svd
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from viewhop._runtime.arpack import seed_restarts
from viewhop._runtime.threads import single_blas
from viewhop.solvers import _auto
from viewhop.solvers._lapack import run_interruptibly
from viewhop.solvers._problem import Floats, Half, Operator, Problem, Solution, Solver, Whole
from viewhop.walks import Walk

__all__ = ["MAX_RESTARTS", "LanczosSolver", "SvdSolver"]

#: Largest number of restarts.
MAX_RESTARTS = 300


class LanczosSolver(Solver):
    """ARPACK's restarted Lanczos iteration on A."""

    name = "lanczos"

    def solve(self, problem: Problem) -> Solution:
        """The wanted pairs, or those that converged within the limit."""
        return iterate_lanczos(Whole(problem))

    def fits(self, problem: Problem) -> bool:
        """Whether the basis of ARPACK, two vectors per pair, is smaller than the whole space."""
        return bool(2 * problem.r + 1 < problem.walk.n_nodes - problem.known.shape[1])


class SvdSolver(Solver):
    """Singular triplets of a walk that alternates between two blocks.

    LAPACK computes all of them for small walks; otherwise Lanczos computes the leading ones on half
    the problem.
    """

    name = "svd"

    def check(self, walk: Walk) -> None:
        """Raise ValueError for a walk that does not alternate between two blocks."""
        if walk.reduced is None:
            raise ValueError(
                'solver="svd" is for the alternating walk, the integrated one, and the hop walk of '
                'two views that never stays in a view (within_view_weight=0); use solver="auto"'
            )

    def solve(self, problem: Problem) -> Solution:
        """The wanted pairs, or those that converged within the limit."""
        half = Half(problem)
        n = min(half.shape)
        if n > _auto.DENSE_NODES and 2 * problem.r + 1 < n - problem.known.shape[1]:
            return iterate_lanczos(half)
        first, second = half.shape
        problem.n_products += second
        trivial = 2.0 * problem.known[:first] @ problem.known[first:].T
        rest = half.cross.forward(np.eye(second)) - trivial
        left, values, rows = run_interruptibly(lambda: svd(rest, full_matrices=False))
        problem.progress("solve", problem.r, problem.r)
        r = problem.r
        return Solution(values[:r], np.vstack([left[:, :r], rows[:r].T]) / np.sqrt(2.0))


def iterate_lanczos(operator: Operator) -> Solution:
    """Eigenpairs of A by ARPACK's restarted Lanczos iteration on an operator."""
    problem, n = operator.problem, operator.n

    def product(v: Floats) -> Floats:
        problem.progress("solve", problem.n_products, None)
        return np.asarray(operator.apply(v.reshape(n)), dtype=np.float64)

    converged = True
    try:
        # Its steps are short: BLAS threads would mostly wait for each other.
        with single_blas if problem.walk.n_jobs > 1 else nullcontext():
            values, vectors = eigsh(
                LinearOperator((n, n), matvec=product, dtype=np.float64),
                k=problem.r,
                which="LA",
                v0=operator.project(problem.generator.standard_normal(n)),
                ncv=min(n - 1, max(2 * problem.r + 1, 24)),
                tol=problem.tol,
                maxiter=MAX_RESTARTS,
                **seed_restarts(),
            )
    except ArpackNoConvergence as stopped:
        values, vectors = np.real(stopped.eigenvalues), np.real(stopped.eigenvectors)
        converged = False
    return Solution(*operator.pairs(np.asarray(values), np.asarray(vectors)), converged)
