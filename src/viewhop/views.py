"""Views: several named measurements of the same samples, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

__all__ = ["Columns", "Groups", "Views", "column_groups", "frame_groups", "is_collection", "split_columns"]

#: Columns of one view in a stacked array: positions, a slice, a mask, or names.
Columns: TypeAlias = slice | Sequence[int] | Sequence[str] | NDArray[Any] | str
Groups: TypeAlias = int | Sequence[int] | Sequence[Columns] | Mapping[str, Columns]


class Views:
    """Named views of the same samples, held as one row-indexable object.

    Parameters
    ----------
    views : list of (n_samples, n_features) arrays, dict of them, or Views
        A list names them ``view1``, ``view2``, …; a dict keeps its names. A None in a list
        leaves that view out.

    Attributes
    ----------
    names : tuple of str
    arrays : tuple of (n_samples, n_features) arrays, float32 if all were, else float64

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop import Views
    >>> views = Views({"rna": np.eye(4, 3), "protein": np.eye(4, 2)})
    >>> len(views), views.shape, views["protein"].shape
    (4, (4, 5), (4, 2))
    >>> views[[0, 2]]
    Views(2 samples: rna (3), protein (2))
    """

    def __init__(self, views: Sequence[ArrayLike | None] | Mapping[str, ArrayLike] | Views) -> None:
        arrays = {name: _matrix(name, array) for name, array in _named(views)}
        if not arrays:
            raise ValueError("expected at least one view, got none")
        _check_lengths(arrays)
        for name, array in arrays.items():
            _check_finite(name, array)
        single = all(array.dtype == np.float32 for array in arrays.values())
        dtype = np.float32 if single else np.float64
        self.names: tuple[str, ...] = tuple(arrays)
        self.arrays: tuple[NDArray[np.floating], ...] = tuple(
            array.astype(dtype, copy=False) for array in arrays.values()
        )

    @classmethod
    def from_columns(cls, X: ArrayLike, groups: Groups, *, names: Iterable[str] = ()) -> Views:
        """Views cut out of a stacked array or DataFrame by groups of columns.

        Parameters
        ----------
        X : (n_samples, n_features) array or DataFrame
        groups : int, list or dict
            A number of views of (nearly) equal width; a list of widths; a list of column
            groups; or a dict from view name to column group. A group is positions, a slice,
            a mask, or column names.
        names : iterable of str
            Column names, where `X` is an array and groups use names.

        Examples
        --------
        >>> Views.from_columns(np.eye(4, 5), {"a": [0, 1], "b": slice(2, 5)})
        Views(4 samples: a (2), b (3))
        """
        if issparse(X):
            raise TypeError("X is a sparse matrix; viewhop takes dense arrays: pass X.toarray()")
        columns = getattr(X, "columns", None)
        labels = [*names] or (None if columns is None else [*columns])
        matrix = _matrix("X", X)
        return cls(split_columns(matrix, column_groups(groups, matrix.shape[1], labels)))

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of features in all views together."""
        return len(self), sum(array.shape[1] for array in self.arrays)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The dtype that all views share."""
        return self.arrays[0].dtype

    def __len__(self) -> int:
        return self.arrays[0].shape[0]

    def __getitem__(self, key: Any) -> Any:
        """The array of a view (by name), or the Views of chosen rows."""
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"no view named {key!r}; there are {', '.join(self.names)}")
            return self.arrays[self.names.index(key)]
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn splits rows with X[rows, ...]
        if isinstance(key, Integral):
            key = [key]
        return Views({name: array[key] for name, array in self.items()})

    def items(self) -> Iterator[tuple[str, NDArray[np.floating]]]:
        """Pairs of name and array."""
        return zip(self.names, self.arrays, strict=True)

    def __repr__(self) -> str:
        widths = ", ".join(f"{name} ({array.shape[1]})" for name, array in self.items())
        return f"Views({len(self):,} samples: {widths})"


def is_collection(X: object) -> bool:
    """Whether `X` is several views, rather than one array whose rows are samples.

    A sparse array is tested first: a ``dok_array`` is a dict.
    """
    if issparse(X):
        return False
    if isinstance(X, Views | Mapping):
        return True
    return isinstance(X, list | tuple) and any(_is_matrix(item) for item in X)


def column_groups(
    groups: Groups, n_features: int, labels: Sequence[Any] | None = None
) -> dict[str, NDArray[np.intp]]:
    """Column positions of each view in a stacked array, by view name.

    Parameters
    ----------
    groups : int, list or dict
        As in `Views.from_columns`.
    n_features : int
        Number of columns of the stacked array.
    labels : list or None
        Names of the columns, where they have any.
    """
    if isinstance(groups, Mapping):
        named = dict(groups)
    elif isinstance(groups, Integral) and not isinstance(groups, bool):
        if groups < 1:
            raise ValueError(f"views={groups}: expected at least one view")
        if groups > n_features:
            raise ValueError(
                f"views={groups} needs at least {groups} columns, but X has "
                f"n_features = {n_features}"
            )
        named = _numbered(np.array_split(np.arange(n_features), int(groups)))
    elif isinstance(groups, Sequence) and not isinstance(groups, str):
        widths = all(isinstance(group, Integral) for group in groups)
        named = _numbered(_by_width(groups, n_features) if widths else groups)
    else:
        raise ValueError(
            "views= takes a number of views, a list of widths or of column groups, or a dict "
            f"of column groups by name, not {type(groups).__name__}"
        )
    if not named:
        raise ValueError("views= names no view; expected at least one group of columns")
    positions = {_text(name): _positions(name, named[name], n_features, labels) for name in named}
    _check_disjoint(positions)
    return positions


def frame_groups(X: object) -> dict[str, Columns] | None:
    """Column groups that a DataFrame names by itself: the first of its two column levels."""
    columns = getattr(X, "columns", None)
    if getattr(columns, "nlevels", 1) != 2:
        return None
    level = [_text(pair[0]) for pair in columns]  # type: ignore[union-attr]
    return {name: [k for k, top in enumerate(level) if top == name] for name in dict.fromkeys(level)}


def split_columns(
    matrix: NDArray[np.floating], positions: Mapping[str, NDArray[np.intp]]
) -> dict[str, NDArray[np.floating]]:
    """The part of a stacked array that belongs to each view."""
    return {name: matrix[:, columns] for name, columns in positions.items()}


def _numbered(items: Iterable[Any]) -> dict[str, Any]:
    return {f"view{k}": item for k, item in enumerate(items, start=1)}


def _text(name: object) -> str:
    if not isinstance(name, str):
        raise ValueError(f"view names are text, not {name!r}")
    return name


def _named(views: object) -> list[tuple[str, Any]]:
    if issparse(views):
        raise TypeError("expected several views, got one sparse matrix: pass X.toarray()")
    if isinstance(views, Views):
        return [*views.items()]
    if isinstance(views, Mapping):
        return [(_text(name), array) for name, array in views.items()]
    if isinstance(views, list | tuple):
        return [pair for pair in _numbered(views).items() if pair[1] is not None]
    raise ValueError(f"expected a list or a dict of views, got {type(views).__name__}")


def _is_matrix(item: object) -> bool:
    try:
        return issparse(item) or np.ndim(item) == 2  # type: ignore[arg-type]
    except ValueError:  # ragged rows: one view, refused later
        return False


def _matrix(name: str, array: Any) -> NDArray[np.floating]:
    if issparse(array):
        raise TypeError(
            f"view {name!r} is a sparse matrix; viewhop takes dense arrays: pass its .toarray()"
        )
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
        raise ValueError(f"view {name!r}: {error}") from error
    if matrix.shape[0] == 0:
        raise ValueError(f"view {name!r} is empty: it has 0 samples")
    if matrix.shape[1] == 0:
        raise ValueError(f"view {name!r} is empty: it has 0 features")
    return matrix  # type: ignore[no-any-return]


def _check_lengths(arrays: Mapping[str, NDArray[np.floating]]) -> None:
    counts = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ValueError(f"views must have the same samples in the same rows; {listed}")


def _check_finite(name: str, matrix: NDArray[np.floating]) -> None:
    with np.errstate(all="ignore"):
        if np.isfinite(matrix.sum(dtype=np.float64)):  # a cheap sieve: one pass, no mask
            return
    missing = np.isnan(matrix)
    whole = np.flatnonzero(missing.all(axis=1))
    if whole.size:
        raise ValueError(
            f"row {whole[0]} of view {name!r} is all NaN, a sample that this view did not "
            f"observe ({whole.size} such rows); incomplete views are not supported yet: drop "
            "these samples from every view"
        )
    bad = np.argwhere(missing)
    if bad.size:
        row, column = bad[0]
        raise ValueError(
            f"row {row} of view {name!r} has NaN in column {column}; impute the value or drop "
            "the sample from every view"
        )
    bad = np.argwhere(np.isinf(matrix))
    if bad.size:
        row, column = bad[0]
        raise ValueError(f"row {row} of view {name!r} has an infinite value (inf) in column {column}")


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
        found = np.arange(n_features)[group]
    else:
        listed = [group] if isinstance(group, str | Integral) else [*group]
        if any(isinstance(entry, str) for entry in listed):
            found = np.array([_position_of(name, entry, labels) for entry in listed])
        elif listed and all(isinstance(entry, bool | np.bool_) for entry in listed):
            if len(listed) != n_features:
                raise ValueError(
                    f"view {name!r}: a mask of {len(listed)} entries does not fit "
                    f"n_features = {n_features}"
                )
            found = np.flatnonzero(listed)
        elif all(isinstance(entry, Integral) for entry in listed):
            found = np.array(listed, dtype=np.intp)
        else:
            raise ValueError(
                f"view {name!r}: columns are positions, a slice, a mask or names, not {group!r}"
            )
    if found.size == 0:
        raise ValueError(f"view {name!r} is empty: its group has no columns")
    outside = found[(found < 0) | (found >= n_features)]
    if outside.size:
        raise ValueError(
            f"view {name!r}: column {outside[0]} is out of range, X has n_features = {n_features}"
        )
    return found.astype(np.intp)


def _position_of(name: object, label: object, labels: Sequence[Any] | None) -> int:
    if labels is None:
        raise ValueError(f"view {name!r}: columns are given by name, but X has no column names")
    places = [k for k, known in enumerate(labels) if known == label]
    if not places:
        raise ValueError(f"view {name!r}: no column named {label!r}")
    if len(places) > 1:
        raise ValueError(f"view {name!r}: {len(places)} columns are named {label!r}")
    return places[0]


def _check_disjoint(positions: Mapping[str, NDArray[np.intp]]) -> None:
    owner: dict[int, str] = {}
    for name, columns in positions.items():
        for column in columns.tolist():
            if column in owner:
                raise ValueError(
                    f"column {column} is in view {owner[column]!r} and again in view {name!r}; "
                    "the column groups of views must not overlap"
                )
            owner[column] = name
