"""A precomputed kernel reduced to the larger entries of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._storage.codec import Shelf
from viewhop.affinity._affinity import Floats
from viewhop.affinity._graph import Graph
from viewhop.affinity._kernel_rows import KernelRows
from viewhop.affinity._kernel_values import check_kernel_values
from viewhop.affinity._state import base_state
from viewhop.kernels import Precomputed
from viewhop.views import Describe, ViewRows, row_number

__all__ = ["SparsePrecomputed", "build_sparse_precomputed"]


class SparsePrecomputed(Graph):
    """The larger entries of a precomputed kernel matrix.

    Attributes
    ----------
    kernel : Precomputed
    threshold : (n,) array
        The (k+1)-th largest value of each row.
    """

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
        super().__init__(name, kernel, values, n_jobs=n_jobs, density=density)
        self.threshold = threshold

    def check_new(self, X: NDArray[np.floating], describe: Describe = row_number) -> None:
        """Raise ValueError for a negative kernel value."""
        check_kernel_values(self.name, X, describe)

    def select_columns(
        self, X: NDArray[np.floating], samples: NDArray[np.intp]
    ) -> NDArray[np.floating]:
        """The columns of the samples that the view observed."""
        return X[:, samples]

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The affinity as plain data."""
        shelf.put_csr(self.values)
        shelf.put("threshold", self.threshold)
        return base_state(self, shelf)

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples, given as their (q, n) kernel values."""
        assert self.kernel.n_neighbors is not None
        own = _largest(X, self.kernel.n_neighbors)
        rows, columns = np.nonzero((np.minimum(own[:, None], self.threshold) <= X) & (X > 0))
        logs = np.log(X[rows, columns].astype(np.float64))
        return self._kernel_rows(logs, rows, columns, X.shape[0])


def build_sparse_precomputed(rows: ViewRows, kernel: Precomputed) -> SparsePrecomputed:
    """The entries of a kernel matrix that reach the threshold of their row or column."""
    assert kernel.n_neighbors is not None
    matrix = np.asarray(rows.values)
    values = 0.5 * (matrix + matrix.T)
    threshold = _largest(values, kernel.n_neighbors)
    kept = (values >= np.minimum(threshold[:, None], threshold)) & (values > 0)
    pairs = csr_array(np.where(kept, values, values.dtype.type(0)))
    return SparsePrecomputed(rows.name, kernel, threshold, pairs, n_jobs=rows.n_jobs)


def _largest(values: NDArray[np.floating], k: int) -> Floats:
    """The (k+1)-th largest value of each row, (n,)."""
    n = values.shape[1]
    place = n - 1 - min(k, n - 1)
    return np.partition(values, place, axis=1)[:, place].astype(np.float64)
