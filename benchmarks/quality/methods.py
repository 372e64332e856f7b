"""The methods: what each does with the views, and the parameters by which it is known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import viewhop as vh
from viewhop.kernels import kernels_by_view

__all__ = [
    "BASELINES",
    "DEFAULT",
    "OURS",
    "SINGLE",
    "Method",
    "Order",
    "Result",
    "describe_estimator",
    "paper_settings",
    "side_by_side",
]

DEFAULT = "viewhop (default)"
SINGLE = "each view alone"

Floats = NDArray[np.float64]


class Order(NamedTuple):
    """What a method is asked for.

    Attributes
    ----------
    views : Views
    r : int
        Number of coordinates.
    n_clusters : int
    seed : int
    new : Views or None
        Samples to place without a refit.
    """

    views: vh.Views
    r: int
    n_clusters: int
    seed: int
    new: vh.Views | None = None


class Result(NamedTuple):
    """What a method answers: coordinates of the samples, or clusters.

    Attributes
    ----------
    embeddings : list of (n_samples, r) arrays
        One, or one per view.
    new : list of (n_new, r) arrays
    labels : list of (n_samples,) arrays
        Clusters of a method that embeds nothing, one per seed.
    """

    embeddings: list[Floats]
    new: list[Floats]
    labels: list[NDArray[np.int64]]


@dataclass(frozen=True)
class Method:
    """A way to embed or to cluster samples.

    Attributes
    ----------
    name : str
    family : {"viewhop", "concatenation", "peer"}
    run : callable
        Takes an `Order`, returns a `Result`.
    parameters : dict
        What JSON can hold; results with other parameters are other results.
    is_seeded : bool
        Whether the clean result depends on the seed of the method.
    extends : bool
        Whether new samples are placed without a refit.
    takes_missing : bool
        Whether views may lack samples.
    most : int or None
        The largest number of samples.
    tasks : tuple of str
        The tasks it is asked for.
    build_clusterer : callable or None
        Takes a seed, returns an estimator that finds the number of clusters by itself.
    """

    name: str
    family: str
    run: Callable[[Order], Result]
    parameters: Mapping[str, Any]
    is_seeded: bool = True
    extends: bool = True
    takes_missing: bool = False
    most: int | None = None
    tasks: tuple[str, ...] = ("clusters", "neighbours", "geometry")
    build_clusterer: Callable[[int], Any] | None = None

    def parameters_for(self, task: str) -> Mapping[str, Any]:
        """The parameters that a result of this task depends on."""
        if task == "count" and self.build_clusterer is not None:
            return describe_estimator(self.build_clusterer(0))
        return self.parameters


def describe_estimator(estimator: Any) -> dict[str, Any]:
    """All parameters of an estimator as text, its defaults and those of its kernel included."""
    described = {"class": type(estimator).__name__, "viewhop": vh.__version__}
    for name, value in estimator.get_params(deep=False).items():
        if name not in ("random_state", "n_components", "n_clusters"):
            described[name] = repr(value)
    kernel = kernels_by_view(estimator.kernel, ["view"])["view"]
    described["kernel"] = {name: repr(value) for name, value in kernel.get_params().items()}
    return described


def side_by_side(order: Order) -> tuple[Floats, Floats | None]:
    """The features of all views, standardised on the training samples; and of the new ones."""
    scaler = StandardScaler().fit(np.hstack(order.views.arrays))
    train = scaler.transform(np.hstack(order.views.arrays))
    return train, None if order.new is None else scaler.transform(np.hstack(order.new.arrays))


def _known(**parameters: Any) -> dict[str, Any]:
    """Those parameters that this version has: one that it lacks cannot be on either."""
    signature = inspect.signature(vh.MultiViewDiffusionMaps)
    return {name: value for name, value in parameters.items() if name in signature.parameters}


def paper_settings(r: int, random_state: int) -> Any:
    """The estimator with the settings of the paper."""
    if hasattr(vh.MultiViewDiffusionMaps, "paper_settings"):
        return vh.MultiViewDiffusionMaps.paper_settings(r, random_state=random_state)
    return vh.MultiViewDiffusionMaps(r, kernel="gaussian", random_state=random_state)


def _first_default(r: int, random_state: int) -> Any:
    return vh.MultiViewDiffusionMaps(
        r,
        kernel=vh.kernels.Gaussian("local", n_neighbors=10),
        within_view_weight=0.0,
        output="concat",
        random_state=random_state,
        **_known(joint_view=False),
    )


def _with(**parameters: Any) -> Callable[[int, int], Any]:
    return lambda r, seed: vh.MultiViewDiffusionMaps(r, random_state=seed, **parameters)


def _clusterer(build: Callable[[int, int], Any], seed: int) -> Any:
    """Spectral clustering with the parameters of an embedding, and the number of clusters open."""
    known = inspect.signature(vh.MultiViewSpectralClustering).parameters
    shared = build(2, seed).get_params(deep=False)
    del shared["n_components"]
    return vh.MultiViewSpectralClustering(
        "auto", **{name: value for name, value in shared.items() if name in known}
    )


def _maps(
    name: str,
    build: Callable[[int, int], Any],
    *,
    takes_missing: bool = False,
    counts: bool = False,
) -> Method:
    """A method that fits an estimator to the views."""

    def run(order: Order) -> Result:
        estimator = build(order.r, order.seed).fit(order.views)
        new = [] if order.new is None else [estimator.transform(order.new)]
        return Result([estimator.embedding_], new, [])

    return Method(
        name,
        "viewhop",
        run,
        describe_estimator(build(2, 0)),
        takes_missing=takes_missing,
        tasks=("clusters", "neighbours", "geometry", *(["count"] if counts else [])),
        build_clusterer=(lambda seed: _clusterer(build, seed)) if counts else None,
    )


def _each_view(order: Order) -> Result:
    fits = [
        vh.DiffusionMaps(order.r, random_state=order.seed).fit(array)
        for array in order.views.arrays
    ]
    new = [] if order.new is None else order.new.arrays
    placed = [fit.transform(array) for fit, array in zip(fits, new, strict=False)]
    return Result([fit.embedding_ for fit in fits], placed, [])


def _map_of_all(order: Order) -> Result:
    train, new = side_by_side(order)
    fit = vh.DiffusionMaps(order.r, random_state=order.seed).fit(train)
    return Result([fit.embedding_], [] if new is None else [fit.transform(new)], [])


def _pca(order: Order) -> Result:
    train, new = side_by_side(order)
    pca = PCA(min(order.r, *train.shape), random_state=order.seed).fit(train)
    return Result([pca.transform(train)], [] if new is None else [pca.transform(new)], [])


def _features(order: Order) -> Result:
    train, new = side_by_side(order)
    return Result([train], [] if new is None else [new], [])


def _features_on_sphere(order: Order) -> Result:
    """Features as given, every view's rows of unit length: Euclidean distance is then cosine."""
    placed = [
        np.hstack([_unit_rows(array) for array in views.arrays])
        for views in (order.views, order.new)
        if views is not None
    ]
    return Result(placed[:1], placed[1:], [])


