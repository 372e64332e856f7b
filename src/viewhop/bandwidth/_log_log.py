"""The log-log rule: the scale at which the sum of the kernel rises most steeply.

The rule needs the distribution of the distances, not the distances: a histogram whose bins grow
with the distance. The leading bits of a floating-point number are such a bin, so that filling it
takes less time than computing the kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from viewhop.kernels import DistanceKernel

__all__ = ["Histogram", "Peak", "find_peak"]

Floats = NDArray[np.float64]

#: Bins per factor of 2, as a power of 2.
FINENESS = 8
#: Number of scales at which the rise is computed to find the peak.
GRID = 60


class Histogram:
    """Counts of distances by their leading bits.

    Parameters
    ----------
    dtype : dtype
        Of the distances.
    unit : float
        What they are divided by, so that bins do not depend on the units of the data.
    n_groups : int
        Groups that are counted apart.
    """

    def __init__(self, dtype: np.dtype[np.floating], unit: float, n_groups: int = 1) -> None:
        self.unit = unit
        info = np.finfo(dtype)
        self._shift = info.nmant - FINENESS
        self._words = np.dtype(f"i{dtype.itemsize}")
        self._dtype = dtype
        n_bins = 2 ** (info.bits - 1 - self._shift)
        self._counts = np.zeros((n_groups, n_bins), dtype=np.int64)

    def count(self, distances: NDArray[np.floating]) -> NDArray[np.intp]:
        """Number of distances in each bin, (n_bins,)."""
        relative = np.divide(distances, self._dtype.type(self.unit), order="C")
        bits = relative.astype(self._dtype, copy=False).view(self._words)
        places = np.right_shift(bits, self._shift).ravel()
        return np.bincount(places, minlength=self._counts.shape[1])

    def add(self, counted: NDArray[np.intp], *, group: int = 0, times: int = 1) -> None:
        """Add what was counted, each distance `times` times."""
        self._counts[group] += times * counted

    @property
    def counts(self) -> NDArray[np.int64]:
        """Counts of the bins in use, (n_groups, n_bins)."""
        return self._counts[:, self._used]

    @property
    def middles(self) -> Floats:
        """Middle of each bin in use, in units, (n_bins,); 0 for equal samples."""
        edges = np.stack([self._used, self._used + 1]).astype(self._words) << self._shift
        middles = edges.view(self._dtype).astype(np.float64).mean(axis=0)
        middles[self._used == 0] = 0.0
        return np.asarray(middles)

    @property
    def _used(self) -> NDArray[np.intp]:
        return np.flatnonzero(self._counts.any(axis=0))


class Peak(NamedTuple):
    """The scale of the steepest rise.

    Attributes
    ----------
    scale : float
    error : float
        Standard error of log σ by the jackknife over groups; 0 for a single group.
    """

    scale: float
    error: float


def find_peak(kernel: DistanceKernel, histogram: Histogram) -> Peak:
    """The scale at which d log S / d log σ peaks, with S the sum of the kernel over distances.

    Parameters
    ----------
    kernel : DistanceKernel
    histogram : Histogram
        With at least one positive distance.
    """
    distances, counts = histogram.middles, histogram.counts
    positive = distances[distances > 0]
    grid = np.linspace(np.log(positive.min()) - 1.0, np.log(positive.max()) + 1.0, GRID)

    def rise(at: float, weights: NDArray[np.int64]) -> float:
        u = distances / np.exp(at)
        values = weights * np.exp(-kernel.exponent(u))
        return float((kernel.slope(u) * values).sum() / values.sum())

    def locate(weights: NDArray[np.int64]) -> float:
        rough = int(np.argmax([rise(at, weights) for at in grid]))
        best = minimize_scalar(
            lambda at: -rise(at, weights),
            bounds=(grid[max(rough - 1, 0)], grid[min(rough + 1, GRID - 1)]),
            method="bounded",
            options={"xatol": 1e-6},
        )
        return float(best.x)

    whole = counts.sum(axis=0)
    peak = locate(whole)
    if len(counts) == 1:
        return Peak(histogram.unit * float(np.exp(peak)), 0.0)
    others = np.array([locate(whole - each) for each in counts])
    variance = (1.0 - 1.0 / len(counts)) * np.square(others - others.mean()).sum()
    return Peak(histogram.unit * float(np.exp(peak)), float(np.sqrt(variance)))
