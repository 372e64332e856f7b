"""Decay of the spectrum, compared with that of the kernel product: Lemma 2 and Theorem 6."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.theory._source import Source, require_cross_walk

__all__ = ["SpectralDecay", "spectral_decay", "tail_products"]

Floats = NDArray[np.float64]

#: Largest number of samples for which the kernels of two views are formed.
MAX_SAMPLES = 2000


class SpectralDecay(NamedTuple):
    """Both sides of Theorem 6, in logarithms.

    Attributes
    ----------
    rank : int
        r_δ, the number of eigenvalues of the kernel product above δ.
    log_tail : float
        log of the product of the last M − r_δ eigenvalues of K^x K^y.
    log_bound : float
        (M − r_δ) log δ.
    """

    rank: int
    log_tail: float
    log_bound: float


def tail_products(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Logarithms of the tail products of the eigenvalues of A·B and A∘B, for every start k.

    Parameters
    ----------
    first, second : (M, M) arrays
        A and B, symmetric and positive definite beyond rounding.

    Returns
    -------
    of_product, of_hadamard : (M,) arrays
        Entry k is Σ_{ℓ≥k} log λ_ℓ, eigenvalues in descending order from ℓ = 0.

    Notes
    -----
    Lemma 2, Eq. (33): the first is never larger than the second. λ(A·B) are computed as the
    eigenvalues of the symmetric A^{1/2} B A^{1/2}. Rounding makes a kernel indefinite as soon as
    samples are close relative to their scale; such a kernel is refused, because the logarithm of a
    rounding error is meaningless.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop import theory
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> B = np.array([[1.0, 0.5], [0.5, 3.0]])
    >>> product, hadamard = theory.tail_products(A, B)
    >>> np.exp(product).round(3), np.exp(hadamard).round(3)
    (array([8.25 , 1.036]), array([11.75 ,  1.938]))
    """
    A, B = _definite(first, "first"), _definite(second, "second")
    if A.shape != B.shape:
        raise ValueError(f"the matrices differ in shape: {A.shape} and {B.shape}")
    values, vectors = np.linalg.eigh(A)
    root = (vectors * np.sqrt(values)) @ vectors.T
    return _log_tails(root @ B @ root), _log_tails(A * B)


def spectral_decay(source: Source, *, accuracy: float = 0.1) -> SpectralDecay:
    """The product of the last eigenvalues of K^x K^y and its bound, in logarithms.

    Parameters
    ----------
    source : fitted estimator or Walk
        Two views with η = 0 and kernels that are positive definite beyond rounding: few samples,
        or scales that are small relative to the distances.
    accuracy : float
        δ, between 0 and 1.

    Notes
    -----
    Theorem 6, Eq. (34): `log_tail` ≤ `log_bound`. The kernels are not normalised, and the exponent
    is M − r_δ, the number of factors; the printed M − 1 − r_δ gives a weaker bound.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop import theory
    >>> X = np.random.default_rng(0).standard_normal((12, 3))
    >>> est = vh.MultiViewDiffusionMaps.paper_settings(2).fit([X, X**3])
    >>> decay = theory.spectral_decay(est, accuracy=0.5)
    >>> decay.rank, round(decay.log_tail, 2), round(decay.log_bound, 2)
    (4, -127.44, -5.55)
    """
    if not 0 < accuracy < 1:
        raise ValueError(f"accuracy must lie between 0 and 1, not {accuracy!r}")
    walk, _ = require_cross_walk(source)
    n = walk.n_samples
    if n > MAX_SAMPLES:
        raise ValueError(
            f"spectral_decay computes all eigenvalues; take at most {MAX_SAMPLES:,} samples"
        )
    A, B = (np.asarray(K @ np.eye(n)) for K in walk.affinities)
    of_product, _ = tail_products(A, B)
    rank = int((np.linalg.eigvalsh(A * B) > accuracy).sum())
    tail = float(of_product[rank]) if rank < n else 0.0
    return SpectralDecay(rank, tail, (n - rank) * float(np.log(accuracy)))


def _definite(matrix: ArrayLike, place: str) -> Floats:
    """The symmetric matrix; ValueError unless it is positive definite beyond rounding."""
    A = np.asarray(matrix, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"the {place} matrix must be square, got {A.shape}")
    size = np.abs(A).max()
    if np.abs(A - A.T).max() > 1e-10 * size:
        raise ValueError(f"the {place} matrix must be symmetric")
    values = np.linalg.eigvalsh(0.5 * (A + A.T))
    if values[0] <= 1e3 * len(A) * np.finfo(np.float64).eps * values[-1]:
        raise ValueError(
            f"the {place} matrix is not positive definite beyond rounding: eigenvalues from "
            f"{values[0]:.2g} to {values[-1]:.2g}; take fewer samples or a smaller scale"
        )
    return np.asarray(0.5 * (A + A.T))


def _log_tails(matrix: Floats) -> Floats:
    """Σ_{ℓ≥k} log λ_ℓ for each k, eigenvalues descending."""
    values = np.linalg.eigvalsh(0.5 * (matrix + matrix.T))
    return np.cumsum(np.log(values))[::-1]
