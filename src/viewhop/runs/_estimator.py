"""Estimators from settings, and settings that state every default from a fitted estimator."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, cast

from viewhop._runtime.progress import Progress
from viewhop.errors import SettingsError
from viewhop.estimators import (
    DiffusionMaps,
    KernelCCA,
    MultiViewDiffusionMaps,
    MultiViewSpectralClustering,
)
from viewhop.runs._kernel_settings import build_kernel, resolve_kernel
from viewhop.runs._settings import Settings, ViewSettings
from viewhop.tables import VIEW_KEYS, Options
from viewhop.views import Schema

__all__ = [
    "Model",
    "build_estimator",
    "embedder_of",
    "resolve_settings",
    "schema_of",
    "table_options",
]

Model = MultiViewDiffusionMaps | MultiViewSpectralClustering

#: Coordinates per view of a fit, and the accuracy of "auto", where the settings state none.
_COMPONENTS, _ACCURACY = 2, 0.1


def table_options(settings: Settings) -> Options:
    """How the files of a run are read.

    Parameters
    ----------
    settings : Settings

    Raises
    ------
    SettingsError
        If an option is not valid: a delimiter of two characters, for instance.
    """
    try:
        return Options(
            id=settings.id,
            label=settings.label,
            keep=tuple(settings.keep),
            drop=tuple(settings.drop),
            decimal=settings.decimal,
            delimiter="\t" if settings.delimiter == "tab" else settings.delimiter,
            encoding=settings.encoding,
            id_strip=settings.id_strip,
            missing=settings.missing,
            by_view={name: _own_options(view) for name, view in settings.views.items()},
        )
    except ValueError as error:
        raise SettingsError(str(error)) from None


def _own_options(view: ViewSettings) -> dict[str, Any]:
    """The options that a view has of its own."""
    stated = {key: getattr(view, key) for key in VIEW_KEYS if getattr(view, key) is not None}
    if stated.get("delimiter") == "tab":
        stated["delimiter"] = "\t"
    return stated


def build_estimator(settings: Settings, *, verbose: int | Progress = 0) -> Model:
    """The estimator of a run, not fitted; for a single view an ordinary diffusion map.

    Parameters
    ----------
    settings : Settings
    verbose : int or callable
    """
    kernels = {name: build_kernel(settings.kernel_of(name)) for name in settings.views}
    solving: dict[str, Any] = {
        "connect": settings.connect,
        "n_steps": settings.steps,
        "solver": settings.solver,
        "tol": settings.tol,
        "max_memory": settings.memory,
        "n_jobs": settings.jobs,
        "random_state": settings.seed,
        "verbose": verbose,
    }
    hops = settings.hops
    weights = {name: view.weight for name, view in settings.views.items()}
    walking: dict[str, Any] = {
        "kernel": kernels,
        "fusion": settings.fusion,
        "within_view_weight": settings.within_view_weight,
        "hops": None if hops is None else [[*row] for row in hops],
        "view_weights": None if None in weights.values() else weights,
        "joint_view": "auto" if settings.joint_view is None else settings.joint_view,
        "output": settings.output,
    }
    if settings.command == "cluster":
        clustering: dict[str, Any] = {
            "n_components": settings.components,
            "max_clusters": settings.max_clusters,
            "normalize": settings.normalize,
        }
        return MultiViewSpectralClustering(
            "auto" if settings.clusters is None else settings.clusters,
            **walking,
            **solving,
            **{key: value for key, value in clustering.items() if value is not None},
        )
    counting: dict[str, Any] = {
        "n_components": _COMPONENTS if settings.components is None else settings.components,
        "accuracy": settings.accuracy,
    }
    if len(kernels) == 1:
        return DiffusionMaps(**counting, kernel=kernels, **solving)
    return MultiViewDiffusionMaps(**counting, **walking, **solving)


def resolve_settings(settings: Settings, model: Model) -> Settings:
    """The settings that repeat a run even if a default of viewhop changes: they state all of them.

    Parameters
    ----------
    settings : Settings
    model : estimator
        Fitted with these settings.
    """
    est = embedder_of(model)
    geometry = est.geometry_
    is_weighted = geometry.walk.takes_hops and (
        settings.within_view_weight is None and settings.hops is None
    )
    views = {}
    for name, view in settings.views.items():
        kernel = asdict(resolve_kernel(settings.kernel_of(name)))
        if kernel["metric"] == "auto":  # what it was, for this run
            chosen = geometry.kernels[name].get_params(deep=False)
            kernel |= {key: chosen[key] for key in ("metric", "standardize")}
        weight = est.view_weights_[name] if is_weighted and len(settings.views) > 1 else None
        views[name] = replace(view, weight=weight, **kernel)
    stated: dict[str, Any] = {"views": views}
    if settings.output == "auto":
        stated["output"] = geometry.output
    if len(settings.views) > 1:
        stated["joint_view"] = geometry.walk.joint is not None
    if settings.command == "cluster":
        stated["clusters"] = model.n_clusters
        if model.n_clusters != "auto" or settings.components is not None:
            # Else each number of clusters that is tried has its own number of coordinates.
            stated["components"] = int(model.n_components_)
        stated["normalize"] = bool(model.normalize)
        if model.n_clusters == "auto":
            stated["max_clusters"] = int(model.max_clusters)
    else:
        stated["components"] = model.n_components
        if model.n_components == "auto" and settings.accuracy is None:
            stated["accuracy"] = _ACCURACY
    return replace(settings, **stated)


def schema_of(model: Model | KernelCCA) -> Schema:
    """The schema of the views that a model was fitted on.

    Parameters
    ----------
    model : estimator
        As `viewhop.load` returns it.
    """
    return model.canonical_.schema if isinstance(model, KernelCCA) else model.geometry_.schema


def embedder_of(model: Model) -> MultiViewDiffusionMaps:
    """The fitted diffusion map of a model: the model, or the one that its clusters are based on.

    Parameters
    ----------
    model : MultiViewDiffusionMaps or MultiViewSpectralClustering
    """
    return cast(MultiViewDiffusionMaps, getattr(model, "embedder_", model))
