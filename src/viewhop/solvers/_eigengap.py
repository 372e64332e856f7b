"""The eigengap: the number of clusters that a spectrum suggests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["eigengap"]


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
    >>> from viewhop.estimators import eigengap
    >>> eigengap([0.99, 0.98, 0.5, 0.4])
    3
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"eigenvalues must be a non-empty 1-D array, not of shape {values.shape}")
    if not np.isfinite(values).all() or (np.diff(values) > 0).any():
        raise ValueError("eigenvalues must be finite and sorted, largest first")
    return 2 + int(np.argmax(values[:-1] - values[1:])) if values.size > 1 else 2
