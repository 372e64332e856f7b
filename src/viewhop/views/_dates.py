"""Finding dates in the input: a date is not a number, and its unit is arbitrary."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import numpy as np

__all__ = ["check_dates"]

#: NaT of pandas is a datetime; a Period is not, but it has an ordinal and a frequency.
_DATES = (date, time, timedelta, np.datetime64, np.timedelta64)


def check_dates(what: str, array: Any) -> None:
    """Raise ValueError, naming the column, if an array or DataFrame contains dates or durations.

    Parameters
    ----------
    what : str
        What the array is, for the message: "view 'a'".
    array : array, DataFrame or list of rows
        Anything else is ignored.
    """
    for column, values in _candidates(array):
        found = _date_type(values)
        if found is not None:
            raise ValueError(
                f"{what}: column {column!r} is not numeric: it contains dates or durations "
                f"({found}); drop it, or convert it to numbers, for example to seconds since a "
                "start: (t - start) / np.timedelta64(1, 's')"
            )


def _candidates(array: Any) -> Iterator[tuple[Any, Any]]:
    """The columns that may contain dates, with their names or numbers."""
    if hasattr(array, "columns") and hasattr(array, "dtypes"):
        for k, (name, dtype) in enumerate(zip(array.columns, array.dtypes, strict=False)):
            if not _is_numeric(dtype):
                yield name, np.asarray(array.iloc[:, k] if hasattr(array, "iloc") else array[:, k])
        return
    if isinstance(array, list | tuple):
        try:
            array = np.asarray(array)
        except (TypeError, ValueError):  # ragged: refused later
            return
    if isinstance(array, np.ndarray) and array.dtype.kind in "mMO":
        columns = array.T if array.ndim == 2 else [array.ravel()]
        yield from enumerate(columns)


def _is_numeric(dtype: Any) -> bool:
    """Whether a column of this dtype of numpy, pandas or polars contains numbers only."""
    kind = getattr(dtype, "kind", None)
    if kind is not None:
        return kind in "biufc"
    is_numeric = getattr(dtype, "is_numeric", None)
    return is_numeric is not None and bool(is_numeric())


def _date_type(values: Any) -> str | None:
    """The type of the dates in a column; None if there are none."""
    if values.dtype.kind in "mM":
        return str(values.dtype)
    if values.dtype.kind != "O":
        return None
    for value in values.ravel():
        if isinstance(value, _DATES) or (hasattr(value, "ordinal") and hasattr(value, "freqstr")):
            return type(value).__name__
    return None
