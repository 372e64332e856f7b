"""Candidate pairs: those that a matrix product cannot rule out as near.

The product gives lower and upper bounds of each squared distance. A pair is dropped only if its
lower bound exceeds the (k+1)-th smallest upper bound of its row, so no neighbour is lost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Proposals"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Number of groups per neighbour; the minima of the groups bound a radius.
GROUPS = 8
#: Largest length that can be squared and summed in the type, next to lengths of about 1.
_LONGEST = {np.dtype(np.float32): 2.0**40, np.dtype(np.float64): 2.0**400}
#: Upper bound of the underflow error in products of lengths up to 1.
_TINY = {np.dtype(np.float32): 1e-35, np.dtype(np.float64): 1e-290}


class Proposals:
    """Training samples that may be among the nearest of some rows, collected chunk by chunk.

    Parameters
    ----------
    rows : (m, d) array
        Rows minus a centre near them.
    norms : (m,) array
        Their squared lengths.
    k : int
        Number of neighbours, not counting the row itself.
    rounding : float
        Rows no farther apart than this coincide.
    unit : float
        Approximate length of the rows and their neighbours.
    dtype : dtype
        Precision of the products.
    slack : (m,) array or 0
        Distance beyond its radius up to which a row's neighbours are kept.

    Attributes
    ----------
    n_pairs, n_columns : int
        Number of pairs proposed, and of training samples multiplied, so far.

    Notes
    -----
    The error of a sum of d + 2 products is at most (d + 2) half units in the last place of
    ‖x‖² + 2‖x‖‖y‖ + ‖y‖², in any order; rounding the rows adds 4 more. Both norms, reduced by
    this error, are two more columns of the product, so it yields the lower bound directly.
    """

    def __init__(
        self,
        rows: Floats,
        norms: Floats,
        *,
        k: int,
        rounding: float,
        unit: float,
        dtype: np.dtype[np.floating],
        slack: Floats | float = 0.0,
    ) -> None:
        n_rows, width = rows.shape
        # A power of two: scaling by it is exact.
        self._unit = float(np.ldexp(1.0, -int(np.frexp(unit)[1]))) if unit > 0 else 1.0
        units = (width + 16) * float(np.finfo(dtype).eps)
        self._error = units / (1 - min(units, 0.5))
        coincident = min(rounding * self._unit, 2.0 * _LONGEST[dtype])
        # Doubled, because adding it to a column rounds.
        self._apart = 2.0 * (coincident**2 + _TINY[dtype])
        self._dtype = dtype
        self._norms = norms * self._unit**2
        self._slack = np.broadcast_to(np.asarray(slack) * self._unit, norms.shape)
        self._left = np.empty((n_rows, width + 2), dtype=dtype)
        np.multiply(rows, -2.0 * self._unit, out=self._left[:, :width], casting="same_kind")
        self._left[:, width] = 1.0
        self._left[:, width + 1] = (1 - self._error) * self._norms
        self._k = k
        self._best = np.full((n_rows, k + 1), np.inf)
        self._close = np.zeros(n_rows, dtype=np.intp)
        self._distinct = np.full(n_rows, np.inf)
        self._chunks: list[tuple[Indices, Indices, Floats, NDArray[np.bool_] | None]] = []
        self._buffers = (
            np.empty(0, dtype=dtype),
            np.empty(0, dtype=dtype),
            np.empty(0, dtype=bool),
        )
        self.n_pairs = 0
        self.n_columns = 0

    def add(
        self, columns: Indices, others: Floats, norms: Floats, reach: Floats | None = None
    ) -> bool:
        """Propose pairs with more training samples; False if their rows are too long to multiply.

        Parameters
        ----------
        columns : (c,) index array
            Indices of the training samples.
        others : (c, d) array
            Their rows minus the same centre.
        norms : (c,) array
        reach : (c,) array or None
            Pairs no farther apart than this are also proposed.
        """
        if np.sqrt(norms.max(initial=0.0)) * self._unit > _LONGEST[self._dtype]:
            return False
        norms = norms * self._unit**2
        width = others.shape[1]
        right, lower, near = self._scratch(columns.size)
        np.multiply(others, self._unit, out=right[:, :width], casting="same_kind")
        right[:, width] = (1 - self._error) * norms - self._apart
        right[:, width + 1] = 1.0
        np.matmul(self._left, right.T, out=lower)
        limit = self._limit()
        loose = ~np.isfinite(limit)
        if loose.any() and columns.size > self._k:
            kth = self._smallest(lower[loose] if not loose.all() else lower)
            above = self._above(self._norms[loose], norms.max())
            # If k+1 of them may coincide with the row, all are needed to find a distinct one.
            limit[loose] = np.where(
                kth > 0, _widened(np.maximum(kth + above, 0.0), self._slack[loose]), np.inf
            )
        np.less_equal(lower, self._rounded_up(limit)[:, None], out=near)
        reached = None
        if reach is not None:
            far = reach * self._unit + self._slack.max(initial=0.0)
            reached = lower <= self._rounded_up(np.square(np.minimum(far, 1e150)) * (1 + 1e-12))
            near |= reached
        flat = np.flatnonzero(near)
        i, j = np.divmod(flat, columns.size)
        below = lower.ravel()[flat].astype(np.float64)
        self._update_limits(i, below, below + self._above(self._norms[i], norms[j]))
        kept = None if reached is None else reached.ravel()[flat]
        self._chunks.append((i, columns[j], below, kept))
        self.n_pairs += i.size
        self.n_columns += columns.size
        return True

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

    def _scratch(
        self, n: int
    ) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.bool_]]:
        """Buffers for `n` training samples and their products, reused from call to call.

        Allocating memory costs as much as filling it.
        """
        m, width = self._left.shape
        if self._buffers[0].size < n * width:
            self._buffers = (
                np.empty(n * width, dtype=self._dtype),
                np.empty(n * m, dtype=self._dtype),
                np.empty(n * m, dtype=bool),
            )
        right, lower, near = self._buffers
        return (
            right[: n * width].reshape(n, width),
            lower[: n * m].reshape(m, n),
            near[: n * m].reshape(m, n),
        )

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
