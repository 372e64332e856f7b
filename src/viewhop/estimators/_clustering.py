"""Spectral clustering of several views: K-means on multi-view diffusion coordinates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from viewhop._runtime.progress import Progress, show_progress
from viewhop._storage.codec import Shelf
from viewhop.estimators._base import (
    FittedAttribute,
    ViewEstimator,
    choose_constraints,
    make_generator,
)
from viewhop.estimators._cluster_count import ClusterCount, encode_count
from viewhop.estimators._clusters import Clusters, columns_for, find_centers, leading_coordinates
from viewhop.estimators._count_clusters import count_clusters
from viewhop.estimators._hops_choice import check_fusion, choose_hops
from viewhop.estimators._model_file import save_model
from viewhop.estimators._multi_view import MultiViewDiffusionMaps
from viewhop.estimators._open_cache import open_cache
from viewhop.estimators._parameters import check_values, encode_parameters
from viewhop.geometry import Geometry, Recipe, encode_geometry, fit_geometry
from viewhop.solvers import UpToRank
from viewhop.views import Schema
from viewhop.walks import walk_class

__all__ = ["MultiViewSpectralClustering"]

Labels = NDArray[np.int32]

#: Parameters that mean the same as in `MultiViewDiffusionMaps`.
SHARED = (
    "n_steps",
    "kernel",
    "fusion",
    "within_view_weight",
    "hops",
    "view_weights",
    "joint_view",
    "connect",
    "output",
    "views",
    "missing",
    "solver",
    "tol",
    "max_memory",
    "memory",
    "n_jobs",
    "verbose",
)


class MultiViewSpectralClustering(ClusterMixin, ViewEstimator):
    """Spectral clustering of samples measured in several views.

    K-means on the coordinates of `MultiViewDiffusionMaps`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" counts them in the walk; see `count_clusters`. Look at
        ``cluster_count_.confidence``: below 1/2 the data do not show how many there are, and the
        number may be off by a factor of two or more.
    n_components : int or None, default=None
        Number r of coordinates per view that K-means uses. None takes ``n_clusters - 1``, but at
        least 1 and at most as many as the walk has; ``n_clusters`` for ``fusion="composite"``,
        whose leading eigenvector is the first coordinate.
    n_steps, kernel, fusion, within_view_weight, hops, view_weights, joint_view, connect, output, \
