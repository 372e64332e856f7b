"""Gaps between eigenvalues: the number of clusters that a spectrum suggests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["eigengap", "log_gap"]

Floats = NDArray[np.float64]


def eigengap(eigenvalues: ArrayLike) -> int:
    """Number of clusters k ≥ 2 with the largest gap λ_{k−1} − λ_k.

    Parameters
    ----------
    eigenvalues : (r,) array
        λ_1 … λ_r of a walk, largest first, without the trivial λ_0 = 1.

    Returns
    -------
    n_clusters : int
        From 2 to r, the smallest k if gaps are equal; 2 for a single eigenvalue.

    Notes
    -----
    λ_0 is counted: with k clusters λ_0 … λ_{k−1} are near 1 and λ_k is not. A walk in k pieces
    has k eigenvalues of 1, and its gap is 1 − λ_k. The result is never 1, because no gap of a
    finite sample can show that there is a single cluster. Ng, Jordan and Weiss (2001)
    count the eigenvalues of 1; Polito and Perona (2001) look for the drop after them. The rule is
    for compact clusters: along a curve, as in the coupled circles, eigenvalues decay without a
    clear gap, and the largest gap does not tell the number of curves.

    Examples
    --------
    >>> from viewhop.solvers import eigengap
    >>> eigengap([0.99, 0.98, 0.5, 0.4])
    3
    """
    return _largest_gap(_check_eigenvalues(eigenvalues))


def log_gap(eigenvalues: ArrayLike) -> int:
    """Number of clusters k ≥ 2 with the largest gap log λ_{k−1} − log λ_k.

    Parameters
    ----------
    eigenvalues : (r,) array
        As for `eigengap`. What is not positive beyond rounding counts as the rounding.

    Returns
    -------
    n_clusters : int
        As for `eigengap`.

    Notes
    -----
    The gap does not depend on the diffusion time: λ^t has gaps t times as large. It suits wide
    kernels, whose eigenvalues are small even for separate clusters. Where eigenvalues go on
    decreasing to 0, the last gaps are the largest, and the result means nothing.

    Examples
    --------
    >>> from viewhop.solvers import eigengap, log_gap
    >>> eigenvalues = [0.4, 0.3, 0.07, 0.05, 0.001, 0.0008]
    >>> eigengap(eigenvalues), log_gap(eigenvalues)
    (3, 5)
    """
    values = _check_eigenvalues(eigenvalues)
    return _largest_gap(np.log(np.maximum(values, np.finfo(np.float64).eps)))


def _check_eigenvalues(eigenvalues: ArrayLike) -> Floats:
    """The eigenvalues as an array; ValueError if they cannot be those of a walk."""
    values = np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"eigenvalues must be a non-empty 1-D array, not of shape {values.shape}")
    if not np.isfinite(values).all() or (np.diff(values) > 0).any():
        raise ValueError("eigenvalues must be finite and sorted, largest first")
    return values


def _largest_gap(values: Floats) -> int:
    """The k with the largest difference from the (k − 1)-th value to the k-th."""
    return 2 + int(np.argmax(values[:-1] - values[1:])) if values.size > 1 else 2
