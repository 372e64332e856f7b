"""The eigenproblem of a walk: what it asks, what solves it, and the operators to iterate with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from viewhop._runtime.progress import Progress, no_progress
from viewhop.solvers._tall import Columns, Tall
from viewhop.walks import Walk

__all__ = [
    "Factored",
    "Half",
    "Operator",
    "Pairs",
    "Problem",
    "Solution",
    "Solver",
    "Whole",
    "smallest_operator",
]

Floats = NDArray[np.float64]
#: Eigenvalues (r,), orthonormal columns (n_nodes, r).
Pairs = tuple[Floats, Floats]


@dataclass
class Problem:
    """The largest `r` eigenpairs of A = D^{-1/2} K D^{-1/2} on the complement of `known`.

    Attributes
    ----------
    walk : Walk
    r : int
    known : (n_nodes, p) array
        Orthonormal eigenvectors to deflate.
    tol : float
        Residual at which a pair has converged, relative to its eigenvalue.
    generator : Generator
        Draws start vectors.
    start : (n_nodes, s) array or None
        Guesses of the eigenvectors of A.
    progress : callable
    n_products : int
        Columns multiplied so far; each costs two products with every kernel.
    """

    walk: Walk
    r: int
    known: Floats
    tol: float
    generator: np.random.Generator
    start: Floats | None = None
    progress: Progress = no_progress
    n_products: int = 0

    def project(self, V: Columns) -> Columns:
        """V without its part along the known eigenvectors."""
        return project_out(V, self.known, self.walk.n_jobs)

    def count(self, V: Columns) -> None:
        """Add the columns of V to the number of products."""
        self.n_products += 1 if V.ndim == 1 else V.shape[1]

    def limit(self, values: Floats, *, stalled: bool = False) -> Floats:
        """Residuals of A at which pairs with these eigenvalues have converged.

        Parameters
        ----------
        values : (r,) array
            Eigenvalues of A.
        stalled : bool
            Whether the residuals no longer decrease, so that rounding error is accepted.
        """
        return np.maximum(self.tol * np.abs(values), self.floor(stalled=stalled))

    def floor(self, *, stalled: bool) -> float:
        """The smallest residual required of any pair."""
        exact = self.tol == 0
        units = (5000.0 if exact else 50.0) if stalled else (50.0 if exact else 2.0)
        return units * float(np.finfo(self.walk.dtype).eps) * self.walk.largest_possible


def project_out(V: Columns, known: Floats, n_jobs: int) -> Columns:
    """V without its part along orthonormal columns."""
    if V.ndim == 1:
        return np.asarray(V - known @ (known.T @ V))
    return Tall(len(V), n_jobs).without(V, known.astype(V.dtype, copy=False))


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
    #: Whether it makes use of guesses of the eigenvectors.
    takes_start: ClassVar[bool] = False

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


class Operator(ABC):
    """A symmetric operator, on the complement of the known vectors, that gives the eigenpairs of A.

    Attributes
    ----------
    problem : Problem
    n : int
        Its size.
    """

    problem: Problem
    n: int

    @abstractmethod
    def project(self, V: Columns) -> Columns:
        """V without its part along the known eigenvectors."""

    @abstractmethod
    def apply(self, V: Columns) -> Columns:
        """The operator times a vector (n,) or block (n, b) orthogonal to the known vectors."""

    @abstractmethod
    def start(self) -> Floats | None:
        """The guesses of the problem as vectors of the operator, (n, s), or None."""

    @abstractmethod
    def excess(self, values: Floats, residuals: Floats, *, stalled: bool) -> Floats:
        """Residuals of A divided by their limit, from values and residuals of the operator."""

    @abstractmethod
    def pairs(self, values: Floats, vectors: Floats) -> Pairs:
        """Eigenpairs of A from eigenpairs of the operator."""


class Whole(Operator):
    """A itself."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.n = problem.walk.n_nodes

    def project(self, V: Columns) -> Columns:
        """V without its part along the known eigenvectors."""
        return self.problem.project(V)

    def apply(self, V: Columns) -> Columns:
        """A times a vector (n,) or block (n, b)."""
        self.problem.count(V)
        return self.project(self.problem.walk.normalized(V))

    def start(self) -> Floats | None:
        """The guesses of the problem."""
        return self.problem.start

    def excess(self, values: Floats, residuals: Floats, *, stalled: bool) -> Floats:
        """Residuals divided by their limit."""
        return residuals / self.problem.limit(values, stalled=stalled)

    def pairs(self, values: Floats, vectors: Floats) -> Pairs:
        """The same pairs."""
        return values, vectors


