"""Clustering: groups of samples that a walk over several views seldom leaves."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from viewhop._runtime.progress import Progress, show_progress
from viewhop._runtime.threads import row_blocks
from viewhop._storage import archive
from viewhop._storage.codec import (
    Shelf,
    decode_estimator,
    encode_parameters,
    read_boolean,
    read_fields,
    read_integer,
)
from viewhop.errors import ModelFileError
from viewhop.estimators import _fitted as fitted
from viewhop.estimators._multi_view import MultiViewDiffusionMaps
from viewhop.solvers import keep_positive, quote_views
from viewhop.solvers._rank import Pairs
from viewhop.spectrum import Spectrum
from viewhop.views import Views
from viewhop.walks import Walk

__all__ = ["MultiViewSpectralClustering", "eigengap"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

#: Parameters that are handed to the embedding as they are.
SHARED = (
    "n_steps",
    "kernel",
    "fusion",
    "within_view_weight",
    "hops",
    "output",
    "views",
    "solver",
    "tol",
    "max_memory",
    "n_jobs",
    "verbose",
)


def eigengap(eigenvalues: ArrayLike) -> int:
    """Number of clusters k ≥ 2 with the largest gap λ_{k−1} − λ_k.

    Parameters
    ----------
    eigenvalues : (r,) array
        λ_1 … λ_r of a walk, largest first, the trivial λ_0 = 1 left out.

    Returns
    -------
    n_clusters : int
        From 2 to r, the smallest if several gaps are equal; 2 for a single eigenvalue.

    Notes
    -----
    λ_0 is counted: with k clusters λ_0 … λ_{k−1} are near 1 and λ_k is not. A walk in k pieces
    has k eigenvalues of 1, and its gap is 1 − λ_k. k = 1 is never the answer: that a walk is one
    cluster shows in no gap of a finite sample. Ng, Jordan and Weiss (2001) count the eigenvalues
    of 1; Polito and Perona (2001) look for the drop after them. The rule is for compact clusters:
    along a curve, as on the coupled circles, the walk slows down without end and the largest gap
    says nothing of the number of curves.

    Examples
    --------
    >>> from viewhop.estimators import eigengap
    >>> eigengap([0.99, 0.98, 0.5, 0.4])
    3
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"eigenvalues must be a list of numbers, not of shape {values.shape}")
    if not np.isfinite(values).all() or (np.diff(values) > 0).any():
        raise ValueError("eigenvalues must be finite and in order, largest first")
    return 2 + int(np.argmax(values[:-1] - values[1:])) if values.size > 1 else 2


