"""Kernel values of new samples against the training samples of one view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["KernelRows"]

Floats = NDArray[np.float64]
Weights: TypeAlias = "Floats | csr_array"


@dataclass(frozen=True)
class KernelRows:
    """Kernel rows held as logarithms, so that a far sample still knows its nearest ones.

    Attributes
    ----------
    logs : (n, m) float64 array, or csr_array whose stored entries are logarithms
        −inf is a kernel value of 0; in the sparse form so is an entry that is not stored.
    """

    logs: Weights

    @classmethod
    def stored(
        cls, logs: Floats, rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]
    ) -> KernelRows:
        """Rows from parallel arrays that are sorted by row and column."""
        indptr = np.searchsorted(rows, np.arange(shape[0] + 1))
        return cls(csr_array((logs, columns, indptr), shape=shape))

    @property
    def n_rows(self) -> int:
        """Number of new samples."""
        return int(self.logs.shape[0])

    def peaks(self) -> Floats:
        """Largest logarithm of each row, (n,); −inf for a row without mass."""
        if isinstance(self.logs, np.ndarray):
            return np.asarray(self.logs.max(axis=1))
        peaks = np.full(self.n_rows, -np.inf)
        filled = np.flatnonzero(np.diff(self.logs.indptr))
        if filled.size:
            peaks[filled] = np.maximum.reduceat(self.logs.data, self.logs.indptr[filled])
        return peaks

    def weights(self, shift: Floats) -> Weights:
        """Kernel rows over exp(shift), one shift per row."""
        shift = np.where(np.isfinite(shift), shift, 0.0)
        if isinstance(self.logs, np.ndarray):
            return np.exp(self.logs - shift[:, None])
        values = np.exp(self.logs.data - np.repeat(shift, np.diff(self.logs.indptr)))
        return csr_array((values, self.logs.indices, self.logs.indptr), shape=self.logs.shape)

    def divided(self, density: Floats, alpha: float) -> KernelRows:
        """Rows divided by their own density and by that of the training samples, to power alpha.

        Parameters
        ----------
        density : (m,) array
            Density of the training samples.
        alpha : float
        """
        peaks = self.peaks()
        own = np.where(np.isfinite(peaks), peaks, 0.0)
        with np.errstate(divide="ignore"):
            own = own + np.log(self.weights(peaks).sum(axis=1))
        own = np.where(np.isfinite(own), own, 0.0)
        if isinstance(self.logs, np.ndarray):
            return KernelRows(self.logs - alpha * (own[:, None] + np.log(density)))
        repeated = np.repeat(own, np.diff(self.logs.indptr))
        values = self.logs.data - alpha * (repeated + np.log(density)[self.logs.indices])
        return KernelRows(
            csr_array((values, self.logs.indices, self.logs.indptr), shape=self.logs.shape)
        )
