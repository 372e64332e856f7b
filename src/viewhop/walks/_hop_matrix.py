"""Hop matrices: how willingly the walker goes from view to view."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["check_hops", "count_positive", "hop_matrix", "rank_one_weights"]

Floats = NDArray[np.float64]


def hop_matrix(n_views: int, *, within_view_weight: float = 0.0) -> Floats:
    """The paper's hop matrix, (n_views, n_views): η on the diagonal and 1 − η elsewhere.

    Parameters
    ----------
    n_views : int
    within_view_weight : float
        η, the weight of staying in the same view; 0 gives the walk of Eq. (13). With one view the
        matrix is [1] for any η: the walk of K².

    Notes
    -----
    Eq. (49), for any number of views.
    """
    if n_views == 1:
        return np.ones((1, 1))
    eta = within_view_weight
    return eta * np.eye(n_views) + (1 - eta) * (1 - np.eye(n_views))


def check_hops(hops: ArrayLike, n_views: int) -> Floats:
    """The hop matrix; ValueError unless it is symmetric and non-negative without a zero row."""
    H = np.array(hops, dtype=np.float64)
    if H.shape != (n_views, n_views):
        raise ValueError(f"hops must be ({n_views}, {n_views}), one row per view, not {H.shape}")
    if not np.isfinite(H).all() or (H < 0).any():
        raise ValueError("hops must be finite and non-negative")
    if (H != H.T).any():
        raise ValueError("hops must be symmetric: the walk goes both ways between two views")
    empty = np.flatnonzero(~(H > 0).any(axis=1))
    if empty.size:
        raise ValueError(
            f"row {empty[0]} of hops is all zero: the walker could never leave that view; every "
            "row needs a positive entry"
        )
    return H


def rank_one_weights(hops: Floats) -> Floats | None:
    """The weights w of a hop matrix H = w wᵀ, (L,); None if H has another form.

    Parameters
    ----------
    hops : (L, L) array
        A hop matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.walks import rank_one_weights
    >>> rank_one_weights(np.array([[4.0, 2.0], [2.0, 1.0]]))
    array([2., 1.])
    """
    weights = np.sqrt(np.diagonal(hops))
    if not weights.all():
        return None
    product = np.outer(weights, weights)
    rounding = 8 * float(np.finfo(np.float64).eps)
    return weights if bool((np.abs(hops - product) <= rounding * product).all()) else None


def count_positive(hops: Floats) -> int:
    """Number of positive eigenvalues of a hop matrix."""
    values = np.linalg.eigvalsh(hops)
    rounding = len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    return int((values > rounding).sum())