class MultiViewSpectralClustering(ClusterMixin, BaseEstimator):
    """Clusters of samples that several views measured.

    K-means on the coordinates of `MultiViewDiffusionMaps`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        "auto" is the k with the largest eigengap; see `eigengap`.
    n_components : int or None, default=None
        Number r of coordinates per view that K-means sees. None is ``n_clusters - 1``, at least
        1 and at most what the walk has.
    n_steps, kernel, fusion, within_view_weight, hops, output, views
        As in `MultiViewDiffusionMaps`.
    max_clusters : int, default=20
        The largest number of clusters that "auto" considers.
    normalize : bool, default=False
        Whether a sample's coordinates are scaled to unit length before K-means, so that only
        their direction counts. On the digits of `load_mfeat` this helps dense kernels and costs
        neighbour kernels a little.
    n_init : int, default=10
        Starts of K-means, of which the best is kept.
    solver, tol, max_memory, n_jobs, random_state, verbose
        As in `MultiViewDiffusionMaps`; `random_state` seeds K-means too.

    Attributes
    ----------
    labels_ : (n_samples,) int array
        The cluster of each training sample, from 0.
    n_clusters_ : int
    cluster_centers_ : (n_clusters_, n_coordinates) array
    n_components_ : int
        Coordinates per view that K-means sees.
    embedder_ : MultiViewDiffusionMaps
        The fitted embedding. With "auto" it has `max_clusters` coordinates per view or as many
        as there are, so its ``eigenvalues_`` are those that the eigengap was chosen from; K-means
        sees the first `n_components_` of each view.
    n_features_in_ : int

    See Also
    --------
    MultiViewDiffusionMaps : The coordinates.

    Notes
    -----
    The coordinates are Eq. (23). A sample belongs to the nearest centre, and where two are
    equally near to the first of them, in `fit` as in `predict`: the labels that `predict` gives
    to the training samples are `labels_`.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: constraint
            for name, constraint in MultiViewDiffusionMaps._parameter_constraints.items()
            if name in (*SHARED, "random_state")
        },
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "max_clusters": [Interval(Integral, 2, None, closed="left")],
        "normalize": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    embedder_: MultiViewDiffusionMaps

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        n_components: int | None = None,
        n_steps: float = 1,
        kernel: Any = "adaptive",
        fusion: str = "hop",
        within_view_weight: float = 0.0,
        hops: Any = None,
        output: str = "auto",
        views: Any = None,
        max_clusters: int = 20,
        normalize: bool = False,
        n_init: int = 10,
        solver: str = "auto",
        tol: float | None = None,
        max_memory: float | str | None = None,
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
        self.output = output
        self.views = views
        self.max_clusters = max_clusters
        self.normalize = normalize
        self.n_init = n_init
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
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
        self._validate_params()
        seed = _seed(self.random_state)
        embedder = self._embedder(seed)
        embedder.n_clusters = 1 if self.n_clusters == "auto" else int(self.n_clusters)
        try:
            embedder.fit(X)
        finally:
            del embedder.n_clusters
        n_clusters = self._count_clusters(embedder)
        n_components = self._count_components(embedder, n_clusters)
        coordinates = _leading(embedder.embedding_, embedder, n_components, self.normalize)
        with show_progress(self.verbose) as progress:
            progress("k-means", 0, 1)
            centers = _centers(coordinates, n_clusters, n_init=self.n_init, seed=seed)
            progress("k-means", 1, 1)
        self._keep(embedder, centers, n_components, normalized=bool(self.normalize))
        return self

    def _keep(
        self,
        embedder: MultiViewDiffusionMaps,
        centers: Floats,
        n_components: int,
        *,
        normalized: bool,
    ) -> None:
        """Store what the fit is asked about."""
        coordinates = _leading(embedder.embedding_, embedder, n_components, normalized)
        self.embedder_ = embedder
        self.n_clusters_ = len(centers)
        self.n_components_ = n_components
        self.cluster_centers_ = centers
        self._normalized = normalized
        self.labels_ = _nearest(coordinates, centers, embedder.embedding_.dtype)
        self.n_features_in_ = embedder.n_features_in_
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if hasattr(embedder, "feature_names_in_"):
            self.feature_names_in_ = embedder.feature_names_in_

    def predict(self, X: Any) -> Labels:
        """The cluster of each sample, new or not, (n_samples,).

        Parameters
        ----------
        X : as in `fit`
            Any subset of the views: None in a list, or a dict without some of them.

        Warns
        -----
        FarSampleWarning
            If samples are far from every training sample; they get the cluster of the nearest.
        UnreachedViewWarning
            If the hop matrix has no way from the given views to another one.
        """
        check_is_fitted(self)
        return self._assigned(np.asarray(self.embedder_.transform(X)))

    def _assigned(self, embedding: NDArray[np.floating]) -> Labels:
        """The cluster of each sample that the embedding has placed."""
        coordinates = _leading(embedding, self.embedder_, self.n_components_, self._normalized)
        return _nearest(coordinates, self.cluster_centers_, embedding.dtype)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file, as `MultiViewDiffusionMaps.save` does.

        Parameters
        ----------
        path : path
            ``.viewhop`` by custom. A file that is there is replaced.
        """
        check_is_fitted(self)
        shelf = Shelf()
        archive.write(path, fitted.model(self, shelf, self._learnt), shelf.arrays)

    def _learnt(self, shelf: Shelf) -> dict[str, Any]:
        """What the fit learnt, as plain data."""
        shelf.put("centers", self.cluster_centers_)
        inside = shelf.within("embedder")
        return {
            "n_components": int(self.n_components_),
            "normalized": self._normalized,
            "embedder": {
                "parameters": encode_parameters(self.embedder_, inside.within("parameters")),
                "fitted": fitted.of(self.embedder_, inside),
            },
        }

    def _restore(self, found: Any, shelf: Shelf) -> None:
        """Take what a fit learnt from plain data."""
        n, normalized, inner = read_fields(
            found, ("n_components", "normalized", "embedder"), "the clusters"
        )
        given, learnt = read_fields(inner, ("parameters", "fitted"), "the embedding")
        inside = shelf.within("embedder")
        embedder = decode_estimator(_AtMost, given, inside.within("parameters"))
        fitted.restore(embedder, learnt, inside)
        most = embedder.n_components_
        n_components = read_integer(n, "the coordinates of clusters", least=1, most=most)
        width = embedder.embedding_.shape[1] // most * n_components
        centers = shelf.numbers("centers", (-1, width))
        if not 0 < len(centers) <= len(embedder.embedding_):
            raise ModelFileError("the clusters: expected at most as many as there are samples")
        self._keep(
            embedder,
            centers,
            n_components,
            normalized=read_boolean(normalized, "whether normalised"),
        )

    def _embedder(self, seed: int | None) -> _AtMost:
        """The embedding, not fitted, with as many coordinates as the clusters ask for."""
        asked = [1] if self.n_components is None else [int(self.n_components)]
        if self.n_clusters == "auto":
            asked.append(int(self.max_clusters))
        elif self.n_components is None:
            asked.append(int(self.n_clusters) - 1)
        shared = {name: getattr(self, name) for name in SHARED}
        return _AtMost(max(asked), random_state=seed, **shared)

    def _count_clusters(self, embedder: MultiViewDiffusionMaps) -> int:
        """How many clusters there are, by the eigengap if need be."""
        if self.n_clusters != "auto":
            return int(self.n_clusters)
        if embedder.n_pieces_ > self.max_clusters:
            raise ValueError(
                f"the walk falls into {embedder.n_pieces_} pieces, more than "
                f"max_clusters={self.max_clusters}, so every eigengap in sight is 0; raise the "
                "bandwidth (factor) or n_neighbors to join them, or raise max_clusters"
            )
        values = embedder.eigenvalues_[: self.max_clusters]
        if len(values) < min(self.max_clusters, len(embedder.embedding_) - 2):
            values = np.append(values, 0.0)  # what follows is not positive beyond rounding
        return eigengap(values)

    def _count_components(self, embedder: MultiViewDiffusionMaps, n_clusters: int) -> int:
        """How many coordinates of each view K-means sees."""
        there = embedder.n_components_
        if self.n_components is None:
            return min(max(1, n_clusters - 1), there)
        if self.n_components > there:
            raise ValueError(
                f"n_components={self.n_components} is more than the {there} coordinates that this "
                "walk has; leave it None, or use a smaller bandwidth"
            )
        return int(self.n_components)


