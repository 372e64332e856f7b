"""Extreme eigenvalues of a walk, and bounds on truncated diffusion distances: Lemma 3."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from viewhop._runtime.arpack import seed_restarts
from viewhop.errors import ConvergenceError
from viewhop.solvers._auto import DENSE_NODES
from viewhop.solvers._lanczos import MAX_RESTARTS
from viewhop.spectrum import Spectrum
from viewhop.walks import Walk

__all__ = ["Extreme", "extreme_eigenvalue", "truncation_interval"]

Floats = NDArray[np.float64]

#: Residual at which an extreme eigenvalue has converged. A smaller one takes very long where
#: eigenvalues cluster, as at 0.
TOLERANCE = 1e-4


class Extreme(NamedTuple):
    """The smallest or largest eigenvalue of a spectrum.

    Attributes
    ----------
    value : float
    residual : float
        An eigenvalue lies within this distance of `value`.
    """

    value: float
    residual: float


def extreme_eigenvalue(walk: Walk, *, end: Literal["smallest", "largest"]) -> Extreme:
    """The smallest or largest eigenvalue of a walk, including the trivial 1.

    Parameters
    ----------
    walk : Walk
    end : {"smallest", "largest"}

    Raises
    ------
    ConvergenceError
        If the iteration reaches its limit.

    Notes
    -----
    LAPACK up to 1,000 nodes. For larger walks, one Lanczos run to a residual of 1e-4, on cI ± A
    with A = D^{-1/2} K D^{-1/2} and c the largest possible eigenvalue, 1 for a Markov chain, so
    that eigenvalues near 0 converge like any other. The start vector is drawn with a fixed seed.
    """
    sign = 1.0 if end == "largest" else -1.0
    n = walk.n_nodes
    if n <= DENSE_NODES:
        A = _full_matrix(walk)
        place = n - 1 if end == "largest" else 0
        values = eigvalsh(0.5 * (A + A.T), subset_by_index=[place, place])
        return Extreme(float(values[0]), n * float(np.finfo(walk.dtype).eps))

    most = walk.largest_possible

    def shifted(v: Floats) -> Floats:
        return most * v.reshape(n) + sign * walk.normalized(v.reshape(n))

    try:
        values, vectors = eigsh(
            LinearOperator((n, n), matvec=shifted, dtype=np.float64),
            k=1,
            which="LA",
            v0=np.random.default_rng(0).standard_normal(n),
            ncv=min(n - 1, 24),
            tol=max(TOLERANCE, 50 * float(np.finfo(walk.dtype).eps)),
            maxiter=MAX_RESTARTS,
            **seed_restarts(),
        )
    except ArpackNoConvergence as stopped:
        raise ConvergenceError(
            f"the {end} eigenvalue was not found within {MAX_RESTARTS} restarts of Lanczos. Likely "
            "cause: a bandwidth so small that the walk almost never leaves a sample, so that many "
            "eigenvalues are nearly equal (raise factor or n_neighbors)"
        ) from stopped
    vector = vectors[:, 0]
    residual = np.linalg.norm(shifted(vector) - values[0] * vector)
    return Extreme(float(sign * (values[0] - most)), float(residual))


def truncation_interval(
    walk: Walk,
    spectrum: Spectrum,
    i: NDArray[np.intp],
    j: NDArray[np.intp],
    *,
    n_steps: float = 1.0,
) -> tuple[Floats, Floats]:
    """Lower and upper bounds of diffusion distances from the leading eigenpairs.

    Parameters
    ----------
    walk : Walk
    spectrum : Spectrum
        The first r eigenpairs of the walk, r ≥ 1.
    i, j : (p,) arrays
        Nodes of one view, numbered consecutively through all views.
    n_steps : float
        t; if it is not whole, the squared distance is Σ_k |λ_k|^{2t} (ψ_k[i] − ψ_k[j])².

    Returns
    -------
    low, high : (p,) arrays

    Notes
    -----
    Lemma 3, corrected (erratum 5). With Δ_k = ψ_k[i] − ψ_k[j] and S = Σ_{k≤r} λ_k^{2t} Δ_k², the
    square of the truncated distance of Eq. (36),

        √(cS) ≤ D_t ≤ √(cS + θ^{2t} (1/π_i + 1/π_j − c Σ_{k≤r} Δ_k²)),

    with c = 2 and θ = λ_r if the spectrum comes from an SVD (two views with a zero diagonal of H,
    or the alternating walk), and otherwise c = 1 and θ = max(λ_r, |λ_min|) with λ_min the smallest
    eigenvalue. The interval is widened to account for rounding and for the residuals of the
    eigenpairs; the latter matter only if `tol` is large. It holds as well for a walk that is no
    Markov chain, and has no trivial pair; eigenvalues are then divided by the largest possible one.
    """
    most, psi = walk.largest_possible, spectrum.eigenvectors
    values = spectrum.eigenvalues / most
    copies = 2.0 if walk.is_cross else 1.0
    last = float(values[-1])
    theta = last if walk.is_cross else _largest_left_out(walk, last)
    squares = np.square(psi[i] - psi[j])
    total = np.where(i == j, 0.0, 1.0 / walk.stationary[i] + 1.0 / walk.stationary[j])
    kept = copies * (values ** (2.0 * n_steps) * squares).sum(axis=1)
    rest = np.maximum(total - copies * squares.sum(axis=1), 0.0)
    error = (
        np.sqrt(copies) * np.linalg.norm(spectrum.residuals) / most + 4.0 * np.finfo(walk.dtype).eps
    )
    slack = 2.0 * max(n_steps, 1.0) * error * np.sqrt(total)
    low = np.maximum(np.sqrt(kept) - slack, 0.0)
    high = np.sqrt(kept + theta ** (2.0 * n_steps) * rest) + slack
    return most**n_steps * low, most**n_steps * high


def _full_matrix(walk: Walk) -> Floats:
    """D^{-1/2} K D^{-1/2}, (n_nodes, n_nodes)."""
    K = np.asarray(walk @ np.eye(walk.n_nodes), dtype=np.float64)
    if not walk.is_markov:
        return K
    root = np.sqrt(walk.degrees)
    return np.asarray(K / np.outer(root, root))


def _largest_left_out(walk: Walk, last: float) -> float:
    """The largest absolute value that an eigenvalue which was not kept may have, of A of norm 1."""
    smallest, most = extreme_eigenvalue(walk, end="smallest"), walk.largest_possible
    return min(max(last, (smallest.residual - smallest.value) / most), 1.0)
