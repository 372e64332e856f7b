"""Lanczos: one vector at a time, for kernels on neighbours."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from viewhop.solvers._problem import Floats, Found, Operator

__all__ = ["solve_lanczos"]

#: Restarts before it gives up.
MAX_RESTARTS = 300


def solve_lanczos(operator: Operator) -> tuple[Found, bool]:
    """Eigenpairs of A by ARPACK's restarted Lanczos iteration, and whether all converged."""
    problem, n = operator.problem, operator.n

    def product(v: Floats) -> Floats:
        problem.progress("solve", problem.n_products, None)
        return np.asarray(operator.apply(v.reshape(n)), dtype=np.float64)

    finished = True
    try:
        values, vectors = eigsh(
            LinearOperator((n, n), matvec=product, dtype=np.float64),
            k=problem.r,
            which="LA",
            v0=operator.project(problem.generator.standard_normal(n)),
            ncv=min(n - 1, max(2 * problem.r + 1, 24)),
            tol=problem.tol,
            maxiter=MAX_RESTARTS,
        )
    except ArpackNoConvergence as stopped:
        values, vectors = np.real(stopped.eigenvalues), np.real(stopped.eigenvectors)
        finished = False
    return operator.pairs(np.asarray(values), np.asarray(vectors)), finished