views, missing
        As in `MultiViewDiffusionMaps`.
    max_clusters : int, default=20
        The largest number of clusters that "auto" considers.
    normalize : bool, default=False
        Whether a sample's coordinates are scaled to unit length before K-means, so that only
        their direction counts. On the digits of `load_mfeat` this improves dense kernels and makes
        neighbour kernels slightly worse.
    n_init : int, default=10
        Number of K-means runs; the best is kept.
    solver, tol, max_memory, memory, n_jobs, random_state, verbose
        As in `MultiViewDiffusionMaps`; `random_state` also seeds K-means.

    Attributes
    ----------
    clusters_ : Clusters
        The frozen result of the fit, from which all other fitted attributes are computed.
    geometry_ : Geometry
        Geometry of the embedding.
    labels_ : (n_samples,) int array
        The cluster of each training sample, from 0.
    n_clusters_ : int
    cluster_count_ : ClusterCount or None
        How "auto" found the number of clusters, and how sure it is; None if it was passed.
    cluster_centers_ : (n_clusters_, n_coordinates) array
    n_components_ : int
        Number of coordinates per view that K-means uses.
    embedder_ : MultiViewDiffusionMaps
        The fitted embedding. With "auto" it has up to `max_clusters` coordinates per view, and
        K-means uses the first `n_components_` of each.
    n_features_in_ : int

    See Also
    --------
    MultiViewDiffusionMaps : The coordinates.

    Notes
    -----
    The coordinates are Eq. (23). A sample belongs to the nearest centre, or to the first of several
    that are equally near. `fit` and `predict` use the same rule, so `predict` returns `labels_` for
    the training samples.

    Examples
    --------
    >>> import viewhop as vh
    >>> circles = vh.datasets.make_circles(400, noise=0.02, random_state=0)
    >>> model = vh.MultiViewSpectralClustering(2, kernel="gaussian", random_state=0)
    >>> labels = model.fit_predict(circles.views)
    >>> int((labels == labels[0]).sum())
    200
    >>> model.predict({"x": circles.views["x"][:3]}).shape
    (3,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = choose_constraints(
        *SHARED,
        "random_state",
        n_clusters=[Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        n_components=[Interval(Integral, 1, None, closed="left"), None],
        max_clusters=[Interval(Integral, 2, None, closed="left")],
        normalize=["boolean"],
        n_init=[Interval(Integral, 1, None, closed="left")],
    )

    clusters_: Clusters

    geometry_ = FittedAttribute(lambda est: est.clusters_.geometry)
    labels_ = FittedAttribute(lambda est: est.clusters_.labels)
    n_clusters_ = FittedAttribute(lambda est: len(est.clusters_.centers))
    cluster_centers_ = FittedAttribute(lambda est: est.clusters_.centers)
    n_components_ = FittedAttribute(lambda est: est.clusters_.n_components)
    embedder_ = FittedAttribute(lambda est: est.clusters_.embedder)
    cluster_count_ = FittedAttribute(lambda est: est.clusters_.count)

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        n_components: int | None = None,
        n_steps: float = 1,
        kernel: Any = "adaptive",
        fusion: str = "hop",
        within_view_weight: float | None = None,
        hops: Any = None,
        view_weights: Any = None,
        joint_view: bool | str = "auto",
        connect: bool = False,
        output: str = "auto",
        views: Any = None,
        missing: str = "error",
        max_clusters: int = 20,
        normalize: bool = False,
        n_init: int = 10,
        solver: Any = "auto",
        tol: float | None = None,
        max_memory: float | str | None = None,
        memory: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_steps = n_steps
        self.kernel = kernel
        self.fusion = fusion
        self.within_view_weight = within_view_weight
        self.hops = hops
        self.view_weights = view_weights
        self.joint_view = joint_view
        self.connect = connect
        self.output = output
        self.views = views
        self.missing = missing
        self.max_clusters = max_clusters
        self.normalize = normalize
        self.n_init = n_init
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: object = None) -> Self:
        """Find the clusters of the training samples.

        Parameters
        ----------
        X : list or dict of (n_samples, n_features) arrays, Views, stacked array or DataFrame
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        seed = _draw_seed(self.random_state)
        views, schema = self._read_training(X)
        with show_progress(self.verbose) as progress:
            geometry = fit_geometry(
                self._recipe(views.names),
                views,
                schema=schema,
                generator=make_generator(seed),
                cache=open_cache(self.memory, seed, self.max_memory, stacklevel=2),
                progress=progress,
                stacklevel=2,
            )
            progress("k-means", 0, 1)
            count = self._count_clusters(geometry, seed)
            n_clusters = int(self.n_clusters) if count is None else count.n_clusters
            centers, n_components = self._find_centers(geometry, n_clusters, seed)
            progress("k-means", 1, 1)
        embedder = self._embedder_around(geometry, seed)
        self.clusters_ = Clusters(
            geometry, embedder, centers, n_components, bool(self.normalize), count
        )
        return self

    @classmethod
    def from_clusters(cls, clusters: Clusters, **parameters: Any) -> Self:
        """A fitted estimator with existing clusters.

        Parameters
        ----------
        clusters : Clusters
            From another estimator.
        **parameters
            Parameters of the estimator, used by the next fit.
        """
        est = cls(**parameters)
        seed = clusters.embedder.random_state
        embedder = est._embedder_around(clusters.geometry, seed)
        est.clusters_ = replace(clusters, embedder=embedder)
        return est

    def predict(self, X: Any) -> Labels:
        """The cluster of each sample, training or new, (n_samples,).

        Parameters
        ----------
        X : as in `fit`
            Any subset of the views: None in a list, or a dict without some of them.

        Warns
        -----
        FarSampleWarning
            If samples are far from all training samples; they get the cluster of the nearest one.
        UnreachedViewWarning
            If the hop matrix does not connect the passed views to some other view.
        """
        check_is_fitted(self)
        return self.clusters_.assign(np.asarray(self.embedder_.transform(X)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file, as `MultiViewDiffusionMaps.save` does.

        Parameters
        ----------
        path : path
            By convention it ends in ``.viewhop``. An existing file is replaced.
        """
        check_is_fitted(self)
        save_model(path, self, self._encode)

    def _encode(self, shelf: Shelf) -> dict[str, Any]:
        """The result of the fit as plain data."""
        shelf.put("centers", self.clusters_.centers)
        count = self.clusters_.count
        return {
            "count": None if count is None else encode_count(count),
            "n_components": int(self.clusters_.n_components),
            "normalize": self.clusters_.normalize,
            "embedder": encode_parameters(self.embedder_, shelf.within("embedder")),
            "geometry": encode_geometry(self.geometry_, shelf),
        }

    def _embedder_around(self, geometry: Geometry, seed: int | None) -> MultiViewDiffusionMaps:
        """The fitted embedding whose coordinates K-means uses.

        Parameters
        ----------
        geometry : Geometry
        seed : int or None
            Its `random_state`.
        """
        shared = {name: getattr(self, name) for name in SHARED}
        return MultiViewDiffusionMaps.from_geometry(
            geometry, n_components=self._n_coordinates(), random_state=seed, **shared
        )

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are invalid whatever the data."""
        check_values(self)
        check_fusion(self.fusion, self.hops, self.within_view_weight, self.view_weights)

    def _recipe(self, names: Sequence[str]) -> Recipe:
        n_clusters = 1 if self.n_clusters == "auto" else int(self.n_clusters)
        hops, weights = choose_hops(
            self.fusion, self.hops, self.within_view_weight, self.view_weights, names
        )
        return Recipe(
            walk=walk_class(self.fusion),
            rank=UpToRank(self._n_coordinates(), n_clusters),
            kernel=self.kernel,
            hops=hops,
            weights=weights,
            joint_view=self.joint_view,
            connect=bool(self.connect),
            n_steps=self.n_steps,
            output=self.output,
            solver=self.solver,
            tol=self.tol,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )

    def _n_coordinates(self) -> int:
        """Number of coordinates per view to compute."""
        wanted = [1] if self.n_components is None else [int(self.n_components)]
        walk = walk_class(self.fusion)
        if self.n_clusters == "auto":
            wanted.append(columns_for(walk, int(self.max_clusters) + 1))
        elif self.n_components is None:
            wanted.append(columns_for(walk, int(self.n_clusters)))
        return max(wanted)

    def _find_centers(
        self, geometry: Geometry, n_clusters: int, seed: int | None
    ) -> tuple[NDArray[np.float64], int]:
        """Cluster centres, and the number of coordinates per view that K-means used."""
        n_components = self._count_components(geometry, n_clusters)
        coordinates = leading_coordinates(
            geometry.embedding(), geometry.n_components, n_components, bool(self.normalize)
        )
        return find_centers(coordinates, n_clusters, n_init=self.n_init, seed=seed), n_components

    def _count_clusters(self, geometry: Geometry, seed: int | None) -> ClusterCount | None:
        """The counted clusters for "auto"; None if their number was passed."""
        if self.n_clusters != "auto":
            return None
        return count_clusters(
            geometry,
            max_clusters=int(self.max_clusters),
            n_components=None if self.n_components is None else int(self.n_components),
            normalize=bool(self.normalize),
            seed=seed,
        )

    def _count_components(self, geometry: Geometry, n_clusters: int) -> int:
        """The number of coordinates per view that K-means uses."""
        available = geometry.n_components
        if self.n_components is None:
            return min(columns_for(geometry.walk, n_clusters), available)
        if self.n_components > available:
            raise ValueError(
                f"n_components={self.n_components} is more than the {available} coordinates of "
                "this walk; pass None, or use a smaller bandwidth"
            )
        return int(self.n_components)

    @property
    def _view_caption(self) -> str:
        return (
            f"{super()._view_caption} of {self.geometry_.n_samples:,} samples: "
            f"{self.n_clusters_} clusters"
        )

    @property
    def _view_columns(self) -> dict[str, Sequence[object]]:
        return {**self.geometry_.view_facts}

    @property
    def _schema(self) -> Schema:
        return self.clusters_.geometry.schema


def _draw_seed(random_state: Any) -> int | None:
    """The seed that the solver and K-means share."""
    if random_state is None:
        return None
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))
