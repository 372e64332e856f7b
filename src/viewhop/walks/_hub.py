"""The walk between samples that a hop walk with a hop matrix of rank one amounts to.

With H = w wᵀ a walker forgets at every hop which view it came from: it is at a sample, picks a
view, and goes on. Between samples, its walk has the symmetric matrix

    T = Σ_l w_l² S_l K^l D̂_l⁻¹ K^l S_lᵀ ,

with S_l the scatter of the rows of view l to samples. T has the non-zero eigenvalues of the walk
between nodes, but only as many rows as there are samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

from viewhop.affinity import Affinity
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap
from viewhop.walks._fused import FusedExtension, SumWalk
from viewhop.walks._walk import scale_rows

__all__ = ["HubWalk"]

Floats = NDArray[np.float64]

#: Rows that are copied across the diagonal at a time.
PANEL = 512


class HubWalk(SumWalk):
    """The walk between samples of a hop walk whose hop matrix is w wᵀ.

    Parameters
    ----------
    kernels : sequence of Affinity
    weights : (L,) array
        w, positive.
    rows : RowMap or None
        Which samples their rows belong to; None means the same samples in the same order.

    Notes
    -----
    With g = Σ_l w_l S_l K^l 1, its kernel is diag(g) T diag(g) and its degrees are g². Its right
    eigenvectors are T's divided by g.
    """

    fusion: ClassVar[str] = "hub"

    def __init__(
        self, kernels: Sequence[Affinity], weights: Floats, rows: RowMap | None = None
    ) -> None:
        super().__init__(kernels, rows)
        self.weights = weights

    def rebuild(self, kernels: Sequence[Affinity], rows: RowMap | None = None) -> HubWalk:
        """The same kind of walk over other kernels and samples."""
        return HubWalk(kernels, self.weights, rows)

    @cached_property
    def mass(self) -> Floats:
        """g, the weighted degree of each sample over all views, (n_samples,)."""
        parts = [
            w * self.rows.scattered(l, K.degrees)
            for l, (K, w) in enumerate(zip(self.kernels, self.weights, strict=True))
        ]
        return np.asarray(np.sum(parts, axis=0))

    @cached_property
    def row_mass(self) -> list[Floats]:
        """K^l S_lᵀ g at the rows of each view, which is D̂_l / w_l."""
        return [
            np.asarray(K @ self.rows.gathered(l, self.mass), dtype=np.float64)
            for l, K in enumerate(self.kernels)
        ]

    def pieces(self) -> NDArray[np.intp]:
        """Connected piece of each sample, (n_samples,); −1 for a sample that no view observed."""
        pieces = np.asarray(super().pieces())
        reached = self.mass > 0
        if reached.all():
            return pieces
        pieces[reached] = np.unique(pieces[reached], return_inverse=True)[1]
        pieces[~reached] = -1
        return pieces

    @cached_property
    def degrees(self) -> Floats:
        """Row sums of the kernel, g², (n_samples,)."""
        return np.square(self.mass)

    def normalized(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """T times V: the symmetric matrix with the walk's eigenvalues."""
        product = np.zeros(V.shape, dtype=V.dtype)
        W = V.astype(self.dtype, copy=False)
        for l, (K, w) in enumerate(zip(self.kernels, self.weights, strict=True)):
            inner = scale_rows(K @ self.rows.gathered(l, W), w / self.row_mass[l], self.dtype)
            product += self.rows.scattered(l, K @ inner)
        return product

    def matrix(self, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
        """T as a full matrix in the given precision, (n_samples, n_samples)."""
        n = self.n_samples
        total = np.zeros((n, n), dtype=dtype, order="F")
        rank_update = get_blas_funcs("syrk", (total,))
        for l, (K, w) in enumerate(zip(self.kernels, self.weights, strict=True)):
            # T is a sum of X Xᵀ with X = S_l K^l (w_l² / D̂_l)^{1/2}.
            X = K.full(dtype)
            X *= np.sqrt(w / self.row_mass[l]).astype(dtype)
            X = self.rows.scattered(l, X)
            total = rank_update(1.0, X.T, 1.0, total, trans=1, lower=0, overwrite_c=1)
        for start in range(0, n, PANEL):
            stop = min(start + PANEL, n)
            total[stop:, start:stop] = total[start:stop, stop:].T
            corner = total[start:stop, start:stop]
            corner[...] = np.triu(corner) + np.triu(corner, 1).T
        return total

    @property
    def product_flops(self) -> float:
        """Floating-point operations of a product with one column, which has two steps."""
        return 2.0 * super().product_flops

    @property
    def matrix_flops(self) -> float:
        """Floating-point operations of `matrix`: half of a product of matrices for each view."""
        return float(sum(self.n_samples**2 * K.n_samples for K in self.kernels))

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The walk's kernel times a vector (n_samples,) or block (n_samples, b)."""
        return scale_rows(self.normalized(scale_rows(V, self.mass, V.dtype)), self.mass, V.dtype)

    def average_in_views(self, vectors: Floats) -> list[Floats]:
        """The average of vectors at samples that each row of each view sees, (n_l, r) each."""
        weighted = (vectors * self.mass[:, None]).astype(self.dtype, copy=False)
        return [
            np.asarray(K @ self.rows.gathered(l, weighted), dtype=np.float64) / mass[:, None]
            for l, (K, mass) in enumerate(zip(self.kernels, self.row_mass, strict=True))
        ]

    def extension(self, spectrum: Spectrum) -> FusedExtension:
        """The extension: a step goes through a view, where the eigenvectors are averaged."""
        vectors = self.average_in_views(spectrum.eigenvectors)
        return FusedExtension(spectrum.stepped, vectors, self.weights)
