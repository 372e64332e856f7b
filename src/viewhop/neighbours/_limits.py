"""Limits: how far the neighbours of some rows can be at most, from bounds of squared distances.

A pair is dropped only if its lower bound exceeds the (k+1)-th smallest upper bound of its row, so
no neighbour is lost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairLimits"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Number of groups per neighbour; the minima of the groups bound a radius.
GROUPS = 8


class PairLimits:
    """Training samples that may be among the nearest of some rows, by bounds of their distances.

    Parameters
    ----------
    sizes : (m,) array
        Squared sizes of the rows, in units, that the error of a squared distance is relative to.
    error : float
        This relative error, counted once for each row of a pair.
    apart : float
        Squared distance, in units, up to which rows may coincide.
    k : int
        Number of neighbours, not counting the row itself.
    unit : float
        What distances are multiplied by.
    dtype : dtype
        Precision of the bounds.
    slack : (m,) array or 0
        Distance, in units, beyond its radius up to which a row's neighbours are kept.

    Attributes
    ----------
    n_pairs, n_columns : int
        Number of pairs proposed, and of training samples considered, so far.
    """

    def __init__(
        self,
        sizes: Floats,
        *,
        error: float,
        apart: float,
        k: int,
        unit: float,
        dtype: np.dtype[np.floating],
        slack: Floats | float = 0.0,
    ) -> None:
        self._norms = sizes
        self._error = error
        self._apart = apart
        self._k = k
        self._unit = unit
        self._dtype = dtype
        self._slack = np.broadcast_to(np.asarray(slack), sizes.shape)
        self._best = np.full((sizes.size, k + 1), np.inf)
        self._close = np.zeros(sizes.size, dtype=np.intp)
        self._distinct = np.full(sizes.size, np.inf)
        self._chunks: list[tuple[Indices, Indices, Floats, NDArray[np.bool_] | None]] = []
        self.n_pairs = 0
        self.n_columns = 0

    def consider(
        self,
        columns: Indices,
        lower: NDArray[np.floating],
        sizes: Floats,
        reach: Floats | None,
        near: NDArray[np.bool_] | None = None,
    ) -> None:
        """Propose the pairs that the limits so far do not rule out.

        Parameters
        ----------
        columns : (c,) index array
            Indices of the training samples.
        lower : (m, c) array
            Lower bounds of the squared distances, in units.
        sizes : (c,) array
            Squared sizes of the training samples, in units.
        reach : (c,) array or None
            Pairs no farther apart than this are also proposed.
        near : (m, c) bool array or None
            A buffer.
        """
        limit = self._limit()
        loose = ~np.isfinite(limit)
        if loose.any() and columns.size > self._k:
            kth = self._smallest(lower[loose] if not loose.all() else lower)
            above = self._above(self._norms[loose], sizes.max())
            # If k+1 of them may coincide with the row, all are needed to find a distinct one.
            limit[loose] = np.where(
                kth > 0, _widened(np.maximum(kth + above, 0.0), self._slack[loose]), np.inf
            )
        near = np.less_equal(lower, self._rounded_up(limit)[:, None], out=near)
        reached = None
        if reach is not None:
            far = reach * self._unit + self._slack.max(initial=0.0)
            reached = lower <= self._rounded_up(np.square(np.minimum(far, 1e150)) * (1 + 1e-12))
            near |= reached
        flat = np.flatnonzero(near)
        i, j = np.divmod(flat, columns.size)
        is_whole = lower.flags.c_contiguous
        below = (lower.ravel()[flat] if is_whole else lower[i, j]).astype(np.float64)
        self._update_limits(i, below, below + self._above(self._norms[i], sizes[j]))
        kept = None if reached is None else reached.ravel()[flat]
        self._chunks.append((i, columns[j], below, kept))
        self.n_pairs += i.size
        self.n_columns += columns.size

    def radii(self) -> Floats:
        """Upper bounds of the radii of the rows, (m,); inf where none is known yet."""
        return np.sqrt(np.maximum(self._limit(), 0.0)) / self._unit * (1 + 1e-9)

    def tighten(self) -> None:
        """Drop the pairs that later ones have ruled out."""
        limit = self._limit()
        i, columns, below = (
            np.concatenate([chunk[part] for chunk in self._chunks]) for part in range(3)
        )
        near = below <= limit[i]
        reached = None
        if self._chunks[0][3] is not None:
            reached = np.concatenate([chunk[3] for chunk in self._chunks])
            near |= reached
            reached = reached[near]
        self._chunks = [(i[near], columns[near], below[near], reached)]
        self.n_pairs = int(near.sum())

    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The proposed pairs: positions of rows, and indices of training samples."""
        self.tighten()
        i, columns = self._chunks[0][:2]
        return i.astype(np.intp, copy=False), columns.astype(np.intp, copy=False)

    def _above(self, norms: Floats, others: Floats | float) -> Floats:
        """Differences between the upper and the lower bounds."""
        return np.asarray(2.0 * (self._error * (norms + others) + self._apart))

    def _limit(self) -> Floats:
        """Upper bounds of the squared distances of each row's neighbours, in units."""
        limit = self._best.max(axis=1)
        # If k+1 samples may coincide with the row, its radius is that of the nearest distinct one.
        short = self._close > self._k
        limit = np.where(short, np.maximum(limit, self._distinct), limit)
        return _widened(limit, self._slack)

    def _rounded_up(self, squares: Floats) -> NDArray[np.floating]:
        most = 0.5 * float(np.finfo(self._dtype).max)
        return np.nextafter(np.minimum(squares, most).astype(self._dtype), self._dtype.type(np.inf))

    def _smallest(self, lower: NDArray[np.floating]) -> Floats:
        """A value that at least k+1 entries of each row do not exceed, (m,).

        It is taken from the minima of groups of entries: a valid bound, and fewer entries to sort.
        """
        m, n = lower.shape
        n_groups = max(self._k + 1, min(n, GROUPS * (self._k + 1)))
        size = n // n_groups
        least = lower[:, : size * n_groups].reshape(m, size, n_groups).min(axis=1)
        smallest: Floats = np.partition(least, self._k, axis=1)[:, self._k].astype(np.float64)
        return smallest

    def _update_limits(self, i: Indices, below: Floats, above: Floats) -> None:
        """Lower the limits with new pairs, sorted by row."""
        counts = np.bincount(i, minlength=self._norms.size)
        place = np.arange(i.size) - np.repeat(np.cumsum(counts) - counts, counts)
        table = np.full((counts.size, int(counts.max(initial=0))), np.inf)
        table[i, place] = above
        best = np.concatenate([self._best, table], axis=1)
        self._best = np.partition(best, self._k, axis=1)[:, : self._k + 1]
        self._close += np.bincount(i[below <= 0], minlength=counts.size)
        table[i, place] = np.where(below > 0, above, np.inf)
        self._distinct = np.minimum(self._distinct, table.min(axis=1, initial=np.inf))


def _widened(squares: Floats, slack: Floats) -> Floats:
    """Squared distances after `slack` is added to the distances."""
    if not slack.any():
        return squares
    return np.asarray(np.square(np.sqrt(np.maximum(squares, 0.0)) + slack) * (1 + 1e-12))
