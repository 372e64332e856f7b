"""The Views class: named measurements of the same samples, with missing samples allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from viewhop.views import _checks as reading
from viewhop.views._checks import Labels, is_mudata
from viewhop.views._columns import Groups, column_groups
from viewhop.views._joined_rows import JoinedRows
from viewhop.views._masks import observation_masks
from viewhop.views._matrix import read_matrix
from viewhop.views._refusals import is_foreign
from viewhop.views._row_reader import RowReader
from viewhop.views._rows import RowMap, unless_whole
from viewhop.views._sparse_rows import Rows, SparseRows

__all__ = ["Views", "is_collection"]

Indices = NDArray[np.intp]


class Views(JoinedRows):
    """Named views of the same samples, as one object that can be indexed by row.

    Parameters
    ----------
    views : list of (n_samples, n_features) arrays, dict of them, Views or MuData
        The views of a list are named ``view1``, ``view2``, …; a dict keeps its names. A view that
        is None is left out. A row of NaN is a sample that the view did not observe; so is a row of
        a masked array that is masked throughout. A view may be sparse: a CSR or CSC array or
        matrix, or a DataFrame with sparse columns; what it did not observe is then said by
        `observed` or by ids.
    observed : (n_samples, n_views) bool array, list or dict of (n_samples,) arrays, or None
        Which samples each view observed; a row of NaN is never observed.
    missing : {"error", "drop"}, default="error"
        What happens to a row that is NaN, or masked, in part: "error" refuses it, "drop" counts it
        as not observed and warns.
    pairwise : list of str
        Views that are precomputed kernels, (n_samples, n_samples): a sample that such a view did
        not observe is a row and a column of NaN.

    Attributes
    ----------
    names : tuple of str
    arrays : tuple of (n_samples, n_features) arrays, float32 if all were, else float64
        A row of NaN marks a sample that the view did not observe. A view with several rows for
        some sample (see `link`) keeps its rows as they were passed. A sparse view is a CSR array of
        the rows that it observed.
    feature_names : tuple of (tuple of str, or None for a view without feature names)
    ids : (n_samples,) array or None
        Ids of the samples, if known.
    kernels_with_gaps : tuple of str
        Views that are precomputed kernels with columns of NaN.

    Warns
    -----
    DroppedRowsWarning
        If rows were dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop import Views
    >>> views = Views({"rna": np.eye(4, 3), "protein": np.eye(4, 2)})
    >>> len(views), views.shape, views["protein"].shape
    (4, (4, 5), (4, 2))
    >>> views[[0, 2]]
    Views(2 samples: rna (3), protein (2))
    >>> protein = np.eye(4, 2)
    >>> protein[1] = np.nan
    >>> Views({"rna": np.eye(4, 3), "protein": protein})
    Views(4 samples: rna (3), protein (2; saw 3))
    >>> protein[2, 0] = np.nan
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     Views({"rna": np.eye(4, 3), "protein": protein}, missing="drop")
    Views(4 samples: rna (3), protein (2; saw 2))
    """

    names: tuple[str, ...]
    feature_names: tuple[Labels, ...]
    ids: NDArray[Any] | None
    kernels_with_gaps: tuple[str, ...] = ()

    def __init__(
        self,
        views: Sequence[ArrayLike | None] | Mapping[str, ArrayLike] | Views,
        *,
        observed: Any = None,
        missing: str = "error",
        pairwise: Sequence[str] = (),
    ) -> None:
        reader = RowReader(missing, pairwise=pairwise)
        self._read(views, reader, observed)
        reader.warn(stacklevel=2)

    @classmethod
    def _from_any(cls, views: Any, reader: RowReader) -> Self:
        """Views as in the constructor, whose rows a reader decides about."""
        self = cls.__new__(cls)
        self._read(views, reader, None)
        return self

    def _read(self, views: Any, reader: RowReader, observed: Any) -> None:
        if isinstance(views, Views) or is_mudata(views):
            source = views if isinstance(views, Views) else Views._from_mudata(views, None, reader)
            self.__dict__.update(vars(source))
            reader.begin(self.names)
            if observed is not None:
                self._keep(observation_masks(observed, self.names, len(self)))
            return
        named = reading.name_views(views)
        if not named:
            raise ValueError("expected at least one view, got none")
        reader.begin([name for name, _ in named])
        arrays = {name: read_matrix(f"view {name!r}", array) for name, array in named}
        reading.check_lengths(arrays)
        reading.check_indices(named)
        n = len(next(iter(arrays.values())))
        masks = observation_masks(observed, tuple(arrays), n)
        samples = {
            name: reader.observed_rows(name, array, masks.get(name))
            for name, array in arrays.items()
        }
        rows = {
            name: array if kept is None else array[kept]
            for (name, array), kept in zip(arrays.items(), samples.values(), strict=True)
        }
        self._set(n, rows, samples, [reading.column_labels(array) for _, array in named])
        self.kernels_with_gaps = tuple(n for n in self.names if n in reader.kernels_with_gaps)
        self._check_observed(reader.reason, is_masked=observed is not None)

    def _set(
        self,
        n_samples: int,
        rows: Mapping[str, Rows],
        samples: Mapping[str, Indices | None],
        feature_names: Sequence[Labels],
        ids: NDArray[Any] | None = None,
        precisions: Mapping[str, np.dtype[np.floating]] | None = None,
    ) -> None:
        """Store rows and the sample of each; None if row k is sample k."""
        own = {name: array.dtype for name, array in rows.items()}
        self._precisions = dict(precisions or own)
        single = all(dtype == np.float32 for dtype in own.values())
        dtype = np.float32 if single else np.float64
        self.names = tuple(rows)
        self._n_samples = n_samples
        self._rows: dict[str, Rows] = {
            name: array.astype(dtype, copy=False) for name, array in rows.items()
        }
        self._samples = {name: unless_whole(kept, n_samples) for name, kept in samples.items()}
        self.feature_names = tuple(feature_names)
        self.ids = ids

    def _check_observed(self, why: str, *, is_masked: bool = False) -> None:
        """Raise ValueError, naming the first one, if no view observed some samples."""
        if self.is_complete:
            return
        unseen = np.flatnonzero(~self.observed.any(axis=1))
        if not unseen.size:
            return
        kind = "row" if self.ids is None else "sample"
        if self.n_views == 1:
            why = f"of view {self.names[0]!r} {'is all NaN' if why == 'is NaN' else why}"
        why += " or not in `observed`" * is_masked
        plural = "" if unseen.size == 1 else "s"
        raise ValueError(
            f"{self.describe_sample(int(unseen[0]))} {why}: it was observed by no view "
            f"({unseen.size} such {kind}{plural}); drop samples that no view observed"
        )

    def _keep(self, masks: Mapping[str, NDArray[np.bool_]]) -> None:
        """Keep only the rows whose sample is True in the mask of the view."""
        rows, samples = dict(self._rows), dict(self._samples)
        for name, mask in masks.items():
            places = self.samples(name)
            kept = mask[places]
            if not kept.all():
                rows[name], samples[name] = rows[name][kept], places[kept]
        self._set(len(self), rows, samples, self.feature_names, self.ids, self._precisions)
        self._check_observed("is NaN", is_masked=True)

    @classmethod
    def from_columns(
        cls,
        X: ArrayLike,
        groups: Groups,
        *,
        names: Sequence[Any] | None = None,
        missing: str = "error",
        pairwise: Sequence[str] = (),
    ) -> Self:
        """Views made of the column groups of a stacked array or DataFrame.

        Parameters
        ----------
        X : (n_samples, n_features) array or DataFrame
        groups : int, list, dict or "from_column_transformer"
            A number of views of (nearly) equal width; a list of widths; a list of column
            groups; or a dict from view name to column group. A group can be positions, a slice,
            a mask or column names. "from_column_transformer" makes a view of every transformer of
            a `ColumnTransformer` of scikit-learn, by the names of its output: ``rna__gene1`` is a
            column of the view ``rna``, and what ``remainder="passthrough"`` lets through is the
            view ``remainder``. A transformer without columns makes no view.
        names : list or None
            Names of the columns; by default those of the DataFrame.
        missing, pairwise
            As in the constructor.

        Examples
        --------
        >>> Views.from_columns(np.eye(4, 5), {"a": [0, 1], "b": slice(2, 5)})
        Views(4 samples: a (2), b (3))
        """
        reader = RowReader(missing, pairwise=pairwise)
        views = cls._from_groups(X, groups, reader, names)
        reader.warn(stacklevel=2)
        return views

    @classmethod
    def _from_groups(
        cls, X: Any, groups: Groups, reader: RowReader, names: Sequence[Any] | None
    ) -> Self:
        """Views as from `from_columns`, whose rows a reader decides about."""
        labels = getattr(X, "columns", None) if names is None else names
        matrix = read_matrix("X", X)
        positions = column_groups(groups, matrix.shape[1], labels)
        parts = {name: matrix[:, columns] for name, columns in positions.items()}
        views = cls._from_any(parts, reader)
        if labels is not None:
            views.feature_names = tuple(
                reading.text_labels([labels[k] for k in columns]) for columns in positions.values()
            )
        return views

    @classmethod
    def _of_rows(
        cls,
        n_samples: int,
        rows: Mapping[str, Rows],
        samples: Mapping[str, Indices],
        feature_names: Sequence[Labels],
        ids: NDArray[Any],
        why: str,
    ) -> Self:
        views = cls.__new__(cls)
        views._set(n_samples, rows, samples, feature_names, ids)
        views._check_observed(why)
        return views

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.names)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The array of each view."""
        return tuple(self._array(name) for name in self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of features in all views together."""
        return len(self), sum(rows.shape[1] for rows in self._rows.values())

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The dtype that all views share."""
        return self._rows[self.names[0]].dtype

    @property
    def is_complete(self) -> bool:
        """Whether every view has one row for every sample, in order."""
        return all(samples is None for samples in self._samples.values())

    @property
    def nodes(self) -> RowMap:
        """The map from the rows of each view to samples."""
        sizes = [len(rows) for rows in self._rows.values()]
        return RowMap(sizes, [*self._samples.values()], len(self))

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which samples each view observed, (n_samples, n_views)."""
        return self.nodes.observed

    def rows(self, name: str) -> Any:
        """The observed rows of a view, (n_l, n_features): an array, or `SparseRows`.

        Parameters
        ----------
        name : str
        """
        self._check_name(name)
        return self._rows[name]

    def full_rows(self, name: str, what: str) -> NDArray[np.floating]:
        """The observed rows of a view as an array; TypeError if it is sparse.

        Parameters
        ----------
        name : str
        what : str
            What needs an array, for the message.
        """
        rows = self.rows(name)
        if isinstance(rows, SparseRows):
            raise TypeError(
                f"{what} needs full rows, but view {name!r} is sparse: reduce it first, for "
                "example with sklearn.decomposition.TruncatedSVD, or pass its .toarray()"
            )
        return np.asarray(rows)

    def precision(self, name: str) -> np.dtype[np.floating]:
        """The precision in which a view was passed, float32 or float64.

        Parameters
        ----------
        name : str
        """
        self._check_name(name)
        return self._precisions[name]

    def samples(self, name: str) -> Indices:
        """The sample index of each observed row of a view, (n_l,).

        Parameters
        ----------
        name : str
        """
        self._check_name(name)
        samples = self._samples[name]
        return np.arange(len(self)) if samples is None else samples

    def with_features(self, positions: Mapping[str, Sequence[int] | None]) -> Views:
        """The views with some of their features, in another order.

        Parameters
        ----------
        positions : dict of (sequences of int, or None) by view name
            Columns of each view, in order; None, or no entry, keeps all.
        """
        chosen = {name: columns for name, columns in positions.items() if columns is not None}
        if not chosen:
            return self
        rows = {
            name: array[:, chosen[name]] if name in chosen else array
            for name, array in self._rows.items()
        }
        labels = [
            tuple(labels[k] for k in chosen[name]) if labels and name in chosen else labels
            for name, labels in zip(self.names, self.feature_names, strict=True)
        ]
        views = Views.__new__(Views)
        views._set(len(self), rows, self._samples, labels, self.ids, self._precisions)
        views.kernels_with_gaps = self.kernels_with_gaps
        return views

    def describe_sample(self, sample: int) -> str:
        """A sample's name in messages: ``sample 'c17' (row 204)``, or ``row 204`` without ids.

        Parameters
        ----------
        sample : int
        """
        if self.ids is None:
            return f"row {sample}"
        return f"sample {self.ids[[sample]].tolist()[0]!r} (row {sample})"

    def describe_row(self, name: str, row: int) -> str:
        """A row of a view as messages name it: by its sample.

        Parameters
        ----------
        name : str
            The view.
        row : int
            Counted as `rows` has them.
        """
        return self.describe_sample(int(self.samples(name)[row]))

    def __len__(self) -> int:
        return self._n_samples

    def __getitem__(self, key: Any) -> Any:
        """The array of a view (by name), or the Views of the selected samples."""
        if isinstance(key, str):
            self._check_name(key)
            return self._array(key)
        if isinstance(key, Integral):
            key = [key]
        chosen = np.arange(len(self))[key]
        if chosen.ndim != 1:
            raise IndexError("select rows of Views by one number, slice, list or mask")
        rows: dict[str, Rows] = {}
        places: dict[str, Indices | None] = {}
        for name, array in self._rows.items():
            samples = self._samples[name]
            if samples is None:
                rows[name], places[name] = (
                    array[chosen if isinstance(array, SparseRows) else key],
                    None,
                )
            else:
                kept, places[name] = _select_rows(samples, chosen)
                rows[name] = array[kept]
        views = Views.__new__(Views)
        ids = None if self.ids is None else self.ids[key]
        views._set(chosen.size, rows, places, self.feature_names, ids, self._precisions)
        views.kernels_with_gaps = self.kernels_with_gaps
        return views

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        """Refused: numpy would stack the arrays and lose track of which columns form a view."""
        raise TypeError(
            "Views are several arrays, not one; select one by name, or stack them with "
            "np.hstack(views.arrays)"
        )

    def items(self) -> Iterator[tuple[str, Any]]:
        """Pairs of view name and array, in order."""
        return zip(self.names, self.arrays, strict=True)

    def __repr__(self) -> str:
        widths = ", ".join(map(self._describe_view, self.names))
        return f"Views({len(self):,} samples: {widths})"

    def _describe_view(self, name: str) -> str:
        rows, samples = self._rows[name], self._samples[name]
        note = "" if samples is None else f"; saw {np.unique(samples).size:,}"
        if samples is not None and np.unique(samples).size < samples.size:
            note += f" in {samples.size:,} rows"
        kind = " sparse" if isinstance(rows, SparseRows) else ""
        return f"{name} ({rows.shape[1]}{kind}{note})"

    def _array(self, name: str) -> Any:
        rows, samples = self._rows[name], self._samples[name]
        if isinstance(rows, SparseRows):
            return rows.matrix.copy()
        if samples is None or np.unique(samples).size < samples.size:
            return rows
        array = np.full((len(self), rows.shape[1]), np.nan, dtype=rows.dtype)
        array[samples] = rows
        return array

    def _check_name(self, name: str) -> None:
        if name not in self.names:
            raise KeyError(f"no view named {name!r}; there are {', '.join(self.names)}")


def is_collection(X: object) -> bool:
    """Whether `X` is several views, rather than one array whose rows are samples.

    A sparse array is tested first: a ``dok_array`` is a dict.
    """
    if issparse(X):
        return False
    if isinstance(X, Views | Mapping) or is_mudata(X):
        return True
    if not isinstance(X, list | tuple):
        return False
    return not X or any(item is None or reading.is_matrix(item) or is_foreign(item) for item in X)


def _select_rows(samples: Indices, chosen: Indices) -> tuple[Indices, Indices]:
    """Rows of the chosen samples, and the position of each row's sample among these."""
    order = np.argsort(samples, kind="stable")
    starts = np.searchsorted(samples, chosen, sorter=order)
    counts = np.searchsorted(samples, chosen, side="right", sorter=order) - starts
    places = np.repeat(np.arange(chosen.size), counts)
    within = np.arange(places.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.repeat(starts, counts) + within], places
