"""The base classes of all estimators: they read the input and expose fitted attributes.

A fit assigns one attribute, the frozen result; every other fitted attribute is computed from it. A
fit that fails therefore leaves the estimator unchanged.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from viewhop._registry import FUSIONS, KERNELS, OUTPUTS, SOLVERS
from viewhop.estimators._view_summary import ViewSummary
from viewhop.kernels import Kernel, kernels_by_view
from viewhop.views import (
    FROM_NAMES,
    MISSING,
    RowReader,
    Schema,
    Views,
    as_sparse_frame,
    check_depth,
    check_sparse,
    cut_columns,
    frame_groups,
    is_collection,
    is_sparse_frame,
    plain_array,
    read_every_view,
    require_rows,
    row_labels,
)

__all__ = [
    "FittedAttribute",
    "ListedNames",
    "ViewEstimator",
    "ViewTransformer",
    "choose_constraints",
    "make_generator",
]


class FittedAttribute:
    """A read-only attribute that an estimator computes from the result of its fit.

    Parameters
    ----------
    read : callable
        Takes the fitted estimator and returns the value.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def __get__(self, est: Any, owner: type | None = None) -> Any:
        if est is None:
            return self
        check_is_fitted(est)  # raises an AttributeError, so that hasattr is False before the fit
        return self._read(est)


class ViewEstimator(ViewSummary, BaseEstimator):
    """An estimator that reads several views.

    A subclass has the parameter `views`, and the property `_schema` once it is fitted.

    Attributes
    ----------
    view_names_ : tuple of str
    n_views_, n_features_in_ : int
    feature_names_in_ : (n_features_in_,) array of str
        Only if `fit` was called with one DataFrame.
    """

    #: Column groups of a stacked X; a parameter of estimators that accept several views.
    views: Any = None
    #: What happens to rows that are NaN in part; a parameter of estimators that accept them.
    missing: str = "error"
    kernel: Any

    view_names_ = FittedAttribute(lambda est: est._schema.names)
    n_views_ = FittedAttribute(lambda est: len(est._schema.names))
    n_features_in_ = FittedAttribute(lambda est: est._schema.n_features)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns of a stacked DataFrame."""
        check_is_fitted(self)
        if self._schema.columns is None:
            raise AttributeError("fit was not called with a DataFrame that has column names")
        return np.array(self._schema.columns, dtype=object)

    @property
    @abstractmethod
    def _schema(self) -> Schema:
        """The schema of the training views."""

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _view_caption(self) -> str:
        n = len(self._schema.names)
        return f"{type(self).__name__}, fitted on {n} view{'s' if n > 1 else ''}"

    @property
    def _view_columns(self) -> dict[str, Sequence[object]]:
        return {"view": self._schema.names, "features": self._schema.widths}

    def _read_training(self, X: Any) -> tuple[Views, Schema]:
        """The views in `X`, and the schema that new samples must match."""
        reader = RowReader(self.missing, pairwise=self._pairwise_views)
        if not is_collection(X):
            views, schema = self._cut_training(X, reader)
        elif self.views is not None:
            raise ValueError("views= splits one stacked X, but X is several views already")
        else:
            views = read_every_view(X, reader)
            schema = Schema.from_views(views)
        reader.warn(stacklevel=3)
        return views, schema

    def _cut_training(self, X: Any, reader: RowReader) -> tuple[Views, Schema]:
        # scikit-learn stores input names on the estimator that it validates; validating with a
        # stand-in keeps this one unchanged if the fit fails.
        stand_in = type(type(self).__name__, (BaseEstimator,), {})()
        matrix = _read_stacked(stand_in, X, reset=True)
        columns = getattr(stand_in, "feature_names_in_", None)
        groups = frame_groups(X) if self.views is None else self.views
        labels = getattr(X, "columns", columns)
        views = cut_columns(matrix, 1 if groups is None else groups, reader, names=labels)
        return require_rows(views), Schema.from_views(
            views,
            groups=self.views,
            columns=None if columns is None else tuple(map(str, columns)),
            n_columns=matrix.shape[1],
        )

    def _read_new(self, X: Any) -> Views:
        """The views in `X`, by their names in `fit`."""
        schema = self._schema
        reader = RowReader(self.missing, unused=self._unused_columns)
        views = schema.named(X, reader) if is_collection(X) else self._cut_new(X, reader)
        reader.warn(stacklevel=4)  # transform is wrapped by scikit-learn
        return views

    def _cut_new(self, X: Any, reader: RowReader) -> Views:
        schema = self._schema
        schema.check_depths(X)
        matrix = _read_stacked(self, X, reset=False)
        groups = frame_groups(X) if schema.groups is None else schema.groups
        labels = getattr(X, "columns", getattr(self, "feature_names_in_", None))
        views = cut_columns(matrix, 1 if groups is None else groups, reader, names=labels)
        if views.names != schema.names:
            raise ValueError(
                f"this estimator was fitted on the views {', '.join(schema.names)}; pass "
                "them as a list or a dict, or as one stacked array if fit was called with one"
            )
        return views

    def _pairwise_views(self, names: Sequence[str]) -> list[str]:
        """The views that are precomputed kernels."""
        kernels = kernels_by_view(self.kernel, names)
        return [name for name in names if kernels[name].is_pairwise]

    @property
    def _unused_columns(self) -> dict[str, NDArray[np.bool_]]:
        """Columns of views that `transform` does not use, by view name."""
        return {}


class ViewTransformer(TransformerMixin, ViewEstimator):
    """An estimator that embeds samples, with output columns named after the views.

    A subclass has `embedding_`, `n_components_` and `_block_names` once it is fitted.

    Attributes
    ----------
    n_components_ : int
    embedding_ : (n_samples, n_features_out) array
    """

    embedding_: Any
    n_components_: Any

    @abstractmethod
    def fit(self, X: Any, y: object = None) -> Self:
        """Learn from the training samples."""

    @property
    @abstractmethod
    def _block_names(self) -> tuple[str, ...]:
        """The name of each block of `n_components_` columns."""

    def fit_transform(self, X: Any, y: object = None) -> NDArray[np.floating]:
        """The embedding of the training samples, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
        y : ignored
        """
        embedding: NDArray[np.floating] = self._label_rows(self.fit(X).embedding_, X)
        return embedding

    def _label_rows(self, embedding: NDArray[np.floating], X: Any) -> Any:
        """The embedding, as a DataFrame with the index of `X` if pandas output is configured.

        scikit-learn keeps the index of one DataFrame, but not that of several.
        """
        if _get_output_config("transform", self)["dense"] != "pandas":
            return embedding
        import pandas as pd

        return pd.DataFrame(embedding, index=row_labels(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the embedding's columns: ``<view>_<k>``, with k from 1.

        Parameters
        ----------
        input_features : list of str or None
            Checked against the columns in `fit`, otherwise ignored.
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
        names = [f"{name}_{k}" for name in self._block_names for k in numbers]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _read_stacked(est: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """One stacked array or DataFrame as scikit-learn reads it; NaN is kept, masked becomes NaN.

    A sparse one becomes a CSR array.
    """
    if issparse(X):
        X = check_sparse("X", X)
    elif is_sparse_frame(X):
        as_sparse_frame("X", X)  # scikit-learn reads it, with the names of its columns
    else:
        X = plain_array("X", X)
        if len(getattr(X, "shape", ())) > 2:  # scikit-learn refuses fewer dimensions
            check_depth("X", X)
    return validate_data(
        est,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
    )


def make_generator(random_state: Any) -> np.random.Generator:
    """The random generator of a fit."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31, size=4)
    return np.random.default_rng(random_state)


