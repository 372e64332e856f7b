"""Kernel values of new samples against the training samples of one view."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["KernelRows", "Values", "normalised_logs"]

Floats = NDArray[np.float64]
Values: TypeAlias = "NDArray[np.floating] | csr_array"


#: A sample is far from all others if its density is below this share of the training median.
FAR = 1e-8


@dataclass(frozen=True)
class KernelRows:
    """Kernel rows divided by their largest entries, so that far samples do not underflow.

    Attributes
    ----------
    values : (n, m) array or csr_array
        Each row divided by its largest entry.
    peaks : (n,) float64 array
        Logarithm of the largest entry of each row; −inf for a row of zeros.
    coverage : (n,) array
        Row sums of the plain kernel, divided by their median over the training samples.
    """

    values: Values
    peaks: Floats
    coverage: Floats

    @classmethod
    def of(cls, logs: Values, coverage: Floats) -> KernelRows:
        """Rows of a kernel from its logarithms.

        Parameters
        ----------
        logs : (n, m) array, or csr_array with logarithms as its stored entries
            −inf, or an entry that is not stored, means a kernel value of 0. A dense array is
            overwritten.
        coverage : (n,) array
        """
        peaks = _peaks(logs)
        shift = np.where(np.isfinite(peaks), peaks, 0.0)
        if isinstance(logs, np.ndarray):
            logs -= shift.astype(logs.dtype)[:, None]
            return cls(np.exp(logs, out=logs), peaks, coverage)
        values = np.exp(logs.data - np.repeat(shift, np.diff(logs.indptr)))
        return cls(_like(logs, values), peaks, coverage)

    @classmethod
    def normalised(
        cls, logs: Values, density: Floats, alpha: float, typical: float | None = None
    ) -> KernelRows:
        """Rows divided by their own density and that of the training samples, to power alpha.

        Parameters
        ----------
        logs : (n, m) array or csr_array
            Logarithms of the plain kernel, as in `of`; a dense array is overwritten.
        density : (m,) array
            Row sums of the plain kernel of the training samples.
        alpha : float
        typical : float or None
            The median of `density`, if known.
        """
        if alpha:
            return cls.of(*normalised_logs(logs, density, alpha))
        plain = cls.of(logs, np.zeros(logs.shape[0]))
        typical = float(np.median(density)) if typical is None else typical
        return replace(plain, coverage=_coverage(plain._log_sums(), typical))

    @property
    def n_rows(self) -> int:
        """Number of new samples."""
        return int(self.values.shape[0])

    @property
    def far(self) -> NDArray[np.bool_]:
        """Mask of the rows that are positive somewhere but have very low coverage."""
        return np.asarray(np.isfinite(self.peaks) & (self.coverage < FAR))

    def placed(self, places: NDArray[np.intp], n_rows: int) -> KernelRows:
        """The same rows at other positions, with rows of zeros between them.

        Parameters
        ----------
        places : (n,) index array
            New position of each row, in increasing order.
        n_rows : int
            Total number of rows.
        """
        peaks, coverage = np.full(n_rows, -np.inf), np.zeros(n_rows)
        peaks[places], coverage[places] = self.peaks, self.coverage
        if isinstance(self.values, np.ndarray):
            values: Values = np.zeros((n_rows, self.values.shape[1]), dtype=self.values.dtype)
            values[places] = self.values
        else:
            counts = np.zeros(n_rows, dtype=self.values.indptr.dtype)
            counts[places] = np.diff(self.values.indptr)
            starts = np.concatenate([[0], np.cumsum(counts)])
            shape = n_rows, self.values.shape[1]
            values = csr_array((self.values.data, self.values.indices, starts), shape=shape)
        return KernelRows(values, peaks, coverage)

    def weights(self, shift: Floats) -> Values:
        """Kernel rows divided by exp(shift), with one shift per row, (n, m)."""
        seen = np.isfinite(self.peaks)
        factor = np.exp(np.subtract(self.peaks, shift, where=seen, out=np.zeros(seen.size)))
        if isinstance(self.values, np.ndarray):
            return self.values * factor.astype(self.values.dtype)[:, None]
        return _like(self.values, self.values.data * np.repeat(factor, np.diff(self.values.indptr)))

    def _log_sums(self) -> Floats:
        """Logarithm of the sum of each row, (n,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.peaks + np.log(np.asarray(self.values.sum(axis=1))))


def normalised_logs(logs: Values, density: Floats, alpha: float) -> tuple[Values, Floats]:
    """Logarithms of kernel rows divided by densities to power alpha, and their coverage.

    Parameters
    ----------
    logs, density, alpha
        As in `KernelRows.normalised`; `logs` is not changed.
    """
    own = KernelRows.of(logs.copy(), np.zeros(logs.shape[0]))._log_sums()
    coverage = _coverage(own, float(np.median(density)))
    if not alpha:
        return logs, coverage
    own = np.where(np.isfinite(own), own, 0.0)
    if isinstance(logs, np.ndarray):
        return (logs - alpha * own[:, None] - alpha * np.log(density)).astype(logs.dtype), coverage
    repeated = np.repeat(own, np.diff(logs.indptr))
    return _like(logs, logs.data - alpha * (repeated + np.log(density)[logs.indices])), coverage


def _coverage(log_sums: Floats, typical: float) -> Floats:
    """Row sums divided by a typical row sum."""
    return np.asarray(np.exp(log_sums - np.log(typical)))


def _peaks(logs: Values) -> Floats:
    """Largest stored entry of each row, (n,); −inf for a row without entries."""
    if isinstance(logs, np.ndarray):
        return np.asarray(logs.max(axis=1), dtype=np.float64)
    peaks = np.full(logs.shape[0], -np.inf)
    filled = np.flatnonzero(np.diff(logs.indptr))
    if filled.size:
        peaks[filled] = np.maximum.reduceat(logs.data, logs.indptr[filled])
    return peaks


def _like(pattern: csr_array, values: NDArray[np.floating]) -> csr_array:
    """A matrix with the sparsity of `pattern` and other values."""
    return csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
