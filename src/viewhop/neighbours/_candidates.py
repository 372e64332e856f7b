"""Candidate pairs: those that a matrix product cannot rule out as near.

The product gives lower and upper bounds of each squared distance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop.neighbours._limits import PairLimits

__all__ = ["TINY", "Proposals"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Largest length that can be squared and summed in the type, next to lengths of about 1.
_LONGEST = {np.dtype(np.float32): 2.0**40, np.dtype(np.float64): 2.0**400}
#: Upper bound of the underflow error in products of lengths up to 1.
TINY = {np.dtype(np.float32): 1e-35, np.dtype(np.float64): 1e-290}


class Proposals(PairLimits):
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
        unit = float(np.ldexp(1.0, -int(np.frexp(unit)[1]))) if unit > 0 else 1.0
        units = (width + 16) * float(np.finfo(dtype).eps)
        coincident = min(rounding * unit, 2.0 * _LONGEST[dtype])
        super().__init__(
            norms * unit**2,
            error=units / (1 - min(units, 0.5)),
            # Doubled, because adding it to a column rounds.
            apart=2.0 * (coincident**2 + TINY[dtype]),
            k=k,
            unit=unit,
            dtype=dtype,
            slack=np.asarray(slack) * unit,
        )
        self._left = np.empty((n_rows, width + 2), dtype=dtype)
        np.multiply(rows, -2.0 * unit, out=self._left[:, :width], casting="same_kind")
        self._left[:, width] = 1.0
        self._left[:, width + 1] = (1 - self._error) * self._norms
        self._buffers = (
            np.empty(0, dtype=dtype),
            np.empty(0, dtype=dtype),
            np.empty(0, dtype=bool),
        )

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
        self.consider(columns, lower, norms, reach, near)
        return True

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
