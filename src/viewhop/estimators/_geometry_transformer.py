"""The shell of estimators whose fit is a geometry: its attributes, new samples, model files."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from viewhop._runtime.progress import Progress, show_progress
from viewhop.estimators._base import FittedAttribute, ViewTransformer, make_generator
from viewhop.estimators._model_file import save_model
from viewhop.geometry import Geometry, Recipe, encode_geometry, fit_geometry
from viewhop.views import Schema
from viewhop.walks import Walk

__all__ = ["GeometryTransformer"]


class GeometryTransformer(ViewTransformer):
    """A transformer that has a `viewhop.geometry.Geometry` once it is fitted.

    A subclass says by its `_recipe` how the geometry is built.

    Attributes
    ----------
    geometry_ : Geometry
        What the fit learned; all other fitted attributes are read off it.
    """

    geometry_: Geometry
    n_jobs: int | None
    random_state: Any
    verbose: int | Progress

    #: Classes that stand in for those of `viewhop.walks.FUSIONS` in a model file.
    _walk_classes: ClassVar[dict[str, type[Walk]]] = {}

    embedding_ = FittedAttribute(lambda est: est.geometry_.embedding())
    eigenvalues_ = FittedAttribute(lambda est: est.geometry_.eigenvalues)
    view_embeddings_ = FittedAttribute(lambda est: est.geometry_.view_embeddings)
    bandwidths_ = FittedAttribute(lambda est: est.geometry_.bandwidths)
    degrees_ = FittedAttribute(lambda est: est.geometry_.degrees)
    observed_ = FittedAttribute(lambda est: est.geometry_.observed)
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
            A row of NaN is a sample that the view did not observe.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        views, schema = self._read_training(X)
        with show_progress(self.verbose) as progress:
            self.geometry_ = fit_geometry(
                self._recipe(views.n_views),
                views,
                schema=schema,
                generator=make_generator(self.random_state),
                progress=progress,
                stacklevel=2,
            )
        return self

    def transform(self, X: Any, *, return_coverage: bool = False) -> Any:
        """The embedding of samples, new or not, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
            Any subset of the views: None in a list, a dict without some of them, or rows of NaN.
        return_coverage : bool
            Whether to return the coverage, too.

        Returns
        -------
        embedding : (n_samples, n_features_out) array
        coverage : (n_samples,) array
            From 0 to 1: how densely the training samples lie about each sample, relative to the
            median among themselves, averaged over the views that it has. Near 0 the sample is
            unlike all of them, and its place says little.

        Warns
        -----
        FarSampleWarning
            If samples are far from every training sample; they get the coordinates of the nearest.
        UnreachedViewWarning
            If the hop matrix has no way from the given views to another one.
        """
        check_is_fitted(self)
        views = self._read_new(X)
        with show_progress(self.verbose) as progress:
            placed = self.geometry_.place(views, n_jobs=self.n_jobs, progress=progress)
        placed.warn(stacklevel=3)
        return (placed.embedding, placed.coverage) if return_coverage else placed.embedding

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file, which `viewhop.load` reads.

        The file holds numbers and text, no code: it is safe to open, whoever sent it. If the
        write fails or is killed, a file that was there before is still there, whole.

        Parameters
        ----------
        path : path
            ``.viewhop`` by custom. An existing file is replaced.

        Raises
        ------
        ModelFileError
            If a parameter cannot be written: a kernel class of your own, for instance.

        Notes
        -----
        The file contains the training samples, in the space where the kernel compares them,
        because new samples are compared with them. A `random_state` that is a generator is
        written as None, a `verbose` that is a callable as 0, and a `solver` that is an object as
        "auto", with a warning.

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
        """A fitted estimator around a geometry.

        Parameters
        ----------
        geometry : Geometry
            That of another estimator, or of `viewhop.geometry.fit_geometry`.
        **parameters
            Of the estimator; they decide the next fit.

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
        """Whether an estimator of this class can have a walk."""
        return True

    def _check_parameters(self) -> None:
        """Raise ValueError for what can be wrong before any data is seen."""
        self._validate_params()

    def _recipe(self, n_views: int) -> Recipe:
        """How the geometry is built from a number of views."""
        raise TypeError(f"{type(self).__name__} has no recipe")

    @property
    def _schema(self) -> Schema:
        return self.geometry_.schema

    @property
    def _block_names(self) -> tuple[str, ...]:
        return self.geometry_.block_names
