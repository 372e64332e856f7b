"""Converting the pivots of low-rank kernels to plain data for model files, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._storage.codec import Shelf, read_number
from viewhop.affinity._affinity_reader import LEAST_SCALE, MOST_DENSITY, MOST_SCALE
from viewhop.affinity._feature_codec import read_features, write_features
from viewhop.affinity._kernel_codec import decode_kernel, encode_kernel
from viewhop.affinity._low_rank import check_semidefinite
from viewhop.affinity._pivots import DistancePivots, GivenPivots, Pivots
from viewhop.affinity._row_codec import check_directions, read_rows, write_rows
from viewhop.errors import ModelFileError
from viewhop.kernels import DistanceKernel, Kernel, Precomputed
from viewhop.neighbours import SparseFeatures

__all__ = ["decode_pivots", "encode_pivots"]

Floats = NDArray[np.float64]

#: Relative difference that rounding may leave between a kernel and its factor.
ROUNDING = 1e-6


def encode_pivots(pivots: Pivots, shelf: Shelf) -> dict[str, Any]:
    """The pivots of one view's kernel as plain data.

    Parameters
    ----------
    pivots : Pivots
    shelf : Shelf
        Receives the arrays.
    """
    where = f"the kernel of view {pivots.name!r}"
    shelf.put("triangle", pivots.triangle)
    shelf.put("columns", pivots.columns.astype(np.int64))
    if isinstance(pivots, GivenPivots):
        return {"kernel": encode_kernel(Precomputed(), where), "scale": None}
    assert isinstance(pivots, DistancePivots)
    write_features(pivots.features, shelf)
    write_rows(pivots.points.rows, shelf)
    return {"kernel": encode_kernel(pivots.kernel, where), "scale": float(pivots.scale)}


def decode_pivots(state: Any, scale: Any, shelf: Shelf, *, name: str, n: int, width: int) -> Pivots:
    """The pivots of one view's kernel from plain data; invalid data raise ModelFileError.

    Parameters
    ----------
    state, scale : object
        The kernel and its scale, as `encode_pivots` wrote them.
    shelf : Shelf
        Provides the arrays.
    name : str
        The view.
    n, width : int
        Training samples, and features of the view.
    """
    where = f"the kernel of view {name!r}"
    kernel = decode_kernel(state, where)
    _check_kernel(name, kernel)
    most = float(np.sqrt(MOST_DENSITY))
    triangle = shelf.numbers("triangle", (-1, -1), least=-most, most=most)
    _check_triangle(triangle, n, where)
    columns = shelf.places("columns", n, (len(triangle),))
    if np.unique(columns).size < columns.size:
        raise ModelFileError(f"{where}: a pivot occurs twice")
    if isinstance(kernel, Precomputed):
        if scale is not None or width != n:
            raise ModelFileError(
                f"{where}: a precomputed kernel has a column for each sample, and no scale"
            )
        return GivenPivots(name, columns, triangle)
    assert isinstance(kernel, DistanceKernel)
    features = read_features(kernel, width, shelf, where)
    rows = read_rows(shelf, len(triangle), width, where)
    features = replace(features, is_sparse=isinstance(rows, SparseFeatures))
    check_directions(rows, features, where)
    sigma = read_number(scale, f"{where}: scale", least=LEAST_SCALE, most=MOST_SCALE)
    points = features.points(rows)
    pivots = DistancePivots(name, kernel, features, points, sigma, columns, triangle)
    if not (np.abs(triangle @ triangle.T - pivots.matrix) <= ROUNDING).all():
        raise ModelFileError(f"{where}: its triangle is not the factor of its pivots")
    return pivots


def _check_kernel(name: str, kernel: Kernel) -> None:
    try:
        check_semidefinite(name, kernel)
    except ValueError as error:
        raise ModelFileError(str(error)) from error


def _check_triangle(triangle: Floats, n: int, where: str) -> None:
    """Raise ModelFileError unless a factorisation could have left the triangle.

    It is lower triangular; its diagonal begins with the largest entry and stays above rounding.
    """
    k = len(triangle)
    is_square = 0 < k <= n and triangle.shape == (k, k)
    if not is_square or np.triu(triangle, 1).any():
        raise ModelFileError(f"{where}: expected a lower triangle of at most {n} rows")
    diagonal, first = triangle.diagonal(), float(triangle[0, 0])
    least = float(np.sqrt(0.5 * n * np.finfo(np.float64).eps)) * first
    is_large = first >= 1.0 / np.sqrt(MOST_DENSITY) and bool((diagonal >= least).all())
    if not is_large or not (np.abs(triangle) <= (1 + ROUNDING) * first).all():
        raise ModelFileError(f"{where}: its triangle has a diagonal that no factorisation leaves")
