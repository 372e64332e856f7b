"""The labels of the samples, which the rows of a DataFrame of results keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viewhop.views._checks import is_mudata
from viewhop.views._views import Views

__all__ = ["row_labels"]


def row_labels(X: Any) -> Any:
    """The ids of Views, the index of DataFrames or the observation names of a MuData, or None.

    Parameters
    ----------
    X : list or dict of arrays and DataFrames, Views, MuData, array or DataFrame
        The DataFrames in a list or dict have the same index.
    """
    if isinstance(X, Views):
        return X.ids
    if is_mudata(X):
        return X.obs_names
    if isinstance(X, Mapping | list | tuple):
        items = X.values() if isinstance(X, Mapping) else X
        return next((frame.index for frame in items if hasattr(frame, "iloc")), None)
    return X.index if hasattr(X, "iloc") else None
