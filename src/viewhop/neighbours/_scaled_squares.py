"""Squared distances from new samples to all others, in as few passes over the result as possible.

A pass over a large block takes as long as a tenth of the product, so the scale is part of the
product, and the smallest entry of a row serves twice: it says whether the row has near pairs, and
normalises the row afterwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop.neighbours._points import (
    LARGEST_UNIT,
    MANY,
    NEAR,
    NEAR_SINGLE,
    SINGLE,
    Factor,
    Points,
    pair_distances,
    true_positions,
)

__all__ = ["scaled_squares"]

Values = NDArray[np.floating]


def scaled_squares(
    a: Points, b: Points, scale: float, *, dtype: np.dtype[np.floating]
) -> tuple[Values, Values] | None:
    """Squared Euclidean distances over the squared scale, (p, q), and the least of each row, (p,).

    They are as accurate as those of `block_squares`. None if a product of this precision would not
    be: for rows far from all others, for a scale that over- or underflows, or for many near pairs;
    and for sparse rows, whose product takes as long as any pass.

    Parameters
    ----------
    a, b : Points
        Rows of the result, and its columns.
    scale : float
    dtype : dtype
        Precision of the product and of the result.
    """
    if b.is_sparse:
        return None
    single = dtype == SINGLE
    columns = b.single if single else b.double
    limits = np.finfo(dtype)
    size, unit = float(a.norms.max(initial=0.0)), np.float64(columns.unit)
    with np.errstate(over="ignore", under="ignore"):
        factor = float(np.square(unit / scale))
        largest = (size / np.square(unit) + float(columns.norms.max(initial=0.0))) * factor
    if not (float(limits.tiny) < factor and 4.0 * largest < float(limits.max)):
        return None
    if single and (columns.unit > LARGEST_UNIT or size > (1e6 * unit) ** 2):
        return None
    rows = Factor.from_points(a, slice(0, len(a)), columns.unit, dtype)
    values = rows.left(factor) @ columns.rows.T
    least = values.min(axis=1)
    share = dtype.type((NEAR_SINGLE if single else NEAR) * factor)
    bound = share * (rows.norms + columns.norms.max(initial=0.0))
    # "≤" rather than "<": rows at the centre have norm 0, so that both sides are 0.
    if (least <= bound).any():
        i, j = true_positions(values <= bound[:, None])
        near = values[i, j] <= share * (rows.norms[i] + columns.norms[j])
        i, j = i[near], j[near]
        if single and i.size > max(MANY * values.size, sum(values.shape)):
            return None
        exact = np.square(pair_distances(a, i, b, j) / scale).astype(dtype)
        values[i, j] = exact
        starts = np.flatnonzero(np.diff(i, prepend=-1))
        if starts.size:
            touched, smallest = i[starts], np.minimum.reduceat(exact, starts)
            least[touched] = smallest
            # All other pairs of a row exceed its share of the norm.
            unsure = touched[smallest > share * rows.norms[touched]]
            least[unsure] = values[unsure].min(axis=1)
    return values, least
