"""Solvers: from a walk to the leading part of its spectrum.

Each solver finds the largest eigenvalues of A = D^{-1/2} K D^{-1/2} on the complement of the known
eigenvectors: the constant on each connected piece of the walk, with eigenvalue 1. These are set,
not solved for, so a repeated 1 is exact.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from viewhop._runtime import memory
from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import single_blas
from viewhop.errors import ConvergenceError
from viewhop.solvers._krylov import solve_krylov
from viewhop.solvers._lanczos import solve_lanczos
from viewhop.solvers._lapack import MATRICES, solve_dense, solve_triplets
from viewhop.solvers._problem import Floats, Found, Half, Operator, Problem, Whole
from viewhop.solvers._tall import Tall
from viewhop.spectrum import Spectrum
from viewhop.walks import Walk

__all__ = ["SOLVERS", "choose_solver", "is_many", "solve", "trivial_pairs"]

SOLVERS = ("dense", "lanczos", "krylov", "svd")

#: From this many samples on, and with this tolerance or a larger one, block Krylov from a coarse
#: start is faster than Lanczos on neighbours: by 1.5 to 2.4 times at 20,000 to 50,000 samples of
#: two and three views in single precision, where Lanczos is as fast at 8,000 samples of two.
MANY_SAMPLES = 15_000
FEW_DIGITS = 1e-6
#: Up to this many nodes LAPACK on the whole matrix is faster than iterating.
DENSE_NODES = 1000


def choose_solver(walk: Walk, r: int, tol: float | None = None) -> str:
    """The name of the solver that "auto" stands for.

    LAPACK for small walks or for a large part of the spectrum. Block Krylov where kernels are
    full matrices (a block costs little more than a vector there), and for many samples on
    neighbours unless all digits are wanted (it begins with a coarse solution, which is worth
    less the more digits there are to find). Otherwise Lanczos, on half the problem for two views.

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
    return n_samples >= MANY_SAMPLES and _tolerance(dtype, tol) >= FEW_DIGITS


def trivial_pairs(walk: Walk, pieces: NDArray[np.intp], most: int | None = None) -> Floats:
    """Orthonormal eigenvectors of A with eigenvalue 1, (n_nodes, n_pieces), the trivial one first.

    A vector that is constant on each piece of the walk is an eigenvector of P; the pieces are taken
    in order of their weight.

    Parameters
    ----------
    walk : Walk
    pieces : (n_nodes,) array
        Number of the piece of each node, −1 for one that the walk does not reach.
    most : int or None
        The largest number of vectors to return.
    """
    reached = pieces >= 0
    weights = np.bincount(pieces[reached], weights=walk.stationary[reached])
    order = np.argsort(-weights, kind="stable")
    root = np.sqrt(weights)
    # One entry per piece: the constant, then what sets each piece but the last apart.
    columns = np.column_stack([root, np.eye(root.size)[:, order[:-1]]])
    basis, triangle = qr(columns)
    basis = (basis * np.sign(np.diagonal(triangle)))[:, :most]
    return np.asarray(np.sqrt(walk.stationary)[:, None] * (basis / root[:, None])[pieces])


def solve(
    walk: Walk,
    r: int,
    *,
    solver: str = "auto",
    tol: float | None = None,
    pieces: NDArray[np.intp] | None = None,
    generator: np.random.Generator | None = None,
    start: Floats | None = None,
    progress: Progress = no_progress,
    allowed: int | None = None,
) -> Spectrum:
    """The `r` largest eigenpairs of a walk beside the trivial one.

    Parameters
    ----------
    walk : Walk
    r : int
        Number of pairs.
    solver : {"auto", "dense", "lanczos", "krylov", "svd"}
    tol : float or None
        Residual relative to each eigenvalue; None is as far as the precision goes.
    pieces : (n_nodes,) array or None
        What ``walk.pieces()`` gives, if it is known.
    generator : Generator or None
        Draws start vectors.
    start : (n_nodes, s) array or None
        Guesses of the right eigenvectors, which block Krylov begins with.
    progress : callable
    allowed : int or None
        Bytes that the whole matrix of the dense solver may take; None allows anything.

    Raises
    ------
    ConvergenceError
        If an iterative solver reaches its cap; it carries what had converged.
    MemoryBudgetError
        If the dense solver would need more than is allowed.
    """
    name = choose_solver(walk, r, tol) if solver == "auto" else solver
    if name not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; known are auto, {', '.join(SOLVERS)}")
    if name == "svd" and not walk.is_cross:
        raise ValueError(
            'solver="svd" is for the alternating walk, and for the hop walk of two views that '
            'never stays in a view (within_view_weight=0); use solver="auto"'
        )
    # With more pieces than coordinates there is nothing to solve, and the first vectors do.
    known = trivial_pairs(walk, walk.pieces() if pieces is None else pieces, most=r + 1)
    problem = Problem(
        walk,
        max(0, r - known.shape[1] + 1),
        known,
        _tolerance(walk.dtype, tol),
        np.random.default_rng(0) if generator is None else generator,
        None if start is None else start * np.sqrt(walk.stationary)[:, None],
        progress,
    )
    found: Found = (np.empty(0), np.empty((walk.n_nodes, 0)))
    finished = True
    if problem.r:
        name = _possible(problem, name)
        if name == "dense":
            memory.require_bytes(
                MATRICES * 8 * walk.n_nodes**2,
                allowed,
                what=f"the dense solver on {walk.n_nodes:,} nodes for {problem.r:,} eigenpairs",
                instead='ask for fewer coordinates, solver="lanczos", or a larger max_memory',
            )
        found, finished = _run(problem, name)
    if not finished:
        raise _unfinished(problem, name, *found)
    spectrum = _spectrum(problem, name, *found, repeated=known[:, 1 : r + 1])
    if name == "krylov" and walk.is_cross and not _is_accurate(problem, spectrum):
        # Half the problem has squared eigenvalues; what that cost a small one is made up for here.
        problem.start = found[1]
        found, finished = _krylov(Whole(problem))
        if not finished:
            raise _unfinished(problem, name, *found)
        spectrum = _spectrum(problem, name, *found, repeated=known[:, 1 : r + 1])
    return spectrum


