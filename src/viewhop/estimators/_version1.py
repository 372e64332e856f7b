"""Converting version 1 model files to version 2; this code is frozen, so that they always load.

Version 1 had no options for some things that later versions let you choose: the walker hops with η
or a hop matrix, distances use the kernel's own metric, and neighbours have no rounding tolerance.
These choices are spelled out here, so later defaults do not change them.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from viewhop._storage.codec import (
    read_boolean,
    read_fields,
    read_integer,
    read_text,
    read_texts,
)
from viewhop.errors import ModelFileError

__all__ = ["upgrade_model"]

Arrays = dict[str, NDArray[Any]]

_FIT_KEYS = (
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
_EMBEDDING = ("kernel", "views", "solver", "tol", "max_memory", "n_jobs", "random_state", "verbose")
_FUSION = ("n_steps", "fusion", "within_view_weight", "hops", "output")
_CLUSTERING = ("n_clusters", "max_clusters", "normalize", "n_init")
#: The parameters that each class had.
_PARAMETERS = {
    "DeSaEmbedding": {"n_components", *_EMBEDDING},
    "DiffusionMaps": {"n_components", "n_steps", "accuracy", *_EMBEDDING} - {"views"},
    "MultiViewDiffusionMaps": {"n_components", "accuracy", *_FUSION, *_EMBEDDING},
    "MultiViewSpectralClustering": {"n_components", *_CLUSTERING, *_FUSION, *_EMBEDDING},
}
#: The kernel that "adaptive" meant in version 1.
_ADAPTIVE = {
    "class": "Gaussian",
    "bandwidth": "local",
    "factor": 1.0,
    "n_neighbors": 10,
    "metric": "euclidean",
    "standardize": False,
    "alpha": 0.0,
    "search": "auto",
}
_EMBEDDER = "embedder/"


def upgrade_model(content: Any, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """The plain data and arrays of a version 1 file as those of version 2.

    Parameters
    ----------
    content : object
        Plain data of the file; ModelFileError if they are malformed.
    arrays : dict of arrays by name
    """
    kind, parameters, fitted = read_fields(content, ("class", "parameters", "fitted"), "the model")
    kind = read_text(kind, "the class of the model", [*_PARAMETERS])
    read_fields(parameters, sorted(_PARAMETERS[kind]), f"the parameters of {kind}")
    if kind != "MultiViewSpectralClustering":
        return _model(kind, parameters, {"geometry": _upgrade_fit(fitted)}), arrays
    n_components, normalized, embedder = read_fields(
        fitted, ("n_components", "normalized", "embedder"), "the clusters"
    )
    inner, fit = read_fields(embedder, ("parameters", "fitted"), "the embedding")
    learned = {
        "n_components": n_components,
        "normalize": normalized,
        "seed": inner.get("random_state") if isinstance(inner, dict) else None,
        "geometry": _upgrade_fit(fit),
    }
    return _model(kind, parameters, learned), {
        name.removeprefix(_EMBEDDER): array
        for name, array in arrays.items()
        if not name.startswith(f"{_EMBEDDER}parameters/")
    }


def _model(kind: str, parameters: dict[str, Any], learned: dict[str, Any]) -> dict[str, Any]:
    kernel = _spell_out(parameters["kernel"])
    return {"class": kind, "parameters": {**parameters, "kernel": kernel}, "learned": learned}


def _spell_out(kernel: Any) -> Any:
    """The parameter `kernel` with "adaptive" replaced by the kernel object that it meant."""
    if kernel == "adaptive":
        return {"kernel": _ADAPTIVE}
    if isinstance(kernel, list):
        return [_spell_out(entry) for entry in kernel]
    if isinstance(kernel, dict) and isinstance(kernel.get("tuple"), list):
        return {"tuple": [_spell_out(entry) for entry in kernel["tuple"]]}
    if isinstance(kernel, dict) and isinstance(kernel.get("dict"), list):
        return {"dict": [_spell_out_last(pair) for pair in kernel["dict"]]}
    return kernel


def _spell_out_last(pair: Any) -> Any:
    """A pair of name and kernel, with the kernel spelt out."""
    if isinstance(pair, list) and len(pair) == 2:
        return [pair[0], _spell_out(pair[1])]
    return pair


def _upgrade_fit(fitted: Any) -> dict[str, Any]:
    """The result of a fit as the state of a geometry."""
    fit = dict(zip(_FIT_KEYS, read_fields(fitted, _FIT_KEYS, "the fit"), strict=True))
    names, widths, feature_names, dtype = read_fields(
        fit["views"], ("names", "widths", "feature_names", "dtype"), "the views"
    )
    n_columns = read_integer(fit["n_features_in"], "the number of features", least=1)
    if fit["feature_names_in"] is not None:
        read_texts(fit["feature_names_in"], "the names of the features", n_columns)
    for name in ("dimension", "allowed"):
        if fit[name] is not None:
            read_integer(fit[name], f"the {name} of the fit")
    fusion, n_samples, kernels, product = read_fields(
        fit["walk"], ("fusion", "n_samples", "kernels", "product"), "the walk"
    )
    if fusion != "product" and product is not None:
        raise ModelFileError(f"the walk: {fusion} has no product")
    own = {"product": product} if fusion == "product" else {}
    is_mean = read_boolean(fit["is_mean"], "whether coordinates are means")
    return {
        "schema": {
            "names": names,
            "widths": widths,
            "feature_names": feature_names,
            "dtype": dtype,
            "groups": fit["groups"],
            "columns": fit["feature_names_in"],
            "n_columns": n_columns,
        },
        "n_steps": fit["n_steps"],
        "output": "mean" if is_mean else "concat",
        "record": {key: fit[key] for key in ("n_pieces", "memory", "timings")},
        "walk": {"fusion": fusion, "n_samples": n_samples, "kernels": kernels, "own": own},
        "spectrum": fit["spectrum"],
    }
