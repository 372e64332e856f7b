"""The same distances in fewer features, so that many fits on the same events are quick."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from viewhop.kernels import DistanceKernel, Kernel
from viewhop.views import Views

__all__ = ["with_fewer_features"]

#: Metrics that inner products of rows are enough for.
_METRICS = ("euclidean", "cosine")


def with_fewer_features(views: Views, kernels: Mapping[str, Kernel]) -> Views:
    """Views whose rows have the same inner products, in at most as many features as rows.

    A sonogram has thousands of features, and a hundred events span a hundred dimensions at most.
    Rows are turned into that space, all by the same rotation, so every distance and angle is what
    it was, whichever of the rows are left out later.

    Parameters
    ----------
    views : Views
    kernels : dict of Kernel by view name
        A view whose kernel asks for more than inner products, of correlations or of standardised
        features, is left as it is.
    """
    found: dict[str, NDArray[np.floating]] = {}
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
        found[name] = whole
    return Views(found)
