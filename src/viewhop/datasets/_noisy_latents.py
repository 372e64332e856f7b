"""Two views of the same latent parameters, each with independent noise: Section 5.9."""

from __future__ import annotations

from math import isfinite, pi
from numbers import Integral, Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from viewhop.views import Views

__all__ = ["make_noisy_latents"]

Floats = NDArray[np.float64]

#: Standard deviation of the isotropic part of the noise, relative to that along u.
_ROUND = 0.1


def make_noisy_latents(
    n_samples: int = 1000,
    *,
    kind: Literal["linear", "curves"] = "linear",
    noise: float = 1.0,
    n_features: int = 10,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Two views of the same latent parameters, each with its own independent noise.

    Parameters
    ----------
    n_samples : int
    kind : {"linear", "curves"}
        "linear": two standard normal latent parameters, x = Aθ + ξ and y = Bθ + η; A and B have
        random orthonormal columns. "curves": one latent parameter, uniform in [0, 1]; x is half a
        circle and y one period of a sine, each in a random plane.
    noise : float
        σ_n. The noise of a view has the covariance σ_n² (u uᵀ + 0.01 I): it is strong along one
        random direction u.
    n_features : int
        Number of features of each view, at least 2.
    random_state : int, Generator or None
        Seed of the latent parameters, frames and noise, drawn in this order.

    Returns
    -------
    Bunch
        ``views`` : Views ``x`` and ``y``, (n_samples, n_features) each;
        ``clean`` : Views, the same without noise;
        ``latent`` : (n_samples, 2) or (n_samples, 1) array, θ;
        ``frames`` : dict of (n_features, 2) arrays by view, A and B, or the planes of the curves;
        ``noise_covariances`` : dict of (n_features, n_features) arrays by view; ``DESCR`` : str.

    Notes
    -----
    The models are those of Section 5.9; the shape of the noise is viewhop's. Isotropic noise would
    leave the principal axes unchanged in the limit of many samples, and PCA would need no second
    view. See `viewhop.theory.additive_noise` for what the linear model implies.

    Examples
    --------
    >>> from viewhop import theory
    >>> from viewhop.datasets import make_noisy_latents
    >>> drawn = make_noisy_latents(500, noise=2.0, random_state=0)
    >>> (A, B), (first, second) = drawn.frames.values(), drawn.noise_covariances.values()
    >>> model = theory.additive_noise(A, B, first_noise=first, second_noise=second)
    >>> round(model.principal_angle(0), 2)  # a principal axis of x follows the noise
    0.85
    """
    if kind not in ("linear", "curves"):
        raise ValueError(f"kind must be 'linear' or 'curves', got {kind!r}")
    for name, count, least in (("n_samples", n_samples, 2), ("n_features", n_features, 2)):
        if not isinstance(count, Integral) or count < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, got {count!r}")
    if not isinstance(noise, Real) or not isfinite(noise) or noise < 0:
        raise ValueError(f"noise must be a finite number of at least 0, got {noise!r}")
    rng = np.random.default_rng(random_state)
    if kind == "linear":
        latent = rng.standard_normal((n_samples, 2))
        shapes = (latent, latent)
    else:
        latent = rng.uniform(size=(n_samples, 1))
        shapes = _curves(latent[:, 0])
    frames = [_frame(rng, n_features, 2) for _ in shapes]
    clean = [shape @ frame.T for shape, frame in zip(shapes, frames, strict=True)]
    drawn = [_directional_noise(rng, n_samples, n_features) for _ in shapes]
    return Bunch(
        views=Views(
            {
                view: rows + noise * own
                for view, rows, (own, _) in zip("xy", clean, drawn, strict=True)
            }
        ),
        clean=Views(dict(zip("xy", clean, strict=True))),
        latent=latent,
        frames=dict(zip("xy", frames, strict=True)),
        noise_covariances={
            view: noise**2 * (np.outer(u, u) + _ROUND**2 * np.eye(n_features))
            for view, (_, u) in zip("xy", drawn, strict=True)
        },
        DESCR="Noisy latents: two views of latent parameters with independent noise, Section 5.9.",
    )


def _frame(rng: np.random.Generator, n_features: int, n_columns: int) -> Floats:
    """Orthonormal columns in random directions, (n_features, n_columns)."""
    return np.asarray(np.linalg.qr(rng.standard_normal((n_features, n_columns)))[0])


def _directional_noise(
    rng: np.random.Generator, n_samples: int, n_features: int
) -> tuple[Floats, Floats]:
    """Noise strong along one direction, (n_samples, n_features), and the direction."""
    u = _frame(rng, n_features, 1)[:, 0]
    along = np.outer(rng.standard_normal(n_samples), u)
    return along + _ROUND * rng.standard_normal((n_samples, n_features)), u


def _curves(latent: Floats) -> tuple[Floats, Floats]:
    """Half a circle and one period of a sine, (n_samples, 2) each."""
    angle = pi * latent
    return (
        np.column_stack([np.cos(angle), np.sin(angle)]),
        np.column_stack([3.0 * latent, 0.5 * np.sin(2.0 * angle)]),
    )
