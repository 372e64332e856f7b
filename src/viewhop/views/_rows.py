"""The mapping from the rows of each view to samples.

A view has no row for a sample that it did not observe. When the walker hops between views, vectors
over rows are scattered to samples and gathered again; missing rows are never imputed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["RowMap", "unless_whole"]

Indices = NDArray[np.intp]
Rows = NDArray[Any]


class RowMap:
    """The sample that each row of each view belongs to.

    Parameters
    ----------
    sizes : sequence of int
        Number of rows of each view.
    samples : sequence of (n_l,) index arrays or None
        Sample of each row of each view; None if row k is sample k.
    n_samples : int

    Attributes
    ----------
    sizes : tuple of int
    n_samples : int
    """

    def __init__(
        self, sizes: Sequence[int], samples: Sequence[Indices | None], n_samples: int
    ) -> None:
        self.sizes = tuple(sizes)
        self.n_samples = n_samples
        self._samples = tuple(unless_whole(view, n_samples) for view in samples)

    @classmethod
    def whole(cls, n_views: int, n_samples: int) -> RowMap:
        """The map of views that observed every sample, in order."""
        return cls([n_samples] * n_views, [None] * n_views, n_samples)

    def with_view(self, samples: Indices | None) -> RowMap:
        """The map with one more view, whose rows belong to `samples`; None if to all in order."""
        size = self.n_samples if samples is None else samples.size
        return RowMap([*self.sizes, size], [*self._samples, samples], self.n_samples)

    def first_views(self, n_views: int) -> RowMap:
        """The map of the first views only."""
        return RowMap(self.sizes[:n_views], self._samples[:n_views], self.n_samples)

    @property
    def is_whole(self) -> bool:
        """Whether every view has one row for every sample, in order."""
        return all(samples is None for samples in self._samples)

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.sizes)

    @cached_property
    def starts(self) -> Indices:
        """First row of each view when all are stacked, then the total, (n_views + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    @cached_property
    def observed(self) -> NDArray[np.bool_]:
        """Which samples each view observed, (n_samples, n_views)."""
        observed = np.zeros((self.n_samples, self.n_views), dtype=bool)
        for view, samples in enumerate(self._samples):
            observed[slice(None) if samples is None else samples, view] = True
        return observed

    def samples(self, view: int) -> Indices:
        """The sample of each row of a view, (n_l,)."""
        samples = self._samples[view]
        return np.arange(self.n_samples) if samples is None else samples

    def first_rows(self, view: int) -> Indices:
        """The first row of each sample in a view, (n_samples,); −1 if it was not observed."""
        first = np.full(self.n_samples, -1, dtype=np.intp)
        samples = self.samples(view)
        first[samples[::-1]] = np.arange(samples.size)[::-1]
        return first

    def is_repeated(self, view: int) -> bool:
        """Whether a view has several rows for some sample."""
        return bool(self.observed[:, view].sum() < self.sizes[view])

    def split(self, V: Rows) -> list[Rows]:
        """The stacked rows V split by view, one (n_l, …) array each."""
        return np.split(V, self.starts[1:-1])

    def scattered(self, view: int, W: Rows) -> Rows:
        """Row values of a view summed over the rows of each sample, (n_samples, …)."""
        samples = self._samples[view]
        if samples is None:
            return W
        if self.is_repeated(view):
            ones = np.ones(samples.size, dtype=W.dtype)
            places = (samples, np.arange(samples.size))
            return np.asarray(csr_array((ones, places), shape=(self.n_samples, samples.size)) @ W)
        out = np.zeros((self.n_samples, *W.shape[1:]), dtype=W.dtype)
        out[samples] = W
        return out

    def gathered(self, view: int, W: Rows) -> Rows:
        """Sample values at each row of a view, (n_l, …)."""
        samples = self._samples[view]
        return W if samples is None else W[samples]

    def carried(self, W: Rows, start: int, end: int) -> Rows:
        """Row values of view `start`, moved to the rows of view `end` by sample, (n_end, …)."""
        return self.gathered(end, self.scattered(start, W))

    def spread(self, view: int, W: Rows) -> Rows:
        """Row values of a view averaged over the rows of each sample, (n_samples, …).

        NaN for a sample without rows; rows with NaN are ignored.
        """
        if self._samples[view] is None:
            return W
        others = tuple(range(1, W.ndim))
        kept = np.asarray(~np.isnan(W).any(axis=others, keepdims=True))
        total = self.scattered(view, np.where(kept, W, W.dtype.type(0)))
        count = self.scattered(view, kept.astype(W.dtype))
        with np.errstate(invalid="ignore"):
            return np.asarray(total / count)

    def where(self, node: int) -> tuple[int, int]:
        """The view and the sample of a row of the stacked views."""
        view = int(np.searchsorted(self.starts, node, side="right")) - 1
        return view, int(self.samples(view)[node - self.starts[view]])

    def of_samples(self, chosen: Indices) -> tuple[RowMap, list[Indices]]:
        """The map restricted to chosen samples (sorted), and the rows of each view that remain."""
        place = np.full(self.n_samples, -1, dtype=np.intp)
        place[chosen] = np.arange(chosen.size)
        kept: list[Indices] = []
        samples: list[Indices | None] = []
        for known in self._samples:
            if known is None:
                kept.append(chosen)
                samples.append(None)
                continue
            rows = np.flatnonzero(place[known] >= 0)
            kept.append(rows)
            samples.append(place[known[rows]])
        return RowMap([rows.size for rows in kept], samples, chosen.size), kept

    def reordered(self, order: Indices) -> tuple[RowMap, list[Indices]]:
        """The map with its samples reordered, and the new order of the rows of each view.

        Parameters
        ----------
        order : (n_samples,) index array
            New sample k is old sample ``order[k]``.
        """
        place = np.empty(order.size, dtype=np.intp)
        place[order] = np.arange(order.size)
        orders: list[Indices] = []
        samples: list[Indices | None] = []
        for known in self._samples:
            if known is None:
                orders.append(order)
                samples.append(None)
                continue
            moved = np.argsort(place[known], kind="stable")
            orders.append(moved)
            samples.append(place[known][moved])
        return RowMap(self.sizes, samples, self.n_samples), orders

    def merged(self, label: Indices) -> tuple[RowMap, list[Indices]]:
        """The map of merged samples, and the merged row of each row of each view.

        Parameters
        ----------
        label : (n_samples,) index array
            Index of the merged sample that each sample belongs to.
        """
        n = int(label.max()) + 1
        labels: list[Indices] = []
        samples: list[Indices | None] = []
        sizes: list[int] = []
        for known in self._samples:
            if known is None:
                labels.append(label)
                samples.append(None)
                sizes.append(n)
                continue
            groups, within = np.unique(label[known], return_inverse=True)
            labels.append(within.astype(np.intp, copy=False))
            samples.append(groups)
            sizes.append(groups.size)
        return RowMap(sizes, samples, n), labels

    def live(self, hops: NDArray[np.float64]) -> list[NDArray[np.bool_]]:
        """Whether the walker can hop from each row of each view, (n_l,) each."""
        reached = self.observed @ (hops > 0)
        return [self.gathered(view, reached[:, view]) for view in range(self.n_views)]


def unless_whole(samples: Indices | None, n_samples: int) -> Indices | None:
    """The samples of a view's rows; None if there is one row per sample, in order."""
    if samples is None or samples.size != n_samples:
        return samples
    return None if bool((samples == np.arange(n_samples)).all()) else samples
