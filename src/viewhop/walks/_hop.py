"""The walk that hops between views, over the samples that each view observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop._storage.codec import Shelf, read_fields
from viewhop.affinity import Affinity, JointView, KernelRows, lowest_precision
from viewhop.errors import ModelFileError
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap
from viewhop.walks._extension import Extension
from viewhop.walks._fused import FusedExtension
from viewhop.walks._hop_extension import HopExtension
from viewhop.walks._hop_matrix import (
    MOST,
    check_hops,
    count_positive,
    hop_matrix,
    low_rank_factor,
    rank_one_weights,
)
from viewhop.walks._hop_pieces import hop_pieces
from viewhop.walks._hub import HubWalk
from viewhop.walks._walk import CrossKernel, Walk, WalkSize, same_rows, scale_rows

__all__ = ["HopWalk"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class HopWalk(Walk):
    """The walk that hops between views, with a node (i, l) for each sample i that view l observed.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view.
    hops : (L, L) array or None
        Symmetric non-negative hop matrix; None means that of Eq. (13).
    rows : RowMap or None
        Which samples their rows belong to; None means the same samples in the same order.
    joint : JointView or None
        All views side by side, as one more block of nodes: the last of `kernels`, `hops` and
        `rows`.

    Notes
    -----
    Eqs. (13)–(14), and (49) with `hop_matrix`.
    """

    hops: Floats
    fusion: ClassVar[str] = "hop"
    takes_hops: ClassVar[bool] = True

    def __init__(
        self,
        affinities: Sequence[Affinity],
        hops: ArrayLike | None = None,
        rows: RowMap | None = None,
        joint: JointView | None = None,
    ) -> None:
        self.affinities = tuple(affinities)
        self.joint = joint
        n_blocks = len(self.kernels)
        self.hops = hop_matrix(n_blocks) if hops is None else check_hops(hops, n_blocks)
        self.rows = same_rows(self.kernels) if rows is None else rows

    @classmethod
    def build(
        cls,
        affinities: Sequence[Affinity],
        rows: RowMap,
        *,
        hops: Floats | None,
        n_jobs: int,
        joint: JointView | None = None,
    ) -> HopWalk:
        """The walk with a hop matrix; None means that of Eq. (13)."""
        if joint is not None:
            complete = np.flatnonzero(rows.observed.all(axis=1))
            rows = rows.with_view(complete)
        return cls(affinities, hops, rows, joint)

    @classmethod
    def size(
        cls, n_samples: int, n_rows: Sequence[int], *, hops: Floats | None, is_dense: bool
    ) -> WalkSize:
        """One node per observation, of which a solver may need only some.

        Two views with a zero diagonal of H are solved on half, H of rank one on the samples, and
        positive semi-definite H of rank p < L on p copies of them.
        """
        n_nodes = sum(n_rows)
        if len(n_rows) > 1 and hops is not None and rank_one_weights(hops) is not None:
            return WalkSize(n_nodes, n_samples, is_on_hub=True)
        factor = None if hops is None or len(n_rows) < 2 else low_rank_factor(hops)
        if factor is not None and factor.shape[1] * n_samples < n_nodes:
            return WalkSize(n_nodes, factor.shape[1] * n_samples)
        stays = hops is not None and bool(np.diagonal(hops).any())
        is_halved = len(n_rows) == 2 and not stays
        return WalkSize(n_nodes, n_nodes // 2 if is_halved else n_nodes)

    @property
    def kernels(self) -> tuple[Affinity, ...]:
        """The kernels that the walk multiplies by: those of the views, then of the joint view."""
        return self.affinities if self.joint is None else (*self.affinities, self.joint.affinity)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the blocks: those of the views, then of the joint view."""
        return tuple(K.name for K in self.kernels)

    @cached_property
    def weights(self) -> Floats | None:
        """The weights w of H = w wᵀ, (n_blocks,); None if H has another form."""
        return rank_one_weights(self.hops)

    @cached_property
    def hub(self) -> HubWalk | None:
        """The walk between samples that has the same eigenvalues, for H of rank one."""
        if self.weights is None or self.n_blocks == 1:
            return None
        return HubWalk(self.kernels, self.weights, self.rows)

    def lift(self, spectrum: Spectrum) -> Spectrum:
        """The eigenpairs between nodes, from those of `hub`.

        Parameters
        ----------
        spectrum : Spectrum
            Of `hub`.

        Notes
        -----
        ψ_l = K^l S_lᵀ(g φ) / (K^l S_lᵀ g √λ), for an eigenvector φ of `hub`.
        """
        assert self.hub is not None
        values = spectrum.eigenvalues
        vectors = np.concatenate(self.hub.average_in_views(spectrum.eigenvectors))
        # A value that is 0 up to rounding, and may be negative, has no direction in the views.
        roots = np.sqrt(np.where(values > np.finfo(np.float64).eps ** 2, values, np.inf))
        unit = vectors / roots * np.sqrt(self.stationary)[:, None]
        return Spectrum.from_symmetric(
            values,
            unit,
            np.asarray(self.normalized(unit), dtype=np.float64),
            stationary=self.stationary,
            solver=spectrum.solver,
            n_products=spectrum.n_products,
        )

    def to_hub(self, vectors: Floats) -> Floats:
        """Vectors on nodes as vectors on samples, (n_samples, r): one step without a scale."""
        assert self.hub is not None
        # A sample that no view observed, after one was left out, has no mass.
        mass = np.where(self.hub.mass > 0, self.hub.mass, np.inf)
        return np.asarray(self._at_hubs(vectors) / mass[:, None])

    def _at_hubs(self, vectors: Floats) -> Floats:
        """G = Σ_m w_m S_m K^m v_m, (n_samples, r)."""
        assert self.weights is not None
        parts = zip(
            self.smoothed(vectors.astype(self.dtype, copy=False)), self.weights, strict=True
        )
        return np.asarray(
            np.sum([w * self.rows.scattered(m, part) for m, (part, w) in enumerate(parts)], axis=0),
            dtype=np.float64,
        )

    def consensus(self, spectrum: Spectrum) -> FusedExtension:
        """One set of coordinates per sample, on which all views agree; for H of rank one.

        Parameters
        ----------
        spectrum : Spectrum

        Notes
        -----
        √λ G(x)/g(x), where G(x) and g(x) sum w_m κ_m(x)·ψ_m and w_m κ_m(x)·1 over the views that
        the sample has. They are the coordinates of the walk between samples after one step.
        """
        if self.hub is None:
            return super().consensus(spectrum)  # type: ignore[return-value]  # it raises
        roots = np.sqrt(spectrum.eigenvalues)
        training = roots * self.to_hub(spectrum.eigenvectors)
        blocks = self.rows.split(spectrum.eigenvectors)
        return FusedExtension(training, [block * roots for block in blocks], self.weights)

    @property
    def n_nodes(self) -> int:
        """Number of observations, over all views."""
        return int(self.rows.starts[-1])

    def blocks(self, V: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """The rows of each view."""
        return self.rows.split(V)

    def where(self, node: int) -> tuple[int, int]:
        """The view and sample of a node."""
        return self.rows.where(node)

    @property
    def node_samples(self) -> Labels:
        """The sample of each node, (n_nodes,)."""
        return np.concatenate([self.rows.samples(l) for l in range(self.n_blocks)])

    @property
    def n_blocks(self) -> int:
        """Number of views."""
        return len(self.kernels)

    @classmethod
    def coordinate_limit(cls, rows: RowMap, hops: Floats | None) -> int:
        """The largest possible number of positive eigenvalues, not counting the trivial 1.

        K̂ is congruent to a block-diagonal matrix with one block per sample: H restricted to the
        views that observed it. K̂ has at most as many positive eigenvalues as these blocks have
        together, that is M n₊(H) if every view observed every sample.
        """
        H = hop_matrix(rows.n_views) if hops is None else hops
        if rows.is_whole:
            return rows.n_samples * count_positive(H) - 1
        seen, counts = np.unique(rows.observed, axis=0, return_counts=True)
        return int(counts @ [count_positive(H[np.ix_(o, o)]) for o in seen]) - 1

    @property
    def is_fused(self) -> bool:
        """False: each view has its own coordinates."""
        return False

    @property
    def reduced(self) -> CrossKernel | None:
        """The kernel from the second view to the first, for two views with a zero diagonal of H.

        Notes
        -----
        K̄ = D_1^{-1/2} K^1 K^2 D_2^{-1/2} up to H_12: Eq. (28) with the normalised kernel
        (erratum 2).
        """
        if self.n_blocks != 2 or self.hops.diagonal().any():
            return None
        return CrossKernel(
            (self.rows.sizes[0], self.rows.sizes[1]),
            lambda V: self._cross(V, end=0, start=1),
            lambda V: self._cross(V, end=1, start=0),
        )

    @property
    def factored(self) -> CrossKernel | None:
        """D̂^{-1/2} K (F ⊗ I), for H = F Fᵀ with F (L, p), if it has fewer columns than rows."""
        factor = low_rank_factor(self.hops) if self.n_blocks > 1 else None
        if factor is None or factor.shape[1] * self.n_samples >= self.n_nodes:
            return None
        roots, F = self.rows.split(self._inverse_roots), factor.astype(self.dtype)

        def forward(V: NDArray[np.floating]) -> NDArray[np.floating]:
            copies = np.split(V.astype(self.dtype, copy=False), F.shape[1])
            parts = []
            for l, (K, root) in enumerate(zip(self.kernels, roots, strict=True)):
                mixed = sum(f * copy for f, copy in zip(F[l], copies, strict=True))
                parts.append(scale_rows(K @ self.rows.gathered(l, mixed), root, V.dtype))
            return np.concatenate(parts)

        def backward(V: NDArray[np.floating]) -> NDArray[np.floating]:
            out = np.zeros((F.shape[1] * self.n_samples, *V.shape[1:]), dtype=V.dtype)
            for l, (K, v) in enumerate(zip(self.kernels, self.blocks(V), strict=True)):
                image = self.rows.scattered(l, K @ scale_rows(v, roots[l], self.dtype))
                for copy, f in zip(np.split(out, F.shape[1]), F[l], strict=True):
                    copy += f * image
            return out

        return CrossKernel((self.n_nodes, F.shape[1] * self.n_samples), forward, backward)

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """K̂ times a vector (n_nodes,) or block (n_nodes, b)."""
        return np.concatenate(
            [K @ u for K, u in zip(self.kernels, self.hopped(self.smoothed(V)), strict=True)]
        )

    def rebuild(self, kernels: Sequence[Affinity], rows: RowMap | None = None) -> HopWalk:
        """The same kind of walk over other kernels and samples."""
        # With a joint view its kernel is the last one, without a way to new samples.
        return HopWalk(kernels, self.hops, rows)

    @cached_property
    def degrees(self) -> Floats:
        """Row sums of K̂, (n_nodes,), the diagonal of D̂, in float64."""
        sums = self.hopped([K.degrees for K in self.kernels])
        return np.concatenate([K @ u for K, u in zip(self.kernels, sums, strict=True)])

    def smoothed(self, V: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """K^m v_m of each view m."""
        return [K @ v for K, v in zip(self.kernels, self.blocks(V), strict=True)]

    def hopped(self, W: Sequence[NDArray[np.floating]]) -> list[NDArray[np.floating]]:
        """Σ_m H_lm w_m of each view l, sample by sample."""
        stacked = np.asarray([self.rows.scattered(m, w) for m, w in enumerate(W)])
        mixed = np.tensordot(self.hops.astype(stacked.dtype), stacked, axes=1)
        return [self.rows.gathered(l, u) for l, u in enumerate(mixed)]

    def _cross(self, V: NDArray[np.floating], *, end: int, start: int) -> NDArray[np.floating]:
        """The normalised kernel from one view to the other times V."""
        roots = self.rows.split(self._inverse_roots)
        smoothed = self.affinities[start] @ scale_rows(V, roots[start], self.dtype)
        image = self.affinities[end] @ self.rows.carried(smoothed, start, end)
        return scale_rows(image, self.hops[0, 1] * roots[end], V.dtype)

    def pieces(self) -> Labels:
        """Connected piece of each node, (n_nodes,); −1 for a node of degree 0."""
        return hop_pieces(self.kernels, self.hops, self.rows, self.degrees)

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per block; None for a missing view.

        `new` has rows of the joint view under its name: see `JointView.rows`.
        """
        rows: list[KernelRows | None] = [
            K.against(new[K.name]) if K.name in new else None for K in self.affinities
        ]
        if self.joint is None:
            return rows
        if self.joint.name not in new:
            return [*rows, None]
        precision = lowest_precision([new[name].dtype for name in new])
        return [*rows, self.joint.against(new[self.joint.name], precision)]

    def extension(self, spectrum: Spectrum) -> Extension:
        """The extension, which gives coordinates in every view from any subset of the views."""
        return HopExtension(self, spectrum)

    def nodes(self, view: int, samples: NDArray[np.intp]) -> NDArray[np.intp]:
        """The nodes of samples in a view, (p,); ValueError for a sample that it did not observe."""
        if self.rows.is_whole:
            return view * self.n_samples + samples
        name = self.names[view]
        if self.rows.is_repeated(view):
            raise ValueError(f"view {name!r} has several rows for some samples")
        node = np.full(self.n_samples, -1, dtype=np.intp)
        rows = np.arange(self.rows.sizes[view]) + self.rows.starts[view]
        node[self.rows.samples(view)] = np.where(self.degrees[rows] > 0, rows, -1)
        missing = samples[node[samples] < 0]
        if missing.size:
            raise ValueError(f"view {name!r} did not observe sample {missing[0]}")
        return np.asarray(node[samples])

    def without_joint(self) -> HopWalk:
        """The walk over the views alone."""
        if self.joint is None:
            return self
        n_views = len(self.affinities)
        return HopWalk(
            self.affinities, self.hops[:n_views, :n_views], self.rows.first_views(n_views)
        )

    def leave_out(self, view: int) -> HopWalk:
        """The walk over all views but one, without a joint view."""
        if self.joint is not None:
            return self.without_joint().leave_out(view)
        if self.n_blocks < 2:
            super().leave_out(view)
        kept = [l for l in range(self.n_blocks) if l != view]
        hops = self.hops[np.ix_(kept, kept)]
        if len(kept) == 1:
            hops = np.ones((1, 1))
        alone = [self.names[l] for l, row in zip(kept, hops, strict=True) if not row.any()]
        if alone:
            raise ValueError(
                f"without view {self.names[view]!r} the walker could not leave view {alone[0]!r}; "
                "make another entry of its row of hops positive"
            )
        rows = RowMap(
            [self.rows.sizes[l] for l in kept],
            [None if self.rows.is_whole else self.rows.samples(l) for l in kept],
            self.n_samples,
        )
        return HopWalk([self.affinities[l] for l in kept], hops, rows)

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The joint view as plain data; the hop matrix goes to the shelf."""
        shelf.put("hops", self.hops)
        if self.joint is None:
            return {}
        return {"joint": self.joint.state(shelf.within("joint"))}

    @classmethod
    def restore(
        cls,
        affinities: Sequence[Affinity],
        rows: RowMap,
        data: Any,
        shelf: Shelf,
        *,
        n_jobs: int,
    ) -> HopWalk:
        """The walk from the data that `state` wrote."""
        (state,) = read_fields(data, (), "the walk hop", optional={"joint": None})
        joint = None
        if state is not None:
            complete = np.flatnonzero(rows.observed.all(axis=1))
            joint = JointView.restore(affinities, rows, state, shelf.within("joint"), n_jobs=n_jobs)
            if joint.affinity.is_dense:
                raise ModelFileError("the joint view: expected a kernel on neighbours")
            rows = rows.with_view(complete)
        n_blocks = len(affinities) + (joint is not None)
        hops = shelf.numbers("hops", (n_blocks, n_blocks), least=0.0, most=MOST)
        try:
            return cls(affinities, hops, rows, joint)
        except ValueError as error:
            raise ModelFileError(f"the walk: {error}") from error
