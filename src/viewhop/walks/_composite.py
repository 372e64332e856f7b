"""The composite operator of two views: one step in each, in both orders, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from viewhop._storage.codec import Shelf
from viewhop.affinity import Affinity, KernelRows
from viewhop.errors import ModelFileError
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap
from viewhop.walks._extension import Extension, Step, mean_coverage
from viewhop.walks._fused import check_every_view_given
from viewhop.walks._walk import Walk, same_rows

__all__ = ["CompositeWalk"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class CompositeWalk(Walk):
    """The composite operator S = P^1 P^2ᵀ + P^2 P^1ᵀ of two views, with row-stochastic P^l.

    S is symmetric, but it is no Markov chain: its rows do not sum to 1, and no constant vector is
    an eigenvector. It is solved as it is. The leading eigenvector is the first coordinate; it has
    one sign on a connected graph, and the others are orthogonal to it. Eigenvectors are scaled to
    a mean square of 1 over the samples.

    Parameters
    ----------
    affinities : sequence of Affinity
        Of two views, on the same samples.

    Notes
    -----
    After Shnitzer, Ben-Chen, Guibas, Talmon and Wu, "Recovering hidden components in multimodal
    data with composite diffusion operators", SIAM Journal on Mathematics of Data Science 1 (2019)
    588–616. Use it for what two sensors have in common, if neither should come first: unlike
    alternating diffusion, the result does not depend on the order of the views.

    `degrees` are the row sums of S. `stationary` is the weight of a sample in inner products, which
    is the same for all. There are no transition probabilities.
    """

    fusion: ClassVar[str] = "composite"
    needs_every_view: ClassVar[bool] = True
    is_markov: ClassVar[bool] = False

    def __init__(self, affinities: Sequence[Affinity]) -> None:
        self.affinities = tuple(affinities)
        self.check_views([K.name for K in self.affinities])
        self.rows = same_rows(affinities)
        self._sums = [K.degrees.astype(K.dtype)[:, None] for K in self.affinities]

    @classmethod
    def build(
        cls, affinities: Sequence[Affinity], rows: RowMap, *, hops: Floats | None, n_jobs: int
    ) -> CompositeWalk:
        """The operator of two views, both of which must observe every sample."""
        return cls(affinities)

    @classmethod
    def check_views(cls, names: Sequence[str]) -> None:
        """Raise ValueError unless there are two views."""
        if len(names) != 2:
            listed = ", ".join(map(repr, names))
            raise ValueError(
                f'fusion="composite" is for two views, got {len(names)}: {listed}; '
                + (
                    'use fusion="integrated" or "alternating", or pass two of them'
                    if len(names) > 2
                    else "use viewhop.DiffusionMaps for one view"
                )
            )

    @classmethod
    def coordinate_limit(cls, rows: RowMap, hops: Floats | None) -> int:
        """One per sample: there is no trivial pair."""
        return rows.n_samples

    @property
    def n_blocks(self) -> int:
        """One: the samples themselves."""
        return 1

    def rebuild(self, kernels: Sequence[Affinity], rows: RowMap | None = None) -> CompositeWalk:
        """The operator of other kernels, on other samples."""
        return CompositeWalk(kernels)

    def step_back(self, view: int, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The transpose of the transition matrix of a view times a block (n_samples, b)."""
        return self.affinities[view] @ (V / self._sums[view])

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """S times a vector (n_samples,) or block (n_samples, b)."""
        block = V if V.ndim == 2 else V[:, None]
        first, second = (
            (K @ self.step_back(1 - l, block)) / self._sums[l]
            for l, K in enumerate(self.affinities)
        )
        return np.asarray(first + second).reshape(V.shape)

    def matrix(self, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
        """S as a full matrix in the given precision, (n_samples, n_samples)."""
        first, second = (K.full(dtype) for K in self.affinities)
        for P in (first, second):
            P /= P.sum(axis=1, dtype=np.float64)[:, None].astype(dtype)
        half = first @ second.T
        return half + half.T

    @property
    def remark(self) -> str:
        """What is different without a random walk."""
        return (
            "The composite operator is no random walk: its eigenvalues may be above 1, and the "
            "first coordinate is its leading eigenvector, whose entries have one sign."
        )

    @property
    def product_flops(self) -> float:
        """Floating-point operations of a product with one column, for full kernels."""
        return 2.0 * super().product_flops

    @property
    def matrix_flops(self) -> float:
        """Floating-point operations of `matrix`, for full kernels."""
        return 2.0 * float(self.n_samples) ** 3

    @property
    def largest_possible(self) -> float:
        """The largest row sum."""
        return float(self.degrees.max())

    @cached_property
    def stationary(self) -> Floats:
        """The weight of each sample in inner products, (n_samples,): all are equal."""
        return np.full(self.n_samples, 1.0 / self.n_samples)

    def normalized(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """S times V."""
        return np.asarray(self @ V.astype(self.dtype, copy=False)).astype(V.dtype, copy=False)

    def pieces(self) -> Labels:
        """Connected piece of each sample, numbered from 0, (n_samples,)."""
        every = np.ones(self.n_samples, dtype=bool)
        # Two samples are connected if both step to a third one, in whichever views.
        first, second = (K.pattern(every) for K in self.affinities)
        n = self.n_samples
        empty = csr_array((n, n))  # gives the first column and the last row a size
        graph = block_array([[None, first + second], [empty, None]])
        labels = connected_components(graph, directed=False)[1]
        return np.unique(labels[:n], return_inverse=True)[1]

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples in both views; ValueError if one is missing."""
        check_every_view_given(self, new)
        return [K.against(new[K.name]) for K in self.affinities]

    def extension(self, spectrum: Spectrum) -> CompositeExtension:
        """The extension: (P^1(x) P^2ᵀ + P^2(x) P^1ᵀ) ψ."""
        vectors = [
            np.asarray(self.step_back(1 - l, spectrum.eigenvectors), dtype=np.float64)
            for l in range(2)
        ]
        return CompositeExtension(spectrum.stepped, vectors)

    def mass_after_step(self, V: Floats) -> NoReturn:
        """Raise ValueError: there are no transition probabilities."""
        raise ValueError(
            'fusion="composite" is no random walk: no mass moves along P¹P²ᵀ + P²P¹ᵀ; use '
            'fusion="alternating" or "hop"'
        )

    @classmethod
    def restore(
        cls,
        affinities: Sequence[Affinity],
        rows: RowMap,
        data: Any,
        shelf: Shelf,
        *,
        n_jobs: int,
    ) -> Walk:
        """The operator from the data that `state` wrote."""
        if len(affinities) != 2:
            raise ModelFileError("the walk composite: expected the kernels of two views")
        return super().restore(affinities, rows, data, shelf, n_jobs=n_jobs)


class CompositeExtension(Extension):
    """Extension of the composite operator: one average per view, and their sum.

    Parameters
    ----------
    training : (n_samples, r) array
        Sψ at the training samples.
    vectors : list of two (n_samples, r) arrays
        P^2ᵀψ, to average over rows of the first view, and P^1ᵀψ for the second.
    """

    def __init__(self, training: Floats, vectors: list[Floats]) -> None:
        self._training = training
        self._both = [np.column_stack([V, np.ones(len(V))]) for V in vectors]

    def training(self) -> list[Floats]:
        """Sψ at the training samples, one (n_samples, r) array."""
        return [self._training]

    def step(self, rows: Sequence[KernelRows | None]) -> Step:
        """Sψ at new samples, one block."""
        given = [part for part in rows if part is not None]
        sums = [part.average(both) for part, both in zip(given, self._both, strict=True)]
        with np.errstate(invalid="ignore", divide="ignore"):
            block = np.sum([part[:, :-1] / part[:, -1:] for part in sums], axis=0)
        lost = np.any([~np.isfinite(part.peaks) for part in given], axis=0)
        far = np.any([part.far for part in given], axis=0)
        none = np.zeros((len(block), 1), dtype=bool)
        return Step([block], ~lost[:, None], far, mean_coverage(given), none, lost)
