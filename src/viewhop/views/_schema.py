"""The schema of the training views, against which new samples are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from viewhop.views._checks import Labels, column_labels, is_mudata
from viewhop.views._collection import read_collection
from viewhop.views._feature_order import match_features
from viewhop.views._refusals import check_depth
from viewhop.views._row_reader import RowReader
from viewhop.views._views import Views

__all__ = ["Schema"]


@dataclass(frozen=True)
class Schema:
    """Names, widths and feature names of the training views, which new samples must match.

    Attributes
    ----------
    names : tuple of str
    widths : tuple of int
        Number of features of each view.
    feature_names : tuple of (tuple of str or None)
    dtype : numpy dtype
    groups : object
        Column groups of a stacked X, as passed in the parameter `views`; None for separate views.
    columns : tuple of str or None
        Column names of a stacked DataFrame.
    n_columns : int or None
        Number of columns of a stacked X, in a group or not; None for separate views.
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    feature_names: tuple[Labels, ...]
    dtype: np.dtype[np.floating]
    groups: Any = None
    columns: tuple[str, ...] | None = None
    n_columns: int | None = None

    @classmethod
    def from_views(
        cls,
        views: Views,
        *,
        groups: Any = None,
        columns: tuple[str, ...] | None = None,
        n_columns: int | None = None,
    ) -> Schema:
        """The schema of `views`; the other parameters describe a stacked X."""
        widths = tuple(views.rows(name).shape[1] for name in views.names)
        return cls(
            views.names, widths, views.feature_names, views.dtype, groups, columns, n_columns
        )

    @property
    def n_features(self) -> int:
        """Number of features passed to `fit`."""
        return sum(self.widths) if self.n_columns is None else self.n_columns

    def named(self, X: Any, reader: RowReader | None = None) -> Views:
        """The views of new samples, any subset of the training views, by their names in `fit`.

        Features that have names are put in the order of the fit.

        Parameters
        ----------
        X : list with None for a missing view, dict, Views or MuData
        reader : RowReader or None
            Decides which rows were observed; None is the default one.
        """
        reader = RowReader() if reader is None else reader
        if isinstance(X, Views) or is_mudata(X):
            views = read_collection(X, reader)
            return views.with_features(
                {
                    name: self._positions(name, labels)
                    for name, labels in zip(views.names, views.feature_names, strict=True)
                }
            )
        if not isinstance(X, Mapping):
            if len(X) != len(self.names):
                raise ValueError(
                    f"expected {len(self.names)} views ({', '.join(self.names)}), None for a "
                    f"missing one, but got {len(X)}"
                )
            X = dict(zip(self.names, X, strict=True))
        ordered = {name: self._ordered(name, view) for name, view in X.items()}
        return read_collection(ordered, reader)

    def check_depths(self, X: Any) -> None:
        """Raise ValueError, with the call to make, for one row per view instead of arrays.

        Parameters
        ----------
        X : object
            Anything but a list with one entry per view is ignored.
        """
        is_stacked = self.n_columns is not None or len(self.names) == 1
        if is_stacked or not isinstance(X, list | tuple) or len(X) != len(self.names):
            return
        for name, row in zip(self.names, X, strict=True):
            if np.ndim(row) == 1:
                check_depth(f"view {name!r}", np.asarray(row))

    def _positions(self, name: str, labels: Labels) -> list[int] | None:
        """Where the features of the fit are in a view; None if they are in order."""
        if name not in self.names:
            return None
        return match_features(name, labels, self.feature_names[self.names.index(name)])

    def _ordered(self, name: Any, view: Any) -> Any:
        """A view with the columns of a DataFrame in the order of the fit."""
        positions = self._positions(name, column_labels(view))
        if positions is None:
            return view
        return view.iloc[:, positions] if hasattr(view, "iloc") else view[:, positions]

    def check(self, views: Views) -> None:
        """Raise ValueError, naming the view, unless all views and their features match the fit."""
        for name, labels in zip(views.names, views.feature_names, strict=True):
            if name not in self.names:
                raise ValueError(
                    f"unknown view {name!r}; this estimator was fitted on {', '.join(self.names)}"
                )
            place = self.names.index(name)
            width = views.rows(name).shape[1]
            if width != self.widths[place]:
                raise ValueError(
                    f"view {name!r} has {width} features, but it had {self.widths[place]} in fit"
                )
            known = self.feature_names[place]
            if labels is not None and known is not None and labels != known:
                column = next(k for k in range(len(known)) if labels[k] != known[k])
                raise ValueError(
                    f"column {column} of view {name!r} is {labels[column]!r}, but it was "
                    f"{known[column]!r} in fit; pass the same columns in the same order"
                )
