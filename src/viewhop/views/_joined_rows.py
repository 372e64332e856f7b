"""Views from frames: cut from one, or joined by id, by time or by observation name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from viewhop.views._checks import Labels, view_name
from viewhop.views._frame_views import FrameGroups, cut_frame
from viewhop.views._matrix import read_matrix
from viewhop.views._row_reader import RowReader
from viewhop.views._similar_ids import warn_of_similar_ids
from viewhop.views._sparse_rows import Rows

__all__ = ["JoinedRows"]


class JoinedRows:
    """The ways to make `viewhop.Views` from frames, and from rows in different orders."""

    feature_names: tuple[Labels, ...]
    ids: NDArray[Any] | None

    @classmethod
    def from_frames(
        cls, frames: Mapping[str, Any], *, id: str | None = None, missing: str = "error"
    ) -> Self:
        """Views of DataFrames, joined by row id.

        This is an outer join: the result has every id that appears in any view, in the order in
        which the ids first appear. A view without a row for an id did not observe that sample.

        Parameters
        ----------
        frames : dict of DataFrames by view name
        id : str or None
            Name of the id column; None takes the index.
        missing : {"error", "drop"}, default="error"
            As in `viewhop.Views`.

        Examples
        --------
        >>> import pandas as pd
        >>> from viewhop import Views
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
        reader = RowReader(missing)
        views = cls._aligned(arrays, aligned, labels, reader)
        reader.warn(stacklevel=2)
        return views

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        groups: FrameGroups | None = None,
        *,
        id: str | None = None,
        missing: str = "error",
    ) -> Self:
        """The views in the columns of one DataFrame, with its index or a column as ids.

        Parameters
        ----------
        frame : DataFrame
            Of pandas, polars, pyarrow, or another library that narwhals reads. A null is NaN.
        groups : dict, list of str or None
            A dict of columns by view name: names, positions or slices. Or a list of prefixes of
            column names, one per view, named after it: ``["rna_", "protein_"]`` gives the views
            ``rna`` and ``protein``. None takes the first level of columns with two levels.
        id : str or None
            Name of the column of ids; None takes the index of pandas, unless it only counts.
        missing : {"error", "drop"}, default="error"
            As in `viewhop.Views`.

        Raises
        ------
        ValueError
            If a column is in no view by prefix, or holds no numbers, or an id is missing or twice.

        Examples
        --------
        >>> import pandas as pd
        >>> from viewhop import Views
        >>> frame = pd.DataFrame(
        ...     {"rna_a": [1.0, 2.0], "rna_b": [0.5, 0.1], "protein_x": [3.0, 4.0]},
        ...     index=["anna", "ben"],
        ... )
        >>> views = Views.from_frame(frame, ["rna_", "protein_"])
        >>> views
        Views(2 samples: rna (2), protein (1))
        >>> views.feature_names
        (('rna_a', 'rna_b'), ('protein_x',))
        >>> views.ids.tolist()
        ['anna', 'ben']
        """
        parts = cut_frame(frame, groups, id)
        reader = RowReader(missing)
        views = cls._from_any(parts.arrays, reader)
        views.feature_names = tuple(parts.labels)
        views.ids = parts.ids
        reader.warn(stacklevel=2)
        return views

    @classmethod
    def from_mudata(
        cls, mdata: Any, *, obsm: Mapping[str, str] | None = None, missing: str = "error"
    ) -> Self:
        """The modalities of a MuData as views, joined by observation name.

        Parameters
        ----------
        mdata : MuData
        obsm : dict or None
            Key of the ``.obsm`` entry to use instead of X, by modality: ``{"rna": "X_pca"}``.
        missing : {"error", "drop"}, default="error"
            As in `viewhop.Views`.
        """
        reader = RowReader(missing)
        views = cls._from_mudata(mdata, obsm, reader)
        reader.warn(stacklevel=2)
        return views

    @classmethod
    def _from_mudata(cls, mdata: Any, obsm: Mapping[str, str] | None, reader: RowReader) -> Self:
        modalities, names = mudata_views(mdata, obsm)
        arrays = {
            name: read_matrix(f"view {name!r}", values, may_be_empty=True)
            for name, (values, _, _) in modalities.items()
        }
        samples = {
            name: mudata_observations(name, keys, names)
            for name, (_, keys, _) in modalities.items()
        }
        aligned = Aligned(samples, np.asarray(names))
        check_unique(aligned, "make observation names unique with obs_names_make_unique()")
        labels = [labels for _, _, labels in modalities.values()]
        return cls._aligned(arrays, aligned, labels, reader)

    @classmethod
    def link(
        cls,
        views: Mapping[str, Any],
        *,
        ids: Mapping[str, Sequence[Any]] | None = None,
        times: Mapping[str, ArrayLike] | None = None,
        tolerance: float = np.inf,
        missing: str = "error",
    ) -> Self:
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
        missing : {"error", "drop"}, default="error"
            As in `viewhop.Views`.

        Notes
        -----
        Every row is a node of the walk. From a row, the walker can hop to any row that another
        view has for the same sample.

        Examples
        --------
        Two cameras, one of which drops frames:

        >>> import numpy as np
        >>> from viewhop import Views
        >>> frames = {"left": np.eye(6, 4), "right": np.eye(3, 5)}
        >>> times = {"left": [0, 1, 2, 3, 4, 5], "right": [0.1, 1.1, 4.2]}
        >>> Views.link(frames, times=times, tolerance=0.5)
        Views(6 samples: left (4), right (5; saw 3))
        """
        if ids is not None and times is not None:
            raise ValueError("pass ids or times, not both")
        reader = RowReader(missing)
        if ids is None and times is None:
            arrays, row_ids, labels = _framed(views, None)
            aligned = align_by_id(row_ids)
            warn_of_similar_ids(row_ids, advice="strip them")
        else:
            named = _by_name(views, "views")
            arrays = {
                name: read_matrix(f"view {name!r}", X, may_be_empty=True)
                for name, X in named.items()
            }
            labels = [reading.column_labels(X) for X in named.values()]
            if times is not None:
                aligned = align_by_time(_per_view(named, times, "times"), tolerance)
            else:
                linked_ids = _per_view(named, ids, "ids")
                aligned = align_by_id(linked_ids)
                warn_of_similar_ids(linked_ids, advice="strip them")
        linked = cls._aligned(arrays, aligned, labels, reader)
        reader.warn(stacklevel=2)
        return linked

    @classmethod
    def _aligned(
        cls,
        arrays: Mapping[str, Rows],
        aligned: Aligned,
        labels: Sequence[Labels],
        reader: RowReader,
    ) -> Self:
        """Views from the rows of each view and the sample of each row, in any order."""
        n = len(aligned.ids)
        if not n:
            name, *others = arrays
            plural = ", and so are all other views" if others else ""
            raise ValueError(f"view {name!r} is empty: it has 0 samples{plural}")
        reader.begin([*arrays])
        rows, samples = {}, {}
        for name, array in arrays.items():
            places = aligned.samples[name]
            if len(places) != len(array):
                raise ValueError(
                    f"view {name!r} has {len(array)} rows, but {len(places)} ids or times; pass "
                    "one per row"
                )
            kept = reader.observed_rows(name, array, None, partial(_describe, aligned, name))
            rows[name] = array if kept is None else array[kept]
            samples[name] = places if kept is None else places[kept]
            if samples[name].size == n and np.unique(samples[name]).size == n:
                # One row per sample, only in a different order: the view is complete.
                rows[name] = rows[name][np.argsort(samples[name])]
                samples[name] = np.arange(n)
        return cls._of_rows(n, rows, samples, labels, aligned.ids, reader.reason)

    @classmethod
    @abstractmethod
    def _from_any(cls, views: Any, reader: RowReader) -> Self:
        """Views as in the constructor, whose rows a reader decides about."""

    @classmethod
    @abstractmethod
    def _of_rows(
        cls,
        n_samples: int,
        rows: Mapping[str, Rows],
        samples: Mapping[str, NDArray[np.intp]],
        feature_names: Sequence[Labels],
        ids: NDArray[Any],
        why: str,
    ) -> Self:
        """Views with these rows, which belong to these samples; `why` some may have no row."""


def _describe(aligned: Aligned, name: str, row: int) -> str:
    """A row of a view that was joined by ids, as messages name it."""
    sample = aligned.samples[name][[row]]
    return f"sample {aligned.ids[sample].tolist()[0]!r} (row {row})"


def _framed(
    frames: Mapping[str, Any], id: str | None
) -> tuple[dict[str, Rows], dict[str, Any], list[Labels]]:
    """Arrays, ids and feature names of DataFrames."""
    arrays, ids, labels = {}, {}, []
    for name, frame in _by_name(frames, "DataFrames").items():
        ids[name], values = frame_ids(name, frame, id)
        arrays[name] = read_matrix(f"view {name!r}", values, may_be_empty=True)
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