def _tolerance(dtype: np.dtype[np.floating], tol: float | None) -> float:
    """The residual relative to each eigenvalue; 0 is as far as double precision goes."""
    if tol is not None:
        return tol
    return 0.0 if dtype == np.float64 else 1e-5


def _is_accurate(problem: Problem, spectrum: Spectrum) -> bool:
    """Whether all residuals are as small as the problem asks."""
    limit = problem.limit(spectrum.eigenvalues, stalled=problem.tol == 0)
    return bool((spectrum.residuals <= limit).all())


def _possible(problem: Problem, name: str) -> str:
    """The solver, or the dense one where ARPACK has no room beside the wanted pairs."""
    room = problem.walk.n_nodes - problem.known.shape[1] - 1
    return "dense" if name == "lanczos" and problem.r >= room else name


def _krylov(operator: Operator) -> tuple[Found, bool]:
    """Block Krylov; where threads share its many small steps, BLAS stays out of their way."""
    with single_blas if operator.problem.walk.n_jobs > 1 else nullcontext():
        return solve_krylov(operator)


def _told(problem: Problem, found: Found) -> Found:
    """What LAPACK found in one step, told as progress."""
    problem.progress("solve", problem.r, problem.r)
    return found


def _run(problem: Problem, name: str) -> tuple[Found, bool]:
    """The wanted pairs, and whether all of them converged."""
    walk = problem.walk
    if name == "dense":
        return _told(problem, solve_dense(problem)), True
    if name == "krylov":
        return _krylov(Half(problem) if walk.is_cross else Whole(problem))
    if name == "lanczos":
        return solve_lanczos(Whole(problem))
    n = min(Half(problem).shape)
    if n <= DENSE_NODES or problem.r >= n - problem.known.shape[1] - 1:
        return _told(problem, solve_triplets(problem)), True
    return solve_lanczos(Half(problem))


def _spectrum(
    problem: Problem, name: str, values: Floats, vectors: Floats, repeated: Floats
) -> Spectrum:
    """The found pairs, after the repeated ones, with their residuals."""
    # Products in single precision leave traces of the known eigenvectors, large beside a small λ.
    tall = Tall(len(vectors), problem.walk.n_jobs)
    vectors = np.hstack([repeated, tall.orthonormal(problem.project(vectors))[0]])
    values = np.concatenate([np.ones(repeated.shape[1]), values])
    problem.count(vectors)
    return Spectrum.from_symmetric(
        values,
        vectors,
        np.asarray(problem.walk.normalized(vectors), dtype=np.float64),
        stationary=problem.walk.stationary,
        solver=name,
        n_products=problem.n_products,
    )


def _unfinished(problem: Problem, name: str, values: Floats, vectors: Floats) -> ConvergenceError:
    partial = _spectrum(problem, name, values, vectors, problem.known[:, 1:])
    return ConvergenceError(
        f"solver {name!r} found {values.size} of {problem.r} eigenpairs within its "
        f"cap ({problem.n_products:,} products). Likely causes: a bandwidth so small that the walk "
        "hardly moves, so that many eigenvalues crowd below 1 (raise factor or n_neighbors); more "
        "coordinates than the data have (lower n_components); or a tolerance that is too strict "
        "(pass tol=1e-6). solver='dense' always ends, at the cost of a "
        f"{problem.walk.n_nodes:,} × {problem.walk.n_nodes:,} matrix. What converged is in "
        "error.spectrum.",
        partial,
    )
