"""The contract of a solver, which computes the leading eigenpairs of a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop._registry import SOLVERS, load_home
from viewhop.solvers._problem import Problem
from viewhop.walks import Walk

__all__ = ["Solution", "Solver", "resolve_solver", "run_solver"]

Floats = NDArray[np.float64]


class Solution(NamedTuple):
    """Eigenpairs of A = D^{-1/2} K D^{-1/2} on the complement of the known eigenvectors.

    Attributes
    ----------
    values : (s,) array
    vectors : (n_nodes, s) array
        Orthonormal columns.
    converged : bool
        Whether all wanted pairs are present and accurate.
    """

    values: Floats
    vectors: Floats
    converged: bool = True


class Solver(ABC):
    """A method that computes the leading eigenpairs of a walk.

    Estimators accept a name or an object. A custom object needs one method, ``solve(problem)``,
    which returns a `Solution` or a pair (values, vectors).

    Attributes
    ----------
    name : str
        Name of the solver in results.
    """

    name: str

    @abstractmethod
    def solve(self, problem: Problem) -> Solution:
        """The `problem.r` largest eigenpairs orthogonal to the known ones.

        Parameters
        ----------
        problem : Problem
            The walk, the known eigenvectors, the tolerance and a random generator.
        """

    def check(self, walk: Walk) -> None:
        """Raise ValueError if the method does not support the walk."""
        return

    def reserve(self, problem: Problem, allowed: int | None) -> None:
        """Raise MemoryBudgetError if the method would need more than the allowed bytes."""
        return

    def fits(self, problem: Problem) -> bool:
        """Whether the method can compute this many pairs; if not, LAPACK is used."""
        return True

    def polish(self, problem: Problem, solution: Solution) -> Solution | None:
        """A more accurate solution than one that is not accurate enough, or None."""
        return None


class _OwnSolver(Solver):
    """Wraps a custom solver that does not inherit from `Solver`."""

    def __init__(self, solver: Any) -> None:
        self._solver = solver
        self.name = str(getattr(solver, "name", type(solver).__name__))

    def solve(self, problem: Problem) -> Any:
        """The result of the wrapped object."""
        return self._solver.solve(problem)


def run_solver(solver: Solver, problem: Problem) -> Solution:
    """The solution of a problem; ValueError if its shape is wrong.

    Parameters
    ----------
    solver : Solver
        May also return a pair (values, vectors).
    problem : Problem
    """
    values, vectors, *rest = solver.solve(problem)
    values = np.asarray(values, dtype=np.float64)
    vectors = np.asarray(vectors, dtype=np.float64)
    shape = problem.walk.n_nodes, values.size
    if values.ndim != 1 or vectors.shape != shape:
        raise ValueError(
            f"the solver {solver.name} returned vectors of shape {vectors.shape} for "
            f"{values.shape} values, expected {shape}"
        )
    converged = bool(rest[0]) if rest else values.size >= problem.r
    return Solution(values[: problem.r], vectors[:, : problem.r], converged)


def resolve_solver(solver: Any) -> Solver:
    """The solver for a name, or for an object with a method ``solve``.

    Parameters
    ----------
    solver : str or object
    """
    if isinstance(solver, Solver):
        return solver
    if not isinstance(solver, str):
        if not callable(getattr(solver, "solve", None)):
            raise ValueError(
                f"a solver must be a name or an object with a method solve(problem), not {solver!r}"
            )
        return _OwnSolver(solver)
    if solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; known are auto, {', '.join(SOLVERS)}")
    instance: Solver = load_home(SOLVERS[solver].home)()
    return instance
