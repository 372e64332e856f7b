"""Evidence for the metrics and weights of a run, which a repeat takes over.

The settings that repeat a run state what was chosen, so the repeat measures nothing. With the
evidence of the earlier run, its files are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.estimators import MultiViewSpectralClustering
from viewhop.geometry import Geometry
from viewhop.runs._estimator import Model, build_estimator, embedder_of
from viewhop.runs._settings import Settings
from viewhop.tables import Table

__all__ = ["Evidence", "attach_evidence", "encode_agreement", "read_evidence", "state_parameters"]

#: Settings of reading: with others, the features of a view may be others.
_READING = ("id", "keep", "drop", "decimal", "delimiter", "encoding", "id_strip", "missing")


class Evidence(NamedTuple):
    """How well metrics and views agreed, as a `viewhop.geometry.FitRecord` holds it.

    Attributes
    ----------
    metric_scores : dict of (dict of float by metric) by view name
    agreement : (n_views, n_views) array
    """

    metric_scores: dict[str, dict[str, float]]
    agreement: NDArray[np.float64]


def encode_agreement(agreement: NDArray[np.float64] | None) -> list[list[float | None]] | None:
    """The agreement of views as plain data, None where there is no evidence."""
    if agreement is None:
        return None
    return [[value if isfinite(value) else None for value in row] for row in agreement.tolist()]


def read_evidence(
    record: Mapping[str, Any], settings: Settings, model: Model, tables: Mapping[str, Table]
) -> Evidence | None:
    """The evidence of an earlier run; None if it has none, or none that holds for this run.

    Parameters
    ----------
    record : dict
        Of the earlier run.
    settings, model, tables
        Of this run.
    """
    metrics = embedder_of(model).metrics_
    if record.get("metrics") != metrics or not _is_same_data(record, settings, tables):
        return None
    try:
        scores, agreement = record["metric_scores"], record["agreement"]
        numbers = {
            view: {str(metric): _share(score) for metric, score in by_metric.items()}
            for view, by_metric in scores.items()
        }
        rows = [[np.nan if x is None else _share(x) for x in row] for row in agreement]
        matrix = np.array(rows, dtype=np.float64)
    except (
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
    ):  # there is none, or the record was edited
        return None
    is_known = {*numbers} <= {*metrics} and matrix.shape == (len(metrics), len(metrics))
    return Evidence(numbers, matrix) if is_known else None


def _is_same_data(
    record: Mapping[str, Any], settings: Settings, tables: Mapping[str, Table]
) -> bool:
    """Whether an earlier run read the same numbers: the same files, in the same way."""
    files = {name: entry["sha256"] for name, entry in record["inputs"].items()}
    if files != {name: table.sha256 for name, table in tables.items()}:
        return False
    given = {key: getattr(settings, key) for key in _READING}
    plain = {key: [*value] if isinstance(value, tuple) else value for key, value in given.items()}
    return all(record["settings"].get(key) == value for key, value in plain.items())


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1:
        raise ValueError(f"expected a share, got {value!r}")
    return float(value)


def attach_evidence(model: Model, evidence: Evidence) -> Model:
    """The fitted model with evidence of an earlier run; unchanged if it has its own.

    Parameters
    ----------
    model : estimator
    evidence : Evidence
    """
    geometry = embedder_of(model).geometry_
    if geometry.record.metric_scores or geometry.record.agreement is not None:
        return model
    record = replace(
        geometry.record, metric_scores=evidence.metric_scores, agreement=evidence.agreement
    )
    return _around(model, replace(geometry, record=record), model.get_params(deep=False))


def state_parameters(model: Model, resolved: Settings) -> Model:
    """The fitted model with the parameters of the settings that repeat its run.

    Parameters
    ----------
    model : estimator
    resolved : Settings
    """
    parameters = build_estimator(resolved).get_params(deep=False)
    return _around(model, embedder_of(model).geometry_, parameters)


def _around(model: Model, geometry: Geometry, parameters: Mapping[str, Any]) -> Model:
    """A model with another geometry or other parameters."""
    if isinstance(model, MultiViewSpectralClustering):
        clusters = replace(model.clusters_, geometry=geometry)
        return MultiViewSpectralClustering.from_clusters(clusters, **parameters)
    return type(model).from_geometry(geometry, **parameters)
