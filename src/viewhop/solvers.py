"""Solvers: from a walk to the leading part of its spectrum.

Each solver finds the largest eigenvalues of A = D^{-1/2} K D^{-1/2} on the complement of the known
eigenvectors: the constant on each connected piece of the walk, with eigenvalue 1. These are set,
not solved for, so a repeated 1 is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr, svd
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from viewhop import memory
from viewhop.errors import ConvergenceError
from viewhop.progress import Progress, silent
from viewhop.spectrum import Spectrum
from viewhop.walks import Walk

__all__ = ["SOLVERS", "choose", "known_pairs", "solve"]

Floats = NDArray[np.float64]
Found = tuple[Floats, Floats]  # eigenvalues (r,), orthonormal columns (n, r)

#: Up to this many nodes LAPACK on the whole matrix is faster than iterating.
DENSE_NODES = 1000
#: Restarts of Lanczos, and blocks of block Krylov, before they give up.
MAX_RESTARTS = 300
MAX_BLOCKS = 1000
#: Matrices of all nodes that the dense solver holds at a time.
MATRICES = 5
#: Columns that block Krylov multiplies at a time: enough to pay for reading a full kernel.
BLOCK_WIDTH = 8


@dataclass
class Problem:
    """The largest `r` eigenpairs of A on the complement of `known`.

    Attributes
    ----------
    walk : Walk
    r : int
    known : (n_nodes, p) array
        Orthonormal eigenvectors that are deflated.
    tol : float
        Residual at which a pair has converged, relative to its eigenvalue.
    generator : Generator
        Draws start vectors.
    progress : callable
    n_products : int
        Columns multiplied so far.
    """

    walk: Walk
    r: int
    known: Floats
    tol: float
    generator: np.random.Generator
    progress: Progress = silent
    n_products: int = 0

    def project(self, V: Floats) -> Floats:
        """V without its part along the known eigenvectors."""
        return V - self.known @ (self.known.T @ V)

    def apply(self, V: Floats) -> Floats:
        """A times V, on the complement."""
        self.n_products += 1 if V.ndim == 1 else V.shape[1]
        return self.project(self.walk.normalized(self.project(V)))

    @property
    def floor(self) -> float:
        """The residual that rounding leaves, A having norm 1."""
        return 50.0 * float(np.finfo(self.walk.dtype).eps)

    def converged(self, values: Floats, residuals: Floats) -> NDArray[np.bool_]:
        """Which pairs have small enough residuals."""
        return residuals <= np.maximum(self.tol * np.abs(values), self.floor)


def dense(problem: Problem) -> Found:
    """Eigenpairs by LAPACK, only the wanted part."""
    n = problem.walk.n_nodes
    A = problem.apply(np.eye(n))
    A = 0.5 * (A + A.T)
    values, vectors = _interruptible(lambda: eigh(A, subset_by_index=[n - problem.r, n - 1]))
    return values, vectors


def lanczos(problem: Problem) -> Found:
    """Eigenpairs by ARPACK's restarted Lanczos iteration, capped."""
    n = problem.walk.n_nodes
    values, vectors, finished = _arpack(problem, n, problem.apply, problem.project)
    if not finished:
        raise _unfinished(problem, "lanczos", values, vectors)
    return values, vectors


def _arpack(
    problem: Problem,
    n: int,
    apply: Callable[[Floats], Floats],
    project: Callable[[Floats], Floats],
) -> tuple[Floats, Floats, bool]:
    """Largest eigenpairs of an n × n operator, and whether all of them converged."""

    def product(v: Floats) -> Floats:
        problem.progress("solve", problem.n_products, None)
        return apply(v.reshape(n))

    try:
        values, vectors = eigsh(
            LinearOperator((n, n), matvec=product, dtype=np.float64),
            k=problem.r,
            which="LA",
            v0=project(problem.generator.standard_normal(n)),
            ncv=min(n - 1, max(2 * problem.r + 1, 24)),
            tol=problem.tol,
            maxiter=MAX_RESTARTS,
        )
    except ArpackNoConvergence as stopped:
        return np.real(stopped.eigenvalues), np.real(stopped.eigenvectors), False
    return np.asarray(values), np.asarray(vectors), True


