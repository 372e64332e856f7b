"""Directions that the product of two kernels finds in their feature spaces: Eqs. (50)–(52)."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

__all__ = ["SharedFeatures", "shared_features"]

Floats = NDArray[np.float64]


class SharedFeatures(NamedTuple):
    """Coordinates of the samples along the directions of largest covariance of two kernels.

    Attributes
    ----------
    covariances : (r,) array
        s_i, descending: singular values of Σ̄_γδ = (1/M) ΓᵀΔ, the covariance between the feature
        spaces.
    first, second : (n_samples, r) arrays
        Γa_i and Δb_i, the coordinates along the unit singular vectors a_i and b_i. The columns of
        ``first`` are eigenvectors of K^x K^y, those of ``second`` of K^y K^x, both with the
        eigenvalues s_i².
    """

    covariances: Floats
    first: Floats
    second: Floats

    @property
    def correlations(self) -> Floats:
        """Correlation of each column of ``first`` with that of ``second``, (r,).

        None exceeds the largest canonical correlation of the feature spaces. If the kernels are not
        centred, these are cosines instead of correlations.
        """
        lengths = np.linalg.norm(self.first, axis=0) * np.linalg.norm(self.second, axis=0)
        return np.asarray((self.first * self.second).sum(axis=0) / lengths)


def shared_features(
    first: ArrayLike, second: ArrayLike, *, n_components: int = 2
) -> SharedFeatures:
    """Directions of largest covariance between the feature spaces of two kernels.

    Parameters
    ----------
    first, second : (n_samples, n_samples) arrays
        K^x = (1/M) ΓΓᵀ and K^y = (1/M) ΔΔᵀ, symmetric and positive semi-definite. Condition (2) of
        Section 5.9 requires centred features: subtract the row and column means from each kernel
        and add its overall mean.
    n_components : int
        Number r of directions.

    Returns
    -------
    SharedFeatures

    Notes
    -----
    Eqs. (50)–(52) hold for eigenvectors τ of K^z = K^x K^y: Δᵀτ is an eigenvector of Σ̄_δγ Σ̄_γδ.
    They do not hold for the singular vectors of K^z that the text uses, because K^z is not
    symmetric. The directions maximise the covariance aᵀΣ̄_γδ b subject to ‖a‖ = ‖b‖ = 1, not the
    correlation, so this is not CCA in the feature spaces (erratum 15); `viewhop.KernelCCA` is.

    They are computed from the symmetric matrix R K^y R with R = (K^x)^{1/2}: if w is one of its
    eigenvectors, τ = Rw.

    Examples
    --------
    With linear kernels, the covariances are the singular values of XᵀY / M:

    >>> import numpy as np
    >>> from viewhop import theory
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((2, 50, 3))
    >>> found = theory.shared_features(X @ X.T / 50, Y @ Y.T / 50)
    >>> expected = np.linalg.svd(X.T @ Y / 50, compute_uv=False)[:2]
    >>> bool(np.abs(found.covariances - expected).max() < 1e-12)
    True
    """
    Kx, Ky = _check_kernel(first, "first"), _check_kernel(second, "second")
    if Kx.shape != Ky.shape:
        raise ValueError(f"the kernels differ in shape: {Kx.shape} and {Ky.shape}")
    n = len(Kx)
    if not isinstance(n_components, Integral) or not 1 <= n_components <= n:
        raise ValueError(f"n_components must be an integer from 1 to {n}, got {n_components!r}")
    values, vectors = eigh(Kx)
    root = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    squares, directions = eigh(root @ Ky @ root, subset_by_index=[n - n_components, n - 1])
    rounding = n * np.finfo(np.float64).eps * np.linalg.norm(Kx, 2) * np.linalg.norm(Ky, 2)
    if squares[0] <= rounding:
        n_positive = int((squares > rounding).sum())
        raise ValueError(
            f"the feature spaces share {n_positive} directions beyond rounding; ask for at most "
            "that many"
        )
    covariances = np.sqrt(squares[::-1])
    scores = np.sqrt(n) * root @ directions[:, ::-1]
    return SharedFeatures(covariances, scores, Ky @ scores / covariances)


def _check_kernel(kernel: ArrayLike, place: str) -> Floats:
    """A symmetric matrix, positive semi-definite up to rounding."""
    K = np.asarray(kernel, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size or not np.isfinite(K).all():
        raise ValueError(f"the {place} kernel must be square and finite, got shape {K.shape}")
    size = np.abs(K).max()
    if np.abs(K - K.T).max() > 1e-10 * size:
        raise ValueError(f"the {place} kernel must be symmetric")
    if np.linalg.eigvalsh(K)[0] < -1e-10 * size * len(K):
        raise ValueError(
            f"the {place} kernel must be positive semi-definite: it has a negative eigenvalue, so "
            "it has no feature space"
        )
    return K
