"""Errors that noise of a view's own makes, in a linear model and on two curves."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import subspace_angles
from scipy.stats import spearmanr
from sklearn.utils import Bunch

from viewhop.bandwidth import max_min
from viewhop.datasets import make_noisy_latents
from viewhop.errors import DisconnectedWarning
from viewhop.estimators import DiffusionMaps, KernelCCA, MultiViewDiffusionMaps
from viewhop.experiments._local_scales import LOCAL_SCALES
from viewhop.kernels import Gaussian
from viewhop.theory import AdditiveNoise, additive_noise, shared_features

__all__ = [
    "KERNELS",
    "ProductCheck",
    "angle_errors",
    "check_product",
    "coordinate_error",
    "covariance_errors",
    "curve_errors",
    "principal_directions",
    "shared_directions",
]

Floats = NDArray[np.float64]

KERNELS = {
    "max-min": Gaussian(bandwidth="max-min"),
    "10 neighbours": LOCAL_SCALES,
}
#: Above this many samples the leading eigenpairs are computed by iteration.
_DENSE_SAMPLES = 300
#: Regularisation of kernel CCA in `check_product`, the library's default.
_REGULARIZATION = 0.01


def _draw_linear(
    n_samples: int, size: float, generator: np.random.Generator
) -> tuple[Floats, Floats, AdditiveNoise]:
    """Both views of the linear model, and the model."""
    drawn = make_noisy_latents(n_samples, noise=size, random_state=generator)
    (A, B), (first, second) = drawn.frames.values(), drawn.noise_covariances.values()
    model = additive_noise(A, B, first_noise=first, second_noise=second)
    return np.asarray(drawn.views["x"]), np.asarray(drawn.views["y"]), model


def covariance_errors(
    n_samples: int, size: float, generator: np.random.Generator
) -> tuple[float, float, float, float]:
    """Relative errors of the covariance of one view and of that between views, and in theory.

    ‖(1/M)XXᵀ − AAᵀ‖/‖AAᵀ‖ and ‖(1/M)XYᵀ − ABᵀ‖/‖ABᵀ‖, which PCA and CCA inherit, and the root
    mean squares that `viewhop.theory.additive_noise` gives for them.

    Parameters
    ----------
    n_samples : int
    size : float
        σ_n.
    generator : Generator
    """
    X, Y, model = _draw_linear(n_samples, size, generator)
    A, _ = model.loadings
    norm = np.linalg.norm
    own, between = norm(A @ A.T), norm(model.cross_covariance)
    return (
        float(norm(X.T @ X / n_samples - A @ A.T) / own),
        float(norm(X.T @ Y / n_samples - model.cross_covariance) / between),
        float(model.covariance_error(n_samples, 0) / own),
        float(model.cross_covariance_error(n_samples) / between),
    )


def angle_errors(
    n_samples: int, size: float, generator: np.random.Generator
) -> tuple[float, float, float, float]:
    """Sine of the largest angle of A to the planes of PCA and CCA; limit of PCA, bound of CCA."""
    X, Y, model = _draw_linear(n_samples, size, generator)
    A, _ = model.loadings
    return (
        float(np.sin(subspace_angles(principal_directions(X, 2), A).max())),
        float(np.sin(subspace_angles(shared_directions(X, Y, 2), A).max())),
        model.principal_angle(0),
        model.angle_bound(n_samples),
    )


def principal_directions(X: Floats, n_components: int) -> Floats:
    """Directions of the largest variance of a view, (n_features, n_components)."""
    centred = X - X.mean(axis=0)
    return np.asarray(np.linalg.svd(centred, full_matrices=False)[2][:n_components].T)


def shared_directions(X: Floats, Y: Floats, n_components: int) -> Floats:
    """Directions of the first view most shared with the second, (n_features, n_components).

    Left singular vectors of (1/M) X Yᵀ, which the paper calls CCA.
    """
    first, second = X - X.mean(axis=0), Y - Y.mean(axis=0)
    return np.asarray(np.linalg.svd(first.T @ second)[0][:, :n_components])


def curve_errors(
    n_samples: int, size: float, generator: np.random.Generator
) -> tuple[dict[str, float], int]:
    """Error of each method on two curves, and the number of disconnected walks."""
    drawn = make_noisy_latents(n_samples, kind="curves", noise=size, random_state=generator)
    (before, some), (after, more) = (
        _coordinates(*(np.asarray(views[name]) for name in "xy"))
        for views in (drawn.clean, drawn.views)
    )
    return {name: coordinate_error(before[name], after[name]) for name in before}, some + more


def coordinate_error(clean: Floats, noisy: Floats) -> float:
    """1 − ρ², with the rank correlation ρ of a coordinate with and without noise.

    Sign and scale do not matter. 0 if the order of the samples is preserved, 1 if it is lost.
    """
    return 1.0 - float(spearmanr(clean, noisy).statistic) ** 2


def _coordinates(X: Floats, Y: Floats) -> tuple[dict[str, Floats], int]:
    """First coordinate of view X by each method, and the number of disconnected walks."""
    coordinates = {
        "PCA": X @ principal_directions(X, 1)[:, 0],
        "CCA": X @ shared_directions(X, Y, 1)[:, 0],
    }
    apart = 0
    solver = "dense" if len(X) <= _DENSE_SAMPLES else "auto"
    with warnings.catch_warnings():
        # The first coordinate of a disconnected walk separates its pieces; these are counted.
        warnings.simplefilter("ignore", DisconnectedWarning)
        for name, kernel in KERNELS.items():
            one = DiffusionMaps(1, kernel=kernel, solver=solver, random_state=0).fit({"x": X})
            both = MultiViewDiffusionMaps.paper_settings(
                1, kernel=kernel, solver=solver, random_state=0
            ).fit({"x": X, "y": Y})
            for which, est in (("single-view", one), ("multi-view", both)):
                coordinates[f"{which}, {name}"] = np.asarray(est.view_embeddings_["x"][:, 0])
                apart += est.n_pieces_ > 1
    return coordinates, apart


class ProductCheck(NamedTuple):
    """What Eqs. (50)–(52) give for the first vector of K^z, and how it compares with kernel CCA.

    Attributes
    ----------
    eigenvector, singular_vector : float
        Relative residual of Eq. (52) for the first right eigenvector and singular vector.
    correlation, kernel_cca : float
        Correlation between the views along the first eigenvector's directions, and the largest
        that kernel CCA finds.
    """

    eigenvector: float
    singular_vector: float
    correlation: float
    kernel_cca: float


def check_product(drawn: Bunch) -> ProductCheck:
    """Eqs. (50)–(52) on centred Gaussian kernels with the max-min scale.

    Parameters
    ----------
    drawn : Bunch
        From `make_noisy_latents`.
    """
    kernels = [_centred_kernel(np.asarray(drawn.views[name])) for name in "xy"]
    Kx, Ky = kernels
    found = shared_features(Kx, Ky, n_components=1)
    singular = np.linalg.svd(Kx @ Ky)[2][0]
    cca = KernelCCA(1, kernel="gaussian", regularization=_REGULARIZATION, rank=None, tol=1e-10)
    variates = cca.fit(drawn.views).view_embeddings_
    return ProductCheck(
        _residual(Kx, Ky, found.first[:, 0]),
        _residual(Kx, Ky, singular),
        float(found.correlations[0]),
        float(abs(np.corrcoef(variates["x"][:, 0], variates["y"][:, 0])[0, 1])),
    )


def _centred_kernel(rows: Floats) -> Floats:
    """K = (1/M) ΓΓᵀ of a Gaussian with the max-min scale, with centred features."""
    squares = np.square(rows[:, None] - rows[None]).sum(axis=2)
    K = np.exp(-squares / (2 * max_min(rows) ** 2))
    centred = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
    return np.asarray(0.5 * (centred + centred.T) / len(K))


def _residual(Kx: Floats, Ky: Floats, tau: Floats) -> float:
    """‖Σ̄_δγ Σ̄_γδ u − λu‖ / ‖Σ̄_δγ Σ̄_γδ u‖ for u = Δᵀτ, with the λ that makes it smallest.

    ‖Δᵀv‖² = M vᵀK^y v, and Σ̄_δγ Σ̄_γδ Δᵀτ = Δᵀ(K^x K^y τ): no feature is computed.
    """
    image = Kx @ (Ky @ tau)
    value = (tau @ Ky @ image) / (tau @ Ky @ tau)
    error = image - value * tau
    square = float(error @ Ky @ error) / float(image @ Ky @ image)
    return float(np.sqrt(max(square, 0.0)))
