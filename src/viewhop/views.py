"""Views: several named measurements of the same samples, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from viewhop.columns import Groups, column_groups, numbered, view_name

__all__ = ["Layout", "Views", "is_collection"]

#: Names of a view's features, where they are known.
Labels = tuple[str, ...] | None

#: Beyond this size squared distances overflow.
LARGEST = 1e150


class Views:
    """Named views of the same samples, held as one row-indexable object.

    Parameters
    ----------
    views : list of (n_samples, n_features) arrays, dict of them, or Views
        A list names them ``view1``, ``view2``, …; a dict keeps its names. A view that is None
        is left out.

    Attributes
    ----------
    names : tuple of str
    arrays : tuple of (n_samples, n_features) arrays, float32 if all were, else float64
    feature_names : tuple of (tuple of str, or None where a view came without them)

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
        given = _named(views)
        if not given:
            raise ValueError("expected at least one view, got none")
        arrays = {name: _matrix(name, array) for name, array in given}
        _check_lengths(arrays)
        _check_indices(given)
        for name, array in arrays.items():
            _check_finite(name, array)
        single = all(array.dtype == np.float32 for array in arrays.values())
        dtype = np.float32 if single else np.float64
        self.names: tuple[str, ...] = tuple(arrays)
        self.arrays: tuple[NDArray[np.floating], ...] = tuple(
            array.astype(dtype, copy=False) for array in arrays.values()
        )
        self.feature_names: tuple[Labels, ...] = tuple(
            views.feature_names
            if isinstance(views, Views)
            else (_labels(array) for _, array in given)
        )

    @classmethod
    def from_columns(
        cls, X: ArrayLike, groups: Groups, *, names: Sequence[Any] | None = None
    ) -> Views:
        """Views cut out of a stacked array or DataFrame by groups of columns.

        Parameters
        ----------
        X : (n_samples, n_features) array or DataFrame
        groups : int, list or dict
            A number of views of (nearly) equal width; a list of widths; a list of column
            groups; or a dict from view name to column group. A group is positions, a slice,
            a mask, or column names.
        names : list or None
            Names of the columns; by default those of the DataFrame.

        Examples
        --------
        >>> Views.from_columns(np.eye(4, 5), {"a": [0, 1], "b": slice(2, 5)})
        Views(4 samples: a (2), b (3))
        """
        if issparse(X):
            raise TypeError("X is a sparse matrix; viewhop takes dense arrays: pass X.toarray()")
        labels = getattr(X, "columns", None) if names is None else names
        matrix = _matrix("X", X)
        positions = column_groups(groups, matrix.shape[1], labels)
        views = cls({name: matrix[:, columns] for name, columns in positions.items()})
        if labels is not None:
            views.feature_names = tuple(
                _texts([labels[k] for k in columns]) for columns in positions.values()
            )
        return views

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
        return int(self.arrays[0].shape[0])

    def __getitem__(self, key: Any) -> Any:
        """The array of a view (by name), or the Views of chosen rows."""
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"no view named {key!r}; there are {', '.join(self.names)}")
            return self.arrays[self.names.index(key)]
        if isinstance(key, Integral):
            key = [key]
        chosen = Views({name: array[key] for name, array in self.items()})
        chosen.feature_names = self.feature_names
        return chosen

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        """Refused: numpy would stack rows, and which columns belong together would be lost."""
        raise TypeError(
            "Views are several arrays, not one; take one by its name, or stack them with "
            "np.hstack(views.arrays)"
        )

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
    if not isinstance(X, list | tuple):
        return False
    return not X or any(item is None or _is_matrix(item) for item in X)


