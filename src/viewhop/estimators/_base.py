"""The transformer that all estimators of several views share: how input comes in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from viewhop.views import Schema, Views, frame_groups, is_collection, is_mudata

__all__ = ["ViewTransformer", "make_generator", "whole_or_unchanged"]


class ViewTransformer(TransformerMixin, BaseEstimator):
    """An estimator that reads several views and names its columns after them.

    A subclass has the parameter `views` and sets `embedding_` and `n_components_` in ``fit``.

    Attributes
    ----------
    view_names_ : tuple of str
    n_views_, n_components_, n_features_in_ : int
    embedding_ : (n_samples, n_features_out) array
    """

    views: Any
    view_names_: tuple[str, ...]
    n_views_: int
    n_components_: int
    embedding_: NDArray[np.floating]
    _layout: Schema
    _groups: Any

    @abstractmethod
    def fit(self, X: Any, y: object = None) -> Self:
        """Learn from the training samples."""

    def fit_transform(self, X: Any, y: object = None) -> NDArray[np.floating]:
        """The embedding of the training samples, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
        y : ignored
        """
        return self.fit(X).embedding_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the embedding's columns: ``<view>_<k>``, k from 1.

        Parameters
        ----------
        input_features : list of str or None
            Checked against the columns of `fit`, and not used otherwise.
        """
        check_is_fitted(self)
        if input_features is not None:
            known = getattr(self, "feature_names_in_", None)
            if known is not None and [*input_features] != [*known]:
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(input_features) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(input_features)}"
                )
        numbers = range(1, self.n_components_ + 1)
        return np.array([f"{name}_{k}" for name in self._blocks() for k in numbers], dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _blocks(self) -> tuple[str, ...]:
        """What each block of `n_components_` columns is named after."""
        return self.view_names_

    def _read(self, X: Any, *, reset: bool) -> Views:
        """The views in `X`; with `reset`, what later calls are held to is stored."""
        if not is_collection(X):
            views = self._cut(X, reset=reset)
        elif reset:
            if self.views is not None:
                raise ValueError("views= cuts one stacked X into views; X is several views already")
            views = Views(X)
            given = X.mod if is_mudata(X) else getattr(X, "names", X)
            if views.n_views < len(given):
                raise ValueError(
                    "a view is None, and a fit needs every view: leave it out of the list or dict; "
                    "transform takes None for a view that was not measured"
                )
            self.n_features_in_ = views.shape[1]
            self._groups = None
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        else:
            views = self._layout.named(X)
        if reset:
            self._layout = Schema.of(views)
            self.view_names_ = views.names
            self.n_views_ = views.n_views
        else:
            self._layout.check(views)
            self._check_rows(views)
        return views

    def _cut(self, X: Any, *, reset: bool) -> Views:
        """The views in one stacked array or DataFrame."""
        matrix = validate_data(
            self, X, reset=reset, dtype=(np.float64, np.float32), ensure_all_finite=False
        )
        if reset:
            self._groups = self.views
        groups = frame_groups(X) if self._groups is None else self._groups
        labels = getattr(X, "columns", getattr(self, "feature_names_in_", None))
        views = Views.from_columns(matrix, 1 if groups is None else groups, names=labels)
        if not reset and views.names != self.view_names_:
            raise ValueError(
                f"this estimator was fitted on the views {', '.join(self.view_names_)}; pass "
                "them as a list or a dict, or one stacked array as in fit"
            )
        return views

    @abstractmethod
    def _check_rows(self, views: Views) -> None:
        """Raise ValueError for a new row that its view's kernel is not defined on."""


@contextmanager
def whole_or_unchanged(est: BaseEstimator) -> Iterator[None]:
    """Let a fit set attributes as it goes; if it fails, the estimator is as it was before."""
    before = dict(est.__dict__)
    try:
        yield
    except BaseException:
        est.__dict__ = before
        raise


def make_generator(random_state: Any) -> np.random.Generator:
    """The one source of random numbers of a fit."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31, size=4)
    return np.random.default_rng(random_state)
