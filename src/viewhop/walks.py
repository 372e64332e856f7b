"""Walks: from the kernels of several views to one random walk.

With K = blockdiag(K^1 … K^L) and a small hop matrix H, the multi-view kernel is one product,

    K̂ = K (H ⊗ I) K,      so that      (K̂ v)_l = K^l Σ_m H_lm K^m v_m .

A product with K̂ therefore costs 2L kernel products. K̂ itself is never formed, and neither is a
product of two kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import block_array, coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from viewhop.affinity import Affinity, KernelRows
from viewhop.affinity.dense import DenseAffinity, DensePrecomputed
from viewhop.affinity.rows import normalised_logs
from viewhop.affinity.sparse import SparseAffinity, points_affinity
from viewhop.affinity.tiles import Tiles
from viewhop.distances import Points
from viewhop.features import FeatureMap
from viewhop.kernels import Gaussian

__all__ = ["AlternatingWalk", "HopWalk", "ProductWalk", "SumWalk", "Walk", "hop_matrix"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


def hop_matrix(n_views: int, *, within_view_weight: float = 0.0) -> Floats:
    """The paper's hop matrix, (n_views, n_views): η on the diagonal and 1 − η elsewhere.

    Parameters
    ----------
    n_views : int
    within_view_weight : float
        η, how willingly the walker stays in its view. 0 is the walk of Eq. (13). With one view
        the matrix is [1] whatever η: the walk of K².

    Notes
    -----
    Eq. (49), for any number of views.
    """
    if n_views == 1:
        return np.ones((1, 1))
    eta = within_view_weight
    return eta * np.eye(n_views) + (1 - eta) * (1 - np.eye(n_views))


def check_hops(hops: ArrayLike, n_views: int) -> Floats:
    """The hop matrix, or ValueError unless it is symmetric, non-negative, with no empty row."""
    H = np.array(hops, dtype=np.float64)
    if H.shape != (n_views, n_views):
        raise ValueError(f"hops must be ({n_views}, {n_views}), one row per view, not {H.shape}")
    if not np.isfinite(H).all() or (H < 0).any():
        raise ValueError("hops must be finite and non-negative")
    if (H != H.T).any():
        raise ValueError("hops must be symmetric: the walk goes both ways between two views")
    empty = np.flatnonzero(~(H > 0).any(axis=1))
    if empty.size:
        raise ValueError(
            f"row {empty[0]} of hops is all zero: the walker could never leave that view; every "
            "row needs a positive entry"
        )
    return H


class Walk(ABC):
    """A random walk P = D⁻¹K on nodes, given by products with its symmetric kernel K.

    Attributes
    ----------
    affinities : tuple of Affinity
        One per view.
    """

    affinities: tuple[Affinity, ...]

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

    def on(self, kernels: Sequence[Affinity]) -> Walk:
        """The same walk over other kernels, on other samples."""
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
        return self.affinities[0].n_samples

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
        V : (n_samples,) or (n_samples, b) array
        transpose : bool
        """
        raise TypeError(f"{type(self).__name__} has no cross kernel")

    def blocks(self, V: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """The rows of each block of nodes."""
        return np.split(V, self.n_blocks)

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
        found = self @ _scaled(V, self._inverse_roots, self.dtype)
        return _scaled(found, self._inverse_roots, V.dtype)

    @cached_property
    def _inverse_roots(self) -> Floats:
        """D^{-1/2}, (n_nodes,)."""
        return np.asarray(1.0 / np.sqrt(self.degrees))


def _scaled(V: NDArray[np.floating], factors: Floats, dtype: np.dtype[np.floating]) -> NDArray[Any]:
    """Rows of V times factors, in the given precision, in one pass."""
    out = np.empty(V.shape, dtype=dtype)
    np.multiply(V, factors[:, None] if V.ndim == 2 else factors, out=out, casting="same_kind")
    return out


class HopWalk(Walk):
    """The walk that hops between views: node (i, l) is sample i in view l.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples.
    hops : (L, L) array or None
        Symmetric non-negative hop matrix; by default the one of Eq. (13).

    Notes
    -----
    Eqs. (13)–(14), and (49) with `hop_matrix`.
    """

    def __init__(self, affinities: Sequence[Affinity], hops: ArrayLike | None = None) -> None:
        self.affinities = tuple(affinities)
        n_views = len(self.affinities)
        self.hops = hop_matrix(n_views) if hops is None else check_hops(hops, n_views)

    @property
    def n_blocks(self) -> int:
        """Number of views."""
        return len(self.affinities)

    @property
    def max_coordinates(self) -> int:
        """The largest number of positive eigenvalues beside the trivial 1.

        K̂ is congruent to H ⊗ I, so it has at most M n₊(H) of them.
        """
        values = np.linalg.eigvalsh(self.hops)
        rounding = len(values) * np.finfo(np.float64).eps * np.abs(values).max()
        return self.n_samples * int((values > rounding).sum()) - 1

    @property
    def is_fused(self) -> bool:
        """No: each view has coordinates of its own."""
        return False

    @property
    def is_cross(self) -> bool:
        """Whether there are two views and each step changes the view, so that an SVD gives it."""
        return self.n_blocks == 2 and not self.hops.diagonal().any()

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """K̂ times a vector (n_nodes,) or block (n_nodes, b)."""
        return np.concatenate(
            [K @ u for K, u in zip(self.affinities, self.hopped(self.smoothed(V)), strict=True)]
        )

    def on(self, kernels: Sequence[Affinity]) -> HopWalk:
        """The same walk over other kernels, on other samples."""
        return HopWalk(kernels, self.hops)

    @cached_property
    def degrees(self) -> Floats:
        """Row sums of K̂, (n_nodes,), the diagonal of D̂, in float64."""
        sums = self.hopped([K.degrees for K in self.affinities])
        return np.concatenate([K @ u for K, u in zip(self.affinities, sums, strict=True)])

    def smoothed(self, V: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """K^m v_m of each view m."""
        return [K @ v for K, v in zip(self.affinities, self.blocks(V), strict=True)]

    def hopped(self, W: Sequence[NDArray[np.floating]]) -> list[NDArray[np.floating]]:
        """Σ_m H_lm w_m of each view l."""
        stacked = np.asarray(W)
        return [*np.tensordot(self.hops.astype(stacked.dtype), stacked, axes=1)]

    def cross(self, V: NDArray[np.floating], *, transpose: bool = False) -> NDArray[np.floating]:
        """K̄ times V, or its transpose, with K̄ = D_1^{-1/2} K^1 K^2 D_2^{-1/2} up to H_12.

        Parameters
        ----------
        V : (n_samples,) or (n_samples, b) array
        transpose : bool

        Notes
        -----
        Eq. (28) with the normalised kernel (erratum 2).
        """
        first, second = self.affinities[::-1] if transpose else self.affinities
        left, right = self._inverse_roots.reshape(2, -1)[:: -1 if transpose else 1]
        found = first @ (second @ _scaled(V, right, self.dtype))
        return _scaled(found, self.hops[0, 1] * left, V.dtype)

    def pieces(self) -> Labels:
        """Number of the connected piece of each node, (n_nodes,).

        A sample is like itself, so a view's node and hub of a sample are joined, and with them
        all that its kernel connects; hubs of a sample are joined where the walker hops.
        """
        # A pattern goes both ways, so strong components are all there are, and found without a
        # transpose.
        parts = [connected_components(K.pattern(), connection="strong") for K in self.affinities]
        first = np.cumsum([0, *(count for count, _ in parts)])
        labels = [label + start for (_, label), start in zip(parts, first[:-1], strict=True)]
        keys = [
            np.unique(labels[l].astype(np.int64) * first[-1] + labels[m])
            for l, m in combinations(range(self.n_blocks), 2)
            if self.hops[l, m] > 0
        ]
        edges = np.divmod(np.concatenate([np.empty(0, dtype=np.int64), *keys]), first[-1])
        graph = coo_array((np.ones(edges[0].size), edges), shape=(first[-1], first[-1]))
        joined = connected_components(graph, directed=False)[1]
        return np.unique(joined[np.concatenate(labels)], return_inverse=True)[1]

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per view; None for a view that is not given."""
        return [K.against(new[K.name]) if K.name in new else None for K in self.affinities]


class SumWalk(Walk):
    """The walk on samples whose kernel is the sum of the views' kernels.

    With one view it is the ordinary diffusion map.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples.

    Notes
    -----
    Eq. (7), and Eq. (1) for one view.
    """

    def __init__(self, affinities: Sequence[Affinity]) -> None:
        self.affinities = tuple(affinities)

    @property
    def n_blocks(self) -> int:
        """One: the samples themselves."""
        return 1

    @property
    def max_coordinates(self) -> int:
        """The largest number of positive eigenvalues beside the trivial 1."""
        return self.n_samples - 1

    def on(self, kernels: Sequence[Affinity]) -> SumWalk:
        """The walk of the sum of other kernels, on other samples."""
        return SumWalk(kernels)

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The summed kernel times a vector (n_samples,) or block (n_samples, b)."""
        total = self.kernels[0] @ V
        for K in self.kernels[1:]:
            total += K @ V
        return total

    def pieces(self) -> Labels:
        """Number of the connected piece of each sample, (n_samples,)."""
        graph = self.kernels[0].pattern()
        for K in self.kernels[1:]:
            graph = graph + K.pattern()
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per view; None for a view that is not given."""
        return [K.against(new[K.name]) if K.name in new else None for K in self.kernels]


class ProductWalk(SumWalk):
    """The walk on samples whose kernel is the element-wise product of the views' kernels.

    Dense kernels are multiplied entry by entry. Neighbour kernels are Gaussians of one joint
    view: each view over its scale (for local scales, their median), side by side, and then given
    neighbours, radius, local scale and density as any view. Other neighbour kernels are refused.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples.

    Notes
    -----
    Eqs. (5)–(6).
    """

    def __init__(self, affinities: Sequence[Affinity], *, n_jobs: int = 1) -> None:
        super().__init__(affinities)
        dense = [a for a in affinities if isinstance(a, DenseAffinity | DensePrecomputed)]
        self.joint: Affinity
        if len(dense) == len(self.affinities):
            factors = [affinity.tiles for affinity in dense]
            self.joint = DensePrecomputed("product", Tiles.of_product(factors), 0.0, n_jobs=n_jobs)
        else:
            self.joint = self._joint_view(n_jobs)

    @property
    def kernels(self) -> tuple[Affinity, ...]:
        """The one kernel of the walk."""
        return (self.joint,)

    def _joint_view(self, n_jobs: int) -> SparseAffinity:
        views = [a for a in self.affinities if isinstance(a, SparseAffinity)]
        rules = {
            (
                a.kernel.n_neighbors,
                a.kernel.alpha,
                isinstance(a.scale, np.ndarray),
                a.kernel.factor,
                a.kernel.search,
            )
            for a in views
            if isinstance(a.kernel, Gaussian)
        }
        gaussian = all(isinstance(a.kernel, Gaussian) for a in views)
        if len(views) < len(self.affinities) or not gaussian or len(rules) > 1:
            raise ValueError(
                'fusion="product" with n_neighbors needs a Gaussian kernel with the same '
                "n_neighbors, factor, alpha, search and kind of scale for every view; use dense "
                "kernels (n_neighbors=None) to multiply others"
            )
        k, alpha, is_local, factor, search = rules.pop()
        rule = "local" if is_local else 1.0
        kernel = Gaussian(rule, n_neighbors=k, alpha=alpha, search=search)
        if is_local:
            kernel.factor = factor
        return points_affinity(
            "product",
            kernel,
            FeatureMap("euclidean", None),
            Points(self._side_by_side({a.name: a.points.rows for a in views})),
            self.dtype,
            generator=np.random.default_rng(0),
            n_jobs=n_jobs,
        )

    def _side_by_side(self, features: Mapping[str, NDArray[np.floating]]) -> Floats:
        """Feature rows of all views, each over its scale without the factor of a local one."""
        parts = []
        for affinity in self.affinities:
            assert isinstance(affinity, SparseAffinity)
            sigma = float(np.median(affinity.scale))
            if isinstance(affinity.scale, np.ndarray):
                sigma /= float(np.sqrt(affinity.kernel.factor))
            parts.append(features[affinity.name] / np.float64(sigma))
        return np.hstack(parts)

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples in the product; it needs every view."""
        missing = [name for name in self.names if name not in new]
        if missing:
            raise ValueError(
                f'fusion="product" needs every view of a new sample; missing: {", ".join(missing)}'
            )
        if isinstance(self.joint, DensePrecomputed):
            dense = [a for a in self.affinities if isinstance(a, DenseAffinity | DensePrecomputed)]
            logs, far = zip(
                *(normalised_logs(K.logs(new[K.name]), K.density, K.alpha) for K in dense),
                strict=True,
            )
            return [KernelRows.of(np.sum(logs, axis=0), np.any(far, axis=0))]
        features = {
            K.name: K.features(new[K.name], K.name)
            for K in self.affinities
            if isinstance(K, SparseAffinity)
        }
        return [self.joint.against(self._side_by_side(features))]


class AlternatingWalk(Walk):
    """The walk that takes one step in each view in turn, between samples as starts and as ends.

    P = P^1 P^2 … P^L with P^l the row-normalised kernel of view l. From uniform starts p the chain
    ends at q = Pᵀp. The symmetric kernel between the two copies of the samples is diag(p) P; its
    normalised singular vectors place the samples as starts.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples, in the order of the steps.

    Notes
    -----
    Alternating diffusion after Lederman and Talmon (2018).
    """

    def __init__(self, affinities: Sequence[Affinity]) -> None:
        self.affinities = tuple(affinities)
        self._sums = [K.degrees.astype(K.dtype)[:, None] for K in self.affinities]

    @property
    def n_blocks(self) -> int:
        """Two: the samples as starts and as ends."""
        return 2

    @property
    def max_coordinates(self) -> int:
        """The largest number of positive eigenvalues beside the trivial 1."""
        return self.n_samples - 1

    @property
    def is_cross(self) -> bool:
        """Each step goes from starts to ends or back."""
        return True

    def on(self, kernels: Sequence[Affinity]) -> AlternatingWalk:
        """The same walk over other kernels, on other samples."""
        return AlternatingWalk(kernels)

    def forward(self, V: NDArray[np.floating], *, skip: int = 0) -> NDArray[np.floating]:
        """P times a block (n_samples, b), without the steps in the first `skip` views."""
        for K, sums in [*zip(self.affinities, self._sums, strict=True)][skip:][::-1]:
            V = (K @ V) / sums
        return V

    def backward(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """Pᵀ times a block (n_samples, b)."""
        for K, sums in zip(self.affinities, self._sums, strict=True):
            V = K @ (V / sums)
        return V

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel between starts and ends times a vector (n_nodes,) or block (n_nodes, b)."""
        starts, ends = self.blocks(V if V.ndim == 2 else V[:, None])
        found = np.concatenate([self.forward(ends), self.backward(starts)]) / self.n_samples
        return found.reshape(V.shape)

    def cross(self, V: NDArray[np.floating], *, transpose: bool = False) -> NDArray[np.floating]:
        """diag(p)^{1/2} P diag(q)^{-1/2} times V, or its transpose."""
        left, right = np.sqrt(self.degrees).reshape(2, -1, 1)[:: -1 if transpose else 1]
        inner = (V.reshape(self.n_samples, -1) / right).astype(self.dtype, copy=False)
        found = self.backward(inner) if transpose else self.forward(inner)
        return np.asarray(found / self.n_samples / left).reshape(V.shape)

    def pieces(self) -> Labels:
        """Number of the connected piece of each node, (n_nodes,), by one layer of nodes a step."""
        n, steps = self.n_samples, len(self.affinities)
        layers: list[list[csr_array | None]] = [[None] * (steps + 1) for _ in range(steps + 1)]
        for k, K in enumerate(self.affinities):
            layers[k][k + 1] = K.pattern()
        layers[steps][0] = csr_array((n, n))  # the first column and last row have a size, too
        labels = connected_components(block_array(layers), directed=False)[1]
        return np.unique(np.concatenate([labels[:n], labels[-n:]]), return_inverse=True)[1]

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples in the first view, which their walk starts in."""
        first = self.affinities[0]
        if first.name not in new:
            raise ValueError(
                f'fusion="alternating" starts in view {first.name!r}; a new sample needs that view'
            )
        return [first.against(new[first.name])]
