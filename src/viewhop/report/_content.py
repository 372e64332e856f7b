"""Content: everything that the page shows, as plain data."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from viewhop._version import __version__
from viewhop.estimators import MultiViewDiffusionMaps, MultiViewSpectralClustering
from viewhop.report._colours import (
    cluster_column,
    disagreement_columns,
    feature_columns,
    label_column,
)
from viewhop.report._curves import scale_curves
from viewhop.report._health import graphs, missing
from viewhop.report._packing import Pack
from viewhop.report._panels import panels
from viewhop.views import Views

__all__ = ["Content", "gathered"]

#: Plain data, and the arrays that it names.
Content = tuple[dict[str, Any], Pack]


def gathered(
    estimator: Any,
    *,
    ids: Sequence[Any] | None,
    labels: ArrayLike | Sequence[Any] | None,
    label_name: str,
    clusters: ArrayLike | None,
    features: Views | None,
    title: str,
    about: Mapping[str, str] | None,
    repeat: str,
) -> Content:
    """What the page shows of a fitted estimator; the parameters are those of `report.render`."""
    est, chosen = _embedding(estimator)
    if clusters is None and isinstance(estimator, MultiViewSpectralClustering):
        clusters = estimator.labels_
    n, pack = len(est.embedding_), Pack()
    columns, notes = [], []
    if labels is not None:
        columns.append(label_column(labels, str(label_name), n, pack))
    if clusters is not None:
        columns.append(cluster_column(clusters, n, pack))
    disagreement, why = disagreement_columns(est, pack)
    columns += disagreement
    notes.append(why)
    if features is not None:
        found, note = feature_columns(features, n, pack)
        columns += found
        notes.append(note)
        if ids is None and features.ids is not None:
            ids = [*features.ids]
    told = _about(estimator, est) if about is None else about
    return {
        "title": str(title),
        "kind": type(estimator).__name__,
        "version": __version__,
        "samples": n,
        "views": [*est.view_names_],
        "fusion": est.fusion,
        "panels": panels(est, pack),
        "ids": _ids(ids, n, pack),
        "columns": columns,
        "notes": [note for note in notes if note],
        "spectrum": _spectrum(est, chosen),
        "curves": scale_curves(est),
        "similarity": _similarity(est),
        "graphs": graphs(est),
        "missing": missing(est),
        "about": [[str(key), str(value)] for key, value in told.items()],
        "repeat": str(repeat),
    }, pack


def _embedding(estimator: Any) -> tuple[MultiViewDiffusionMaps, int]:
    """The estimator that has coordinates, fitted, and the number of them that was chosen."""
    if not isinstance(estimator, MultiViewDiffusionMaps | MultiViewSpectralClustering):
        raise TypeError(
            "a report is of a fitted MultiViewDiffusionMaps, DiffusionMaps, DeSaEmbedding or "
            f"MultiViewSpectralClustering, not of {type(estimator).__name__}"
        )
    check_is_fitted(estimator)
    chosen = int(estimator.n_components_)
    if isinstance(estimator, MultiViewSpectralClustering):
        return estimator.embedder_, chosen
    return estimator, chosen


def _ids(ids: Sequence[Any] | None, n: int, pack: Pack) -> dict[str, Any] | None:
    if ids is None:
        return None
    if len(ids) != n:
        raise ValueError(f"ids must have one entry per sample: {n}, got {len(ids)}")
    return pack.put_plain([str(name) for name in ids])


def _spectrum(est: MultiViewDiffusionMaps, chosen: int) -> dict[str, Any]:
    spectrum = est.spectrum_
    return {
        "eigenvalues": [float(value) for value in spectrum.eigenvalues],
        "largest_residual": float(spectrum.residuals.max(initial=0.0)),
        "chosen": chosen,
        "solver": est.solver_,
    }


def _similarity(est: MultiViewDiffusionMaps) -> dict[str, Any]:
    try:
        found = est.view_similarity()
    except ValueError as error:
        return {"why": f"{error}."}
    return {
        "values": [[float(v) if np.isfinite(v) else None for v in row] for row in found],
    }


def _about(estimator: Any, est: MultiViewDiffusionMaps) -> dict[str, str]:
    """Parameters, versions and timings, where the caller says nothing."""
    told = {name: repr(value) for name, value in estimator.get_params(deep=False).items()}
    told |= {
        f"seconds of {stage}": f"{seconds:.3g}"
        for stage, seconds in getattr(est, "timings_", {}).items()
    }
    told["viewhop"] = __version__
    told["Python"] = platform.python_version()
    told |= {name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return told
