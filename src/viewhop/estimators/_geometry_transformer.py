"""The base class of estimators that fit a geometry: `fit`, `transform`, `save` and attributes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from viewhop._runtime.progress import Progress, show_progress
from viewhop.estimators._base import FittedAttribute, ViewTransformer, make_generator
from viewhop.estimators._model_file import save_model
from viewhop.estimators._open_cache import open_cache
from viewhop.estimators._parameters import check_values
from viewhop.geometry import FitCache, Geometry, Recipe, encode_geometry, fit_geometry
from viewhop.views import Schema
from viewhop.walks import Walk

__all__ = ["GeometryTransformer"]


class GeometryTransformer(ViewTransformer):
    """A transformer that has a `viewhop.geometry.Geometry` once it is fitted.

    A subclass defines how the geometry is built in its `_recipe`.

    Attributes
    ----------
    geometry_ : Geometry
        The frozen result of the fit, from which all other fitted attributes are computed.
    """

    geometry_: Geometry
    #: Where fits keep kernels for each other; a parameter of estimators that can.
    memory: Any = None
    max_memory: float | str | None
    n_jobs: int | None
    random_state: Any
    verbose: int | Progress

    # It concerns the result, not the samples: nothing to route.
    __metadata_request__transform: ClassVar[dict[str, str]] = {"return_coverage": UNUSED}

    #: Walk classes to use instead of those of `viewhop.walks.FUSIONS` when loading a file.
    _walk_classes: ClassVar[dict[str, type[Walk]]] = {}

    embedding_ = FittedAttribute(lambda est: est.geometry_.embedding())
    eigenvalues_ = FittedAttribute(lambda est: est.geometry_.eigenvalues)
    view_embeddings_ = FittedAttribute(lambda est: est.geometry_.view_embeddings)
    bandwidths_ = FittedAttribute(lambda est: est.geometry_.bandwidths)
    n_neighbors_ = FittedAttribute(lambda est: est.geometry_.n_neighbors)
    degrees_ = FittedAttribute(lambda est: est.geometry_.degrees)
    observed_ = FittedAttribute(lambda est: est.geometry_.observed)
    metrics_ = FittedAttribute(lambda est: est.geometry_.metrics)
    metric_scores_ = FittedAttribute(lambda est: est.geometry_.record.metric_scores)
    view_weights_ = FittedAttribute(lambda est: est.geometry_.record.view_weights)
    recall_ = FittedAttribute(lambda est: est.geometry_.recall)
    spectrum_ = FittedAttribute(lambda est: est.geometry_.spectrum)
    solver_ = FittedAttribute(lambda est: est.geometry_.spectrum.solver)
    walk_ = FittedAttribute(lambda est: est.geometry_.walk)
    n_components_ = FittedAttribute(lambda est: est.geometry_.n_components)
    n_pieces_ = FittedAttribute(lambda est: est.geometry_.record.n_pieces)
    memory_ = FittedAttribute(lambda est: est.geometry_.record.memory)
    timings_ = FittedAttribute(lambda est: est.geometry_.record.timings)
    n_steps_ = FittedAttribute(lambda est: est.geometry_.n_steps)

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the geometry of the training samples.

        Parameters
        ----------
        X : list or dict of (n_samples, n_features) arrays, Views, MuData, stacked array, DataFrame
            A row that is NaN or masked is a sample that the view did not observe. Arrays may be
            sparse, in CSR or CSC format.
        y : ignored

        Returns
        -------
        self

        Warns
        -----
        DroppedRowsWarning
            If rows were dropped, with ``missing="drop"``.
        """
        self._check_parameters()
        views, schema = self._read_training(X)
        with show_progress(self.verbose) as progress:
            self.geometry_ = fit_geometry(
                self._recipe(views.names),
                views,
                schema=schema,
                generator=make_generator(self.random_state),
                cache=self._open_cache(),
                progress=progress,
                stacklevel=2,
            )
        return self

    def transform(self, X: Any, *, return_coverage: bool = False) -> Any:
        """The embedding of samples, training or new, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
            Any subset of the views: a list with None, a dict without some of them, or rows of NaN.
            DataFrames given one per view are matched by column name; one stacked DataFrame must
            have the columns of the fit, in the same order.
        return_coverage : bool
            Whether to return the coverage as well.

        Returns
        -------
        embedding : (n_samples, n_features_out) array
        coverage : (n_samples,) array
            Only with `return_coverage`. From 0 to 1: the density of training samples around each
            sample, relative to the median among themselves, averaged over the views that the
            sample has. Near 0, the sample is unlike all training samples, and its coordinates are
            unreliable.

        Warns
        -----
        DroppedRowsWarning
            If rows were dropped, with ``missing="drop"``.
        FarSampleWarning
            If samples are far from all training samples; they get the coordinates of the nearest.
        UnreachedViewWarning
            If the hop matrix does not connect the passed views to some other view.
        UnderflowWarning
            If n_steps is so large that coordinates are smaller than any number, and therefore 0.
        """
        check_is_fitted(self)
        views = self._read_new(X)
        with show_progress(self.verbose) as progress:
            placed = self.geometry_.place(
                views,
                n_jobs=self.n_jobs,
                cache=self._open_cache(),
                progress=progress,
                stacklevel=3,
            )
        placed.warn(stacklevel=3)
        self.geometry_.warn_of_underflow(stacklevel=3)
        embedding = self._label_rows(placed.embedding, X)
        return (embedding, placed.coverage) if return_coverage else embedding

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file, which `viewhop.load` reads.

        The file holds numbers and text but no code, so it is safe to open, whatever its source. If
        writing fails or is interrupted, an existing file is left intact.

        Parameters
        ----------
        path : path
            By convention it ends in ``.viewhop``. An existing file is replaced.

        Raises
        ------
        ModelFileError
            If a parameter cannot be written, for instance a custom kernel class.

        Notes
        -----
        The file contains the training samples, in the feature space of the kernel, because new
        samples are compared with them. A generator passed as `random_state` is written as None, a
        callable passed as `verbose` as 0, and a solver object as "auto", with a warning.

        Examples
        --------
        >>> import os, tempfile
        >>> import viewhop as vh
        >>> circles = vh.datasets.make_circles(100, random_state=0)
        >>> est = vh.MultiViewDiffusionMaps(kernel="gaussian", random_state=0).fit(circles.views)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "circles.viewhop")
        ...     est.save(path)
        ...     again = vh.load(path)
        >>> bool((again.embedding_ == est.embedding_).all())
        True
        """
        check_is_fitted(self)
        save_model(path, self, lambda shelf: {"geometry": encode_geometry(self.geometry_, shelf)})

    @classmethod
    def from_geometry(cls, geometry: Geometry, **parameters: Any) -> Self:
        """A fitted estimator with an existing geometry.

        Parameters
        ----------
        geometry : Geometry
            From another estimator, or from `viewhop.geometry.fit_geometry`.
        **parameters
            Parameters of the estimator, used by the next fit.

        Examples
        --------
        >>> import viewhop as vh
        >>> circles = vh.datasets.make_circles(100, random_state=0)
        >>> est = vh.MultiViewDiffusionMaps(2, kernel="gaussian").fit(circles.views)
        >>> same = vh.MultiViewDiffusionMaps.from_geometry(est.geometry_, kernel="gaussian")
        >>> bool((same.transform(circles.views) == est.transform(circles.views)).all())
        True
        """
        if not cls._accepts(geometry.walk):
            raise ValueError(f"the walk of the geometry is not one of {cls.__name__}")
        est = cls(**parameters)
        est.geometry_ = geometry
        return est

    @classmethod
    def _accepts(cls, walk: Walk) -> bool:
        """Whether an estimator of this class can have such a walk."""
        return True

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are invalid whatever the data."""
        check_values(self)

    def _recipe(self, names: Sequence[str]) -> Recipe:
        """The recipe of the geometry for views with these names."""
        raise TypeError(f"{type(self).__name__} has no recipe")

    @property
    def _view_caption(self) -> str:
        geometry = self.geometry_
        return (
            f"{super()._view_caption} of {geometry.n_samples:,} samples: {geometry.n_components} "
            f"coordinates ({', '.join(geometry.block_names)})"
        )

    @property
    def _view_columns(self) -> dict[str, Sequence[object]]:
        return {**self.geometry_.view_facts}

    def _open_cache(self) -> FitCache | None:
        """The cache of `memory`, if there is one."""
        return open_cache(self.memory, self.random_state, self.max_memory, stacklevel=3)

    @property
    def _schema(self) -> Schema:
        return self.geometry_.schema

    @property
    def _unused_columns(self) -> dict[str, NDArray[np.bool_]]:
        return self.geometry_.unused_columns

    @property
    def _block_names(self) -> tuple[str, ...]:
        return self.geometry_.block_names
