"""The paper's own kernel product: one Gaussian on the views side by side, σ∘² = Σ σ_l²."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from viewhop.estimators import DiffusionMaps
from viewhop.kernels import Gaussian
from viewhop.views import Views

__all__ = ["fit_concat"]


def fit_concat(
    n_components: int,
    views: Views,
    scales: Mapping[str, float],
    *,
    tol: float | None = None,
    solver: str = "auto",
    random_state: int = 0,
) -> DiffusionMaps:
    """The fitted diffusion map of the views side by side.

    Parameters
    ----------
    n_components : int
    views : Views
    scales : dict of float by view name
    tol : float or None
    solver : str
    random_state : int
    """
    width = float(np.sqrt(sum(scale**2 for scale in scales.values())))
    both = np.hstack([views[name] for name in scales])
    kernel = Gaussian(bandwidth=width)
    est = DiffusionMaps(
        n_components, kernel=kernel, tol=tol, solver=solver, random_state=random_state
    )
    return est.fit(both)
