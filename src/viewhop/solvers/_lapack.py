"""LAPACK on the whole matrix, for small walks or a large part of the spectrum."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import numpy as np
from scipy.linalg import eigh, svd

from viewhop.solvers._problem import Floats, Found, Half, Problem, Whole

__all__ = ["MATRICES", "solve_dense", "solve_triplets"]

#: Matrices of all nodes that are held at a time.
MATRICES = 5


def solve_dense(problem: Problem) -> Found:
    """Eigenpairs of A, only the wanted part."""
    n = problem.walk.n_nodes
    A = Whole(problem).apply(problem.project(np.eye(n)))
    A = 0.5 * (A + A.T)
    values, vectors = _interruptible(lambda: eigh(A, subset_by_index=[n - problem.r, n - 1]))
    return values, vectors


def solve_triplets(problem: Problem) -> Found:
    """Eigenpairs of a walk that alternates between two blocks, from all singular triplets."""
    walk, r = problem.walk, problem.r
    first, second = Half(problem).shape
    problem.n_products += second
    kept = walk.cross(np.eye(second)) - 2.0 * problem.known[:first] @ problem.known[first:].T
    left, values, rows = _interruptible(lambda: svd(kept, full_matrices=False))
    return values[:r], np.vstack([left[:, :r], rows[:r].T]) / np.sqrt(2.0)


def _interruptible(work: Callable[[], tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """The result of a long library call, run beside the main thread so that Ctrl-C is heard."""
    outcome: list[tuple[Floats, ...] | BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the caller below
            outcome.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)  # not all systems hear Ctrl-C in a join without end
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
