"""The Views class: named measurements of the same samples, with missing samples allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from viewhop.views import _checks as reading
from viewhop.views._alignment import (
    Aligned,
    align_by_id,
    align_by_time,
    check_unique,
    frame_ids,
    mudata_observations,
    mudata_views,
)
from viewhop.views._checks import Labels, is_mudata, view_name
from viewhop.views._columns import Groups, column_groups
from viewhop.views._rows import RowMap, unless_whole
from viewhop.views._similar_ids import warn_of_similar_ids

__all__ = ["Views", "is_collection"]

Indices = NDArray[np.intp]


class Views:
    """Named views of the same samples, as one object that can be indexed by row.

    Parameters
    ----------
    views : list of (n_samples, n_features) arrays, dict of them, Views or MuData
        The views of a list are named ``view1``, ``view2``, …; a dict keeps its names. A view that
        is None is left out. A row of NaN is a sample that the view did not observe.
    observed : (n_samples, n_views) bool array, list or dict of (n_samples,) arrays, or None
        Which samples each view observed; a row of NaN is never observed.

    Attributes
    ----------
    names : tuple of str
    arrays : tuple of (n_samples, n_features) arrays, float32 if all were, else float64
        A row of NaN marks a sample that the view did not observe. A view with several rows for
        some sample (see `link`) keeps its rows as they were passed.
    feature_names : tuple of (tuple of str, or None for a view without feature names)
    ids : (n_samples,) array or None
        Ids of the samples, if known.

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
    """

    names: tuple[str, ...]
    feature_names: tuple[Labels, ...]
    ids: NDArray[Any] | None

    def __init__(
        self,
        views: Sequence[ArrayLike | None] | Mapping[str, ArrayLike] | Views,
        *,
        observed: Any = None,
    ) -> None:
        if isinstance(views, Views) or is_mudata(views):
            source = views if isinstance(views, Views) else Views.from_mudata(views)
            self.__dict__.update(vars(source))
            if observed is not None:
                self._keep(reading.observation_masks(observed, self.names, len(self)))
            return
        named = reading.name_views(views)
        if not named:
            raise ValueError("expected at least one view, got none")
        arrays = {name: reading.read_matrix(name, array) for name, array in named}
        reading.check_lengths(arrays)
        reading.check_indices(named)
        n = len(next(iter(arrays.values())))
        masks = reading.observation_masks(observed, tuple(arrays), n)
        samples = {
            name: reading.observed_rows(name, array, masks.get(name))
            for name, array in arrays.items()
        }
        rows = {
            name: array if kept is None else array[kept]
            for (name, array), kept in zip(arrays.items(), samples.values(), strict=True)
        }
        self._set(n, rows, samples, [reading.column_labels(array) for _, array in named])
        self._check_observed("is NaN" if observed is None else "is NaN or not in `observed`")

    def _set(
        self,
        n_samples: int,
        rows: Mapping[str, NDArray[np.floating]],
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
        self._rows: dict[str, NDArray[np.floating]] = {
            name: array.astype(dtype, copy=False) for name, array in rows.items()
        }
        self._samples = {name: unless_whole(kept, n_samples) for name, kept in samples.items()}
        self.feature_names = tuple(feature_names)
        self.ids = ids

    def _check_observed(self, why: str) -> None:
        """Raise ValueError, naming the first one, if no view observed some samples."""
        if self.is_complete:
            return
        unseen = np.flatnonzero(~self.observed.any(axis=1))
        if not unseen.size:
            return
        kind = "row" if self.ids is None else "sample"
        if self.n_views == 1:
            why = f"of view {self.names[0]!r} {why.replace('is NaN', 'is all NaN')}"
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
            if not kept.any():
                raise ValueError(
                    f"view {name!r} observed no sample: it has no row for those in `observed`"
                )
            if not kept.all():
                rows[name], samples[name] = rows[name][kept], places[kept]
        self._set(len(self), rows, samples, self.feature_names, self.ids, self._precisions)
        self._check_observed("is NaN or not in `observed`")

    @classmethod
    def from_columns(
        cls, X: ArrayLike, groups: Groups, *, names: Sequence[Any] | None = None
    ) -> Views:
        """Views made of the column groups of a stacked array or DataFrame.

        Parameters
        ----------
        X : (n_samples, n_features) array or DataFrame
        groups : int, list or dict
            A number of views of (nearly) equal width; a list of widths; a list of column
            groups; or a dict from view name to column group. A group can be positions, a slice,
            a mask or column names.
        names : list or None
            Names of the columns; by default those of the DataFrame.

        Examples
        --------
        >>> Views.from_columns(np.eye(4, 5), {"a": [0, 1], "b": slice(2, 5)})
        Views(4 samples: a (2), b (3))
        """
        if issparse(X):
            raise TypeError("X is a sparse matrix; viewhop needs dense arrays: pass X.toarray()")
        labels = getattr(X, "columns", None) if names is None else names
        matrix = reading.read_matrix("X", X)
        positions = column_groups(groups, matrix.shape[1], labels)
        views = cls({name: matrix[:, columns] for name, columns in positions.items()})
        if labels is not None:
            views.feature_names = tuple(
                reading.text_labels([labels[k] for k in columns]) for columns in positions.values()
            )
        return views

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any], *, id: str | None = None) -> Views:
        """Views of DataFrames, joined by row id.

        This is an outer join: the result has every id that appears in any view, in the order in
        which the ids first appear. A view without a row for an id did not observe that sample.

        Parameters
        ----------
        frames : dict of DataFrames by view name
        id : str or None
            Name of the id column; None takes the index.

        Examples
        --------
        >>> import pandas as pd
        >>> rna = pd.DataFrame({"gene": [1.0, 2.0]}, index=["anna", "ben"])
        >>> protein = pd.DataFrame({"level": [3.0, 4.0]}, index=["ben", "cleo"])
        >>> views = Views.from_frames({"rna": rna, "protein": protein})
        >>> views
        Views(3 samples: rna (1; saw 2), protein (1; saw 2))
        >>> views.ids.tolist()
        ['anna', 'ben', 'cleo']
        """
        arrays, ids, labels = _framed(frames, id)
        aligned = align_by_id(ids)
        warn_of_similar_ids(ids, advice="strip them")
        check_unique(aligned, "use Views.link if several rows of a view belong to one sample")
        return cls._aligned(arrays, aligned, labels)

    @classmethod
    def from_mudata(cls, mdata: Any, *, obsm: Mapping[str, str] | None = None) -> Views:
        """The modalities of a MuData as views, joined by observation name.

        Parameters
        ----------
        mdata : MuData
        obsm : dict or None
            Key of the ``.obsm`` entry to use instead of X, by modality: ``{"rna": "X_pca"}``.
        """
        modalities, names = mudata_views(mdata, obsm)
        arrays = {
            name: reading.read_matrix(name, values) for name, (values, _, _) in modalities.items()
        }
        samples = {
            name: mudata_observations(name, keys, names)
            for name, (_, keys, _) in modalities.items()
        }
        aligned = Aligned(samples, np.asarray(names))
        check_unique(aligned, "make observation names unique with obs_names_make_unique()")
        return cls._aligned(arrays, aligned, [labels for _, _, labels in modalities.values()])

    @classmethod
    def link(
        cls,
        views: Mapping[str, Any],
        *,
        ids: Mapping[str, Sequence[Any]] | None = None,
        times: Mapping[str, ArrayLike] | None = None,
        tolerance: float = np.inf,
    ) -> Views:
        """Views with different rows, matched by id or time; a view may repeat a sample.

        Parameters
        ----------
        views : dict of (n_l, n_features) arrays or DataFrames by view name
            Each may have any number of rows.
        ids : dict of sequences by view name
            Id of the sample that each row belongs to; None takes the index of each DataFrame.
        times : dict of (n_l,) arrays by view name
            Times of the rows, instead of ids: each row is matched to the row of the first view
            that is nearest in time.
        tolerance : float
            A row farther than this from all rows of the first view becomes a sample of its own.

        Notes
        -----
        Every row is a node of the walk. From a row, the walker can hop to any row that another
        view has for the same sample.

        Examples
        --------
        Two cameras, one of which drops frames:

        >>> frames = {"left": np.eye(6, 4), "right": np.eye(3, 5)}
        >>> times = {"left": [0, 1, 2, 3, 4, 5], "right": [0.1, 1.1, 4.2]}
        >>> Views.link(frames, times=times, tolerance=0.5)
        Views(6 samples: left (4), right (5; saw 3))
        """
        if ids is not None and times is not None:
            raise ValueError("pass ids or times, not both")
        if ids is None and times is None:
            arrays, row_ids, labels = _framed(views, None)
            aligned = align_by_id(row_ids)
            warn_of_similar_ids(row_ids, advice="strip them")
            return cls._aligned(arrays, aligned, labels)
        named = _by_name(views, "views")
        arrays = {name: reading.read_matrix(name, X) for name, X in named.items()}
        labels = [reading.column_labels(X) for X in named.values()]
        if times is not None:
            return cls._aligned(
                arrays, align_by_time(_per_view(named, times, "times"), tolerance), labels
            )
        linked = _per_view(named, ids, "ids")
        aligned = align_by_id(linked)
        warn_of_similar_ids(linked, advice="strip them")
        return cls._aligned(arrays, aligned, labels)

    @classmethod
    def _aligned(
        cls,
        arrays: Mapping[str, NDArray[np.floating]],
        aligned: Aligned,
        labels: Sequence[Labels],
    ) -> Views:
        """Views from the rows of each view and the sample of each row."""
        n = len(aligned.ids)
        rows, samples = {}, {}
        for name, array in arrays.items():
            places = aligned.samples[name]
            if len(places) != len(array):
                raise ValueError(
                    f"view {name!r} has {len(array)} rows, but {len(places)} ids or times; pass "
                    "one per row"
                )
            kept = reading.observed_rows(name, array, None, partial(_describe, aligned, name))
            rows[name] = array if kept is None else array[kept]
            samples[name] = places if kept is None else places[kept]
            if samples[name].size == n and np.unique(samples[name]).size == n:
                # One row per sample, only in a different order: the view is complete.
                rows[name] = rows[name][np.argsort(samples[name])]
                samples[name] = np.arange(n)
        views = cls.__new__(cls)
        views._set(n, rows, samples, labels, aligned.ids)
        views._check_observed("is NaN")
        return views

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.names)

    @property
    def arrays(self) -> tuple[NDArray[np.floating], ...]:
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

    def rows(self, name: str) -> NDArray[np.floating]:
        """The observed rows of a view, (n_l, n_features).

        Parameters
        ----------
        name : str
        """
        self._check_name(name)
        return self._rows[name]

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
        rows: dict[str, NDArray[np.floating]] = {}
        places: dict[str, Indices | None] = {}
        for name, array in self._rows.items():
            samples = self._samples[name]
            if samples is None:
                rows[name], places[name] = array[key], None
            else:
                kept, places[name] = _select_rows(samples, chosen)
                rows[name] = array[kept]
        views = Views.__new__(Views)
        ids = None if self.ids is None else self.ids[key]
        views._set(chosen.size, rows, places, self.feature_names, ids, self._precisions)
        return views

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        """Refused: numpy would stack the arrays and lose track of which columns form a view."""
        raise TypeError(
            "Views are several arrays, not one; select one by name, or stack them with "
            "np.hstack(views.arrays)"
        )

    def items(self) -> Iterator[tuple[str, NDArray[np.floating]]]:
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
        return f"{name} ({rows.shape[1]}{note})"

    def _array(self, name: str) -> NDArray[np.floating]:
        rows, samples = self._rows[name], self._samples[name]
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
    return not X or any(item is None or reading.is_matrix(item) for item in X)


def _describe(aligned: Aligned, name: str, row: int) -> str:
    """A row of a view that was joined by ids, as messages name it."""
    sample = aligned.samples[name][[row]]
    return f"sample {aligned.ids[sample].tolist()[0]!r} (row {row})"


def _select_rows(samples: Indices, chosen: Indices) -> tuple[Indices, Indices]:
    """Rows of the chosen samples, and the position of each row's sample among these."""
    order = np.argsort(samples, kind="stable")
    starts = np.searchsorted(samples, chosen, sorter=order)
    counts = np.searchsorted(samples, chosen, side="right", sorter=order) - starts
    places = np.repeat(np.arange(chosen.size), counts)
    within = np.arange(places.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.repeat(starts, counts) + within], places