class Half(Operator):
    """K̄ᵀK̄, with K̄ the normalised kernel between the two blocks of a walk that alternates.

    It has half the size of A, and each application takes two steps at the cost of one. A is zero
    within each block, so its eigenvalues are ±σ and its eigenvectors [±u; v]/√2, with (σ, u, v) the
    singular triplets of K̄. A small SVD at the end restores most of the accuracy lost by squaring.

    Notes
    -----
    Eq. (28), normalised (erratum 2).
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        cross = problem.walk.reduced
        assert cross is not None
        self.cross = cross
        first, self.n = self.shape = cross.shape
        # The known vectors are piecewise constant, so on each block they are orthonormal up to a
        # factor √2.
        self.known = problem.known[first:] * np.sqrt(2.0)

    def project(self, V: Columns) -> Columns:
        """V without its part along the known right singular vectors."""
        return project_out(V, self.known, self.problem.walk.n_jobs)

    def apply(self, V: Columns) -> Columns:
        """K̄ᵀK̄ times a vector (n,) or block (n, b)."""
        self.problem.count(V)
        return self.project(self.cross.backward(self.cross.forward(V)))

    def start(self) -> Floats | None:
        """The second block of the guesses of the problem."""
        return None if self.problem.start is None else self.problem.start[-self.n :]

    def excess(self, values: Floats, residuals: Floats, *, stalled: bool) -> Floats:
        """Residuals divided by σ and their limit; if stalled, the error of squaring is accepted."""
        sigma = np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))
        limit = sigma * self.problem.limit(sigma)
        return residuals / np.maximum(limit, self.problem.floor(stalled=True) if stalled else 0.0)

    def pairs(self, values: Floats, vectors: Floats) -> Pairs:
        """Eigenpairs of A from the SVD of K̄ on the span of the right singular vectors."""
        if not values.size:  # LAPACK refuses an empty matrix
            return values, np.empty((sum(self.shape), 0), dtype=vectors.dtype)
        self.problem.n_products += (vectors.shape[1] + 1) // 2  # one product with each kernel
        tall = Tall(self.shape[0], self.problem.walk.n_jobs)
        basis, triangle = tall.orthonormal(self.cross.forward(vectors))
        left, sigma, rows = svd(triangle)
        return sigma, np.vstack([basis @ left, vectors @ rows.T]) / np.sqrt(2.0)


class Factored(Operator):
    """CᵀC, for a walk with A = C Cᵀ and C with fewer columns than rows.

    It has the non-zero eigenvalues of A, and an application costs as many products. An eigenvector
    v with eigenvalue λ gives that of A, C v / √λ.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        factor = problem.walk.factored
        assert factor is not None
        self.factor = factor
        self.n = factor.shape[1]
        # Of eigenvalue 1, so that the columns stay orthonormal.
        self.known: Floats = factor.backward(problem.known).astype(np.float64, copy=False)

    def project(self, V: Columns) -> Columns:
        """V without its part along the known right singular vectors of C."""
        return project_out(V, self.known, self.problem.walk.n_jobs)

    def apply(self, V: Columns) -> Columns:
        """CᵀC times a vector (n,) or block (n, b)."""
        self.problem.count(V)
        return self.project(self.factor.backward(self.factor.forward(V)))

    def start(self) -> Floats | None:
        """Cᵀ times the guesses of the problem."""
        start = self.problem.start
        if start is None:
            return None
        self.problem.n_products += (start.shape[1] + 1) // 2  # one product with each kernel
        return self.factor.backward(start).astype(np.float64, copy=False)

    def excess(self, values: Floats, residuals: Floats, *, stalled: bool) -> Floats:
        """Residuals of A, at most √λ⁻¹ times those of CᵀC, divided by their limit."""
        roots = np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))
        return residuals / (roots * self.problem.limit(values, stalled=stalled))

    def pairs(self, values: Floats, vectors: Floats) -> Pairs:
        """Eigenpairs of A from the SVD of C on the span of the vectors."""
        if not values.size:  # LAPACK refuses an empty matrix
            return values, np.empty((self.factor.shape[0], 0), dtype=vectors.dtype)
        self.problem.n_products += (vectors.shape[1] + 1) // 2  # one product with each kernel
        tall = Tall(self.factor.shape[0], self.problem.walk.n_jobs)
        basis, triangle = tall.orthonormal(self.factor.forward(vectors))
        left, sigma, _ = svd(triangle)
        return np.square(sigma), basis @ left


def smallest_operator(problem: Problem) -> Operator:
    """The operator with the shortest vectors that gives the eigenpairs of A."""
    if problem.walk.reduced is not None:
        return Half(problem)
    return Whole(problem) if problem.walk.factored is None else Factored(problem)