@dataclass(frozen=True)
class Layout:
    """What a fit saw of its views, to which the views of new samples are held.

    Attributes
    ----------
    names : tuple of str
    widths : tuple of int
        Number of features of each view.
    feature_names : tuple of (tuple of str or None)
    dtype : numpy dtype
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    feature_names: tuple[Labels, ...]
    dtype: np.dtype[np.floating]

    @classmethod
    def of(cls, views: Views) -> Layout:
        """The layout of `views`."""
        widths = tuple(array.shape[1] for array in views.arrays)
        return cls(views.names, widths, views.feature_names, views.dtype)

    def named(self, X: Any) -> Views:
        """The views of new samples, any subset of the known ones, under the known names.

        Parameters
        ----------
        X : list with None for a missing view, dict or Views
        """
        if isinstance(X, Views):
            return X
        if isinstance(X, Mapping):
            return Views(X)
        if len(X) != len(self.names):
            raise ValueError(
                f"expected {len(self.names)} views ({', '.join(self.names)}), None for one that "
                f"is missing, but got {len(X)}"
            )
        return Views(dict(zip(self.names, X, strict=True)))

    def check(self, views: Views) -> None:
        """Raise ValueError, naming the view, unless the views are known and have their features."""
        for name, array, labels in zip(views.names, views.arrays, views.feature_names, strict=True):
            if name not in self.names:
                raise ValueError(
                    f"unknown view {name!r}; this estimator was fitted on {', '.join(self.names)}"
                )
            place = self.names.index(name)
            if array.shape[1] != self.widths[place]:
                raise ValueError(
                    f"view {name!r} has {array.shape[1]} features, but it had "
                    f"{self.widths[place]} in fit"
                )
            known = self.feature_names[place]
            if labels is not None and known is not None and labels != known:
                column = next(k for k in range(len(known)) if labels[k] != known[k])
                raise ValueError(
                    f"column {column} of view {name!r} is {labels[column]!r}, but it was "
                    f"{known[column]!r} in fit; pass the same columns in the same order"
                )


def _named(views: object) -> list[tuple[str, Any]]:
    if issparse(views):
        raise TypeError("expected several views, got one sparse matrix: pass X.toarray()")
    if isinstance(views, Views):
        return [*views.items()]
    if isinstance(views, Mapping):
        named = {view_name(name): array for name, array in views.items()}
    elif isinstance(views, list | tuple):
        named = numbered(views)
    else:
        raise ValueError(f"expected a list or a dict of views, got {type(views).__name__}")
    return [(name, array) for name, array in named.items() if array is not None]


def _labels(array: object) -> Labels:
    """Names of the columns of a DataFrame."""
    columns = getattr(array, "columns", None)
    return None if columns is None else _texts([*columns])


def _texts(labels: Sequence[Any]) -> Labels:
    """The labels, of two levels the second; None unless they are text."""
    last = [label[-1] if isinstance(label, tuple) else label for label in labels]
    return tuple(last) if all(isinstance(label, str) for label in last) else None


def _is_matrix(item: object) -> bool:
    try:
        return issparse(item) or np.ndim(item) == 2  # type: ignore[arg-type]
    except (TypeError, ValueError):  # ragged rows, or no array at all: refused later
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


def _check_indices(given: Iterable[tuple[str, Any]]) -> None:
    """Raise ValueError unless all DataFrames have the same index: rows are joined by place."""
    frames = [(name, array.index) for name, array in given if hasattr(array, "iloc")]
    for name, index in frames[1:]:
        first_name, first = frames[0]
        if not index.equals(first):
            row = next(k for k in range(len(index)) if index[k] != first[k])
            raise ValueError(
                f"row {row} is {first[row]!r} in view {first_name!r} and {index[row]!r} in view "
                f"{name!r}; rows are joined by place: bring the frames into one order, or drop "
                "their indices with reset_index(drop=True)"
            )


def _check_finite(name: str, matrix: NDArray[np.floating]) -> None:
    largest = max(abs(float(matrix.max())), abs(float(matrix.min())))
    if largest <= LARGEST:  # false for NaN as well
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
        raise ValueError(
            f"row {row} of view {name!r} has an infinite value (inf) in column {column}"
        )
    row = int(np.argmax(np.abs(matrix).max(axis=1)))
    raise ValueError(
        f"row {row} of view {name!r} has a value of {largest:.3g}, whose square overflows; rescale "
        "the view"
    )
