"""What is interpreted: a fitted estimator, and samples that it places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from viewhop.views import Views

__all__ = ["draw_samples", "pairwise_views", "place", "read_views"]


def read_views(estimator: Any, views: Any) -> Views:
    """Samples as `Views`; NotFittedError or TypeError if the estimator cannot place them.

    Parameters
    ----------
    estimator : fitted estimator
    views : list, dict or Views
    """
    if not callable(getattr(estimator, "transform", None)) or not hasattr(
        estimator, "get_feature_names_out"
    ):
        raise TypeError(
            f"expected a fitted estimator that places samples, got {type(estimator).__name__}"
        )
    check_is_fitted(estimator)
    if isinstance(views, Views):
        return views
    missing = getattr(estimator, "missing", "error")
    return Views(views, missing=missing, pairwise=sorted(pairwise_views(estimator)))


def pairwise_views(estimator: Any) -> set[str]:
    """Names of the views of a fitted estimator that are precomputed kernels."""
    geometry = getattr(estimator, "geometry_", None)
    kernels = {} if geometry is None else geometry.kernels
    return {name for name, kernel in kernels.items() if kernel.is_pairwise}


def place(estimator: Any, views: Views) -> tuple[NDArray[np.float64], list[str]]:
    """The embedding of samples, (n, n_columns), and the names of its columns.

    Parameters
    ----------
    estimator : fitted estimator
    views : Views
    """
    embedding = np.asarray(estimator.transform(views), dtype=np.float64)
    return embedding, [str(name) for name in estimator.get_feature_names_out()]


def draw_samples(
    n: int, most: int | None, random_state: int | np.random.Generator | None
) -> NDArray[np.intp] | None:
    """Sorted indices of as many samples as allowed, or None for all.

    Parameters
    ----------
    n, most : int
        Number of samples, and of those to draw at most.
    random_state : int, Generator or None
    """
    if most is None or n <= most:
        return None
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))
