"""The schema of the training views, against which new samples are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from viewhop.views._checks import Labels, is_mudata
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

    def named(self, X: Any) -> Views:
        """The views of new samples, any subset of the training views, by their names in `fit`.

        Parameters
        ----------
        X : list with None for a missing view, dict or Views
        """
        if isinstance(X, Views):
            return X
        if isinstance(X, Mapping) or is_mudata(X):
            return Views(X)
        if len(X) != len(self.names):
            raise ValueError(
                f"expected {len(self.names)} views ({', '.join(self.names)}), None for a "
                f"missing one, but got {len(X)}"
            )
        return Views(dict(zip(self.names, X, strict=True)))

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
