"""Writing the feature rows of a view to model files, full or sparse, and reading them back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop._storage.codec import Shelf
from viewhop.errors import ModelFileError
from viewhop.neighbours import FeatureMap, FeatureRows, SparseFeatures

__all__ = ["check_directions", "read_rows", "rows_differ", "write_rows"]

FLOATS = (np.float32, np.float64)


def write_rows(rows: FeatureRows, shelf: Shelf) -> None:
    """Put feature rows on the shelf.

    Parameters
    ----------
    rows : (n, d) array or SparseFeatures
    shelf : Shelf
    """
    if not isinstance(rows, SparseFeatures):
        shelf.put("rows", rows)
        return
    part = shelf.within("sparse")
    part.put_csr(rows.sparse)
    part.put("offsets", rows.offsets)
    part.put("directions", rows.directions)
    part.put("full", rows.dense)


def read_rows(shelf: Shelf, n: int, width: int, where: str) -> FeatureRows:
    """Feature rows from the shelf; invalid data raise ModelFileError.

    Parameters
    ----------
    shelf : Shelf
    n, width : int
        Number of rows and of features.
    where : str
        What the rows belong to, in error messages.
    """
    part = shelf.within("sparse")
    if not part.has("indptr"):
        return shelf.numbers("rows", (n, width), FLOATS)
    full = part.numbers("full", (n, -1), FLOATS)
    n_sparse = width - full.shape[1]
    if n_sparse < 1:
        raise ModelFileError(f"{where}: sparse rows without a sparse column")
    matrix = part.take_rows((n, n_sparse), FLOATS, where)
    offsets = part.numbers("offsets", (n, -1))
    directions = part.numbers("directions", (offsets.shape[1], n_sparse))
    if full.dtype != matrix.dtype:
        raise ModelFileError(f"{where}: sparse and full columns differ in their precision")
    return SparseFeatures(matrix, offsets, directions, full)


def check_directions(rows: FeatureRows, features: FeatureMap, where: str) -> None:
    """Raise ModelFileError unless sparse rows are centred by the map of their features.

    Parameters
    ----------
    rows : (n, d) array or SparseFeatures
    features : FeatureMap
    where : str
    """
    if not isinstance(rows, SparseFeatures):
        return
    expected = features.directions(rows.shape[1])
    if not _is_close(rows.directions, expected, 0.0) or rows.dense.shape[1]:
        raise ModelFileError(f"{where}: its rows are not centred as its features are")


def rows_differ(rows: FeatureRows, others: FeatureRows, tolerance: float) -> bool:
    """Whether two sets of feature rows differ by more than rounding.

    Parameters
    ----------
    rows, others : (n, d) arrays or SparseFeatures
    tolerance : float
        Relative to the largest entry.
    """
    if isinstance(rows, SparseFeatures) != isinstance(others, SparseFeatures):
        return True
    if not isinstance(rows, SparseFeatures) or not isinstance(others, SparseFeatures):
        return not _is_close(np.asarray(rows), np.asarray(others), tolerance)
    pairs = (
        (rows.sparse.indptr, others.sparse.indptr),
        (rows.sparse.indices, others.sparse.indices),
        (rows.sparse.data, others.sparse.data),
        (rows.offsets, others.offsets),
        (rows.directions, others.directions),
        (rows.dense, others.dense),
    )
    return not all(_is_close(first, second, tolerance) for first, second in pairs)


def _is_close(a: NDArray[np.generic], b: NDArray[np.generic], tolerance: float) -> bool:
    if a.shape != b.shape:
        return False
    first, second = a.astype(np.float64), b.astype(np.float64)
    size = float(np.abs(second).max(initial=0.0))
    return bool((np.abs(first - second) <= tolerance * size).all())
