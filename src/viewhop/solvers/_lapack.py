"""LAPACK on the whole matrix, for small walks or a large part of the spectrum."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import numpy as np
from scipy.linalg import eigh

from viewhop._runtime import memory
from viewhop.solvers._problem import Floats, Problem, Solution, Solver

__all__ = ["DenseSolver", "dense_bytes", "run_interruptibly"]

#: Number of (n_nodes, n_nodes) matrices in memory at a time.
MATRICES = 5


class DenseSolver(Solver):
    """LAPACK's eigenvalue solver on A, restricted to the wanted pairs."""

    name = "dense"

    def solve(self, problem: Problem) -> Solution:
        """The wanted pairs, all of them accurate."""
        n = problem.walk.n_nodes
        A = problem.walk.matrix(np.dtype(np.float64))
        problem.n_products += n
        A -= problem.known @ problem.known.T  # eigenvalue 1 becomes 0
        A = 0.5 * (A + A.T)
        values, vectors = run_interruptibly(lambda: eigh(A, subset_by_index=[n - problem.r, n - 1]))
        if values.size < problem.r:
            # Of eigenvalues that are equal up to rounding, that driver may lose some.
            values, vectors = run_interruptibly(lambda: eigh(A, driver="evd"))
            values, vectors = values[-problem.r :], vectors[:, -problem.r :]
        problem.progress("solve", problem.r, problem.r)
        return Solution(values, vectors)

    def reserve(self, problem: Problem, allowed: int | None) -> None:
        """Raise MemoryBudgetError if the matrices would take more than the allowed bytes."""
        n = problem.walk.n_nodes
        memory.require_bytes(
            dense_bytes(n),
            allowed,
            what=f"the dense solver on {n:,} nodes for {problem.r:,} eigenpairs",
            instead='ask for fewer coordinates, solver="lanczos", or a larger max_memory',
        )


def dense_bytes(n_nodes: int) -> int:
    """Bytes of the matrices that LAPACK needs for a walk of this size."""
    return MATRICES * 8 * n_nodes**2


def run_interruptibly(work: Callable[[], tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """The result of a long library call, run in another thread so that Ctrl-C works."""
    outcome: list[tuple[Floats, ...] | BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the caller below
            outcome.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)  # on some systems a join without a timeout blocks Ctrl-C
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
