"""Numerical rank of a kernel, computed from its spectrum or estimated from its samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from viewhop._runtime.arpack import seed_restarts
from viewhop.dimension._arguments import check_number, check_rows
from viewhop.errors import ConvergenceError

__all__ = ["box_count", "numerical_rank"]

Floats = NDArray[np.float64]

#: Up to this many rows, LAPACK computes all eigenvalues faster than Lanczos a few.
DENSE_ROWS = 3000
#: Number of eigenvalues in the first round of Lanczos, and in a round that should yield none.
FIRST_ROUND = 16
LAST_ROUND = 4
#: Maximum number of restarts in a round.
MAX_RESTARTS = 300
#: A row this close below the side of a cube, in sides, counts as on it: 0.3 / 0.1 is less than 3.
ON_THE_SIDE = 1e-9


def numerical_rank(K: Any, delta: float) -> int:
    """Number of eigenvalues of a symmetric kernel above `delta` times the largest.

    Parameters
    ----------
    K : (n, n) array, or an operator
        An operator is any object with ``@`` and a size: a sparse matrix, a `LinearOperator`, an
        affinity or a walk. It is only multiplied by vectors, and never formed as an array unless
        the rank is a large part of its size.
    delta : float
        δ, between 0 and 1. At the rounding error of the kernel, 1e-14 or 1e-6, it counts noise.

    Returns
    -------
    rank : int
        #{k : λ_k > δ λ_max}, 0 if no eigenvalue is positive. If the kernel is not positive
        semi-definite, only positive eigenvalues count: only they give coordinates.

    Raises
    ------
    ConvergenceError
        If Lanczos reaches its iteration limit because many eigenvalues are close to δ λ_max.

    Notes
    -----
    After Bermanis, Averbuch and Coifman (2013), who count singular values. Small arrays go to
    LAPACK. Otherwise, rounds of Lanczos, each twice as long as the one before, compute the largest
    eigenvalues on the complement of the eigenvectors known so far. A copy of a repeated eigenvalue
    that one round misses is the largest of the next; the last round has none above δ λ_max.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.dimension import numerical_rank
    >>> numerical_rank(np.diag([4.0, 2.0, 1.0, 0.1]), 0.2)
    3
    """
    delta = check_number("delta", delta)
    if not 0 < delta < 1:
        raise ValueError(
            f"delta must be a share of the largest eigenvalue, between 0 and 1, got {delta}"
        )
    if not _is_operator(K):
        K = _symmetric(K)
        if K.shape[0] <= DENSE_ROWS:
            return _count(eigvalsh(K), delta)
        try:
            # For a larger part of the spectrum LAPACK is faster, and K is an array already.
            rank = _lanczos_rank(K, K.shape[0], delta, most=K.shape[0] // 40)
        except ConvergenceError:
            rank = None
        return _count(eigvalsh(K), delta) if rank is None else rank
    size = _size(K)
    rank = _lanczos_rank(K, size, delta, most=size)
    assert rank is not None
    return rank


def box_count(X: ArrayLike, sigma: float) -> int:
    """Number of cubes of side `sigma` that contain a sample.

    Parameters
    ----------
    X : (n_samples, n_features) array
    sigma : float
        Side of the cubes: the scale of a Gaussian kernel.

    Notes
    -----
    The cubes start at the smallest value of each feature, so the result does not depend on an
    offset. The count estimates the numerical rank of the Gaussian kernel of scale σ for δ of about
    0.1. It is not a bound: for samples that fill a segment or a square, the rank is about 0.7 or
    0.4 times the count. The side σ^D that the paper prints after Bermanis, Averbuch and Coifman
    (2013), with D the number of features, is the volume of a cube.

    Examples
    --------
    >>> from viewhop.dimension import box_count
    >>> box_count([[0.0], [0.4], [1.0], [5.0]], 1.0)
    3
    """
    rows = check_rows(X).astype(np.float64)
    sigma = check_number("sigma", sigma)
    if not 0 < sigma < np.inf:
        raise ValueError(f"sigma, the side of a cube, must be positive and finite, got {sigma}")
    with np.errstate(over="ignore"):
        cells = np.floor((rows - rows.min(axis=0)) / sigma + ON_THE_SIDE)
    if not np.isfinite(cells).all():
        raise ValueError(f"sigma={sigma} is too small: the numbers of the cubes overflow")
    return int(np.unique(cells, axis=0).shape[0])


def _lanczos_rank(K: Any, n: int, delta: float, *, most: int) -> int | None:
    """The rank from rounds of Lanczos; None if it is larger than `most`."""
    generator = np.random.default_rng(0)
    vectors = np.empty((n, 0))
    shift = 0.0

    def project(v: Floats) -> Floats:
        return np.asarray(v - vectors @ (vectors.T @ v))

    def product(v: Floats) -> Floats:
        inside = project(v.reshape(n))
        return project(np.asarray(K @ inside, dtype=np.float64)) + shift * inside

    def largest(k: int) -> tuple[Floats, Floats]:
        room = n - vectors.shape[1]
        return _largest(product, k, project(generator.standard_normal(n)), room=room)

    if n == 1:
        return int(product(np.ones(1))[0] > 0)
    if not product(generator.standard_normal(n)).any():  # ARPACK refuses the zero matrix
        return 0
    shift = delta * float(largest(1)[0][0])
    if shift <= 0:
        return 0
    # Shifted by δ λ_max: the tolerance of Lanczos is then relative to that, and not to the small
    # eigenvalues, which need only be known to be small. Known eigenvectors have eigenvalue 0.
    wanted = FIRST_ROUND
    while vectors.shape[1] < n:
        values, basis = largest(min(wanted, n - vectors.shape[1], n - 1))
        above = values > 2 * shift
        if not above.any():
            break
        vectors = np.hstack([vectors, np.linalg.qr(project(basis[:, above]))[0]])
        if vectors.shape[1] > most:
            return None
        wanted = 2 * wanted if above.all() else LAST_ROUND
    return int(vectors.shape[1])


def _largest(
    product: Callable[[Floats], Floats], k: int, start: Floats, *, room: int
) -> tuple[Floats, Floats]:
    """The `k` largest eigenvalues, (k,), and their eigenvectors, (n, k), in `room` dimensions."""
    n = start.size
    width = max(2 * k + 1, 48)
    if width >= room:  # Lanczos would need more vectors than there are dimensions
        matrix = np.column_stack([product(unit) for unit in np.eye(n)])
        values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
        return values[-k:], vectors[:, -k:]
    try:
        values, vectors = eigsh(
            LinearOperator((n, n), matvec=product, dtype=np.float64),
            k=k,
            which="LA",
            v0=start,
            ncv=width,
            tol=1e-7,
            maxiter=MAX_RESTARTS,
            **seed_restarts(),
        )
    except ArpackError as stopped:
        n_converged = np.size(getattr(stopped, "eigenvalues", ()))
        raise ConvergenceError(
            f"Lanczos converged for {n_converged} of the next {k} eigenvalues within its limit. "
            "Likely cause: a bandwidth so small that many eigenvalues are nearly equal. Increase "
            "the bandwidth or delta, or pass the kernel as an array."
        ) from stopped
    return np.asarray(values), np.asarray(vectors)


def _count(values: NDArray[np.floating], delta: float) -> int:
    """Number of values above `delta` times the largest; 0 if none is positive."""
    return int((values > delta * values.max(initial=0.0)).sum())


def _is_operator(K: Any) -> bool:
    """Whether `K` supports ``@`` but is not an array."""
    return hasattr(K, "__matmul__") and not hasattr(K, "__array__")


def _size(K: Any) -> int:
    """Number of rows of an operator."""
    shape = getattr(K, "shape", None)
    if shape is None:
        # A walk has a node for each sample and view; an affinity has samples only.
        size = getattr(K, "n_nodes", getattr(K, "n_samples", None))
        if size is None:
            raise TypeError(
                f"K must be an array or an operator with @ and a shape, got {type(K).__name__}"
            )
        shape = (size, size)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(f"K must be square and not empty, got shape {tuple(shape)}")
    return int(shape[0])


def _symmetric(K: Any) -> Floats:
    """The given array, checked to be a symmetric matrix."""
    values = np.asarray(K)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"K must be an array of real numbers, got {values.dtype}")
    single = values.dtype == np.float32
    values = values.astype(np.float64, copy=False)
    _size(values)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"entry ({row}, {column}) of K is not finite")
    gap = np.abs(values - values.T)
    rounding = np.sqrt(np.finfo(np.float32 if single else np.float64).eps)
    if gap.max() > rounding * np.abs(values).max():
        row, column = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"K is not symmetric: entries ({row}, {column}) and ({column}, {row}) are "
            f"{values[row, column]:.6g} and {values[column, row]:.6g}"
        )
    return values
