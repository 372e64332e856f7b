"""Converting user input to arrays, and checking it, one view at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from viewhop.views._view_rows import Describe, row_number

__all__ = [
    "Labels",
    "check_indices",
    "check_lengths",
    "column_labels",
    "is_matrix",
    "is_mudata",
    "name_views",
    "number_views",
    "observation_masks",
    "observed_rows",
    "read_matrix",
    "text_labels",
    "view_name",
]

Indices = NDArray[np.intp]
#: Names of a view's features, if known.
Labels = tuple[str, ...] | None

#: Squared distances between larger values may overflow.
LARGEST = 1e150


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
        raise TypeError("expected several views, got one sparse matrix: pass X.toarray()")
    if isinstance(views, Mapping):
        named = {view_name(name): array for name, array in views.items()}
    elif isinstance(views, list | tuple):
        named = number_views(views)
    else:
        raise ValueError(f"expected a list or a dict of views, got {type(views).__name__}")
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
        return issparse(item) or np.ndim(item) == 2  # type: ignore[arg-type]
    except (TypeError, ValueError):  # ragged rows or not an array: refused later
        return False


def read_matrix(name: str, array: Any) -> NDArray[np.floating]:
    """The array of a view, (n, n_features), in single or double precision; NaN and inf are kept."""
    if issparse(array):
        raise TypeError(
            f"view {name!r} is a sparse matrix; viewhop needs dense arrays: pass its .toarray()"
        )
    _check_filled(name, getattr(array, "shape", ()))
    try:
        # Finiteness is checked below, where the view and the row can be named.
        matrix = check_array(
            array,
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"view {name!r}: {_describe_column(array)}{error}") from error
    _check_filled(name, matrix.shape)
    return matrix  # type: ignore[no-any-return]  # scikit-learn has no types


def _check_filled(name: str, shape: tuple[int, ...]) -> None:
    for count, what in zip(shape, ("samples", "features"), strict=False):
        if count == 0:
            raise ValueError(f"view {name!r} is empty: it has 0 {what}")


def _describe_column(array: Any) -> str:
    """The start of an error message that names the first non-numeric column of a DataFrame."""
    for column in getattr(array, "columns", ()):
        try:
            values = np.asarray(array[column])
            is_number = values.dtype.kind not in "mM" and bool(values.astype(np.float64).size)
        except (TypeError, ValueError):
            is_number = False
        if not is_number:
            return f"column {column!r} is not numeric: drop it or encode it; "
    return ""


def check_lengths(arrays: Mapping[str, NDArray[np.floating]]) -> None:
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


def observed_rows(
    name: str,
    matrix: NDArray[np.floating],
    mask: NDArray[np.bool_] | None,
    describe: Describe = row_number,
) -> Indices | None:
    """Indices of the observed rows, None for all; ValueError for partial NaN, inf or overflow."""
    if mask is not None and not mask.all():
        matrix = np.where(mask[:, None], matrix, matrix.dtype.type(np.nan))
    largest = max(abs(float(matrix.max())), abs(float(matrix.min())))
    if largest <= LARGEST:  # false for NaN as well
        return None
    missing = np.isnan(matrix)
    unseen = missing.all(axis=1)
    if unseen.all():
        where = "every row" if mask is None else "every row marked in `observed`"
        raise ValueError(f"view {name!r} observed no sample: {where} is NaN")
    bad = np.argwhere(missing & ~unseen[:, None])
    if bad.size:
        row, column = bad[0]
        raise ValueError(
            f"{describe(row)} of view {name!r} has NaN in column {column} but values elsewhere; "
            "impute the missing values (for example with sklearn.impute), or set the whole row to "
            "NaN to mark the sample as not observed"
        )
    bad = np.argwhere(np.isinf(matrix))
    if bad.size:
        row, column = bad[0]
        raise ValueError(
            f"{describe(row)} of view {name!r} has an infinite value (inf) in column {column}"
        )
    largest = float(np.nanmax(np.abs(matrix)))
    if largest > LARGEST:
        row = int(np.nanargmax(np.abs(matrix))) // matrix.shape[1]
        raise ValueError(
            f"{describe(row)} of view {name!r} has a value of {largest:.3g}; its square overflows: "
            "rescale the view"
        )
    return np.flatnonzero(~unseen)


def observation_masks(
    observed: Any, names: tuple[str, ...], n: int
) -> dict[str, NDArray[np.bool_]]:
    """Which samples each view observed, (n,) each, by view name, for the views in `observed`."""
    if observed is None:
        return {}
    if isinstance(observed, Mapping):
        by_view = dict(observed)
    elif hasattr(observed, "columns"):
        by_view = {column: observed[column] for column in observed.columns}
    elif isinstance(observed, list | tuple):
        if len(observed) != len(names):
            raise ValueError(
                f"observed has {len(observed)} entries for {len(names)} views; a list needs one "
                "mask per view"
            )
        by_view = dict(zip(names, observed, strict=True))
    else:
        table = np.asarray(observed)
        if table.shape != (n, len(names)):
            raise ValueError(
                f"observed must have shape ({n}, {len(names)}), one column per view, not "
                f"{table.shape}"
            )
        by_view = dict(zip(names, table.T, strict=True))
    masks = {}
    for name, mask in by_view.items():
        if name not in names:
            raise ValueError(
                f"observed names an unknown view {name!r}; the views are {', '.join(names)}"
            )
        if mask is None:
            continue
        try:
            values = np.asarray(mask)
        except ValueError:  # ragged
            values = np.empty(0, dtype=object)
        if values.shape != (n,) or values.dtype != bool:
            raise ValueError(
                f"observed of view {name!r} must be {n} booleans, one per sample, not "
                f"{values.dtype} of shape {values.shape}"
            )
        if not values.any():
            raise ValueError(
                f"view {name!r} observed no sample: its mask in `observed` is all False"
            )
        masks[name] = values
    return masks
