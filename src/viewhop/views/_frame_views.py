"""Cutting one DataFrame of any library into views, with the ids of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from viewhop.views._checks import view_name
from viewhop.views._columns import Columns, column_groups, frame_groups
from viewhop.views._sparse_rows import Rows, as_sparse_frame, is_sparse_frame, read_sparse

__all__ = ["FrameGroups", "FrameParts", "cut_frame"]

#: Column groups by view name, or prefixes of column names, one per view.
FrameGroups: TypeAlias = Mapping[str, Columns] | Sequence[str]
#: Characters that may stand between a prefix and what follows.
SEPARATORS = "_-.:/ "


class FrameParts(NamedTuple):
    """The views of a DataFrame.

    Attributes
    ----------
    arrays : dict of (n_rows, n_columns) arrays or SparseRows by view name
    labels : list of tuple of str
        Names of the columns of each view.
    ids : (n_rows,) array or None
    """

    arrays: dict[str, Rows]
    labels: list[tuple[str, ...]]
    ids: NDArray[Any] | None


def cut_frame(frame: Any, groups: FrameGroups | None, id: str | None) -> FrameParts:
    """The views of a DataFrame, as arrays with NaN for what is null.

    Parameters
    ----------
    frame : DataFrame
        Of any library that narwhals reads without a query: pandas, polars, pyarrow and others.
    groups : dict, list of str or None
        As in `viewhop.Views.from_frame`.
    id : str or None
        Name of the column of ids.
    """
    index = getattr(frame, "index", None) if hasattr(frame, "iloc") else None
    by_level = frame_groups(frame) if groups is None else None
    tops = [] if by_level is None else [*map(tuple, frame.columns)]
    if by_level is not None:
        if id is not None:
            raise ValueError("columns of two levels have no column of ids; use the index for them")
        frame = frame.set_axis([str(k) for k in range(len(tops))], axis=1)
    try:
        data = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"expected a DataFrame of pandas, polars or pyarrow, got {type(frame).__name__}; pass "
            "arrays as a list or dict to Views, or a stacked array to Views.from_columns"
        ) from error
    names = [str(column) for column in data.columns]
    if by_level is not None:
        positions = {name: np.asarray(part) for name, part in by_level.items()}
    else:
        positions = _positions(groups, names, id)
    arrays = {name: _numbers(data, name, part) for name, part in positions.items()}
    shown = [str(top[-1]) for top in tops] or names
    labels = [tuple(shown[k] for k in part) for part in positions.values()]
    return FrameParts(arrays, labels, _ids(data, names, index, id))


def _positions(
    groups: FrameGroups | None, names: list[str], id: str | None
) -> dict[str, NDArray[np.intp]]:
    """Positions of the columns of each view."""
    if id is not None and id not in names:
        raise ValueError(f"there is no column {id!r} for the ids")
    if groups is None:
        raise ValueError(
            "groups= says which columns belong to which view: a dict of columns by view name, or a "
            "list of prefixes; only columns of two levels say it themselves"
        )
    if isinstance(groups, Mapping):
        found = column_groups(dict(groups), len(names), names)
        if id is not None and (
            taken := [n for n, part in found.items() if names.index(id) in part]
        ):
            raise ValueError(f"column {id!r} has the ids, and is in view {taken[0]!r} as well")
        return found
    if isinstance(groups, str) or not all(isinstance(prefix, str) for prefix in groups):
        raise ValueError(
            f"groups= must be a dict of columns by view name or a list of prefixes, not {groups!r}"
        )
    return _by_prefix([*groups], names, id)


def _by_prefix(
    prefixes: list[str], names: list[str], id: str | None
) -> dict[str, NDArray[np.intp]]:
    """Positions of the columns that begin with each prefix; the longest one that fits counts."""
    if not prefixes or not all(prefixes):
        raise ValueError("groups= lists no prefix, or an empty one")
    found: dict[str, list[int]] = {prefix: [] for prefix in prefixes}
    if len(found) < len(prefixes):
        raise ValueError("groups= lists a prefix twice")
    left_over = []
    for k, name in enumerate(names):
        fitting = [prefix for prefix in prefixes if name.startswith(prefix)]
        if name == id:
            continue
        if fitting:
            found[max(fitting, key=len)].append(k)
        else:
            left_over.append(name)
    if left_over:
        more = f" and {len(left_over) - 1} more" if len(left_over) > 1 else ""
        raise ValueError(
            f"column {left_over[0]!r}{more} begins with none of the prefixes "
            f"{', '.join(prefixes)}; drop such columns, or pass id= for the one with ids"
        )
    views = {view_name(prefix.rstrip(SEPARATORS) or prefix): part for prefix, part in found.items()}
    if len(views) < len(found):
        raise ValueError(f"two of the prefixes {', '.join(prefixes)} give the same view name")
    for prefix, part in zip(prefixes, views.values(), strict=True):
        if not part:
            raise ValueError(f"no column begins with {prefix!r}")
    return {name: np.array(part, dtype=np.intp) for name, part in views.items()}


def _numbers(data: Any, view: str, positions: NDArray[np.intp]) -> Rows:
    """The columns of a view; float32 if all are, otherwise float64."""
    native = nw.to_native(data)
    if hasattr(native, "iloc") and is_sparse_frame(part := native.iloc[:, positions]):
        what = f"view {view!r}"
        return read_sparse(what, as_sparse_frame(what, part))
    columns = [data[:, int(k)] for k in positions]
    for k, column in zip(positions, columns, strict=True):
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            raise ValueError(
                f"view {view!r}: column {data.columns[k]!r} has values of type {column.dtype}, "
                "not numbers"
            )
    is_single = all(column.dtype == nw.Float32 for column in columns)
    wanted = nw.Float32 if is_single else nw.Float64
    out = np.empty((len(data), len(columns)), dtype=np.float32 if is_single else np.float64)
    for k, column in enumerate(columns):
        out[:, k] = column.cast(wanted).to_numpy()
    return out


def _ids(data: Any, names: list[str], index: Any, id: str | None) -> NDArray[Any] | None:
    """The ids in a column, or those of an index that is not a mere count."""
    if id is None:
        is_count = index is None or type(index).__name__ == "RangeIndex"
        return None if is_count else np.asarray(index)
    column = data[:, names.index(id)]
    if column.is_null().any():
        raise ValueError(f"column {id!r} has the ids, and one of them is missing")
    ids = np.asarray(column.to_list())
    if len({*ids.tolist()}) < len(ids):
        raise ValueError(f"column {id!r} has the ids, and one of them appears twice")
    return ids
