"""The ends of a walk's spectrum: Theorem 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from viewhop.errors import ConvergenceError
from viewhop.solvers import DENSE_NODES
from viewhop.solvers._lanczos import MAX_RESTARTS
from viewhop.theory._source import kernel_matrix, walk_of
from viewhop.walks import Walk

if TYPE_CHECKING:
    from viewhop.theory._source import Source

__all__ = ["Extreme", "eigenvalue_range", "extreme_eigenvalue"]

Floats = NDArray[np.float64]

#: Residual at which an end counts as found. Where eigenvalues crowd, as at 0, less takes very long.
TOLERANCE = 1e-4


class Extreme(NamedTuple):
    """An eigenvalue at one end of the spectrum.

    Attributes
    ----------
    value : float
    residual : float
        An eigenvalue lies within this distance of `value`.
    """

    value: float
    residual: float


def extreme_eigenvalue(walk: Walk, *, end: Literal["smallest", "largest"]) -> Extreme:
    """The smallest or the largest eigenvalue of a walk, the trivial 1 counted.

    Parameters
    ----------
    walk : Walk
    end : {"smallest", "largest"}

    Raises
    ------
    ConvergenceError
        If the iteration reaches its cap.

    Notes
    -----
    LAPACK up to 1,000 nodes; above, one Lanczos run to a residual of 1e-4, on I ± A with
    A = D^{-1/2} K D^{-1/2} so that an eigenvalue near 0 is found like any other. The start is drawn
    with a fixed seed.
    """
    sign = 1.0 if end == "largest" else -1.0
    n = walk.n_nodes
    if n <= DENSE_NODES:
        root = np.sqrt(walk.degrees)
        A = kernel_matrix(walk) / np.outer(root, root)
        place = n - 1 if end == "largest" else 0
        values = eigvalsh(0.5 * (A + A.T), subset_by_index=[place, place])
        return Extreme(float(values[0]), n * float(np.finfo(walk.dtype).eps))

    def shifted(v: Floats) -> Floats:
        return v.reshape(n) + sign * walk.normalized(v.reshape(n))

    try:
        values, vectors = eigsh(
            LinearOperator((n, n), matvec=shifted, dtype=np.float64),
            k=1,
            which="LA",
            v0=np.random.default_rng(0).standard_normal(n),
            ncv=min(n - 1, 24),
            tol=max(TOLERANCE, 50 * float(np.finfo(walk.dtype).eps)),
            maxiter=MAX_RESTARTS,
        )
    except ArpackNoConvergence as stopped:
        raise ConvergenceError(
            f"the {end} eigenvalue was not found within {MAX_RESTARTS} restarts of Lanczos; many "
            "eigenvalues crowd at that end of the spectrum, as with a bandwidth so small that the "
            "walk hardly moves (raise factor or n_neighbors)"
        ) from stopped
    vector = vectors[:, 0]
    residual = np.linalg.norm(shifted(vector) - values[0] * vector)
    return Extreme(float(sign * (values[0] - 1.0)), float(residual))


def eigenvalue_range(source: Source) -> tuple[float, float]:
    """The smallest and the largest eigenvalue of a walk, the trivial 1 counted.

    Parameters
    ----------
    source : fitted estimator or Walk

    Notes
    -----
    Theorem 5: both lie in [−1, 1], for any walk whose kernel has no negative entry; the largest
    is 1. The smallest is −1 where the hop graph is bipartite without loops, as for two views with
    η = 0 (erratum 4).

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop import theory
    >>> X = np.random.default_rng(0).standard_normal((30, 3))
    >>> for count in (2, 3):
    ...     est = vh.MultiViewDiffusionMaps(2, kernel="gaussian").fit([X, X**3, X**2][:count])
    ...     low, high = theory.eigenvalue_range(est)
    ...     f"{low:.3f} {high:.3f}"
    '-1.000 1.000'
    '-0.572 1.000'
    """
    walk = walk_of(source, incomplete=True)
    low, high = (extreme_eigenvalue(walk, end=end).value for end in ("smallest", "largest"))
    return low, high
