"""Squared distances of a block of pairs: a matrix product, corrected where pairs are near."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Squares"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Squares(NamedTuple):
    """Squared distances of a block of pairs from a matrix product, with near pairs apart.

    Attributes
    ----------
    values : (p, q) array
        Squared distances divided by the squared unit; inaccurate for near pairs.
    unit : float
    i, j : (n_near,) index arrays
        Positions of the near pairs.
    near : (n_near,) array
        Distances of the near pairs, from the differences of their rows.
    dtype : dtype of the results
    """

    values: NDArray[np.floating]
    unit: float
    i: Indices
    j: Indices
    near: Floats
    dtype: np.dtype[np.floating]

    def distances(self) -> NDArray[np.floating]:
        """Distances, (p, q); `values` is overwritten."""
        distances = self.values
        if self.i.size:
            np.maximum(distances, 0.0, out=distances)
        np.sqrt(distances, out=distances)
        if self.unit != 1.0:
            distances *= distances.dtype.type(self.unit)
        distances[self.i, self.j] = self.near
        return distances.astype(self.dtype, copy=False)
