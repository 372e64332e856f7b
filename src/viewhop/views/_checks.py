"""Reading: one view's array from what a user gives, checked, with the rows that it observed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from viewhop.views._columns import number_views, view_name

__all__ = [
    "Labels",
    "check_indices",
    "check_lengths",
    "column_labels",
    "is_matrix",
    "name_views",
    "observation_masks",
    "observed_rows",
    "read_matrix",
    "text_labels",
]

Indices = NDArray[np.intp]
#: Names of a view's features, where they are known.
Labels = tuple[str, ...] | None

#: Beyond this size squared distances overflow.
LARGEST = 1e150


def name_views(views: object) -> list[tuple[str, Any]]:
    """Names and arrays of a list or dict of views, without those that are None."""
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
    """Names of the columns of a DataFrame."""
    columns = getattr(array, "columns", None)
    return None if columns is None else text_labels([*columns])


def text_labels(labels: Sequence[Any]) -> Labels:
    """The labels, of two levels the second; None unless they are text."""
    last = [label[-1] if isinstance(label, tuple) else label for label in labels]
    return tuple(last) if all(isinstance(label, str) for label in last) else None


def is_matrix(item: object) -> bool:
    """Whether an item of a list is a view, rather than a row of one."""
    try:
        # Anything may be asked; what numpy cannot take raises.
        return issparse(item) or np.ndim(item) == 2  # type: ignore[arg-type]
    except (TypeError, ValueError):  # ragged rows, or no array at all: refused later
        return False


def read_matrix(name: str, array: Any) -> NDArray[np.floating]:
    """The array of a view, in single or double precision; NaN and inf are left in it."""
    if issparse(array):
        raise TypeError(
            f"view {name!r} is a sparse matrix; viewhop takes dense arrays: pass its .toarray()"
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
    """Which column of a DataFrame is not of numbers, as the beginning of a message."""
    for column in getattr(array, "columns", ()):
        try:
            values = np.asarray(array[column])
            is_number = values.dtype.kind not in "mM" and bool(values.astype(np.float64).size)
        except (TypeError, ValueError):
            is_number = False
        if not is_number:
            return f"column {column!r} is not of numbers: drop it or encode it; "
    return ""


def check_lengths(arrays: Mapping[str, NDArray[np.floating]]) -> None:
    """Raise ValueError unless all views have the same number of rows."""
    counts = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ValueError(f"views must have the same samples in the same rows; {listed}")


def check_indices(given: Iterable[tuple[str, Any]]) -> None:
    """Raise ValueError unless all DataFrames have the same index: rows are joined by place."""
    frames = [(name, array.index) for name, array in given if hasattr(array, "iloc")]
    for name, index in frames[1:]:
        first_name, first = frames[0]
        if not index.equals(first):
            row = next(k for k in range(len(index)) if index[k] != first[k])
            raise ValueError(
                f"row {row} is {first[row]!r} in view {first_name!r} and {index[row]!r} in view "
                f"{name!r}; rows are joined by place: use Views.from_frames to join them by index, "
                "or drop their indices with reset_index(drop=True)"
            )


def observed_rows(
    name: str, matrix: NDArray[np.floating], mask: NDArray[np.bool_] | None
) -> Indices | None:
    """The rows that were observed, None for all; ValueError for what cannot be measured."""
    if mask is not None and not mask.all():
        matrix = np.where(mask[:, None], matrix, matrix.dtype.type(np.nan))
    largest = max(abs(float(matrix.max())), abs(float(matrix.min())))
    if largest <= LARGEST:  # false for NaN as well
        return None
    missing = np.isnan(matrix)
    unseen = missing.all(axis=1)
    if unseen.all():
        where = "all of it" if mask is None else "all that `observed` has of it"
        raise ValueError(f"view {name!r} observed no sample: {where} is NaN")
    bad = np.argwhere(missing & ~unseen[:, None])
    if bad.size:
        row, column = bad[0]
        raise ValueError(
            f"row {row} of view {name!r} has NaN in column {column}, and values beside it; impute "
            "the value (as sklearn.impute does), or make the whole row NaN, which says that the "
            "view did not observe the sample"
        )
    bad = np.argwhere(np.isinf(matrix))
    if bad.size:
        row, column = bad[0]
        raise ValueError(
            f"row {row} of view {name!r} has an infinite value (inf) in column {column}"
        )
    largest = float(np.nanmax(np.abs(matrix)))
    if largest > LARGEST:
        row = int(np.nanargmax(np.abs(matrix))) // matrix.shape[1]
        raise ValueError(
            f"row {row} of view {name!r} has a value of {largest:.3g}, whose square overflows; "
            "rescale the view"
        )
    return np.flatnonzero(~unseen)


def observation_masks(
    observed: Any, names: tuple[str, ...], n: int
) -> dict[str, NDArray[np.bool_]]:
    """Which samples each view observed, by view name, for those of which it is said."""
    if observed is None:
        return {}
    if isinstance(observed, Mapping):
        given = dict(observed)
    elif hasattr(observed, "columns"):
        given = {column: observed[column] for column in observed.columns}
    elif isinstance(observed, list | tuple):
        if len(observed) != len(names):
            raise ValueError(
                f"observed has {len(observed)} entries for {len(names)} views; a list has one mask "
                "for each view"
            )
        given = dict(zip(names, observed, strict=True))
    else:
        table = np.asarray(observed)
        if table.shape != (n, len(names)):
            raise ValueError(
                f"observed must be ({n}, {len(names)}), a column for each view, not {table.shape}"
            )
        given = dict(zip(names, table.T, strict=True))
    masks = {}
    for name, mask in given.items():
        if name not in names:
            raise ValueError(f"observed names no view {name!r}; there are {', '.join(names)}")
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
                f"view {name!r} observed no sample: its `observed` is False throughout"
            )
        masks[name] = values
    return masks
