"""Footprint: the memory that a fit will take, known before it takes any.

Counted are the arrays that are held at the same time at the worst moment of each stage; the
caller's own arrays are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from viewhop import solvers
from viewhop.affinity._sparse import FIXED_BYTES, sparse_bytes
from viewhop.affinity._tiles import GROUPS, SIDE, Tiles
from viewhop.kernels import Kernel, Precomputed
from viewhop.solvers._krylov import SPARSE_WIDTH, WIDTH, max_columns
from viewhop.solvers._lapack import MATRICES

__all__ = ["FIXED", "Footprint"]

#: What threads and modules that are loaded on the way take, whatever the size.
FIXED = 45_000_000
#: Stored pairs for each that one side asked for: neighbours are not always mutual.
BOTH_WAYS = 1.2
#: Share of the basis that an iteration on full kernels fills before it has converged.
FILLED = 0.5


@dataclass(frozen=True)
class Footprint:
    """Sizes that decide how much memory a fit takes.

    Attributes
    ----------
    kernels : dict of Kernel by view name
    n_samples : int
    n_rows : dict of int by view name
        Samples that the view observed.
    n_features : dict of int by view name
    dtype : dtype of the kernels
    fusion : str
    is_cross : bool
        Whether the walk alternates between two blocks, so that half of it is solved.
    r : int
        Eigenpairs.
    solver : str
    tol : float or None
    n_jobs : int
    """

    kernels: Mapping[str, Kernel]
    n_samples: int
    n_rows: Mapping[str, int]
    n_features: Mapping[str, int]
    dtype: np.dtype[np.floating]
    fusion: str
    is_cross: bool
    r: int
    solver: str
    tol: float | None
    n_jobs: int

    @property
    def peak(self) -> int:
        """Bytes of arrays at the worst moment of the fit."""
        held = sum(self.held(name) for name in self.kernels)
        return int(max(self.making, held + self.solving, held + self.keeping))

    @property
    def is_dense(self) -> bool:
        """Whether some kernel is held as a full matrix."""
        return any(kernel.n_neighbors is None for kernel in self.kernels.values())

    @property
    def dense(self) -> int:
        """Bytes of the full kernels alone."""
        size = self.dtype.itemsize
        full = [name for name, kernel in self.kernels.items() if kernel.n_neighbors is None]
        held = sum(Tiles.bytes_of(self.n_rows[name], size) for name in full)
        if self.fusion == "product" and len(full) == len(self.kernels):
            held += Tiles.bytes_of(self.n_samples, size)
        return held

    def held(self, name: str) -> float:
        """Bytes of one view's kernel and of the rows that new samples are compared with."""
        kernel, n, size = self.kernels[name], self.n_rows[name], self.dtype.itemsize
        if kernel.n_neighbors is None:
            values: float = Tiles.bytes_of(n, size)
        else:
            values = self._pairs(name) * (size + 4) + 4 * n
        if isinstance(kernel, Precomputed):
            return values
        rows = n * self.n_features[name]
        # Single precision keeps the centred rows, too.
        copies = 2 if kernel.n_neighbors is None and size == 4 else 1
        return values + copies * rows * size + 32 * n

    @property
    def making(self) -> float:
        """Bytes while the kernels are made."""
        near = [name for name, kernel in self.kernels.items() if kernel.n_neighbors is not None]
        at_once = min(self.n_jobs, len(near)) if len(near) == len(self.kernels) else 1
        extra = sorted(self._making(name) - self.held(name) for name in self.kernels)
        held = sum(self.held(name) for name in self.kernels)
        joint = self.dense / (len(self.kernels) + 1) if self.fusion == "product" else 0.0
        return held + max(sum(extra[-at_once:]), joint)

    def _making(self, name: str) -> float:
        """Bytes while one kernel is made, itself included."""
        kernel, n, size = self.kernels[name], self.n_rows[name], self.dtype.itemsize
        d = self.n_features[name]
        if isinstance(kernel, Precomputed):
            return self.held(name) if kernel.n_neighbors is None else 3.0 * n * n * size
        if kernel.n_neighbors is not None:
            made = sparse_bytes(n, d, kernel.n_neighbors, self.dtype) - FIXED_BYTES
            return max(made, self.held(name))
        side = min(SIDE, n)
        tiles = 2 * self.n_jobs * side * side * size
        least = n * n / side * size
        panels = 2 * self.n_jobs * side * n * size if kernel.bandwidth == "local" else 0
        return self.held(name) + tiles + max(least, panels)

    @property
    def solving(self) -> float:
        """Bytes while the spectrum is solved for, the kernels not counted."""
        n, size, r = self.n_samples, self.dtype.itemsize, self.r
        is_hop = self.fusion == "hop"
        nodes = sum(self.n_rows.values()) if is_hop else n * (2 if self.is_cross else 1)
        solved = nodes // 2 if self.is_cross else nodes
        found = 5.0 * nodes * r * 8
        is_small = nodes <= solvers.DENSE_NODES or 5 * r >= nodes
        if self.solver == "dense" or (self.solver == "auto" and is_small):
            return MATRICES * 8.0 * nodes**2
        if self.is_dense:
            basis = 2 * FILLED * max_columns(r, is_dense=True) * 8
            sums = GROUPS * WIDTH * size * n / solved
            return solved * (basis + sums + 8 * WIDTH * 8) + found
        is_many = self.solver == "auto" and solvers.is_many(n, self.dtype, self.tol)
        if not (is_many or self.solver == "krylov"):
            return solved * max(2 * r + 1, 24) * 8 * 2.0 + found
        # The kernels in another order, with the places they are taken from, and on fewer samples.
        pairs = [self._pairs(name) for name in self.kernels]
        moved = 1.25 * sum(pairs) * (size + 4) + 12 * max(pairs)
        basis = 2 * max_columns(r, is_dense=False) * size + 10 * SPARSE_WIDTH * size
        start = 2.0 * nodes * (r + max(10, r // 2)) * 8
        return moved + solved * basis + start + found

    @property
    def keeping(self) -> float:
        """Bytes while the coordinates are made and stored, the kernels not counted."""
        return 6.0 * len(self.kernels) * self.n_samples * (self.r + 1) * 8

    def _pairs(self, name: str) -> float:
        kernel, n = self.kernels[name], self.n_rows[name]
        assert kernel.n_neighbors is not None
        return min(n * (kernel.n_neighbors + 1) * BOTH_WAYS, n * n)
