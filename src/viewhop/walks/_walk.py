"""The contract of a walk: products with its kernel, degrees, pieces, new samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.affinity import Affinity, KernelRows
from viewhop.affinity._dense import DenseAffinity, DensePrecomputed
from viewhop.views import RowMap

__all__ = ["Walk", "same_rows", "scale_rows"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class Walk(ABC):
    """A random walk P = D⁻¹K on nodes, given by products with its symmetric kernel K.

    Attributes
    ----------
    affinities : tuple of Affinity
        One per view.
    rows : Nodes
        Which samples the rows of these are.
    """

    affinities: tuple[Affinity, ...]
    rows: RowMap

    @property
    @abstractmethod
    def n_blocks(self) -> int:
        """Number of copies of the samples among the nodes: views, or 1 for a fused geometry."""

    @property
    @abstractmethod
    def max_coordinates(self) -> int:
        """The largest number of positive eigenvalues that the walk can have beside λ_0 = 1."""

    @abstractmethod
    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The walk's kernel times a vector (n_nodes,) or block (n_nodes, b)."""

    @property
    def kernels(self) -> tuple[Affinity, ...]:
        """The kernels that the walk multiplies by."""
        return self.affinities

    def on(self, kernels: Sequence[Affinity], rows: RowMap | None = None) -> Walk:
        """The same walk over other kernels, on other samples.

        Parameters
        ----------
        kernels : sequence of Affinity
        rows : Nodes or None
            Which samples their rows are; None is the same ones, in order.
        """
        raise TypeError(f"{type(self).__name__} is not made of kernels")

    @abstractmethod
    def pieces(self) -> Labels:
        """Number of the connected piece of each node, (n_nodes,)."""

    @abstractmethod
    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per kernel; None for a view that is not given."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(affinity.name for affinity in self.affinities)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.rows.n_samples

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.n_blocks * self.n_samples

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Precision of the kernels."""
        return self.affinities[0].dtype

    @property
    def n_jobs(self) -> int:
        """Threads that share a product."""
        return self.affinities[0].n_jobs

    @property
    def is_dense(self) -> bool:
        """Whether some kernel is held as a full matrix."""
        return any(isinstance(a, DenseAffinity | DensePrecomputed) for a in self.affinities)

    @property
    def is_fused(self) -> bool:
        """Whether the samples have one set of coordinates, rather than one per view."""
        return True

    @property
    def is_cross(self) -> bool:
        """Whether each step goes from one of two blocks to the other, so that an SVD gives it."""
        return False

    def cross(self, V: NDArray[np.floating], *, transpose: bool = False) -> NDArray[np.floating]:
        """The normalised kernel from the second block to the first times V, or its transpose.

        Parameters
        ----------
        V : (n,) or (n, b) array, a row for each node of the block that it starts in
        transpose : bool
        """
        raise TypeError(f"{type(self).__name__} has no cross kernel")

    def blocks(self, V: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """The rows of each block of nodes."""
        return np.split(V, self.n_blocks)

    def where(self, node: int) -> tuple[int, int]:
        """The block and the sample of a node."""
        return divmod(node, self.n_samples)

    @cached_property
    def degrees(self) -> Floats:
        """Row sums of the walk's kernel, (n_nodes,), the diagonal of D̂, in float64."""
        return np.asarray(self @ np.ones(self.n_nodes))

    @cached_property
    def stationary(self) -> Floats:
        """The stationary distribution π = D̂ / trace D̂, (n_nodes,)."""
        return np.asarray(self.degrees / self.degrees.sum())

    def normalized(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """D^{-1/2} K D^{-1/2} times V: the symmetric matrix with the walk's eigenvalues."""
        found = self @ scale_rows(V, self._inverse_roots, self.dtype)
        return scale_rows(found, self._inverse_roots, V.dtype)

    @cached_property
    def _inverse_roots(self) -> Floats:
        """D^{-1/2}, (n_nodes,); 0 for a node that the walk does not reach."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(self.degrees > 0, 1.0 / np.sqrt(self.degrees), 0.0))


def scale_rows(
    V: NDArray[np.floating], factors: Floats, dtype: np.dtype[np.floating]
) -> NDArray[Any]:
    """Rows of V times factors, in the given precision, in one pass."""
    out = np.empty(V.shape, dtype=dtype)
    np.multiply(V, factors[:, None] if V.ndim == 2 else factors, out=out, casting="same_kind")
    return out


def same_rows(affinities: Sequence[Affinity]) -> RowMap:
    """The rows of kernels on the same samples."""
    return RowMap.whole(len(affinities), affinities[0].n_samples)
