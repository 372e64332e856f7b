"""What a fit of diffusion maps learnt, as plain data with arrays, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from viewhop._runtime.threads import thread_count
from viewhop._storage.codec import (
    Shelf,
    decode_value,
    encode_parameters,
    encode_value,
    read_boolean,
    read_fields,
    read_integer,
    read_number,
    read_texts,
)
from viewhop.errors import ModelFileError
from viewhop.geometry import _state as state
from viewhop.walks import Walk
from viewhop.walks._extension import build_extension

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from viewhop.estimators._multi_view import MultiViewDiffusionMaps

__all__ = ["model", "of", "restore"]

_KEYS = (
    "views",
    "groups",
    "n_features_in",
    "feature_names_in",
    "n_steps",
    "is_mean",
    "n_pieces",
    "dimension",
    "allowed",
    "memory",
    "timings",
    "walk",
    "spectrum",
)
_STAGES = ("kernels", "solve", "extension")


def model(
    est: BaseEstimator, shelf: Shelf, learnt: Callable[[Shelf], dict[str, Any]]
) -> dict[str, Any]:
    """The class, the parameters and what was learnt, as a model file has them.

    Parameters
    ----------
    est : estimator
    shelf : Shelf
        Gets the arrays.
    learnt : callable
        Gives what was learnt as plain data, and puts its arrays on a shelf.
    """
    kind = type(est)
    if not kind.__module__.startswith("viewhop."):
        raise ModelFileError(
            f"{kind.__name__} is not an estimator of viewhop, so vh.load would not know it; "
            "a model file holds what is in the package"
        )
    try:
        est._validate_params()
    except ValueError as error:
        raise ModelFileError(f"the parameters were changed after the fit: {error}") from error
    return {
        "class": kind.__name__,
        "parameters": encode_parameters(est, shelf.within("parameters")),
        "fitted": learnt(shelf),
    }


def of(est: MultiViewDiffusionMaps, shelf: Shelf) -> dict[str, Any]:
    """What a fit learnt, as plain data."""
    names = getattr(est, "feature_names_in_", None)
    return {
        "views": state.layout_state(est._layout),
        "groups": encode_value(est._groups, shelf.within("groups"), "the parameter views"),
        "n_features_in": int(est.n_features_in_),
        "feature_names_in": None if names is None else [str(name) for name in names],
        "n_steps": encode_value(est.n_steps_, shelf, "the number of steps"),
        "is_mean": bool(est._outputs.is_mean),
        "n_pieces": int(est.n_pieces_),
        "dimension": est._dimension,
        "allowed": est._allowed,
        "memory": int(est.memory_),
        "timings": dict(est.timings_),
        "walk": state.walk_state(est.walk_, est._kernels, shelf),
        "spectrum": state.spectrum_state(est.spectrum_, shelf.within("spectrum")),
    }


def restore(
    est: MultiViewDiffusionMaps,
    found: Any,
    shelf: Shelf,
    *,
    fits: Callable[[Walk], bool] = lambda walk: True,
) -> None:
    """Give an estimator what a fit learnt.

    Parameters
    ----------
    est : MultiViewDiffusionMaps
        Not fitted.
    found : dict
        Plain data, as `of` gives it; anything else is a ModelFileError.
    shelf : Shelf
        Has the arrays.
    fits : callable
        Whether the estimator can have a walk.
    """
    (
        views,
        groups,
        n_features,
        names,
        n_steps,
        is_mean,
        n_pieces,
        dimension,
        allowed,
        memory,
        timings,
        walk,
        spectrum,
    ) = read_fields(found, _KEYS, "the fit")
    seen = state.layout(views)
    est._layout = seen
    est.view_names_ = seen.names
    est.n_views_ = len(seen.names)
    est._groups = decode_value(groups, shelf.within("groups"), "the column groups")
    est.n_features_in_ = read_integer(n_features, "the number of features", least=1)
    if names is not None:
        labels = read_texts(names, "the names of the features", est.n_features_in_)
        est.feature_names_in_ = np.array(labels, dtype=object)
    est.n_pieces_ = read_integer(n_pieces, "the number of pieces", least=1)
    est._dimension = (
        None if dimension is None else read_integer(dimension, "the dimension", least=1)
    )
    est._allowed = None if allowed is None else read_integer(allowed, "the memory that was allowed")
    est.memory_ = read_integer(memory, "the memory of the fit")
    stages = read_fields(timings, _STAGES, "the timings")
    est.timings_ = {
        stage: read_number(seconds, "the timings", least=0.0)
        for stage, seconds in zip(_STAGES, stages, strict=True)
    }
    est.walk_, est._kernels = state.walk(walk, seen, shelf, n_jobs=thread_count(est.n_jobs))
    if not fits(est.walk_):
        raise ModelFileError(f"the walk is not one of {type(est).__name__}")
    est.recall_ = {K.name: K.recall for K in est.walk_.affinities}
    nodes = est.walk_.n_nodes
    est.spectrum_ = state.spectrum(spectrum, shelf.within("spectrum"), nodes)
    mean = read_boolean(is_mean, "whether coordinates are means")
    if mean and (est.walk_.is_fused or est.n_views_ == 1):
        raise ModelFileError("one set of coordinates has no mean over views")
    read_number(n_steps, "the number of steps", least=0.0)
    est._extension = build_extension(est.walk_, est.spectrum_)
    est._keep(n_steps, is_mean=mean)
