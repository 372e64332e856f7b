"""Rotation of rows into fewer features with the same distances, to speed up repeated fits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from viewhop.kernels import DistanceKernel, Kernel
from viewhop.views import Views

__all__ = ["with_fewer_features"]

#: Metrics that depend only on inner products of rows.
_METRICS = ("euclidean", "cosine")


def with_fewer_features(views: Views, kernels: Mapping[str, Kernel]) -> Views:
    """Views with the same inner products of rows, in at most as many features as rows.

    A sonogram has thousands of features, but a hundred events span at most a hundred dimensions.
    One rotation takes all rows into that space, so every distance and angle is preserved,
    whichever rows are left out later.

    Parameters
    ----------
    views : Views
    kernels : dict of Kernel by view name
        A view is left unchanged if its kernel needs more than inner products: correlations or
        standardised features.
    """
    reduced: dict[str, NDArray[np.floating]] = {}
    for name in views.names:
        rows, kernel = views.rows(name), kernels[name]
        if (
            isinstance(kernel, DistanceKernel)
            and kernel.metric in _METRICS
            and not kernel.standardize
            and rows.shape[1] > len(rows)
        ):
            rows = np.asarray(np.linalg.qr(rows.T, mode="r")).T
        whole = np.full((len(views), rows.shape[1]), np.nan, dtype=rows.dtype)
        whole[views.samples(name)] = rows
        reduced[name] = whole
    return Views(reduced)