def _framed(
    frames: Mapping[str, Any], id: str | None
) -> tuple[dict[str, NDArray[np.floating]], dict[str, Any], list[Labels]]:
    """Arrays, ids and feature names of DataFrames."""
    arrays, ids, labels = {}, {}, []
    for name, frame in _by_name(frames, "DataFrames").items():
        ids[name], values = frame_ids(name, frame, id)
        arrays[name] = reading.read_matrix(name, values)
        labels.append(reading.column_labels(values))
    return arrays, ids, labels


def _by_name(views: Any, what: str) -> dict[str, Any]:
    """The views by name; ValueError unless they are a non-empty dict."""
    if not isinstance(views, Mapping):
        raise ValueError(f"expected a dict of {what}, got {type(views).__name__}")
    if not views:
        raise ValueError("expected at least one view, got none")
    return {view_name(name): view for name, view in views.items()}


def _per_view(views: Mapping[str, Any], entries: Any, what: str) -> dict[str, Any]:
    """The entry of each view, in the order of the views."""
    if not isinstance(entries, Mapping):
        raise ValueError(f"{what} must be a dict by view name, not {type(entries).__name__}")
    missing = [name for name in views if name not in entries]
    if missing:
        raise ValueError(f"{what} are missing for view {missing[0]!r}")
    unknown = [name for name in entries if name not in views]
    if unknown:
        raise ValueError(
            f"{what} name an unknown view {unknown[0]!r}; the views are {', '.join(views)}"
        )
    return {name: entries[name] for name in views}
