"""Splitting the columns of one stacked array into views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viewhop.views._checks import number_views, view_name

__all__ = ["FROM_NAMES", "Columns", "Groups", "column_groups", "frame_groups"]

#: Groups by the names of columns that a `ColumnTransformer` of scikit-learn writes.
FROM_NAMES = "from_column_transformer"
#: What stands between the name of a transformer and that of a column.
_MARK = "__"

#: Columns of one view in a stacked array: positions, a slice, a mask, or names.
Columns: TypeAlias = slice | Sequence[int] | Sequence[str] | NDArray[Any] | str
Groups: TypeAlias = str | int | Sequence[int] | Sequence[Columns] | Mapping[str, Columns]


def column_groups(
    groups: Groups, n_features: int, labels: Sequence[Any] | None = None
) -> dict[str, NDArray[np.intp]]:
    """Column positions of each view in a stacked array, by view name.

    Parameters
    ----------
    groups : int, list, dict or "from_column_transformer"
        As in `viewhop.Views.from_columns`.
    n_features : int
        Number of columns of the stacked array.
    labels : list or None
        Names of the columns, if they have any.

    Examples
    --------
    >>> from viewhop.views._columns import column_groups
    >>> column_groups({"a": [0, 2], "b": slice(3, None)}, 5)
    {'a': array([0, 2]), 'b': array([3, 4])}
    """
    is_named = isinstance(groups, str) and groups == FROM_NAMES
    named = _by_transformer(labels) if is_named else _named(groups, n_features)
    if not named:
        raise ValueError("views= names no view; expected at least one column group")
    positions = {
        view_name(name): _positions(name, group, n_features, labels)
        for name, group in named.items()
    }
    _check_disjoint(positions)
    return positions


def frame_groups(X: object) -> dict[str, Columns] | None:
    """Column groups of a DataFrame with two column levels, by the first; None for any other."""
    columns = getattr(X, "columns", None)
    if getattr(columns, "nlevels", 1) != 2:
        return None
    # Two levels imply that there are columns.
    level = [view_name(pair[0]) for pair in columns]  # type: ignore[union-attr]
    return {
        name: [k for k, top in enumerate(level) if top == name] for name in dict.fromkeys(level)
    }


def _by_transformer(labels: Sequence[Any] | None) -> dict[str, list[int]]:
    """Columns by the transformer that wrote them: ``rna__gene1`` belongs to ``rna``."""
    if labels is None:
        raise ValueError(
            f'views="{FROM_NAMES}" groups columns by their names, but X has none; call '
            'set_output(transform="pandas") on the ColumnTransformer, or on the pipeline'
        )
    groups: dict[str, list[int]] = {}
    for k, label in enumerate(labels):
        name, mark, _ = str(label).partition(_MARK)
        if not (name and mark):
            raise ValueError(
                f'views="{FROM_NAMES}": column {label!r} does not say which transformer wrote it; '
                "expected a name like rna__gene1, which a ColumnTransformer writes with "
                "verbose_feature_names_out=True"
            )
        groups.setdefault(name, []).append(k)
    return groups


def _named(groups: Any, n_features: int) -> dict[Any, Any]:
    """The column group of each view, by name, not yet checked."""
    if isinstance(groups, Mapping):
        return dict(groups)
    if isinstance(groups, Integral) and not isinstance(groups, bool):
        return number_views(_equal_parts(int(groups), n_features))
    if isinstance(groups, Sequence) and not isinstance(groups, str):
        widths = bool(groups) and all(isinstance(group, Integral) for group in groups)
        return number_views(_by_width(groups, n_features) if widths else groups)
    raise ValueError(
        "views= must be a number of views, a list of widths or of column groups, a dict of column "
        f'groups by view name, or "{FROM_NAMES}", not '
        f"{repr(groups) if isinstance(groups, str) else type(groups).__name__}"
    )


def _equal_parts(n_views: int, n_features: int) -> list[NDArray[np.intp]]:
    if n_views < 1:
        raise ValueError(f"views={n_views}: expected at least one view")
    if n_views > n_features:
        raise ValueError(
            f"views={n_views} needs at least {n_views} columns, but X has n_features = {n_features}"
        )
    return np.array_split(np.arange(n_features), n_views)


def _by_width(widths: Sequence[Any], n_features: int) -> list[NDArray[np.intp]]:
    if any(width < 1 for width in widths):
        raise ValueError(f"views={[*widths]}: every view needs at least one column")
    if sum(widths) != n_features:
        raise ValueError(
            f"views={[*widths]} adds up to {sum(widths)} columns, but X has "
            f"n_features = {n_features}"
        )
    return np.split(np.arange(n_features), np.cumsum(widths)[:-1])


def _positions(
    name: object, group: Any, n_features: int, labels: Sequence[Any] | None
) -> NDArray[np.intp]:
    if isinstance(group, slice):
        columns = np.arange(n_features)[group]
    else:
        listed = _list_columns(name, group, n_features, labels)
        # Python compares integers of any size; an array would overflow.
        outside = [column for column in listed if not 0 <= column < n_features]
        if outside:
            raise ValueError(
                f"view {name!r}: column {outside[0]} is out of range: X has "
                f"n_features = {n_features}"
            )
        columns = np.array(listed, dtype=np.intp)
    if columns.size == 0:
        raise ValueError(
            f"view {name!r} is empty: its column group selects none of the "
            f"n_features = {n_features} columns of X"
        )
    return columns


def _list_columns(
    name: object, group: Any, n_features: int, labels: Sequence[Any] | None
) -> list[int] | NDArray[np.intp]:
    """Positions of the columns in a group that lists positions, names or a mask."""
    entries: list[Any] = (
        [group] if isinstance(group, str | Integral) or not np.iterable(group) else [*group]
    )
    if any(isinstance(entry, str) for entry in entries):
        return [_position_of(name, entry, labels) for entry in entries]
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) != n_features:
            raise ValueError(
                f"view {name!r}: a mask of {len(entries)} entries does not match "
                f"n_features = {n_features}"
            )
        return np.flatnonzero(entries)
    if all(isinstance(entry, Integral) and not isinstance(entry, bool) for entry in entries):
        return entries
    raise ValueError(
        f"view {name!r}: columns must be positions, a slice, a mask or names, not {group!r}"
    )


def _position_of(name: object, label: object, labels: Sequence[Any] | None) -> int:
    if labels is None:
        raise ValueError(f"view {name!r}: columns are selected by name, but X has no column names")
    matches = [k for k, entry in enumerate(labels) if entry == label]
    if not matches:
        raise ValueError(f"view {name!r}: no column named {label!r}")
    if len(matches) > 1:
        raise ValueError(f"view {name!r}: {len(matches)} columns are named {label!r}")
    return matches[0]


def _check_disjoint(positions: Mapping[str, NDArray[np.intp]]) -> None:
    owner: dict[int, str] = {}
    for name, columns in positions.items():
        for column in columns.tolist():
            if column in owner:
                raise ValueError(
                    f"column {column} is in view {owner[column]!r} and again in view {name!r}; "
                    "column groups must not overlap"
                )
            owner[column] = name
