"""Hop matrices: how willingly the walker goes from view to view."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "MOST",
    "check_hops",
    "count_positive",
    "hop_matrix",
    "low_rank_factor",
    "rank_one_weights",
]

Floats = NDArray[np.float64]

#: Largest entry of a hop matrix that its products with kernels and weights allow.
MOST = 1e300


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


def check_hops(hops: ArrayLike, n_views: int, *, largest: float = MOST) -> Floats:
    """The hop matrix; ValueError unless it is symmetric and non-negative without a zero row.

    Parameters
    ----------
    hops : (L, L) array
    n_views : int
    largest : float
        Positive entries must be between 1/largest and `largest`.
    """
    H = _read_matrix(hops)
    if H.shape != (n_views, n_views):
        raise ValueError(
            f"hops must be ({n_views}, {n_views}), one row and one column per view, not of shape "
            f"{H.shape}, for example [[0, 1], [1, 0]] for two views; weights of views are "
            "view_weights"
        )
    bad = np.argwhere(~(np.isfinite(H) & (H >= 0)))
    if bad.size:
        row, column = map(int, bad[0])
        raise ValueError(
            "hops must be finite and non-negative, but the entry of row "
            f"{row}, column {column} is {H[row, column]:.6g}"
        )
    bad = np.argwhere((H > 0) & ((largest < H) | (1.0 / largest > H)))
    if bad.size:
        row, column = map(int, bad[0])
        raise ValueError(
            f"the entry of row {row}, column {column} of hops is {H[row, column]:.6g}, expected 0 "
            f"or a number between {1.0 / largest:.0e} and {largest:.0e}; only the ratios of "
            "entries matter, so divide them all by the largest"
        )
    if (H != H.T).any():
        raise ValueError("hops must be symmetric: the walk goes both ways between two views")
    empty = np.flatnonzero(~(H > 0).any(axis=1))
    if empty.size:
        raise ValueError(
            f"row {empty[0]} of hops is all zero: the walker could never leave that view; every "
            "row needs a positive entry"
        )
    return H


def _read_matrix(hops: ArrayLike) -> Floats:
    """The entries as floats; ValueError for anything but real numbers."""
    try:
        given = np.asarray(hops)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"got {given.dtype} values")
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"hops must be a matrix of real numbers, one row and one column per view: {error}"
        ) from error


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


def low_rank_factor(hops: Floats) -> Floats | None:
    """F of a hop matrix H = F Fᵀ with fewer columns than rows, (L, p); None if there is none.

    There is none if H has full rank or a negative eigenvalue.

    Parameters
    ----------
    hops : (L, L) array
        A hop matrix.

    Examples
    --------
    Two groups of sensors, with rare hops from one to the other:

    >>> import numpy as np
    >>> from viewhop.walks import low_rank_factor
    >>> H = np.kron([[1.0, 0.1], [0.1, 1.0]], np.ones((3, 3)))
    >>> low_rank_factor(H).shape
    (6, 2)
    """
    values, vectors = np.linalg.eigh(hops)
    rounding = 8 * len(values) * float(np.finfo(np.float64).eps) * float(np.abs(values).max())
    kept = values > rounding
    if kept.all() or (values < -rounding).any():
        return None
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def count_positive(hops: Floats) -> int:
    """Number of positive eigenvalues of a hop matrix."""
    values = np.linalg.eigvalsh(hops)
    rounding = len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    return int((values > rounding).sum())
