"""Incomplete Cholesky factorisation of a matrix from its diagonal and a few of its columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Factor", "incomplete_cholesky"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Factor(NamedTuple):
    """The incomplete Cholesky factor of a positive semi-definite matrix.

    Attributes
    ----------
    rows : (n, k) array
        G; its rows at the pivots, in their order, are lower triangular.
    pivots : (k,) index array
    remainder : (n,) array
        Diagonal of K − G Gᵀ.
    """

    rows: Floats
    pivots: Indices
    remainder: Floats


def incomplete_cholesky(
    diagonal: Floats,
    column: Callable[[int], Floats],
    *,
    rank: int,
    tol: float = 0.0,
    done: Callable[[int, int], None] = lambda done, total: None,
) -> Factor:
    """The factor G with K ≈ G Gᵀ, from the diagonal and at most `rank` columns of K.

    Parameters
    ----------
    diagonal : (n,) array
        Diagonal of K.
    column : callable
        Returns a column of K, (n,), by its index.
    rank : int
        Largest number of columns, from 1 to n.
    tol : float
        Stop when the largest remaining diagonal entry is at most this share of the largest one of
        K. The factorisation always stops at rounding error, n times machine epsilon.
    done : callable
        Called with the number of finished columns and the total.

    Raises
    ------
    ValueError
        If K turns out not to be positive semi-definite.

    Notes
    -----
    The pivot is the largest remaining diagonal entry, or the first of several equal ones, as in
    LAPACK's ``pstrf``.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.affinity._cholesky import incomplete_cholesky
    >>> K = np.array([[1.0, 0.0, 1.0], [0.0, 4.0, 2.0], [1.0, 2.0, 2.0]])
    >>> factor = incomplete_cholesky(K.diagonal(), lambda j: K[:, j], rank=3)
    >>> factor.pivots.tolist()
    [1, 0]
    >>> bool(np.abs(factor.rows @ factor.rows.T - K).max() < 1e-12)
    True
    """
    n = diagonal.size
    remainder = diagonal.astype(np.float64)
    size = float(remainder.max())
    unit = float(np.finfo(np.float64).eps)
    rows = np.empty((rank, n))
    pivots: list[int] = []
    while len(pivots) < rank:
        k, pivot = len(pivots), int(np.argmax(remainder))
        if remainder[pivot] <= max(tol, n * unit) * size:
            break
        root = np.sqrt(remainder[pivot])
        rows[k] = (column(pivot) - rows[:k, pivot] @ rows[:k]) / root
        rows[k, pivots] = 0.0
        rows[k, pivot] = root
        remainder -= np.square(rows[k])
        pivots.append(pivot)
        remainder[pivots] = 0.0
        if remainder.min() < -100 * n * unit * size:
            raise ValueError(
                f"it is not positive semi-definite: after {k + 1} pivots, the diagonal entry of "
                f"sample {int(np.argmin(remainder))} is {remainder.min():.3g}"
            )
        done(len(pivots), rank)
    return Factor(rows[: len(pivots)].T.copy(), np.array(pivots, dtype=np.intp), remainder)
