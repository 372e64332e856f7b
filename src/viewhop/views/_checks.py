"""Names of views and features, and checks of several views together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from viewhop.views._refusals import check_depth, refuse_foreign
from viewhop.views._sparse_rows import Rows

__all__ = [
    "Labels",
    "check_indices",
    "check_lengths",
    "column_labels",
    "is_matrix",
    "is_mudata",
    "name_views",
    "number_views",
    "text_labels",
    "view_name",
]

#: Names of a view's features, if known.
Labels = tuple[str, ...] | None


def number_views(items: Iterable[Any]) -> dict[str, Any]:
    """Items by the default names of views: ``view1``, ``view2``, …."""
    return {f"view{k}": item for k, item in enumerate(items, start=1)}


def view_name(name: object) -> str:
    """The name of a view; ValueError unless it is a string."""
    if not isinstance(name, str):
        raise ValueError(f"view names must be strings, not {name!r}")
    return name


def is_mudata(X: object) -> bool:
    """Whether `X` is a MuData: it has modalities by name, and observation names."""
    # A DataFrame has a method mod, and may have a column named obs_names.
    return isinstance(getattr(X, "mod", None), Mapping) and hasattr(X, "obs_names")


def name_views(views: object) -> list[tuple[str, Any]]:
    """Pairs of name and array from a list or dict of views, skipping views that are None."""
    if issparse(views):
        raise TypeError(
            "expected several views, got one sparse matrix; pass [X] for one view, or cut it into "
            "views with Views.from_columns"
        )
    if isinstance(views, Mapping):
        named = {view_name(name): array for name, array in views.items()}
    elif isinstance(views, list | tuple):
        named = number_views(views)
    else:
        refuse_foreign("X", views)
        if len(getattr(views, "shape", ())) > 2:
            check_depth("X", views)
        raise ValueError(
            f"expected a list or a dict of views, got {type(views).__name__}; pass [X] for one "
            "view, or cut one array into views with Views.from_columns"
        )
    return [(name, array) for name, array in named.items() if array is not None]


def column_labels(array: object) -> Labels:
    """Column names of a DataFrame; None if it is not one, or if they are not strings."""
    columns = getattr(array, "columns", None)
    return None if columns is None else text_labels([*columns])


def text_labels(labels: Sequence[Any]) -> Labels:
    """The labels, or their last level if there are several; None unless all are strings."""
    last = [label[-1] if isinstance(label, tuple) else label for label in labels]
    return tuple(last) if all(isinstance(label, str) for label in last) else None


def is_matrix(item: object) -> bool:
    """Whether an item of a list is a whole view, rather than a row of one."""
    try:
        # Any object may come in; numpy raises for those it cannot convert.
        return issparse(item) or np.ndim(item) >= 2  # type: ignore[arg-type]
    except (TypeError, ValueError):  # ragged rows or not an array: refused later
        return False


def check_lengths(arrays: Mapping[str, Rows]) -> None:
    """Raise ValueError unless all views have the same number of rows."""
    counts = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ValueError(f"views must have the same samples in the same rows; {listed}")


def check_indices(given: Iterable[tuple[str, Any]]) -> None:
    """Raise ValueError unless all DataFrames have the same index: rows are joined by position."""
    frames = [(name, array.index) for name, array in given if hasattr(array, "iloc")]
    for name, index in frames[1:]:
        first_name, first = frames[0]
        if not index.equals(first):
            row = next(k for k in range(len(index)) if index[k] != first[k])
            raise ValueError(
                f"row {row} is {first[row]!r} in view {first_name!r} and {index[row]!r} in view "
                f"{name!r}; rows are joined by position: use Views.from_frames to join by index, "
                "or drop the index with reset_index(drop=True)"
            )
