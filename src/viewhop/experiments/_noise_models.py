"""Models of two views with independent noise: a linear model and two curves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["AMBIENT", "curves", "directional_noise", "linear_model", "random_frame"]

Floats = NDArray[np.float64]

#: Number of features of each view.
AMBIENT = 10
#: Isotropic noise, relative to the noise along the strongest direction.
_ROUND = 0.1


def random_frame(generator: np.random.Generator, n_columns: int) -> Floats:
    """Orthonormal columns in a random direction, (ambient, n_columns)."""
    return np.asarray(np.linalg.qr(generator.standard_normal((AMBIENT, n_columns)))[0])


def directional_noise(n_samples: int, size: float, generator: np.random.Generator) -> Floats:
    """Noise of one view, (n_samples, ambient): strong along one random direction.

    Its covariance is σ_n² (u uᵀ + 0.01 I) with a unit vector u.

    Parameters
    ----------
    n_samples : int
    size : float
        σ_n.
    generator : Generator
    """
    direction = random_frame(generator, 1)[:, 0]
    along = np.outer(generator.standard_normal(n_samples), direction)
    return size * (along + _ROUND * generator.standard_normal((n_samples, AMBIENT)))


def linear_model(
    n_samples: int, size: float, generator: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats]:
    """Aθ + ξ and Bθ + η with two latent parameters of variance 1, and A and B."""
    latent = generator.standard_normal((n_samples, 2))
    A, B = random_frame(generator, 2), random_frame(generator, 2)
    X, Y = (latent @ frame.T + directional_noise(n_samples, size, generator) for frame in (A, B))
    return X, Y, A, B


def curves(latent: Floats) -> tuple[Floats, Floats]:
    """Half a circle and one period of a sine, (n_samples, 2) each."""
    angle = np.pi * latent
    return (
        np.column_stack([np.cos(angle), np.sin(angle)]),
        np.column_stack([3.0 * latent, 0.5 * np.sin(2.0 * angle)]),
    )
