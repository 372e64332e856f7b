"""Walks with a single geometry: on the sum or the product of the views' kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from viewhop._storage.codec import Shelf, read_fields
from viewhop.affinity import Affinity, KernelProduct, KernelRows
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap
from viewhop.walks._extension import Extension, Step, mean_coverage
from viewhop.walks._walk import Walk, WalkSize, same_rows

__all__ = ["FusedExtension", "ProductWalk", "SumWalk", "check_every_view_given"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class FusedExtension(Extension):
    """Extension of a walk with one geometry: averages of vectors over the sample's kernel rows.

    If only some views are given, a sum of kernels includes only those.

    Parameters
    ----------
    training : (n_samples, r) array
        P̂ψ at the training samples.
    vectors : list of (n_l, r) arrays
        The vectors to average, at the training rows of each view.
    weights : (L,) array or None
        What each view's kernel is multiplied by; None is 1.
    """

    def __init__(
        self, training: Floats, vectors: list[Floats], weights: Floats | None = None
    ) -> None:
        self._training = training
        self.vectors = vectors
        self.weights = np.ones(len(vectors)) if weights is None else weights

    def training(self) -> list[Floats]:
        """P̂ψ at the training samples, one (n_samples, r) array."""
        return [self._training]

    def prepare(self) -> None:
        """Compute what `step` needs."""
        self._both  # noqa: B018

    @cached_property
    def _both(self) -> list[Floats]:
        """The vectors and a column of ones, so that one product gives sums and mass."""
        return [np.column_stack([V, np.ones(len(V))]) for V in self.vectors]

    def step(self, rows: Sequence[KernelRows | None]) -> Step:
        """P̂ψ at new samples, one block."""
        views = [
            (K, both, c)
            for K, both, c in zip(rows, self._both, self.weights, strict=True)
            if K is not None
        ]
        given = [kernel_rows for kernel_rows, _, _ in views]
        peaks = np.max([rows.peaks for rows in given], axis=0)
        total = np.sum([c * rows.average(both, peaks) for rows, both, c in views], axis=0)
        with np.errstate(invalid="ignore"):
            block = total[:, :-1] / total[:, -1:]
        far = np.any([rows.far for rows in given], axis=0)
        none = np.zeros((len(block), 1), dtype=bool)
        lost = np.asarray(~np.isfinite(peaks))
        return Step([block], ~lost[:, None], far, mean_coverage(given), none, lost)


class SumWalk(Walk):
    """The walk on samples with the sum of the views' kernels as its kernel.

    With one view it is the ordinary diffusion map. A view adds nothing for samples that it did not
    observe. Use it as a quick baseline: it is fast and takes incomplete views, but the view with
    the largest row sums counts most.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view.
    rows : RowMap or None
        Which samples their rows belong to; None means the same samples in the same order.

    Notes
    -----
    Eq. (7), and Eq. (1) for one view.
    """

    fusion: ClassVar[str] = "sum"

    def __init__(self, affinities: Sequence[Affinity], rows: RowMap | None = None) -> None:
        self.affinities = tuple(affinities)
        self.rows = same_rows(affinities) if rows is None else rows

    @classmethod
    def build(
        cls, affinities: Sequence[Affinity], rows: RowMap, *, hops: Floats | None, n_jobs: int
    ) -> SumWalk:
        """The walk on the sum of the kernels; `hops` is ignored."""
        return cls(affinities, rows)

    @property
    def n_blocks(self) -> int:
        """One: the samples themselves."""
        return 1

    def rebuild(self, kernels: Sequence[Affinity], rows: RowMap | None = None) -> SumWalk:
        """The walk on the sum of other kernels, on other samples."""
        return SumWalk(kernels, rows)

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The summed kernel times a vector (n_samples,) or block (n_samples, b)."""
        rows = self.rows
        first, *others = (
            rows.scattered(l, K @ rows.gathered(l, V)) for l, K in enumerate(self.kernels)
        )
        for other in others:
            first += other
        return first

    def matrix(self, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
        """D^{-1/2} K D^{-1/2} as a full matrix in the given precision, (n_samples, n_samples)."""
        first, *others = range(len(self.kernels))
        A = self._full(first, dtype)
        for l in others:
            A += self._full(l, dtype)
        roots = self._inverse_roots.astype(dtype)
        A *= roots
        A *= roots[:, None]
        return A

    def _full(self, view: int, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
        """The full kernel of a view between samples, (n_samples, n_samples)."""
        rows = self.rows
        return rows.scattered(view, rows.scattered(view, self.kernels[view].full(dtype)).T)

    @property
    def matrix_flops(self) -> float:
        """None that count: the kernels are only added and scaled."""
        return 0.0

    def pieces(self) -> Labels:
        """Connected piece of each sample, numbered from 0, (n_samples,)."""
        graph = self._on_samples(0)
        for l in range(1, len(self.kernels)):
            graph = graph + self._on_samples(l)
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)

    def _on_samples(self, view: int) -> csr_array:
        """The connectivity pattern of one kernel between samples, (n_samples, n_samples)."""
        pattern = self.kernels[view].pattern()
        if self.rows.is_whole:
            return pattern
        entries, samples = pattern.tocoo(), self.rows.samples(view)
        places = samples[entries.row], samples[entries.col]
        return csr_array(coo_array((entries.data, places), shape=(self.n_samples, self.n_samples)))

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per view; None for a missing view."""
        return [K.against(new[K.name]) if K.name in new else None for K in self.kernels]

    def extension(self, spectrum: Spectrum) -> FusedExtension:
        """The extension, which averages the eigenvectors over a sample's kernel rows."""
        places = range(len(self.kernels))
        vectors = [self.rows.gathered(l, spectrum.eigenvectors) for l in places]
        return FusedExtension(spectrum.stepped, vectors)


class ProductWalk(SumWalk):
    """The walk on samples with the element-wise product of the views' kernels as its kernel.

    Use it if two samples are alike only when they are so in every view. See
    `viewhop.affinity.KernelProduct` for the product of neighbour kernels.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples.
    n_jobs : int
        Threads.
    product : KernelProduct or None
        Their product, if already computed.

    Notes
    -----
    Eqs. (5)–(6).
    """

    fusion: ClassVar[str] = "product"
    needs_every_view: ClassVar[bool] = True

    def __init__(
        self,
        affinities: Sequence[Affinity],
        *,
        n_jobs: int = 1,
        product: KernelProduct | None = None,
    ) -> None:
        super().__init__(affinities)
        self.product = KernelProduct(affinities, n_jobs=n_jobs) if product is None else product

    @classmethod
    def build(
        cls, affinities: Sequence[Affinity], rows: RowMap, *, hops: Floats | None, n_jobs: int
    ) -> ProductWalk:
        """The walk on the product of the kernels; every view must observe every sample."""
        return cls(affinities, n_jobs=n_jobs)

    @classmethod
    def size(
        cls, n_samples: int, n_rows: Sequence[int], *, hops: Floats | None, is_dense: bool
    ) -> WalkSize:
        """One node per sample; if all kernels are full, their product is one more full kernel."""
        return WalkSize(n_samples, n_samples, n_joint=n_samples if is_dense else 0)

    @property
    def kernels(self) -> tuple[Affinity, ...]:
        """The one kernel of the walk."""
        return (self.product.joint,)

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples in the product; ValueError if a view is missing."""
        check_every_view_given(self, new)
        return [self.product.against(new)]

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The product as plain data."""
        return {"product": self.product.state(shelf.within("product"))}

    @classmethod
    def restore(
        cls,
        affinities: Sequence[Affinity],
        rows: RowMap,
        data: Any,
        shelf: Shelf,
        *,
        n_jobs: int,
    ) -> ProductWalk:
        """The walk from the data that `state` wrote."""
        (product,) = read_fields(data, ("product",), "the walk product")
        inside = shelf.within("product")
        return cls(
            affinities,
            product=KernelProduct.restore(affinities, product, inside, n_jobs=n_jobs),
        )


def check_every_view_given(walk: Walk, new: Mapping[str, NDArray[np.floating]]) -> None:
    """Raise ValueError if new samples lack a view of the walk.

    Parameters
    ----------
    walk : Walk
    new : dict of (q, d) arrays by view name
    """
    missing = [name for name in walk.names if name not in new]
    if missing:
        raise ValueError(
            f'fusion="{walk.fusion}" needs every view of a new sample; missing: '
            f"{', '.join(missing)}"
        )
