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


#: A sample with less than this share of the median training density is far from all of them.
FAR = 1e-8


@dataclass(frozen=True)
class KernelRows:
    """Kernel rows held as logarithms, so that a far sample still knows its nearest ones.

    Attributes
    ----------
    logs : (n, m) float64 array, or csr_array whose stored entries are logarithms
        −inf is a kernel value of 0; in the sparse form so is an entry that is not stored.
    far : (n,) bool array
        Rows whose sum is below 1e-8 of the median row sum of the training samples.
    """

    logs: Weights
    far: NDArray[np.bool_]

    @classmethod
    def normalised(cls, logs: Weights, density: Floats, alpha: float) -> KernelRows:
        """Rows divided by their own density and that of the training samples, to power alpha.

        Parameters
        ----------
        logs : (n, m) array or csr_array
            Logarithms of the plain kernel.
        density : (m,) array
            Row sums of the plain kernel of the training samples.
        alpha : float
        """
        plain = cls(logs, np.zeros(logs.shape[0], dtype=bool))
        peaks = plain.peaks()
        with np.errstate(divide="ignore"):
            own = np.log(np.asarray(plain.weights(peaks).sum(axis=1)))
        own = np.where(np.isfinite(peaks), own + peaks, 0.0)
        far = np.isfinite(peaks) & (own < np.log(FAR * np.median(density)))
        if not alpha:
            return cls(logs, far)
        if isinstance(logs, np.ndarray):
            return cls(logs - alpha * (own[:, None] + np.log(density)), far)
        repeated = np.repeat(own, np.diff(logs.indptr))
        values = logs.data - alpha * (repeated + np.log(density)[logs.indices])
        return cls(csr_array((values, logs.indices, logs.indptr), shape=logs.shape), far)

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