def krylov(problem: Problem) -> Found:
    """Eigenpairs by block Krylov iteration with Rayleigh–Ritz, thick restart and soft locking.

    The basis grows by the residuals of the wanted pairs that have not converged, which spans the
    block Krylov space; converged pairs stay in the basis and are not multiplied again. A block
    finds eigenvalues of any multiplicity up to its width.
    """
    n, r = problem.walk.n_nodes, problem.r
    room = n - problem.known.shape[1]
    wanted = min(r + max(4, r // 4), room)
    most = max(10 * wanted, 100)
    Q = np.empty((n, 0))
    AQ = np.empty((n, 0))
    gram = np.empty((0, 0))
    block = problem.generator.standard_normal((n, min(BLOCK_WIDTH, room)))
    for _ in range(MAX_BLOCKS):
        block = _orthonormal(problem, Q, block[:, : room - Q.shape[1]])
        product = problem.apply(block)
        side = Q.T @ product
        gram = np.block([[gram, side], [side.T, block.T @ product]])
        Q, AQ = np.hstack([Q, block]), np.hstack([AQ, product])
        values, rotation = np.linalg.eigh(0.5 * (gram + gram.T))
        values, rotation = values[::-1], rotation[:, ::-1]
        lead = rotation[:, :wanted]
        residual = AQ @ lead - (Q @ lead) * values[:wanted]
        ready = problem.converged(values[:wanted], np.linalg.norm(residual, axis=0))
        problem.progress("solve", int(ready[:r].sum()), r)
        if (ready.size >= r and ready[:r].all()) or Q.shape[1] == room:
            return values[:r], Q @ lead[:, :r]
        block = residual[:, np.flatnonzero(~ready)[:BLOCK_WIDTH]]
        if Q.shape[1] + block.shape[1] > most:
            kept = rotation[:, : 2 * wanted]
            Q, AQ, gram = Q @ kept, AQ @ kept, np.diag(values[: 2 * wanted])
    found = ready[:r]
    raise _unfinished(problem, "krylov", values[:r][found], (Q @ lead)[:, :r][:, found])


def two_view_svd(problem: Problem) -> Found:
    """Eigenpairs of a two-view walk from the singular triplets of its normalised cross kernel.

    Half the size and half the steps of the same iteration on both views at once. The Lanczos
    iteration runs on K̄ᵀK̄; a small SVD of K̄ itself on the space it found restores the accuracy
    that squaring costs.

    Notes
    -----
    Eq. (28), normalised (erratum 2): the eigenvector is [v; u]/√2 with eigenvalue σ.
    """
    walk = problem.walk
    n, r = walk.n_samples, problem.r
    # On each view the known vectors are orthonormal up to a factor √2, being piecewise constant.
    right = problem.known[n:] * np.sqrt(2.0)

    def project(V: Floats) -> Floats:
        return np.asarray(V - right @ (right.T @ V))

    def squared(v: Floats) -> Floats:
        problem.n_products += 1
        return project(walk.cross(walk.cross(project(v)), transpose=True))

    if n <= DENSE_NODES or r >= n - problem.known.shape[1] - 1:
        problem.n_products += n
        kept = walk.cross(np.eye(n)) - (problem.known[:n] * np.sqrt(2.0)) @ right.T
        left, values, rows = _interruptible(lambda: svd(kept))
        return values[:r], np.vstack([left[:, :r], rows[:r].T]) / np.sqrt(2.0)
    _, V, finished = _arpack(problem, n, squared, project)
    values, vectors = _ritz_triplets(problem, walk, V)
    if not finished:
        raise _unfinished(problem, "svd", values, vectors)
    return values, vectors


def _ritz_triplets(problem: Problem, walk: Walk, V: Floats) -> Found:
    """Eigenpairs of the walk from an orthonormal basis of right singular vectors."""
    problem.n_products += V.shape[1]
    basis, triangle = qr(walk.cross(V), mode="economic")
    left, values, rows = svd(triangle)
    return values, np.vstack([basis @ left, V @ rows.T]) / np.sqrt(2.0)


SOLVERS: dict[str, Callable[[Problem], Found]] = {
    "dense": dense,
    "lanczos": lanczos,
    "krylov": krylov,
    "svd": two_view_svd,
}


def choose(walk: Walk, r: int) -> str:
    """The name of the solver that "auto" stands for.

    LAPACK for small walks or for a large part of the spectrum, the SVD for two views on
    neighbours, block Krylov where kernels are full matrices (a block costs little more than a
    vector there), and Lanczos otherwise.
    """
    if walk.n_nodes <= DENSE_NODES or 5 * r >= walk.n_nodes:
        return "dense"
    if walk.is_dense:
        return "krylov"
    return "svd" if walk.is_cross else "lanczos"


def known_pairs(walk: Walk, pieces: NDArray[np.intp], most: int | None = None) -> Floats:
    """Orthonormal eigenvectors of A with eigenvalue 1, (n_nodes, n_pieces), the trivial one first.

    A vector that is constant on each piece of the walk is an eigenvector of P; the pieces are taken
    in order of their weight.

    Parameters
    ----------
    walk : Walk
    pieces : (n_nodes,) array
        Number of the piece of each node.
    most : int or None
        The largest number of vectors to return.
    """
    weights = np.bincount(pieces, weights=walk.stationary)
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
    progress: Progress = silent,
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
    name = choose(walk, r) if solver == "auto" else solver
    if name not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; known are auto, {', '.join(SOLVERS)}")
    if name == "svd" and not walk.is_cross:
        raise ValueError(
            'solver="svd" is for the alternating walk, and for the hop walk of two views that '
            'never stays in a view (within_view_weight=0); use solver="auto"'
        )
    # With more pieces than coordinates there is nothing to solve, and the first vectors do.
    known = known_pairs(walk, walk.pieces() if pieces is None else pieces, most=r + 1)
    double = walk.dtype == np.float64
    problem = Problem(
        walk,
        max(0, r - known.shape[1] + 1),
        known,
        (0.0 if double else 1e-5) if tol is None else tol,
        np.random.default_rng(0) if generator is None else generator,
        progress,
    )
    found: Found = (np.empty(0), np.empty((walk.n_nodes, 0)))
    if problem.r:
        if name == "lanczos" and problem.r >= walk.n_nodes - known.shape[1] - 1:
            name = "dense"  # ARPACK needs room beside the wanted pairs
        if name == "dense":
            memory.require(
                MATRICES * 8 * walk.n_nodes**2,
                allowed,
                what=f"the dense solver on {walk.n_nodes:,} nodes for {problem.r:,} eigenpairs",
                instead='ask for fewer coordinates, solver="lanczos", or a larger max_memory',
            )
        found = SOLVERS[name](problem)
    return _spectrum(problem, name, *found, repeated=known[:, 1 : r + 1])


def _spectrum(
    problem: Problem, name: str, values: Floats, vectors: Floats, repeated: Floats
) -> Spectrum:
    """The found pairs, after the repeated ones, with their residuals."""
    # Products in single precision leave traces of the known eigenvectors, large beside a small λ.
    vectors = np.hstack([repeated, np.linalg.qr(problem.project(vectors))[0]])
    values = np.concatenate([np.ones(repeated.shape[1]), values])
    problem.n_products += values.size
    residuals = np.linalg.norm(problem.walk.normalized(vectors) - vectors * values, axis=0)
    return Spectrum.from_symmetric(
        values,
        vectors,
        residuals,
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


def _orthonormal(problem: Problem, Q: Floats, block: Floats) -> Floats:
    """An orthonormal basis of what the block adds to Q and the known eigenvectors.

    Directions that are lost to rounding are replaced by random ones, so the width stays.
    """
    again = True
    while again:
        size = np.linalg.norm(block, axis=0)
        block = block / np.where(size > 0, size, 1.0)
        block = problem.project(block - Q @ (Q.T @ block))
        # Orthonormal by the Gram matrix: products only, where a QR would go column by column.
        kept, rotation = np.linalg.eigh(block.T @ block)
        lost = kept <= 1e-20
        block = block @ (rotation / np.sqrt(np.where(lost, 1.0, kept)))
        if lost.any():
            block[:, lost] = problem.generator.standard_normal((block.shape[0], int(lost.sum())))
        again = bool((kept < 0.25).any())  # a direction that shrank keeps too much of what it lost
    return np.asarray(block)


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
