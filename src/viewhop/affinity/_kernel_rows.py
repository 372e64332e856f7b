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
    values : (p, m) array or csr_array
        Each row divided by its largest entry.
    peaks : (n,) float64 array
        Logarithm of the largest entry of each row; −inf for a row of zeros.
    coverage : (n,) array
        Row sums of the plain kernel, divided by their median over the training samples.
    places : (p,) index array or None
        Which of the n rows `values` has, in increasing order; the others are rows of zeros. None
        means all of them.
    """

    values: Values
    peaks: Floats
    coverage: Floats
    places: NDArray[np.intp] | None = None

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

    @classmethod
    def of_exponents(
        cls, exponents: NDArray[np.floating], least: NDArray[np.floating], typical: float
    ) -> KernelRows:
        """Rows of a kernel without density normalisation, from its −log.

        Parameters
        ----------
        exponents : (n, m) array
            Finite; it is overwritten.
        least : (n,) array
            The least of each row.
        typical : float
            As in `normalised`.
        """
        np.subtract(least[:, None], exponents, out=exponents)
        plain = cls(np.exp(exponents, out=exponents), -least.astype(np.float64), np.empty(0))
        return replace(plain, coverage=_coverage(plain._log_sums(), typical))

    @property
    def n_rows(self) -> int:
        """Number of new samples."""
        return self.peaks.size

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
        return KernelRows(self.values, peaks, coverage, places)

    def only(self, wanted: NDArray[np.bool_]) -> KernelRows:
        """The rows in a mask (n,), with rows of zeros in place of the others."""
        places = np.arange(self.n_rows) if self.places is None else self.places
        kept = np.flatnonzero(wanted[places])
        if kept.size == places.size:
            return self
        return KernelRows(
            self.values[kept],
            np.where(wanted, self.peaks, -np.inf),
            np.where(wanted, self.coverage, 0.0),
            places[kept],
        )

    def weights(self, shift: Floats) -> Values:
        """Kernel rows divided by exp(shift), with one shift per row, (n, m)."""
        factor = self._factors(shift)
        if self.places is not None:
            factor = factor[self.places]
        if isinstance(self.values, np.ndarray):
            stored = self.values * factor.astype(self.values.dtype)[:, None]
            if self.places is None:
                return stored
            weights = np.zeros((self.n_rows, stored.shape[1]), dtype=stored.dtype)
            weights[self.places] = stored
            return weights
        counts = np.diff(self.values.indptr)
        data = self.values.data * np.repeat(factor, counts)
        if self.places is None:
            return _like(self.values, data)
        starts = np.zeros(self.n_rows + 1, dtype=self.values.indptr.dtype)
        starts[1 + self.places] = counts
        shape = self.n_rows, self.values.shape[1]
        return csr_array((data, self.values.indices, np.cumsum(starts)), shape=shape)

    def average(self, vectors: NDArray[np.floating], shift: Floats | None = None) -> Floats:
        """The rows times vectors (m,) or (m, r), in the precision of the rows; 0 for no row.

        Parameters
        ----------
        vectors : array
        shift : (n,) array or None
            Rows are divided by exp(shift); None leaves each divided by its largest entry.
        """
        product = np.asarray(self.values @ vectors.astype(self.values.dtype, copy=False))
        out = np.zeros((self.n_rows, *product.shape[1:]))
        out[slice(None) if self.places is None else self.places] = product
        if shift is None:
            return out
        factors = self._factors(shift)
        return np.asarray(out * (factors if out.ndim == 1 else factors[:, None]))

    def largest(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Column of the largest entry of some rows that are not zero, (q,)."""
        stored = rows if self.places is None else np.searchsorted(self.places, rows)
        return np.asarray(self.values[stored].argmax(axis=1)).ravel()

    def _factors(self, shift: Floats) -> Floats:
        """exp(peaks − shift), and 1 for rows of zeros, (n,)."""
        seen = np.isfinite(self.peaks)
        return np.exp(np.subtract(self.peaks, shift, where=seen, out=np.zeros(seen.size)))

    def _log_sums(self) -> Floats:
        """Logarithm of the sum of each row, (n,)."""
        # A product with ones takes half as long as a sum.
        ones = np.ones(self.values.shape[1], dtype=self.values.dtype)
        with np.errstate(divide="ignore"):
            return np.asarray(self.peaks + np.log(np.asarray(self.values @ ones, dtype=np.float64)))


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
