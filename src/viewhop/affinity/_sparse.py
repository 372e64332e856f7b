"""A view's kernel held on neighbouring pairs only."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._runtime import memory
from viewhop._runtime import threads as blocks
from viewhop.affinity._affinity import Affinity, Floats, check_not_identity
from viewhop.affinity._kernel_rows import KernelRows
from viewhop.bandwidth import choose_scale, sample_rows
from viewhop.kernels import DistanceKernel, Precomputed
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

#: Bytes that a found pair takes while the list is sorted and made symmetric.
PAIR_BYTES = 100
#: Bytes that threads take for products and measured pairs, whatever the size.
FIXED_BYTES = 10_000_000
#: Multiplications of a product below which threads cost more than they save: 2 ms of one core,
#: where starting threads takes 0.2 ms.
FEW = 2**21
#: Rows whose candidates are measured at once.
PART = 1024

__all__ = [
    "MergedAffinity",
    "SparseAffinity",
    "SparsePrecomputed",
    "build_sparse",
    "build_sparse_precomputed",
    "sparse_bytes",
]

Indices = NDArray[np.integer]

_preparing = Lock()


class _Sparse(Affinity):
    """Multiplication and connectivity of a symmetric matrix of stored pairs.

    Attributes
    ----------
    values : (n, n) csr_array
        The kernel, normalised by density where alpha says so.
    density : (n,) array
        Row sums before that normalisation. If it is given, the values are normalised already.
    """

    def __init__(
        self,
        name: str,
        values: csr_array,
        alpha: float,
        n_jobs: int = 1,
        density: Floats | None = None,
    ) -> None:
        self.name = name
        self.dtype = values.dtype
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.density: Floats
        if density is None:
            self.density = np.asarray(values.sum(axis=1, dtype=np.float64))
            if alpha:
                values = _divided(values, self.density**alpha, n_jobs)
        else:
            self.density = density
        self.values = values
        self._parts: list[tuple[slice, csr_array]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: all but what is made again when it is needed."""
        return {**vars(self), "_parts": None}

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return int(self.values.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.values.data.nbytes + self.values.indices.nbytes + self.values.indptr.nbytes

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel times a vector (n,) or block (n, b), summed in the precision of `V`."""
        width = V.shape[1] if V.ndim > 1 else 1
        if self.n_jobs == 1 or self.values.nnz * width < FEW:
            return np.asarray(self.values @ V)
        product = np.empty(V.shape, dtype=np.result_type(self.values.dtype, V.dtype))

        def multiply(part: tuple[slice, csr_array]) -> None:
            rows, values = part
            product[rows] = values @ V

        blocks.map_threads(multiply, self._row_parts(), self.n_jobs, blas=False)
        return product

    def _row_parts(self) -> list[tuple[slice, csr_array]]:
        """Blocks of rows with about as many stored pairs each."""
        with _preparing:
            if self._parts is None:
                self._parts = [
                    (rows, _rows_of(self.values, rows))
                    for rows in _even_rows(self.values, self.values.nnz // (2 * self.n_jobs))
                ]
            return self._parts

    @property
    def degrees(self) -> Floats:
        """Row sums of the kernel, (n,), in float64."""
        return super().degrees if self.alpha else self.density

    def merged(self, label: NDArray[np.intp]) -> MergedAffinity:
        """The kernel between groups of samples, summed over their members.

        Parameters
        ----------
        label : (n,) array
            Number of the group of each sample; every number up to the largest occurs.
        """
        n, size = self.n_samples, int(label.max()) + 1
        order = np.argsort(label, kind="stable").astype(np.int32)
        ends = np.searchsorted(label[order], np.arange(size + 1)).astype(np.int32)
        members = csr_array((np.ones(n, dtype=self.dtype), order, ends), shape=(size, n))
        groups = label.astype(np.int32)[self.values.indices]
        columns = csr_array((self.values.data, groups, self.values.indptr), shape=(n, size))
        return MergedAffinity(self.name, csr_array(members @ columns), 0.0, self.n_jobs)

    def reordered(self, order: NDArray[np.intp]) -> MergedAffinity:
        """The kernel of the samples in another order: sample k is what ``order[k]`` was."""
        values = self.values
        place = np.empty(order.size, dtype=values.indices.dtype)
        place[order] = np.arange(order.size)
        counts = np.diff(values.indptr)[order]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(values.indptr.dtype)
        taken = np.repeat(values.indptr[:-1][order] - starts[:-1], counts)
        taken += np.arange(taken.size, dtype=taken.dtype)
        columns = place[values.indices[taken]]
        moved = csr_array((values.data[taken], columns, starts), shape=values.shape)
        return MergedAffinity(self.name, moved, 0.0, self.n_jobs)

    def pattern(self, live: NDArray[np.bool_] | None = None) -> csr_array:
        """The stored positive entries; not to be written to."""
        if live is None and self.values.data.all():
            return self.values
        positive = self.values.copy()
        if live is not None:
            positive.data *= live[positive.indices]
        positive.eliminate_zeros()
        return positive

    def _rows(self, logs: Floats, rows: Indices, columns: Indices, n_rows: int) -> KernelRows:
        indptr = np.searchsorted(rows, np.arange(n_rows + 1, dtype=rows.dtype))
        stored = csr_array((logs, columns, indptr), shape=(n_rows, self.n_samples))
        return KernelRows.normalised(stored, self.density, self.alpha)


class SparseAffinity(_Sparse):
    """A kernel of distances between neighbouring samples of a view.

    A pair is stored where its distance is within the radius of one of the two; new samples are
    held to the same rule.

    Attributes
    ----------
    kernel : DistanceKernel
    features : FeatureMap
    points : Points
        The training samples in the kernel's feature space.
    radius : (n,) array
        Distance of each sample to its (k+1)-th nearest, itself included.
    index : Index or None
        What finds the neighbours of a new sample; None where the search is exact.
    """

    def __init__(
        self,
        name: str,
        kernel: DistanceKernel,
        features: FeatureMap,
        points: Points,
        sigma: float | Floats,
        radius: Floats,
        values: csr_array,
        *,
        index: Index | None = None,
        recall: float = 1.0,
        n_jobs: int = 1,
        density: Floats | None = None,
    ) -> None:
        super().__init__(name, values, kernel.alpha, n_jobs, density)
        self.kernel = kernel
        self.features = features
        self.points = points
        self.scale = sigma
        self.radius = radius
        self.index = index
        self.recall = recall
        self._cells: Cells | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: all but what is made again when it is needed."""
        return {**super().__getstate__(), "_cells": None}

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return super().nbytes + self.points.nbytes + self.radius.nbytes

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples (q, d) against the n training samples."""
        queries = self.points.like(self.features(X, self.name))
        found = self._exact(queries) if self.index is None else self._approximate(queries)
        own: float | Floats = self.scale
        if isinstance(self.scale, np.ndarray):
            own = np.sqrt(self.kernel.factor) * found.scale
        scales = _pair_scale(own, self.scale, found.rows, found.columns)
        logs = -self.kernel.exponent(found.distances / scales)
        return self._rows(logs, found.rows, found.columns, len(queries))

    def _exact(self, queries: Points) -> Neighbourhood:
        """All pairs within the radius of either."""
        assert self.kernel.n_neighbors is not None
        return find_neighbourhoods(
            queries,
            self.points,
            k=self.kernel.n_neighbors,
            k_scale=self.kernel.scale_neighbors,
            reach=self.radius,
            n_jobs=self.n_jobs,
            cells=self._known_cells(),
        )

    def _approximate(self, queries: Points) -> Neighbourhood:
        """Pairs within the radius of either, among a row's list and their stored neighbours.

        The list of a training sample has the sample itself in it, and so all its stored pairs.
        """
        assert self.index is not None
        assert self.kernel.n_neighbors is not None
        near = query_index(
            queries,
            self.index,
            self._known_cells,
            k=self.kernel.n_neighbors,
            k_scale=self.kernel.scale_neighbors,
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
            reached = _rows_of(lists, rows) @ stored
            reached.sort_indices()
            i = np.repeat(np.arange(rows.start, rows.stop), np.diff(reached.indptr))
            j = reached.indices.astype(np.intp)
            distances = pair_distances(queries, i, self.points, j)
            within = distances <= np.maximum(near.radius[i], self.radius[j])
            return i[within], j[within], distances[within]

        n_rows = len(queries)
        parts = [slice(start, min(start + PART, n_rows)) for start in range(0, n_rows, PART)]
        found = blocks.map_threads(kept, parts, self.n_jobs, blas=False)
        i, j, distances = (np.concatenate(column) for column in zip(*found, strict=True))
        return near._replace(rows=i, columns=j, distances=distances)

    def _known_cells(self) -> Cells:
        """The training samples in cells, found once."""
        with _preparing:
            if self._cells is None:
                self._cells = Cells.of(self.points, self.n_jobs)
            return self._cells


class MergedAffinity(_Sparse):
    """A kernel that only multiplies: between groups of samples, or samples in another order."""

    scale = float("nan")

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Nothing: no new sample is compared with it."""
        raise TypeError("merged or reordered samples cannot be compared with new ones")


class SparsePrecomputed(_Sparse):
    """The larger entries of a kernel matrix that the caller computed.

    Attributes
    ----------
    kernel : Precomputed
    threshold : (n,) array
        The (k+1)-th largest value of each row.
    """

    scale = float("nan")

    def __init__(
        self,
        name: str,
        kernel: Precomputed,
        threshold: Floats,
        values: csr_array,
        *,
        n_jobs: int = 1,
        density: Floats | None = None,
    ) -> None:
        super().__init__(name, values, kernel.alpha, n_jobs, density)
        self.kernel = kernel
        self.threshold = threshold

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples, given as their (q, n) kernel values."""
        assert self.kernel.n_neighbors is not None
        own = _largest(X, self.kernel.n_neighbors)
        rows, columns = np.nonzero((np.minimum(own[:, None], self.threshold) <= X) & (X > 0))
        logs = np.log(X[rows, columns].astype(np.float64))
        return self._rows(logs, rows, columns, X.shape[0])


def build_sparse(
    name: str,
    kernel: DistanceKernel,
    X: NDArray[np.floating],
    *,
    generator: np.random.Generator,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allowed: int | None = None,
) -> SparseAffinity:
    """The kernel of neighbouring rows of `X`."""
    features = FeatureMap.of(kernel, X)
    points = Points(features(X, name), rounding=features.rounding)
    return build_points_affinity(
        name,
        kernel,
        features,
        points,
        X.dtype,
        generator=generator,
        n_jobs=n_jobs,
        done=done,
        allowed=allowed,
    )


def build_points_affinity(
    name: str,
    kernel: DistanceKernel,
    features: FeatureMap,
    points: Points,
    dtype: np.dtype[np.floating],
    *,
    generator: np.random.Generator,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allowed: int | None = None,
) -> SparseAffinity:
    """The kernel of neighbouring points."""
    assert kernel.n_neighbors is not None

    def allow(pairs: int) -> None:
        memory.require_bytes(
            pairs * PAIR_BYTES,
            allowed,
            what=f"{pairs:,} pairs of neighbours in view {name!r}, with more to come,",
            instead="equal distances are all kept: drop repeated rows, or raise max_memory",
        )

    search = search_neighbours(
        points,
        search=kernel.search,
        k=kernel.n_neighbors,
        k_scale=kernel.scale_neighbors,
        generator=generator,
        n_jobs=n_jobs,
        done=done,
        allow=allow,
    )
    found = search.found
    sigma = choose_scale(
        kernel, name, found.nearest, found.scale, lambda: sample_rows(points, generator)
    )
    nearest, radius = found.nearest, found.radius
    distances = symmetrise(found)
    index, recall = search.index, search.recall
    del found, search  # the lists are as large as the kernel
    values, largest = _kernel_values(kernel, distances, sigma, dtype, n_jobs)
    check_not_identity(name, largest, values.dtype, sigma, nearest)
    return SparseAffinity(
        name,
        kernel,
        features,
        points,
        sigma,
        radius,
        values,
        index=index,
        recall=recall,
        n_jobs=n_jobs,
    )


def _kernel_values(
    kernel: DistanceKernel,
    distances: csr_array,
    sigma: float | Floats,
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
        pair_scale = _pair_scale(sigma, sigma, i, distances.indices[start:stop])
        values[start:stop] = np.exp(-kernel.exponent(d / pair_scale))
        return float(values[start:stop].max(where=d > 0, initial=0.0))

    parts = _even_rows(distances, blocks.BLOCK // 8)
    largest = max(blocks.map_threads(fill, parts, n_jobs, blas=False))
    held = csr_array((values, distances.indices, distances.indptr), shape=distances.shape)
    return held, largest


def build_sparse_precomputed(
    name: str, kernel: Precomputed, values: NDArray[np.floating], *, n_jobs: int = 1
) -> SparsePrecomputed:
    """The entries of a given kernel matrix that reach the threshold of their row or column."""
    assert kernel.n_neighbors is not None
    threshold = _largest(values, kernel.n_neighbors)
    kept = (values >= np.minimum(threshold[:, None], threshold)) & (values > 0)
    held = csr_array(np.where(kept, values, values.dtype.type(0)))
    return SparsePrecomputed(name, kernel, threshold, held, n_jobs=n_jobs)


def _largest(values: NDArray[np.floating], k: int) -> Floats:
    """The (k+1)-th largest value of each row, (n,)."""
    n = values.shape[1]
    place = n - 1 - min(k, n - 1)
    return np.partition(values, place, axis=1)[:, place].astype(np.float64)


def _pair_scale(
    own: float | Floats, scale: float | Floats, rows: Indices, columns: Indices
) -> float | Floats:
    """√(σ_i σ_j) of each stored pair, (p,) for local scales, else one number."""
    if isinstance(own, np.ndarray) and isinstance(scale, np.ndarray):
        return np.sqrt(own)[rows] * np.sqrt(scale)[columns]
    return scale


def _divided(values: csr_array, power: Floats, n_jobs: int) -> csr_array:
    """Values over the power of both of their samples."""
    data = np.empty_like(values.data)

    def fill(rows: slice) -> None:
        start, stop = values.indptr[rows.start], values.indptr[rows.stop]
        own = np.repeat(power[rows], np.diff(values.indptr[rows.start : rows.stop + 1]))
        data[start:stop] = values.data[start:stop] / (own * power[values.indices[start:stop]])

    blocks.map_threads(fill, _even_rows(values, blocks.BLOCK // 8), n_jobs, blas=False)
    return csr_array((data, values.indices, values.indptr), shape=values.shape)


def _even_rows(values: csr_array, n_pairs: int) -> list[slice]:
    """Blocks of rows of about `n_pairs` stored pairs each; no row is empty."""
    n_blocks = max(1, -(-values.nnz // max(1, n_pairs)))
    wanted = np.linspace(0, values.nnz, n_blocks + 1)
    ends = np.unique(np.searchsorted(values.indptr, wanted))
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def _rows_of(values: csr_array, rows: slice) -> csr_array:
    """A block of rows that shares the memory of the whole."""
    start, stop = values.indptr[rows.start], values.indptr[rows.stop]
    # Set one by one: the constructor copies slices of large arrays.
    part = csr_array((rows.stop - rows.start, values.shape[1]), dtype=values.dtype)
    part.data = values.data[start:stop]
    part.indices = values.indices[start:stop]
    part.indptr = values.indptr[rows.start : rows.stop + 1] - start
    return part


def sparse_bytes(
    n: int, d: int, k: int, dtype: np.dtype[np.floating], *, approximate: bool = False
) -> int:
    """Bytes that making a kernel of neighbours takes at its peak, the given rows not counted.

    Parameters
    ----------
    n, d : int
        Samples and features.
    k : int
        Neighbours.
    dtype : dtype of the features
    approximate : bool
        Whether an index of faiss is made, which holds the rows in single precision.

    Notes
    -----
    The rows are held once. Beside them are held, one after the other, the rows again in cells
    with the lists twice, and the lists, their transpose and both together; with them the index,
    whose lists have room to grow, and what the allocator keeps of temporaries. Pairs are counted
    as without ties: the search itself counts the copies of a sample.
    """
    rows = n * d * dtype.itemsize
    pairs = n * (min(k, n - 1) + 1)
    kept = 15 * min(n * d, blocks.BLOCK) + FIXED_BYTES
    index = n * (8 * d + 16) if approximate else 0
    return rows + index + max(rows + 30 * pairs, 60 * pairs) + kept
