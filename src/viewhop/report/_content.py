"""Content: everything that the page shows, as plain data."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import numpy as np

from viewhop._runtime.version import __version__
from viewhop.advice import (
    agreement_findings,
    feature_findings,
    format_value,
    graph_findings,
    graph_health,
    missing_samples,
)
from viewhop.geometry import Geometry, view_similarity
from viewhop.report._colours import (
    cluster_column,
    disagreement_columns,
    feature_columns,
    label_column,
)
from viewhop.report._curves import scale_curves
from viewhop.report._data import ReportData
from viewhop.report._fitted_parts import FittedParts, fitted_parts
from viewhop.report._map_panel import build_map, choose_layout
from viewhop.report._meaning import describe_meaning
from viewhop.report._packing import Pack
from viewhop.report._panels import build_panels
from viewhop.report._piece_panels import describe_pieces, solve_pieces
from viewhop.views import Views

__all__ = ["Content", "build_content"]

#: Plain data, and the arrays that it refers to.
Content = tuple[dict[str, Any], Pack]


def build_content(data: ReportData) -> Content:
    """Everything that the page shows.

    Parameters
    ----------
    data : ReportData

    Raises
    ------
    ValueError
        If something has another number of samples than the estimator.
    """
    parts, pack = fitted_parts(data.estimator), Pack()
    geometry = parts.geometry
    data.check(geometry.n_samples)
    columns, notes = _colour_columns(data, parts, pack)
    ids = data.ids
    if ids is None and data.features is not None and data.features.ids is not None:
        ids = [*data.features.ids]
    pieces = solve_pieces(geometry, progress=data.progress)
    layout, note = choose_layout(
        data.layout, geometry, pieces=[*pieces.values()], progress=data.progress
    )
    about = _describe(parts) if data.about is None else data.about
    graphs = graph_health(geometry)
    return {
        "title": str(data.title),
        "kind": parts.kind,
        "version": __version__,
        "samples": geometry.n_samples,
        "views": [*geometry.schema.names],
        "fusion": geometry.walk.fusion,
        "map": build_map(layout, pack),
        "map_note": note,
        "panels": build_panels(parts, pack, pieces),
        "pieces": describe_pieces(geometry, pieces),
        "ids": _pack_ids(ids, pack),
        "columns": columns,
        "notes": notes,
        "spectrum": _spectrum(parts),
        "curves": scale_curves(geometry.walk.affinities),
        "similarity": _similarity(geometry),
        "meaning": describe_meaning(geometry, data.features),
        "advice": _advice(geometry, graphs, data.features),
        "graphs": graphs,
        "missing": missing_samples(geometry),
        "about": [[str(key), str(value)] for key, value in about.items()],
        "repeat": str(data.repeat),
    }, pack


def _colour_columns(
    data: ReportData, parts: FittedParts, pack: Pack
) -> tuple[list[dict[str, Any]], list[str]]:
    """The columns that points can be coloured by, and notes on those that are missing."""
    columns, notes = [], []
    if data.labels is not None:
        columns.append(label_column(data.labels, str(data.label_name), pack))
    clusters = parts.clusters if data.clusters is None else data.clusters
    if clusters is not None:
        columns.append(cluster_column(clusters, pack))
    disagreement, note = disagreement_columns(parts.geometry, pack)
    columns += disagreement
    notes.append(note)
    if data.features is not None:
        features, note = feature_columns(data.features, pack)
        columns += features
        notes.append(note)
    return columns, [note for note in notes if note]


def _pack_ids(ids: Sequence[Any] | None, pack: Pack) -> dict[str, Any] | None:
    return None if ids is None else pack.put_plain([str(name) for name in ids])


def _spectrum(parts: FittedParts) -> dict[str, Any]:
    spectrum = parts.geometry.spectrum
    return {
        "eigenvalues": [float(value) for value in spectrum.eigenvalues],
        "largest_residual": float(spectrum.residuals.max(initial=0.0)),
        "chosen": parts.chosen,
        "solver": spectrum.solver,
    }


def _similarity(geometry: Geometry) -> dict[str, Any]:
    try:
        similarity = view_similarity(geometry)
    except ValueError as error:
        return {"why": f"{error}."}
    return {
        "values": [[float(v) if np.isfinite(v) else None for v in row] for row in similarity],
    }


def _advice(
    geometry: Geometry, graphs: dict[str, Any], features: Views | None
) -> list[dict[str, str]]:
    """The findings in a fit, warnings first, as text."""
    names, record = geometry.schema.names, geometry.record
    findings = [
        *agreement_findings(names, record.agreement, record.view_weights),
        *graph_findings(geometry, graphs),
    ]
    if features is not None and features.names == names:
        findings += feature_findings(features, geometry.kernels, record.metric_scores)
    return [
        {
            "severity": one.severity,
            "view": "all" if one.view is None else one.view,
            "kind": one.kind,
            "value": format_value(one.value),
            "text": one.text,
        }
        for one in sorted(findings, key=lambda one: one.severity != "warning")
    ]


def _describe(parts: FittedParts) -> dict[str, str]:
    """Parameters, timings and versions, for a caller who passes no facts."""
    facts = {name: repr(value) for name, value in parts.parameters.items()}
    timings = parts.geometry.record.timings
    facts |= {f"seconds of {stage}": f"{seconds:.3g}" for stage, seconds in timings.items()}
    facts["viewhop"] = __version__
    facts["Python"] = platform.python_version()
    facts |= {name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return facts
