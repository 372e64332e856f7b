"""Solving a walk for its leading eigenpairs with any of the solvers.

A solver finds the largest eigenvalues of A = D^{-1/2} K D^{-1/2} on the complement of the known
eigenvectors. These are constant on each connected piece of the walk and have eigenvalue 1. They are
set rather than computed, so a repeated eigenvalue 1 is exact. For a walk that is no Markov chain
nothing is known, and A = K.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from viewhop._registry import SOLVERS, load_home
from viewhop._runtime.progress import Progress, no_progress
from viewhop.errors import ConvergenceError
from viewhop.solvers._auto import choose_solver, resolve_tolerance
from viewhop.solvers._inverse import AdaptiveSolver
from viewhop.solvers._lapack import DenseSolver
from viewhop.solvers._problem import Floats, Problem, Solution, Solver
from viewhop.solvers._tall import Tall
from viewhop.spectrum import Spectrum
from viewhop.walks import Walk

__all__ = [
    "is_solved_on_hub",
    "resolve_auto",
    "resolve_solver",
    "solve",
    "solve_on_hub",
    "trivial_pairs",
]


def trivial_pairs(walk: Walk, pieces: NDArray[np.intp], most: int | None = None) -> Floats:
    """Orthonormal eigenvectors of A with eigenvalue 1, (n_nodes, n_pieces), the trivial one first.

    A vector that is constant on each piece of the walk is an eigenvector of P. The pieces are in
    order of decreasing weight. There are none if the walk is no Markov chain.

    Parameters
    ----------
    walk : Walk
    pieces : (n_nodes,) array
        Piece of each node, −1 for a node that the walk does not reach.
    most : int or None
        The largest number of vectors to return.
    """
    if not walk.is_markov:
        return np.empty((walk.n_nodes, 0))
    reached = pieces >= 0
    weights = np.bincount(pieces[reached], weights=walk.stationary[reached])
    order = np.argsort(-weights, kind="stable")
    root = np.sqrt(weights)
    # One row per piece. Columns: the constant, then an indicator of each piece but the last.
    columns = np.column_stack([root, np.eye(root.size)[:, order[:-1]]])
    basis, triangle = qr(columns)
    basis = (basis * np.sign(np.diagonal(triangle)))[:, :most]
    return np.asarray(np.sqrt(walk.stationary)[:, None] * (basis / root[:, None])[pieces])


def solve(
    walk: Walk,
    r: int,
    *,
    solver: Any = "auto",
    tol: float | None = None,
    pieces: NDArray[np.intp] | None = None,
    generator: np.random.Generator | None = None,
    start: Floats | None = None,
    progress: Progress = no_progress,
    allowed: int | None = None,
) -> Spectrum:
    """The `r` largest eigenpairs of a walk after the trivial one, if it has one.

    Parameters
    ----------
    walk : Walk
    r : int
        Number of pairs.
    solver : str or object
        "auto", a name of `viewhop.solvers.SOLVERS`, or an object with a method
        ``solve(problem)``; see `Solver`.
    tol : float or None
        Residual relative to each eigenvalue; None means full accuracy for float64 kernels and 1e-5
        for float32.
    pieces : (n_nodes,) array or None
        The result of ``walk.pieces()``, if already computed.
    generator : Generator or None
        Draws start vectors.
    start : (n_nodes, s) array or None
        Guesses of the right eigenvectors, used by block Krylov.
    progress : callable
    allowed : int or None
        Bytes that the dense solver may allocate; None means no limit.

    Raises
    ------
    ConvergenceError
        If an iterative solver reaches its limit; the error has the pairs that converged.
    MemoryBudgetError
        If the dense solver would allocate more than `allowed`.
    """
    if is_solved_on_hub(walk, solver):

        def solve_hub(hub: Walk, pieces: NDArray[np.intp] | None, start: Floats | None) -> Spectrum:
            return solve(
                hub,
                r,
                solver=solver,
                tol=tol,
                pieces=pieces,
                generator=generator,
                start=start,
                progress=progress,
                allowed=allowed,
            )

        return solve_on_hub(walk, pieces, start, solve_hub)
    is_auto = isinstance(solver, str) and solver == "auto"
    method = resolve_auto(walk, r, tol) if is_auto else resolve_solver(solver)
    method.check(walk)
    # With more pieces than coordinates there is nothing to solve: the first vectors suffice.
    known = trivial_pairs(walk, walk.pieces() if pieces is None else pieces, most=r + 1)
    repeated = known[:, 1 : r + 1]
    problem = Problem(
        walk,
        r - repeated.shape[1],
        known,
        resolve_tolerance(walk.dtype, tol),
        np.random.default_rng(0) if generator is None else generator,
        None if start is None else start * np.sqrt(walk.stationary)[:, None],
        progress,
    )
    return _solve_problem(problem, method, repeated, allowed)


def is_solved_on_hub(walk: Walk, solver: Any) -> bool:
    """Whether the walk between samples is solved instead of `walk`.

    Parameters
    ----------
    walk : Walk
    solver : str or object
    """
    return walk.hub is not None and not (isinstance(solver, str) and solver == "svd")


def solve_on_hub(
    walk: Walk,
    pieces: NDArray[np.intp] | None,
    start: Floats | None,
    solve_hub: Callable[[Walk, NDArray[np.intp] | None, Floats | None], Spectrum],
) -> Spectrum:
    """The eigenpairs of a walk, from those of the walk between samples.

    Parameters
    ----------
    walk : Walk
        With a `hub`.
    pieces, start
        As in `solve`, on the nodes of `walk`.
    solve_hub : callable
        Solves ``hub`` with pieces and start vectors of its own.
    """
    assert walk.hub is not None
    of_samples = None
    if pieces is not None:
        of_samples = np.full(walk.n_samples, -1, dtype=np.intp)
        for view, part in enumerate(walk.rows.split(pieces)):
            of_samples[walk.rows.samples(view)] = part
    guess = None if start is None else walk.to_hub(start)
    try:
        return walk.lift(solve_hub(walk.hub, of_samples, guess))
    except ConvergenceError as error:
        if error.spectrum is not None:
            error.spectrum = walk.lift(error.spectrum)
        raise


def _solve_problem(
    problem: Problem, method: Solver, repeated: Floats, allowed: int | None
) -> Spectrum:
    """The spectrum of a problem after the repeated eigenvalue 1, polished if not accurate."""
    solution = Solution(np.empty(0), np.empty((problem.walk.n_nodes, 0)))
    if problem.r:
        method = method if method.fits(problem) else DenseSolver()
        method.reserve(problem, allowed)
        solution = _converged(problem, method, run_solver(method, problem))
    spectrum = _spectrum(problem, method.name, solution, repeated)
    if problem.r and not _is_accurate(problem, spectrum):
        polished = method.polish(problem, solution)
        if polished is not None:
            solution = _converged(problem, method, polished)
            spectrum = _spectrum(problem, method.name, solution, repeated)
    return spectrum


def _is_accurate(problem: Problem, spectrum: Spectrum) -> bool:
    """Whether all residuals are within the limit of the problem."""
    limit = problem.limit(spectrum.eigenvalues, stalled=problem.tol == 0)
    return bool((spectrum.residuals <= limit).all())


def _spectrum(problem: Problem, name: str, solution: Solution, repeated: Floats) -> Spectrum:
    """The spectrum of a solution, after the repeated eigenvalue 1, with its residuals."""
    # Single-precision products leave traces of the known eigenvectors, large relative to a small λ.
    tall = Tall(len(solution.vectors), problem.walk.n_jobs)
    # Largest eigenvalue first: vectors of λ = 0 may contain the known ones, and then depend on each
    # other. They must not disturb those that are kept.
    order = np.argsort(-solution.values, kind="stable")
    own = tall.orthonormal(problem.project(solution.vectors[:, order]))[0]
    vectors = np.hstack([repeated, own])
    values = np.concatenate([np.ones(repeated.shape[1]), solution.values[order]])
    problem.count(vectors)
    return Spectrum.from_symmetric(
        values,
        vectors,
        np.asarray(problem.walk.normalized(vectors), dtype=np.float64),
        stationary=problem.walk.stationary,
        solver=name,
        n_products=problem.n_products,
    )


def _converged(problem: Problem, method: Solver, solution: Solution) -> Solution:
    """The solution; ConvergenceError, with the pairs that converged, if it is not complete."""
    if solution.converged:
        return solution
    n = problem.walk.n_nodes
    raise ConvergenceError(
        f"solver {method.name!r} found {solution.values.size} of {problem.r} eigenpairs within its "
        f"limit ({problem.n_products:,} products). Likely causes: a bandwidth so small that the "
        "walk almost never leaves a sample, so that many eigenvalues are close to 1 (raise factor "
        "or n_neighbors); more coordinates than the data have (lower n_components); or a tolerance "
        "that is too strict (pass tol=1e-6). solver='dense' always succeeds, but needs a "
        f"{n:,} × {n:,} matrix. The pairs that converged are in error.spectrum.",
        _spectrum(problem, method.name, solution, problem.known[:, 1:]),
    )


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
    answer = solver.solve(problem)
    if not isinstance(answer, tuple) or len(answer) not in (2, 3):
        raise ValueError(
            f"the solver {solver.name} returned {type(answer).__name__}, expected a Solution or a "
            "pair (values, vectors)"
        )
    values, vectors, *rest = answer
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


def resolve_auto(walk: Walk, r: int, tol: float | None) -> Solver:
    """The solver that "auto" stands for; see `choose_solver`."""
    name = choose_solver(walk, r, tol)
    return AdaptiveSolver() if name == "krylov" and walk.is_dense else resolve_solver(name)


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
                f"a solver must be a name or have a method solve(problem), not {solver!r}"
            )
        return _OwnSolver(solver)
    if solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; known are auto, {', '.join(SOLVERS)}")
    instance: Solver = load_home(SOLVERS[solver].home)()
    return instance
