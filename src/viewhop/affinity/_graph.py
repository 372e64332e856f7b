"""A symmetric kernel stored as pairs: products, connectivity, merging and reordering."""

from __future__ import annotations

from itertools import pairwise
from threading import Lock
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._runtime import threads
from viewhop.affinity._affinity import Affinity, Floats
from viewhop.affinity._kernel_rows import KernelRows
from viewhop.affinity._kernel_values import density_power
from viewhop.kernels import Kernel, Precomputed

__all__ = ["Graph", "MergedGraph", "even_rows", "row_slice"]

Indices = NDArray[np.integer]

#: Multiplications in a product below which threads do not pay off: they take one core 2 ms, and
#: starting threads takes 0.2 ms.
FEW = 2**21

_preparing = Lock()


class Graph(Affinity):
    """Products, connectivity and merging of a symmetric matrix of stored pairs.

    Attributes
    ----------
    values : (n, n) csr_array
        The kernel, normalised by density if alpha is positive.
    """

    coarsening: ClassVar[Literal["subset", "merge"] | None] = "merge"

    def __init__(
        self,
        name: str,
        kernel: Kernel,
        values: csr_array,
        *,
        n_jobs: int = 1,
        density: Floats | None = None,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.dtype = values.dtype
        self.alpha = kernel.alpha
        self.n_jobs = n_jobs
        if density is None:
            density = np.asarray(values.sum(axis=1, dtype=np.float64))
            if self.alpha:
                power = density_power(name, density, self.alpha, self.dtype)
                values = _divide(values, power, n_jobs)
        self._density: Floats = density
        self.values = values
        self._parts: list[tuple[slice, csr_array]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without caches that are rebuilt on demand."""
        return {**vars(self), "_parts": None}

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return int(self.values.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
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

        threads.map_threads(multiply, self._row_parts(), self.n_jobs, blas=False)
        return product

    def _row_parts(self) -> list[tuple[slice, csr_array]]:
        """Blocks of rows with about the same number of stored pairs."""
        with _preparing:
            if self._parts is None:
                self._parts = [
                    (rows, row_slice(self.values, rows))
                    for rows in even_rows(self.values, self.values.nnz // (2 * self.n_jobs))
                ]
            return self._parts

    @property
    def degrees(self) -> Floats:
        """Row sums of the kernel, (n,), in float64."""
        return super().degrees if self.alpha else self._density

    @property
    def density(self) -> Floats:
        """Row sums before density normalisation, (n,)."""
        return self._density

    @property
    def stored_pairs(self) -> csr_array:
        """The stored pairs; read-only by convention."""
        return self.values

    def merge(self, label: NDArray[np.intp]) -> MergedGraph:
        """The kernel between groups of samples, summed over their members.

        Parameters
        ----------
        label : (n,) array
            Group of each sample, numbered from 0 without gaps.
        """
        n, size = self.n_samples, int(label.max()) + 1
        order = np.argsort(label, kind="stable").astype(np.int32)
        ends = np.searchsorted(label[order], np.arange(size + 1)).astype(np.int32)
        members = csr_array((np.ones(n, dtype=self.dtype), order, ends), shape=(size, n))
        groups = label.astype(np.int32)[self.values.indices]
        columns = csr_array((self.values.data, groups, self.values.indptr), shape=(n, size))
        merged = csr_array(members @ columns)
        return MergedGraph(self.name, Precomputed(), merged, n_jobs=self.n_jobs)

    def reorder(self, order: NDArray[np.intp]) -> MergedGraph:
        """The kernel with its samples reordered: new sample k is the old ``order[k]``."""
        values = self.values
        place = np.empty(order.size, dtype=values.indices.dtype)
        place[order] = np.arange(order.size)
        counts = np.diff(values.indptr)[order]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(values.indptr.dtype)
        taken = np.repeat(values.indptr[:-1][order] - starts[:-1], counts)
        taken += np.arange(taken.size, dtype=taken.dtype)
        columns = place[values.indices[taken]]
        moved = csr_array((values.data[taken], columns, starts), shape=values.shape)
        return MergedGraph(self.name, Precomputed(), moved, n_jobs=self.n_jobs)

    def pattern(self, live: NDArray[np.bool_] | None = None) -> csr_array:
        """The stored positive entries; read-only by convention."""
        if live is None and self.values.data.all():
            return self.values
        positive = self.values.copy()
        if live is not None:
            positive.data *= live[positive.indices]
        positive.eliminate_zeros()
        return positive

    def _kernel_rows(
        self, logs: Floats, rows: Indices, columns: Indices, n_rows: int
    ) -> KernelRows:
        indptr = np.searchsorted(rows, np.arange(n_rows + 1, dtype=rows.dtype))
        stored = csr_array((logs, columns, indptr), shape=(n_rows, self.n_samples))
        return KernelRows.normalised(stored, self._density, self.alpha)


class MergedGraph(Graph):
    """A kernel between merged or reordered samples, which supports products only."""

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Raise TypeError: merged and reordered kernels do not support new samples."""
        raise TypeError("merged or reordered samples cannot be compared with new ones")


def _divide(values: csr_array, power: Floats, n_jobs: int) -> csr_array:
    """Stored values divided by `power` at their row and at their column."""
    data = np.empty_like(values.data)

    def fill(rows: slice) -> None:
        start, stop = values.indptr[rows.start], values.indptr[rows.stop]
        own = np.repeat(power[rows], np.diff(values.indptr[rows.start : rows.stop + 1]))
        data[start:stop] = values.data[start:stop] / (own * power[values.indices[start:stop]])

    threads.map_threads(fill, even_rows(values, threads.BLOCK // 8), n_jobs, blas=False)
    return csr_array((data, values.indices, values.indptr), shape=values.shape)


def even_rows(values: csr_array, n_pairs: int) -> list[slice]:
    """Row blocks with about `n_pairs` stored pairs each; every row must have at least one."""
    n_blocks = max(1, -(-values.nnz // max(1, n_pairs)))
    wanted = np.linspace(0, values.nnz, n_blocks + 1)
    ends = np.unique(np.searchsorted(values.indptr, wanted))
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def row_slice(values: csr_array, rows: slice) -> csr_array:
    """A block of rows as a matrix that shares memory with `values`."""
    start, stop = values.indptr[rows.start], values.indptr[rows.stop]
    # Assigned one by one, because the constructor copies slices of large arrays.
    part = csr_array((rows.stop - rows.start, values.shape[1]), dtype=values.dtype)
    part.data = values.data[start:stop]
    part.indices = values.indices[start:stop]
    part.indptr = values.indptr[rows.start : rows.stop + 1] - start
    return part
