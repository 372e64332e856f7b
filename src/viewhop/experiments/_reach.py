"""Samples that no other one is joined to, at given scales: per view, by a hop and by products."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from viewhop.views import Views

__all__ = ["find_isolated"]

#: In units of the scale: where the kernel is exp(−1/2), up to rounding.
REACH = 1.0 + 1e-9


def find_isolated(views: Views, scales: Mapping[str, float]) -> tuple[float, ...]:
    """Shares of samples without a kernel value of exp(−1/2) to any other sample.

    Parameters
    ----------
    views : Views
        Two views.
    scales : dict of float by view name

    Returns
    -------
    shares : tuple of five floats
        In the first view, in the second, in both at once (the hop joins where either view does), in
        the element-wise product of the kernels, and in one Gaussian on the views side by side.
    """
    scaled = {name: views[name] / scale for name, scale in scales.items()}
    first, second = (_nearest(rows) > REACH for rows in scaled.values())
    width = np.sqrt(sum(scale**2 for scale in scales.values()))
    side_by_side = np.hstack([views[name] for name in scales]) / width
    product = _nearest(np.hstack([*scaled.values()])) > REACH
    concat = _nearest(side_by_side) > REACH
    alone = (first, second, first & second, product, concat)
    return tuple(float(np.mean(each)) for each in alone)


def _nearest(rows: NDArray[np.floating]) -> NDArray[np.float64]:
    """Distance of each sample to the nearest other one, (n,)."""
    distances = np.asarray(cKDTree(rows).query(rows, k=2)[0])
    return distances[:, 1]
