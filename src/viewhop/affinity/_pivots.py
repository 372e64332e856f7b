"""Pivots: the samples from which a low-rank kernel computes the row of any sample."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from viewhop._runtime.threads import row_blocks
from viewhop.affinity._kernel_values import check_kernel_values
from viewhop.kernels import DistanceKernel
from viewhop.neighbours import FeatureMap, Points, pair_distances

__all__ = ["DistancePivots", "GivenPivots", "Pivots"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: A sample is far if its largest kernel value at the pivots is below this share of the first
#: pivot's own value.
FAR = 1e-8


class Pivots(ABC):
    """Samples that represent all others and compute the low-rank row of any sample.

    Attributes
    ----------
    name : str
        The view.
    columns : (k,) index array
        Indices of the pivots among the training samples.
    triangle : (k, k) array
        Factor rows of the pivots, a lower triangular matrix.
    scale : float
        The kernel's scale; NaN if it has none.
    """

    name: str
    columns: Indices
    triangle: Floats
    scale: float

    @abstractmethod
    def values(self, X: NDArray[np.floating]) -> Floats:
        """Kernel values of samples (q, d) at the pivots, (q, k)."""

    def against(self, X: NDArray[np.floating]) -> tuple[Floats, NDArray[np.bool_]]:
        """Factor rows of training or new samples (q, d), and which are far from all pivots.

        Returns
        -------
        rows : (q, k) array
        far : (q,) bool array
        """
        values = self.values(X)
        rows = solve_triangular(self.triangle, values.T, lower=True).T
        return rows, values.max(axis=1) < self.least

    @property
    def least(self) -> float:
        """The kernel value below which a sample is far from a pivot."""
        return float(FAR * np.square(self.triangle[0, 0]))


class DistancePivots(Pivots):
    """Pivots of a distance kernel.

    Attributes
    ----------
    kernel : DistanceKernel
    features : FeatureMap
    points : Points
        The pivots in the kernel's feature space.
    """

    def __init__(
        self,
        name: str,
        kernel: DistanceKernel,
        features: FeatureMap,
        points: Points,
        sigma: float,
        columns: Indices,
        triangle: Floats,
    ) -> None:
        self.name = name
        self.columns = columns
        self.kernel = kernel
        self.features = features
        self.points = points
        self.scale = sigma
        self.triangle = triangle

    def values(self, X: NDArray[np.floating]) -> Floats:
        """Kernel values of samples (q, d) at the pivots, (q, k)."""
        self.features.check(X, self.name)
        return self._compare(self.points.like(self.features(X, self.name)))

    @property
    def matrix(self) -> Floats:
        """Kernel values of the pivots among themselves, (k, k)."""
        return self._compare(self.points)

    def _compare(self, queries: Points) -> Floats:
        """Kernel values of points at the pivots, (q, k)."""
        k = len(self.points)
        values = np.empty((len(queries), k))
        for block in row_blocks(len(queries), k):
            i = np.arange(block.start, block.stop)
            # Computed from differences of rows, so a training sample gets the same bits as in fit.
            distances = pair_distances(
                queries, np.repeat(i, k), self.points, np.tile(np.arange(k), i.size)
            ).reshape(-1, k)
            values[block] = np.exp(-self.kernel.exponent(distances / self.scale))
        return values


class GivenPivots(Pivots):
    """Pivots of a precomputed kernel."""

    scale = float("nan")

    def __init__(self, name: str, columns: Indices, triangle: Floats) -> None:
        self.name = name
        self.columns = columns
        self.triangle = triangle

    def values(self, X: NDArray[np.floating]) -> Floats:
        """Kernel values of samples, given as (q, n), at the pivots, (q, k)."""
        check_kernel_values(self.name, X)
        return np.asarray(X[:, self.columns], dtype=np.float64)
