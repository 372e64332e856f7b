"""The edge of a neighbour kernel: how it falls to 0 at the last neighbours of a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Edge"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Edge:
    """The distances between which the kernel of each sample falls from whole to 0.

    Both are continuous in the sample, being distances to neighbours of a fixed rank. So is the
    weight, except where the two distances are equal, because many neighbours are equally far: there
    the edge is sharp, and all of these neighbours count.

    Attributes
    ----------
    inner, outer : (n,) arrays
        `outer` is at least `inner`.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.affinity import Edge
    >>> edge = Edge(np.array([1.0, 1.0]), np.array([3.0, 1.0]))
    >>> edge.weights(np.array([1.0, 2.0, 1.0, 2.0]), np.array([0, 0, 1, 1]))
    array([1. , 0.5, 1. , 0. ])
    """

    inner: Floats
    outer: Floats

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self.outer.nbytes + (0 if self.inner is self.outer else self.inner.nbytes)

    def weights(
        self, distances: Floats, samples: NDArray[np.integer], slack: Floats | float = 0.0
    ) -> Floats:
        """The weight of each pair by the edge of one of its samples, (p,).

        Parameters
        ----------
        distances : (p,) array
        samples : (p,) index array
        slack : (p,) array or 0
            How far rounding of the other sample may move it across a sharp edge.
        """
        inner, outer = self.inner[samples], self.outer[samples]
        width = outer - inner
        is_sharp = width <= 0
        falling = (outer - distances) / np.where(is_sharp, 1.0, width)
        sharp = (distances <= inner + slack).astype(np.float64)
        return np.asarray(np.where(is_sharp, sharp, np.clip(falling, 0.0, 1.0)))