class ListedNames(StrOptions):
    """The names in a dict of `viewhop._registry`, looked up when a parameter is checked.

    Parameters
    ----------
    entries : dict by name
    *others : str
        Further valid names.
    """

    def __init__(self, entries: Mapping[str, Any], *others: str) -> None:
        self._entries = entries
        self._others = others
        super().__init__({*others, *entries})

    def is_satisfied_by(self, value: object) -> bool:
        """Whether the value is one of the names."""
        self.options = {*self._others, *self._entries}
        return bool(super().is_satisfied_by(value))


_POSITIVE = Interval(Integral, 1, None, closed="left")

_CONSTRAINTS: dict[str, list[Any]] = {
    "n_components": [_POSITIVE, StrOptions({"auto"})],
    "n_steps": [Interval(Real, 0, None, closed="left")],
    "kernel": [ListedNames(KERNELS), Kernel, list, tuple, Mapping],
    "fusion": [ListedNames(FUSIONS)],
    "within_view_weight": [Interval(Real, 0, 1, closed="both"), None],
    "hops": ["array-like", StrOptions({"auto"}), None],
    "view_weights": ["array-like", Mapping, None],
    "joint_view": ["boolean", StrOptions({"auto"})],
    "connect": ["boolean"],
    "accuracy": [Interval(Real, 0, 1, closed="left"), StrOptions({"local_pca", "danco"}), None],
    "output": [ListedNames(OUTPUTS)],
    "views": [_POSITIVE, list, tuple, Mapping, StrOptions({FROM_NAMES}), None],
    "missing": [StrOptions({*MISSING})],
    "solver": [ListedNames(SOLVERS, "auto"), HasMethods("solve")],
    "tol": [Interval(Real, 0, 1, closed="left"), None],
    "max_memory": [Interval(Real, 0, None, closed="neither"), str, None],
    "memory": [str, os.PathLike, HasMethods(["cache"]), None],
    "n_jobs": [Integral, None],
    "random_state": ["random_state", np.random.Generator],
    "verbose": ["verbose", callable],
}


def choose_constraints(*names: str, **own: list[Any]) -> dict[str, list[Any]]:
    """The constraints of shared parameters, plus those of an estimator's own parameters.

    Parameters
    ----------
    *names : str
        Parameters that mean the same as in `MultiViewDiffusionMaps`.
    **own : list
        Constraints of other parameters.
    """
    return {**{name: _CONSTRAINTS[name] for name in names}, **own}