class _AtMost(MultiViewDiffusionMaps):
    """The embedding with `n_components` coordinates, or as many as there are."""

    #: Clusters that will be looked for: more than there are samples are refused before the solve.
    #: Set for the fit only.
    n_clusters = 1

    def _check_size(self, views: Views) -> None:
        if self.n_clusters > len(views):
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {len(views)} samples of "
                f"{quote_views(views.names)}"
            )
        if len(views) < 3:
            raise ValueError(
                f"clusters need at least 3 samples, but {quote_views(views.names)} "
                f"{'has' if views.n_views == 1 else 'have'} n_samples = {len(views)}"
            )

    def _choose(self, walk: Walk, pairs: Pairs) -> Spectrum:
        most = min(int(self.n_components), walk.max_coordinates, walk.n_samples - 2)
        return keep_positive(walk, pairs(most, None))


def _seed(random_state: Any) -> int | None:
    """One seed for the solver and for K-means."""
    if random_state is None:
        return None
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def _leading(
    embedding: NDArray[np.floating],
    embedder: MultiViewDiffusionMaps,
    n_components: int,
    normalize: bool,
) -> Floats:
    """The first `n_components` coordinates of each view, side by side, in float64."""
    n = len(embedding)
    blocks = embedding.reshape(n, -1, embedder.n_components_)[:, :, :n_components]
    coordinates = blocks.reshape(n, -1).astype(np.float64)
    if normalize:
        length = np.linalg.norm(coordinates, axis=1, keepdims=True)
        coordinates /= np.where(length > 0, length, 1.0)
    return coordinates


def _centers(coordinates: Floats, n_clusters: int, *, n_init: int, seed: int | None) -> Floats:
    """Cluster centres by K-means, (n_clusters, n_coordinates).

    On one thread: on data of a few coordinates the threads mostly wait for each other, and many
    times so on a busy machine.
    """
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=seed)
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(kmeans.fit(coordinates).cluster_centers_)


def _nearest(coordinates: Floats, centers: Floats, dtype: np.dtype[np.floating]) -> Labels:
    """The number of the nearest centre of each row, (n,).

    Among centres that are equally near up to the difference between a training sample's
    coordinates in fit and in transform, the first: rounding does not decide.
    """
    slack = 1e-3 if dtype == np.float32 else 1e-6
    labels = np.empty(len(coordinates), dtype=np.int32)
    for block in row_blocks(len(coordinates), centers.size):
        gaps = coordinates[block, None] - centers
        distances = np.sqrt(np.square(gaps).sum(axis=2))
        limit = (1 + slack) * distances.min(axis=1, keepdims=True)
        labels[block] = np.argmax(distances <= limit, axis=1)
    return labels
