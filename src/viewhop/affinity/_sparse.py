"""A view's kernel stored for pairs of neighbours only."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._runtime import memory, threads
from viewhop._storage.codec import Shelf
from viewhop.affinity._affinity import Floats, check_not_identity, check_reach
from viewhop.affinity._edge import Edge
from viewhop.affinity._graph import Graph, even_rows, row_slice
from viewhop.affinity._kernel_rows import KernelRows
from viewhop.affinity._state import distance_block, measured_state
from viewhop.bandwidth import choose_scale, count_distances
from viewhop.kernels import DistanceKernel
from viewhop.neighbours import (
    Cells,
    FeatureMap,
    Index,
    Neighbourhood,
    Points,
    find_neighbourhoods,
    pair_distances,
    query_index,
    search_neighbours,
    symmetrise,
)
from viewhop.views import Describe, ViewRows, row_number

#: Bytes per pair while the lists are sorted and symmetrised.
PAIR_BYTES = 100
#: Number of rows whose candidates are measured at a time.
PART = 1024

__all__ = [
    "SparseAffinity",
    "build_points_affinity",
    "build_sparse",
]

Indices = NDArray[np.integer]

_preparing = Lock()


class SparseAffinity(Graph):
    """A kernel of distances between neighbouring samples of a view.

    A pair is stored if its distance is within the radius of either sample; the same rule applies
    to new samples.

    Attributes
    ----------
    kernel : DistanceKernel
    features : FeatureMap
    points : Points
        The training samples in the kernel's feature space.
    edge : Edge
        How the kernel of each sample falls to 0 at its last neighbours.
    index : Index or None
        Searches for the neighbours of new samples; None if the search is exact.
    """

    kernel: DistanceKernel

    def __init__(
        self,
        name: str,
        kernel: DistanceKernel,
        features: FeatureMap,
        points: Points,
        sigma: float | Floats,
        edge: Edge,
        values: csr_array,
        *,
        index: Index | None = None,
        recall: float = 1.0,
        n_jobs: int = 1,
        density: Floats | None = None,
    ) -> None:
        super().__init__(name, kernel, values, n_jobs=n_jobs, density=density)
        self.features = features
        self.points = points
        self.scale = sigma
        self.edge = edge
        self.index = index
        self.recall = recall
        self._cells: Cells | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without caches that are rebuilt on demand."""
        return {**super().__getstate__(), "_cells": None}

    @property
    def radius(self) -> Floats:
        """Distance from each sample beyond which it keeps no neighbour of its own, (n,)."""
        return self.edge.outer

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return super().nbytes + self.points.nbytes + self.edge.nbytes

    def check_new(self, X: NDArray[np.floating], describe: Describe = row_number) -> None:
        """Raise ValueError for a row that the feature map is not defined on."""
        self.features.check(X, self.name, describe)

    def distances(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.floating]:
        """Distances between training samples, (p, q)."""
        return distance_block(self.points, rows, columns)

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The affinity as plain data."""
        shelf.put_csr(self.values)
        shelf.put("radius", self.edge.outer)
        if self.kernel.taper:
            shelf.put("inner", self.edge.inner)
        data = measured_state(self, self.features, self.points, shelf)
        if self.index is not None:
            shelf.put("centres", self.index.centres.astype(np.int64))
            data["n_probe"] = int(self.index.n_probe)
        return data

    def against(
        self, X: NDArray[np.floating], precision: np.dtype[np.floating] | None = None
    ) -> KernelRows:
        """Kernel rows of new samples (q, d) against the n training samples.

        Parameters
        ----------
        X : (q, d) array
        precision : dtype or None
            The precision in which the rows came, if it is less than that of `X`.
        """
        slack = self.features.slack(X, X.dtype if precision is None else precision)
        queries = self.points.like(self.features(X, self.name), slack)
        near = self._exact(queries) if self.index is None else self._approximate(queries)
        i, j = near.rows, near.columns
        weights = Edge(near.inner, near.radius).weights(near.distances, i)
        weights = np.maximum(weights, self.edge.weights(near.distances, j, slack[i]))
        kept = weights > 0
        i, j, distances, weights = i[kept], j[kept], near.distances[kept], weights[kept]
        own: float | Floats = self.scale
        if isinstance(self.scale, np.ndarray):
            own = np.sqrt(self.kernel.factor) * near.scale
        scales = _pair_scale(own, self.scale, i, j)
        logs = np.log(weights) - self.kernel.exponent(distances / scales)
        return self._kernel_rows(logs, i, j, len(queries))

    def _exact(self, queries: Points) -> Neighbourhood:
        """All pairs within the radius of either sample."""
        k_inner, k = self.kernel.edge_ranks
        return find_neighbourhoods(
            queries,
            self.points,
            k=k,
            k_scale=self.kernel.scale_rank,
            k_inner=k_inner,
            reach=self.edge.outer,
            n_jobs=self.n_jobs,
            cells=self._known_cells(),
        )

    def _approximate(self, queries: Points) -> Neighbourhood:
        """Pairs within the radius of either sample, among the stored neighbours of each row's list.

        The list of a training sample contains the sample itself, so all its stored pairs are found.
        """
        assert self.index is not None
        k_inner, k = self.kernel.edge_ranks
        near = query_index(
            queries,
            self.index,
            self._known_cells,
            k=k,
            k_scale=self.kernel.scale_rank,
            k_inner=k_inner,
            n_jobs=self.n_jobs,
        )
        starts = np.searchsorted(near.rows, np.arange(len(queries) + 1, dtype=near.rows.dtype))
        one = np.ones(near.rows.size, dtype=np.bool_)
        lists = csr_array((one, near.columns, starts), shape=(len(queries), self.n_samples))
        stored = csr_array(
            (np.ones(self.values.nnz, dtype=np.bool_), self.values.indices, self.values.indptr),
            shape=self.values.shape,
        )

        def kept(rows: slice) -> tuple[Indices, Indices, Floats]:
            reached = row_slice(lists, rows) @ stored
            reached.sort_indices()
            i = np.repeat(np.arange(rows.start, rows.stop), np.diff(reached.indptr))
            j = reached.indices.astype(np.intp)
            distances = pair_distances(queries, i, self.points, j)
            reach = self.edge.outer[j] + queries.slack[i]
            within = distances <= np.maximum(near.radius[i], reach)
            return i[within], j[within], distances[within]

        n_rows = len(queries)
        parts = [slice(start, min(start + PART, n_rows)) for start in range(0, n_rows, PART)]
        pairs = threads.map_threads(kept, parts, self.n_jobs, blas=False)
        i, j, distances = (np.concatenate(column) for column in zip(*pairs, strict=True))
        return near._replace(rows=i, columns=j, distances=distances)

    def _known_cells(self) -> Cells:
        """The training samples divided into cells, computed once."""
        with _preparing:
            if self._cells is None:
                self._cells = Cells.of(self.points, self.n_jobs)
            return self._cells


def build_sparse(rows: ViewRows, kernel: DistanceKernel) -> SparseAffinity:
    """The kernel of neighbouring rows."""
    features = FeatureMap.of(kernel, rows.values, rows.name)
    points = features.points(
        features(rows.values, rows.name, rows.describe),
        slack=features.slack(rows.values, rows.precision),
    )
    return build_points_affinity(rows, kernel, features, points)


def build_points_affinity(
    rows: ViewRows, kernel: DistanceKernel, features: FeatureMap, points: Points
) -> SparseAffinity:
    """The kernel of neighbouring points; `rows.values` only determines the precision."""
    name, generator, n_jobs = rows.name, rows.generator, rows.n_jobs
    dtype = rows.values.dtype
    k_inner, k = kernel.edge_ranks

    def done(count: int, total: int) -> None:
        rows.progress(f"neighbours of {name}", count, total)

    def allow(pairs: int) -> None:
        memory.require_bytes(
            pairs * PAIR_BYTES,
            rows.allowed,
            what=f"storing at least {pairs:,} pairs of neighbours in view {name!r}",
            instead="neighbours at equal distance are all kept: drop repeated rows, or raise "
            "max_memory",
        )

    search = search_neighbours(
        points,
        search=kernel.search,
        k=k,
        k_scale=kernel.scale_rank,
        k_inner=k_inner,
        generator=generator,
        n_jobs=n_jobs,
        done=done,
        allow=allow,
    )
    lists = search.neighbourhood
    sigma = choose_scale(
        kernel,
        name,
        lists.nearest,
        lists.scale,
        lambda unit: count_distances(points, unit, generator),
    )
    check_reach(name, dtype, sigma, lists.nearest)
    nearest, edge = lists.nearest, Edge(lists.inner if kernel.taper else lists.radius, lists.radius)
    distances = symmetrise(lists)
    index, recall = search.index, search.recall
    del lists, search  # they are as large as the kernel
    values, largest = _kernel_values(kernel, distances, sigma, edge, dtype, n_jobs)
    check_not_identity(name, largest, values.dtype, sigma, nearest)
    return SparseAffinity(
        name,
        kernel,
        features,
        points,
        sigma,
        edge,
        values,
        index=index,
        recall=recall,
        n_jobs=n_jobs,
    )


def _kernel_values(
    kernel: DistanceKernel,
    distances: csr_array,
    sigma: float | Floats,
    edge: Edge,
    dtype: np.dtype[np.floating],
    n_jobs: int,
) -> tuple[csr_array, float]:
    """The kernel of stored distances, and its largest value between distinct samples."""
    values = np.empty(distances.nnz, dtype=dtype)

    def fill(rows: slice) -> float:
        start, stop = distances.indptr[rows.start], distances.indptr[rows.stop]
        d = distances.data[start:stop]
        i = np.repeat(
            np.arange(rows.start, rows.stop), np.diff(distances.indptr[rows.start : rows.stop + 1])
        )
        j = distances.indices[start:stop]
        values[start:stop] = np.exp(-kernel.exponent(d / _pair_scale(sigma, sigma, i, j)))
        if kernel.taper:
            values[start:stop] *= np.maximum(edge.weights(d, i), edge.weights(d, j))
        return float(values[start:stop].max(where=d > 0, initial=0.0))

    parts = even_rows(distances, threads.BLOCK // 8)
    largest = max(threads.map_threads(fill, parts, n_jobs, blas=False))
    pairs = csr_array((values, distances.indices, distances.indptr), shape=distances.shape)
    if kernel.taper:
        pairs.eliminate_zeros()
    return pairs, largest


def _pair_scale(
    own: float | Floats, scale: float | Floats, rows: Indices, columns: Indices
) -> float | Floats:
    """√(σ_i σ_j) of each stored pair, (p,) for local scales, otherwise one number."""
    if isinstance(own, np.ndarray) and isinstance(scale, np.ndarray):
        return np.sqrt(own)[rows] * np.sqrt(scale)[columns]
    return scale
