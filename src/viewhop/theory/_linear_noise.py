"""Noise specific to each view in a linear model of two views: Section 5.9."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import subspace_angles

__all__ = ["AdditiveNoise", "additive_noise"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AdditiveNoise:
    """Two linear views x = Aθ + ξ and y = Bθ + η of the same latent parameters.

    Attributes
    ----------
    loadings : pair of (n_features, d) arrays
        A and B.
    latent_covariance : (d, d) array
        Σ_θ.
    noise_covariances : pair of (n_features, n_features) arrays
        Σ_ξ and Σ_η.
    """

    loadings: tuple[Floats, Floats]
    latent_covariance: Floats
    noise_covariances: tuple[Floats, Floats]

    @property
    def cross_covariance(self) -> Floats:
        """AΣ_θBᵀ, of which (1/M) XYᵀ is an unbiased estimate."""
        A, B = self.loadings
        return np.asarray(A @ self.latent_covariance @ B.T)

    def covariance(self, view: int) -> Floats:
        """AΣ_θAᵀ + Σ_ξ, the limit of (1/M) XXᵀ; the second term is the bias.

        Parameters
        ----------
        view : {0, 1}
        """
        A = self.loadings[view]
        return np.asarray(A @ self.latent_covariance @ A.T + self.noise_covariances[view])

    def principal_angle(self, view: int) -> float:
        """Sine of the largest angle between the range of A and the first d principal axes.

        It is the limit for infinitely many samples: 0 if PCA recovers the range of A.

        Parameters
        ----------
        view : {0, 1}
        """
        A = self.loadings[view]
        vectors = np.linalg.eigh(self.covariance(view))[1]
        return float(np.sin(subspace_angles(vectors[:, -A.shape[1] :], A).max()))

    def covariance_error(self, n_samples: int, view: int) -> float:
        """Root mean square of ‖(1/M) XXᵀ − AΣ_θAᵀ‖_F for normal data; it tends to ‖Σ_ξ‖_F.

        Parameters
        ----------
        n_samples : int
            M.
        view : {0, 1}

        Notes
        -----
        Its square is ‖Σ_ξ‖_F² + (tr(Σ_x)² + ‖Σ_x‖_F²) / M: squared bias plus variance.
        """
        total = self.covariance(view)
        variance = (np.trace(total) ** 2 + np.square(total).sum()) / _check_samples(n_samples)
        return float(np.sqrt(np.square(self.noise_covariances[view]).sum() + variance))

    def cross_covariance_error(self, n_samples: int) -> float:
        """Root mean square of ‖(1/M) XYᵀ − AΣ_θBᵀ‖_F for normal data; it decreases as 1/√M.

        Parameters
        ----------
        n_samples : int
            M.

        Notes
        -----
        Exactly ((tr Σ_x tr Σ_y + ‖Σ_xy‖_F²) / M)^{1/2}: E‖x‖²‖y‖² = tr Σ_x tr Σ_y + 2‖Σ_xy‖_F² for
        jointly normal x and y. By Markov's inequality, the error exceeds 1/√p times this value with
        probability at most p.
        """
        traces = np.trace(self.covariance(0)) * np.trace(self.covariance(1))
        square = traces + np.square(self.cross_covariance).sum()
        return float(np.sqrt(square / _check_samples(n_samples)))

    def angle_bound(self, n_samples: int) -> float:
        """Bound on the root mean square error of the directions found between views, at most 1.

        The error is the sine of the largest angle between the range of A and the first d left
        singular vectors of (1/M) XYᵀ. The same bound holds for B and the right singular vectors.

        Parameters
        ----------
        n_samples : int
            M.

        Notes
        -----
        2/σ_d times `cross_covariance_error`, where σ_d is the smallest positive singular value of
        Σ_xy. If C has rank d and C + E has the leading singular triplets Û, Ŝ, V̂, then
        U_⊥ᵀÛŜ = U_⊥ᵀEV̂. Hence sin θ ≤ ‖E‖/(σ_d − ‖E‖), which is at most 2‖E‖/σ_d wherever the
        latter is below 1 (after Wedin 1972).
        """
        d = self.latent_covariance.shape[0]
        smallest = np.linalg.svd(self.cross_covariance, compute_uv=False)[d - 1]
        return float(min(1.0, 2.0 * self.cross_covariance_error(n_samples) / smallest))


def additive_noise(
    first: ArrayLike,
    second: ArrayLike,
    *,
    first_noise: ArrayLike,
    second_noise: ArrayLike,
    latent_covariance: ArrayLike | None = None,
) -> AdditiveNoise:
    """A linear model of two views with independent noise: covariances, biases and error bounds.

    Parameters
    ----------
    first, second : (n_features, d) arrays
        A and B, of full column rank; the views may have different numbers of features.
    first_noise, second_noise : (n_features, n_features) arrays
        Σ_ξ and Σ_η, the covariances of the noise ξ and η. The two are independent of each other
        and of θ.
    latent_covariance : (d, d) array or None
        Σ_θ, positive definite; None is the identity.

    Returns
    -------
    AdditiveNoise

    Notes
    -----
    Section 5.9: the noise biases the covariance of one view by Σ_ξ, however many samples there are,
    but not the covariance between the views. The paper gives these limits; the errors for M samples
    and the bound on the angle are viewhop's. `viewhop.datasets.make_noisy_latents` draws samples
    from this model, or from one with curves instead of A and B.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop import theory
    >>> A = np.eye(4)[:, :1]
    >>> noise = np.diag([0.1, 2.0, 0.1, 0.1])
    >>> model = theory.additive_noise(A, A, first_noise=noise, second_noise=0.1 * np.eye(4))
    >>> model.principal_angle(0)  # 1: the first principal axis of x is noise
    1.0
    >>> round(model.angle_bound(1000), 2), round(model.angle_bound(100_000), 2)  # both views
    (0.15, 0.01)
    """
    A, B = _check_loadings(first, "first"), _check_loadings(second, "second")
    d = A.shape[1]
    if B.shape[1] != d:
        raise ValueError(f"A and B must have a column per latent parameter, got {d}, {B.shape[1]}")
    latent = np.eye(d) if latent_covariance is None else latent_covariance
    Sigma = _check_covariance(latent, d, "latent_covariance")
    if np.linalg.matrix_rank(Sigma, hermitian=True) < d:
        raise ValueError("latent_covariance must be positive definite; leave parameters out")
    noises = (
        _check_covariance(first_noise, len(A), "first_noise"),
        _check_covariance(second_noise, len(B), "second_noise"),
    )
    return AdditiveNoise((A, B), Sigma, noises)


def _check_loadings(loadings: ArrayLike, place: str) -> Floats:
    A = np.array(loadings, dtype=np.float64)
    if A.ndim != 2 or not A.size or not np.isfinite(A).all():
        raise ValueError(f"the {place} loadings must be (n_features, d), got shape {A.shape}")
    if np.linalg.matrix_rank(A) < A.shape[1]:
        raise ValueError(
            f"the {place} loadings must have full column rank, or a latent parameter is not seen"
        )
    return A


def _check_covariance(matrix: ArrayLike, size: int, name: str) -> Floats:
    C = np.array(matrix, dtype=np.float64)
    if C.shape != (size, size) or not np.isfinite(C).all():
        raise ValueError(f"{name} must be ({size}, {size}) and finite, got shape {C.shape}")
    rounding = 1e-10 * max(np.abs(C).max(), np.finfo(np.float64).tiny)
    if np.abs(C - C.T).max() > rounding or np.linalg.eigvalsh(C)[0] < -size * rounding:
        raise ValueError(f"{name} must be symmetric and positive semi-definite")
    return C


def _check_samples(n_samples: int) -> int:
    if not isinstance(n_samples, Integral) or n_samples < 1:
        raise ValueError(f"n_samples must be a whole number of at least 1, got {n_samples!r}")
    return int(n_samples)
