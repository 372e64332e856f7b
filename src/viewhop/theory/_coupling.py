"""The objective that one-dimensional maps of coupled views minimise: Theorem 2."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from viewhop.solvers import solve
from viewhop.spectrum import fix_signs
from viewhop.theory._source import Source, kernel_matrix, require_walk

__all__ = ["Minimum", "objective", "objective_minimum"]

Floats = NDArray[np.float64]


class Minimum(NamedTuple):
    """The minimum of an objective, with a map that attains it.

    Attributes
    ----------
    value : float
    mapping : (n_nodes,) array
    """

    value: float
    mapping: Floats


def objective(source: Source, mapping: ArrayLike) -> Floats:
    """The kernel-weighted sum of squared differences of each one-dimensional map.

    Parameters
    ----------
    source : fitted estimator or Walk
    mapping : (n_nodes,) or (n_nodes, b) array
        ρ, with the views concatenated.

    Returns
    -------
    values : 0-d or (b,) array

    Notes
    -----
    ρᵀ(D̂ − K̂)ρ, computed by products. For two views with η = 0 it is the sum of Eq. (25) over
    K^z = K^x K^y, which is not formed; for any walk it is ½ Σ_ij K̂_ij (ρ_i − ρ_j)².

    Examples
    --------
    A constant map costs nothing:

    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop import theory
    >>> X = np.random.default_rng(0).standard_normal((30, 3))
    >>> est = vh.MultiViewDiffusionMaps.paper_settings(2).fit([X, X**3])
    >>> bool(abs(theory.objective(est, np.ones(60))) < 1e-9)
    True
    """
    walk = require_walk(source)
    rho = np.asarray(mapping, dtype=np.float64)
    if rho.ndim not in (1, 2) or rho.shape[0] != walk.n_nodes:
        raise ValueError(
            f"mapping must have one entry per node, ({walk.n_nodes},) or ({walk.n_nodes}, b), got "
            f"{rho.shape}"
        )
    degrees = walk.degrees if rho.ndim == 1 else walk.degrees[:, None]
    return np.asarray((rho * (degrees * rho - (walk @ rho))).sum(axis=0))


def objective_minimum(source: Source, *, weighted: bool = False) -> Minimum:
    """The minimum of the objective over non-trivial maps, with its map.

    Parameters
    ----------
    source : fitted estimator or Walk
        At most 4,000 nodes unless `weighted`.
    weighted : bool
        False for the constraints printed in the paper, ‖ρ‖ = 1 and ρᵀ1 = 0; True for the
        constraints that the walk satisfies, ρᵀD̂ρ = 1 and ρᵀD̂1 = 0.

    Notes
    -----
    Eq. (25), corrected (erratum 5): under the printed constraints the minimiser is the second
    eigenvector of the unnormalised D̂ − K̂; under the weighted ones it is ψ_1, with value 1 − λ_1.
    The two differ unless D̂ is a multiple of the identity.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop import theory
    >>> X = np.random.default_rng(0).standard_normal((30, 3))
    >>> est = vh.MultiViewDiffusionMaps.paper_settings(2).fit([X, X**3])
    >>> minimum = theory.objective_minimum(est, weighted=True)
    >>> bool(abs(minimum.value - (1 - est.eigenvalues_[0])) < 1e-12)
    True
    """
    walk = require_walk(source)
    if weighted:
        spectrum = solve(walk, 1)
        mapping = spectrum.eigenvectors[:, 0] / np.sqrt(walk.degrees.sum())
        return Minimum(float(1.0 - spectrum.eigenvalues[0]), mapping)
    n = walk.n_nodes
    laplacian = np.diag(walk.degrees) - kernel_matrix(walk)
    # The constant has eigenvalue 0; shifted above all others, it is no longer the smallest.
    top = 2.0 * walk.degrees.max()
    values, vectors = eigh(
        0.5 * (laplacian + laplacian.T) + top / n * np.ones((n, n)), subset_by_index=[0, 0]
    )
    return Minimum(float(values[0]), vectors[:, 0] * fix_signs(vectors)[0])
