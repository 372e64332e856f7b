"""What is left out when few coordinates are kept: Lemma 3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop.spectrum import Spectrum
from viewhop.theory._eigenvalues import extreme_eigenvalue
from viewhop.walks import Walk

__all__ = ["truncation_interval"]

Floats = NDArray[np.float64]


def truncation_interval(
    walk: Walk,
    spectrum: Spectrum,
    i: NDArray[np.intp],
    j: NDArray[np.intp],
    *,
    n_steps: float = 1.0,
) -> tuple[Floats, Floats]:
    """Lower and upper bounds of diffusion distances from the leading eigenpairs alone.

    Parameters
    ----------
    walk : Walk
    spectrum : Spectrum
        The first r eigenpairs of the walk, r ≥ 1.
    i, j : (p,) arrays
        Nodes of one view, counted through all views.
    n_steps : float
        t; where it is not whole, the distance is that of Σ_k |λ_k|^{2t} (ψ_k[i] − ψ_k[j])².

    Returns
    -------
    low, high : (p,) arrays

    Notes
    -----
    Lemma 3, corrected (erratum 5). With Δ_k = ψ_k[i] − ψ_k[j] and S = Σ_{k≤r} λ_k^{2t} Δ_k², the
    square of the truncated distance of Eq. (36),

        √(cS) ≤ D_t ≤ √(cS + θ^{2t} (1/π_i + 1/π_j − c Σ_{k≤r} Δ_k²)),

    c = 2 and θ = λ_r where the spectrum is that of an SVD (two views with a zero diagonal of H, or
    the alternating walk); otherwise c = 1 and θ = max(λ_r, |λ_min|), λ_min from the other end of
    the spectrum. The interval is widened by what rounding and the residuals of the eigenpairs
    allow; the latter matter only where `tol` is large.
    """
    values, psi = spectrum.eigenvalues, spectrum.eigenvectors
    copies = 2.0 if walk.is_cross else 1.0
    theta = float(values[-1]) if walk.is_cross else _largest_left_out(walk, float(values[-1]))
    squares = np.square(psi[i] - psi[j])
    total = np.where(i == j, 0.0, 1.0 / walk.stationary[i] + 1.0 / walk.stationary[j])
    kept = copies * (values ** (2.0 * n_steps) * squares).sum(axis=1)
    rest = np.maximum(total - copies * squares.sum(axis=1), 0.0)
    error = np.sqrt(copies) * np.linalg.norm(spectrum.residuals) + 4.0 * np.finfo(walk.dtype).eps
    slack = 2.0 * max(n_steps, 1.0) * error * np.sqrt(total)
    low = np.maximum(np.sqrt(kept) - slack, 0.0)
    return low, np.sqrt(kept + theta ** (2.0 * n_steps) * rest) + slack


def _largest_left_out(walk: Walk, last: float) -> float:
    """The largest size that an eigenvalue beyond the last kept one can have."""
    smallest = extreme_eigenvalue(walk, end="smallest")
    return min(max(last, smallest.residual - smallest.value), 1.0)
