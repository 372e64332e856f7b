"""Converting one view, or one stacked array, to a matrix of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from viewhop.views._dates import check_dates
from viewhop.views._refusals import check_depth, refuse_foreign
from viewhop.views._sparse_rows import (
    Rows,
    SparseRows,
    as_sparse_frame,
    is_sparse_frame,
    read_sparse,
)

__all__ = ["plain_array", "read_matrix"]


def read_matrix(what: str, array: Any, *, may_be_empty: bool = False) -> Rows:
    """The rows of a view, (n, n_features), in single or double precision; NaN and inf are kept.

    Parameters
    ----------
    what : str
        What the array is, for messages: "X" or "view 'a'".
    array : array, DataFrame, or sparse matrix or DataFrame
        Masked entries become NaN.
    may_be_empty : bool
        Whether the view may have no rows.
    """
    if is_sparse_frame(array):
        array = as_sparse_frame(what, array)
    if issparse(array):
        array = read_sparse(what, array)
    if isinstance(array, SparseRows):
        _check_filled(what, array.shape, may_be_empty)
        return array
    array = plain_array(what, array)
    check_depth(what, array)
    _check_filled(what, getattr(array, "shape", ()), may_be_empty)
    try:
        # Finiteness is checked later, where the view and the row can be named.
        matrix = check_array(
            array,
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: {_describe_column(array)}{error}") from error
    _check_filled(what, matrix.shape, may_be_empty)
    return matrix  # type: ignore[no-any-return]  # scikit-learn has no types


def plain_array(what: str, array: Any) -> Any:
    """The array or DataFrame with NaN for masked entries; ValueError for what cannot be one.

    Parameters
    ----------
    what : str
        What the array is, for messages: "X" or "view 'a'".
    array : array, DataFrame or list of rows
        Dates, paths, iterators and other objects are refused.
    """
    refuse_foreign(what, array)
    check_dates(what, array)
    if isinstance(array, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in array):
        array = np.ma.asarray(array)
    if not isinstance(array, np.ma.MaskedArray):
        return array
    mask = np.ma.getmaskarray(array)
    if not mask.any() or array.dtype.kind == "c":  # complex numbers are refused later
        return array.data
    if array.dtype.kind not in "biuf":
        return np.where(mask, np.nan, array.data.astype(object))
    dtype = np.float32 if array.dtype == np.float32 else np.float64
    return np.where(mask, dtype(np.nan), array.data.astype(dtype, copy=False))


def _check_filled(what: str, shape: tuple[int, ...], may_be_empty: bool) -> None:
    may_be_empty = may_be_empty and 0 not in shape[1:]
    for count, kind in zip(shape, ("samples", "features"), strict=False):
        if count == 0 and not may_be_empty:
            raise ValueError(f"{what} is empty: it has 0 {kind}")


def _describe_column(array: Any) -> str:
    """The start of an error message that names the first non-numeric column of a DataFrame."""
    for column in getattr(array, "columns", ()):
        try:
            is_number = bool(np.asarray(array[column]).astype(np.float64).size)
        except (TypeError, ValueError):
            is_number = False
        if not is_number:
            return f"column {column!r} is not numeric: drop it or encode it; "
    return ""