def _unit_rows(array: Floats) -> Floats:
    length = np.linalg.norm(array, axis=1, keepdims=True)
    return array / np.where(length > 0, length, 1.0)


#: Ours. The estimators are built anew for each set, with its number of coordinates.
OURS = (
    _maps(DEFAULT, _with(), takes_missing=True, counts=True),
    _maps("paper settings", paper_settings, takes_missing=True, counts=True),
    _maps("default of 0.1", _first_default, takes_missing=True, counts=True),
    _maps("kernel sum (same kernels)", _with(fusion="sum"), takes_missing=True),
    _maps("product of kernels", _with(fusion="product")),
    _maps("alternating diffusion", _with(fusion="alternating")),
    Method(
        SINGLE,
        "viewhop",
        _each_view,
        describe_estimator(vh.DiffusionMaps()),
        tasks=("clusters", "geometry"),
    ),
)

BASELINES = (
    Method(
        "K-means of all features",
        "concatenation",
        _features,
        {"features": "standardised, side by side"},
        is_seeded=False,
        tasks=("clusters",),
    ),
    Method(
        "PCA of all features",
        "concatenation",
        _pca,
        {"features": "standardised, side by side", "method": "PCA"},
        is_seeded=False,
    ),
    Method(
        "diffusion map of all features",
        "concatenation",
        _map_of_all,
        {"features": "standardised, side by side", **describe_estimator(vh.DiffusionMaps())},
    ),
    Method(
        "all features (standardised)",
        "concatenation",
        _features,
        {"features": "standardised, side by side"},
        is_seeded=False,
        tasks=("neighbours",),
    ),
    Method(
        "all features (cosine)",
        "concatenation",
        _features_on_sphere,
        {"features": "unit rows in each view, side by side"},
        is_seeded=False,
        tasks=("neighbours",),
    ),
)
