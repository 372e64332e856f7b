"""The memory that an affinity takes, known before it is built."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viewhop._runtime.threads import BLOCK
from viewhop.affinity._tiles import GROUPS, SIDE, Tiles
from viewhop.kernels import DistanceKernel, Kernel

__all__ = ["AffinitySize", "search_bytes"]

#: Stored pairs for each that one side asked for: neighbours are not always mutual.
BOTH_WAYS = 1.2
#: Bytes that threads take for products and measured pairs, whatever the size.
FIXED_BYTES = 10_000_000


@dataclass(frozen=True)
class AffinitySize:
    """What decides how much memory the kernel of one view takes.

    Attributes
    ----------
    kernel : Kernel
        A kernel that builds its own affinity counts as nothing: only it knows.
    n, d : int
        Rows and features of the view.
    dtype : dtype of the kernel
    n_jobs : int
        Threads.
    """

    kernel: Kernel
    n: int
    d: int
    dtype: np.dtype[np.floating]
    n_jobs: int = 1

    @property
    def is_dense(self) -> bool:
        """Whether all pairs are stored."""
        return self.kernel.n_neighbors is None and not self.kernel.builds_itself

    @property
    def full_bytes(self) -> int:
        """Bytes of the full matrix; 0 where only neighbours are stored."""
        return self.matrix_bytes(self.n, self.dtype) if self.is_dense else 0

    @staticmethod
    def matrix_bytes(n: int, dtype: np.dtype[np.floating]) -> int:
        """Bytes of a full symmetric matrix of n samples."""
        return Tiles.bytes_of(n, dtype.itemsize)

    @property
    def n_pairs(self) -> float:
        """Expected number of stored pairs of a neighbour kernel."""
        k = self.kernel.n_neighbors
        return 0.0 if k is None else min(self.n * (k + 1) * BOTH_WAYS, self.n * self.n)

    @property
    def stored_bytes(self) -> float:
        """Bytes of the kernel and of the rows that new samples are compared with."""
        if self.kernel.builds_itself:
            return 0.0
        n, size = self.n, self.dtype.itemsize
        values = self.full_bytes if self.is_dense else self.n_pairs * (size + 4) + 4 * n
        if self.kernel.is_pairwise:
            return values
        # Single precision keeps the centred rows, too.
        copies = 2 if self.is_dense and size == 4 else 1
        return values + copies * n * self.d * size + 32 * n

    @property
    def peak_bytes(self) -> float:
        """Bytes while the kernel is built, itself included."""
        kernel, n, size = self.kernel, self.n, self.dtype.itemsize
        if kernel.builds_itself:
            return 0.0
        if kernel.is_pairwise:
            return self.stored_bytes if self.is_dense else 3.0 * n * n * size
        if not self.is_dense:
            assert kernel.n_neighbors is not None
            search = search_bytes(n, self.d, kernel.n_neighbors, self.dtype) - FIXED_BYTES
            return max(search, self.stored_bytes)
        side = min(SIDE, n)
        tiles = 2 * self.n_jobs * side * side * size
        nearest = n * n / side * size
        is_local = isinstance(kernel, DistanceKernel) and kernel.bandwidth == "local"
        panels = 2 * self.n_jobs * side * n * size if is_local else 0
        return self.stored_bytes + tiles + max(nearest, panels)

    @property
    def product_groups(self) -> int:
        """Partial sums that threads keep during a product with a full matrix."""
        return GROUPS


def search_bytes(
    n: int, d: int, k: int, dtype: np.dtype[np.floating], *, approximate: bool = False
) -> int:
    """Bytes that building a neighbour kernel takes at its peak, the given rows not counted.

    Parameters
    ----------
    n, d : int
        Samples and features.
    k : int
        Neighbours.
    dtype : dtype of the features
    approximate : bool
        Whether a faiss index is built, which holds the rows in single precision.

    Notes
    -----
    The rows are held once. Beside them are held, one after the other, the rows again in cells
    with the lists twice, and the lists, their transpose and both together; with them the index,
    whose lists have room to grow, and what the allocator keeps of temporaries. Pairs are counted
    as without ties: the search itself counts the copies of a sample.
    """
    rows = n * d * dtype.itemsize
    pairs = n * (min(k, n - 1) + 1)
    kept = 15 * min(n * d, BLOCK) + FIXED_BYTES
    index = n * (8 * d + 16) if approximate else 0
    return rows + index + max(rows + 30 * pairs, 60 * pairs) + kept
