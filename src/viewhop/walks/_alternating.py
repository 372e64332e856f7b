"""Alternating diffusion: a walk that takes one step in each view in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from viewhop.affinity import Affinity, KernelRows
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap
from viewhop.walks._fused import FusedExtension
from viewhop.walks._walk import CrossKernel, Walk, WalkSize, same_rows

__all__ = ["AlternatingWalk"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class AlternatingWalk(Walk):
    """The walk that takes one step in each view in turn.

    P = P^1 P^2 … P^L with P^l the row-normalised kernel of view l. Its nodes are two copies of the
    samples, starts and ends. From a uniform distribution p over the starts, the chain arrives at
    the ends with distribution q = Pᵀp. The symmetric kernel between the two copies is diag(p) P;
    its normalised singular vectors give the coordinates of the samples as starts.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples, in the order of the steps.

    Attributes
    ----------
    steps : tuple of int
        Steps in each view: one.

    Notes
    -----
    Alternating diffusion after Lederman and Talmon (2018): what only one view sees is averaged out,
    and what all of them see remains. Use it for sensors of one thing that each also record
    something of their own, and where new samples have the first view only.
    """

    fusion: ClassVar[str] = "alternating"
    needs_every_view: ClassVar[bool] = True

    def __init__(self, affinities: Sequence[Affinity]) -> None:
        self.affinities = tuple(affinities)
        self.rows = same_rows(affinities)
        self.steps = (1,) * len(self.affinities)

    @cached_property
    def _path(self) -> list[tuple[Affinity, NDArray[np.floating]]]:
        """The kernel of each step with its row sums, (n_samples, 1), in order."""
        views = [(K, K.degrees.astype(K.dtype)[:, None]) for K in self.affinities]
        return [view for view, t in zip(views, self.steps, strict=True) for _ in range(t)]

    @property
    def n_blocks(self) -> int:
        """Two: the samples as starts and as ends."""
        return 2

    @classmethod
    def build(
        cls, affinities: Sequence[Affinity], rows: RowMap, *, hops: Floats | None, n_jobs: int
    ) -> AlternatingWalk:
        """The walk with one step in each view, in order; every view must observe every sample."""
        return cls(affinities)

    @classmethod
    def size(
        cls, n_samples: int, n_rows: Sequence[int], *, hops: Floats | None, is_dense: bool
    ) -> WalkSize:
        """Two copies of the samples, solved on one of them."""
        return WalkSize(2 * n_samples, n_samples)

    @property
    def places_every_block(self) -> bool:
        """False: samples have coordinates as starts only."""
        return False

    @property
    def reduced(self) -> CrossKernel:
        """diag(p)^{1/2} P diag(q)^{-1/2}, because each step goes from starts to ends or back."""
        n = self.n_samples
        return CrossKernel(
            (n, n),
            lambda V: self._cross(V, transpose=False),
            lambda V: self._cross(V, transpose=True),
        )

    def rebuild(self, kernels: Sequence[Affinity], rows: RowMap | None = None) -> AlternatingWalk:
        """The same kind of walk over other kernels and samples."""
        return AlternatingWalk(kernels)

    def forward(self, V: NDArray[np.floating], *, skip: int = 0) -> NDArray[np.floating]:
        """P times a block (n_samples, b), omitting the first `skip` steps."""
        for K, sums in self._path[skip:][::-1]:
            V = (K @ V) / sums
        return V

    def backward(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """Pᵀ times a block (n_samples, b)."""
        for K, sums in self._path:
            V = K @ (V / sums)
        return V

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel between starts and ends times a vector (n_nodes,) or block (n_nodes, b)."""
        starts, ends = self.blocks(V if V.ndim == 2 else V[:, None])
        image = np.concatenate([self.forward(ends), self.backward(starts)]) / self.n_samples
        return image.reshape(V.shape)

    def _cross(self, V: NDArray[np.floating], *, transpose: bool) -> NDArray[np.floating]:
        """diag(p)^{1/2} P diag(q)^{-1/2} times V, or its transpose."""
        left, right = np.sqrt(self.degrees).reshape(2, -1, 1)[:: -1 if transpose else 1]
        inner = (V.reshape(self.n_samples, -1) / right).astype(self.dtype, copy=False)
        image = self.backward(inner) if transpose else self.forward(inner)
        return np.asarray(image / self.n_samples / left).reshape(V.shape)

    def pieces(self) -> Labels:
        """Connected piece of each node, (n_nodes,), from a graph with one layer per step."""
        patterns: list[csr_array] = []
        for K, t in zip(self.affinities, self.steps, strict=True):
            pattern = K.pattern()
            # Where a step may stay, all steps in a view connect what one of them does.
            patterns += [pattern] * (1 if pattern.diagonal().all() else t)
        n, steps = self.n_samples, len(patterns)
        layers: list[list[csr_array | None]] = [[None] * (steps + 1) for _ in range(steps + 1)]
        for k, pattern in enumerate(patterns):
            layers[k][k + 1] = pattern
        layers[steps][0] = csr_array((n, n))  # gives the first column and the last row a size
        labels = connected_components(block_array(layers), directed=False)[1]
        return np.unique(np.concatenate([labels[:n], labels[-n:]]), return_inverse=True)[1]

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples in the first view, where their walk starts."""
        first = self.affinities[0]
        if first.name not in new:
            raise ValueError(
                f'fusion="{self.fusion}" starts in view {first.name!r}, which new samples must have'
            )
        return [first.against(new[first.name])]

    def extension(self, spectrum: Spectrum) -> FusedExtension:
        """Extension by one step in the first view; the other steps are precomputed: P φ = ψ Σ."""
        _, ends = self.blocks(spectrum.eigenvectors)
        vectors = np.asarray(self.forward(np.asarray(ends), skip=1), dtype=np.float64)
        return FusedExtension(np.split(spectrum.stepped, 2)[0], [vectors])

    def mass_after_step(self, V: Floats) -> Floats:
        """The distribution of a walker after one step in each view, (n_nodes, b)."""
        return np.vstack([self.backward(V[: self.n_samples]), V[self.n_samples :]])
