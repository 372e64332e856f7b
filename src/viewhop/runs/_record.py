"""The record of a run, ``run.json``: its inputs, outputs, versions, settings and numbers."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import fields
from hashlib import file_digest
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from viewhop._runtime.version import __version__
from viewhop.errors import RunFileError
from viewhop.runs._configuration import relative_path
from viewhop.runs._estimator import Model, embedder_of
from viewhop.runs._evidence import encode_agreement
from viewhop.runs._settings import COMMANDS, Settings
from viewhop.tables import Joined

__all__ = [
    "MODEL",
    "RECORD",
    "VERSION",
    "build_record",
    "describe_files",
    "digest",
    "encode_record",
    "read_record",
]

#: Names of the model and of the record in the folder of a run.
MODEL, RECORD = "model.viewhop", "run.json"
FORMAT = "viewhop run"
#: The version of the record. Any other is refused, not guessed at.
VERSION = 1

_LARGEST = 50_000_000
_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")


def build_record(
    settings: Settings,
    model: Model,
    samples: Joined,
    *,
    folder: Path,
    timings: Mapping[str, float],
    warned: Sequence[Warning | str],
) -> dict[str, Any]:
    """The record of a run, without its outputs.

    Parameters
    ----------
    settings : Settings
    model : estimator
        Fitted.
    samples : Joined
        The content of the files.
    folder : Path
        Where the record will be: paths are relative to it.
    timings : dict of float
        Seconds of each stage.
    warned : list
        Warnings that were raised.
    """
    est = embedder_of(model)
    counts = est.observed_.sum(axis=0).tolist()
    record = {
        "format": FORMAT,
        "version": VERSION,
        "command": settings.command,
        "viewhop": __version__,
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in _PACKAGES},
        },
        "settings": _plain_settings(settings, folder),
        "seed": settings.seed,
        "inputs": {
            name: {
                "path": relative_path(settings.views[name].path, folder),
                "sha256": table.sha256,
                "size": table.size,
                "rows": len(table),
                "dropped": table.n_dropped,
                "columns": table.matrix.shape[1],
            }
            for name, table in samples.tables.items()
        },
        "n_samples": len(samples.views),
        "observed": dict(zip(est.view_names_, counts, strict=True)),
        "class": type(model).__name__,
        "n_components": est.n_components_,
        "eigenvalues": est.eigenvalues_.tolist(),
        "n_pieces": est.n_pieces_,
        "solver": est.solver_,
        "output": est.geometry_.output,
        "metrics": dict(est.metrics_),
        "metric_scores": {name: dict(scores) for name, scores in est.metric_scores_.items()},
        "agreement": encode_agreement(est.geometry_.record.agreement),
        "view_weights": {name: float(weight) for name, weight in est.view_weights_.items()},
        "n_neighbors": dict(est.n_neighbors_),
        "joint_view": est.walk_.joint is not None,
        "recall": {name: float(recall) for name, recall in est.recall_.items()},
        "bandwidths": {name: _summarise_scale(scale) for name, scale in est.bandwidths_.items()},
        "memory": est.memory_,
        "timings": {stage: round(seconds, 6) for stage, seconds in timings.items()},
        "warnings": [
            {"kind": type(entry).__name__, "text": " ".join(str(entry).split())} for entry in warned
        ],
    }
    if settings.command == "cluster":
        record["n_clusters"] = model.n_clusters_
        if model.cluster_count_ is not None:
            record["cluster_confidence"] = model.cluster_count_.confidence
    return record


def _plain_settings(settings: Settings, folder: Path) -> dict[str, Any]:
    """Settings as plain data, with paths relative to the folder, without those that are None."""

    def values(entry: Any) -> dict[str, Any]:
        plain = {field.name: getattr(entry, field.name) for field in fields(entry)}
        return {
            key: [*value] if isinstance(value, tuple) else value  # as JSON has it
            for key, value in plain.items()
            if value is not None
        }

    plain = values(settings)
    plain.pop("out", None)
    plain["views"] = {
        name: {**values(view), "path": relative_path(view.path, folder)}
        for name, view in settings.views.items()
    }
    return plain


def _summarise_scale(scale: Any) -> float | dict[str, float] | None:
    """A scale, or the range and median of the scales of samples; None for a precomputed kernel."""
    values = np.asarray(scale, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    if np.ndim(scale) == 0:
        return float(values[0])
    numbers = {"smallest": values.min(), "median": np.median(values), "largest": values.max()}
    return {name: float(value) for name, value in numbers.items()}


def describe_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Hash and size of each file in a folder, by name.

    Parameters
    ----------
    folder : Path
    """
    return {
        path.name: {"sha256": digest(path), "size": path.stat().st_size}
        for path in sorted(folder.iterdir())
    }


def digest(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def encode_record(record: Mapping[str, Any]) -> bytes:
    """The bytes of the file of a record."""
    return f"{json.dumps(record, indent=1, allow_nan=False)}\n".encode()


def read_record(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The record of the run in a folder.

    Parameters
    ----------
    folder : path
        A folder that `execute`, ``viewhop fit`` or ``viewhop cluster`` wrote.

    Raises
    ------
    RunFileError
        If there is no record, or one that cannot be read.

    Examples
    --------
    >>> from viewhop.errors import RunFileError
    >>> from viewhop.runs import read_record
    >>> try:
    ...     read_record("nowhere")
    ... except RunFileError as error:
    ...     print(str(error).partition(";")[0])
    nowhere: there is no run.json, so no run has finished there
    """
    path = Path(folder, RECORD)
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
        record: Any = json.loads(data) if len(data) <= _LARGEST else None
    except FileNotFoundError:
        raise RunFileError(
            f"{folder}: there is no {RECORD}, so no run has finished there; expected a folder that "
            "viewhop fit or viewhop cluster wrote"
        ) from None
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise RunFileError(f"{path}: not valid JSON: {error}") from None
    _check_record(path, record)
    checked: dict[str, Any] = record
    return checked


def _check_record(path: Path, record: Any) -> None:
    """Raise RunFileError unless every entry that is used later is there, and of its type."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RunFileError(f"{path}: not the record of a run of viewhop")
    if record.get("version") != VERSION or isinstance(record["version"], bool | float):
        raise RunFileError(
            f"{path}: the version of the record is {record.get('version')!r}, but viewhop "
            f"{__version__} reads version {VERSION} only"
        )
    kinds = {"settings": dict, "inputs": dict, "outputs": dict, "viewhop": str, "command": str}
    for key, kind in kinds.items():
        if not isinstance(record.get(key), kind):
            raise RunFileError(f"{path}: {key} is missing, or not a {kind.__name__}")
    if record["command"] not in COMMANDS:
        raise RunFileError(f"{path}: unknown command {record['command']!r}")
    for entry in (*record["inputs"].values(), *record["outputs"].values()):
        if not isinstance(entry, dict) or not isinstance(entry.get("sha256"), str):
            raise RunFileError(f"{path}: a file has no SHA-256")
    if not all(isinstance(entry.get("path"), str) for entry in record["inputs"].values()):
        raise RunFileError(f"{path}: an input has no path")
    if any(Path(name).name != name or name in (".", "..") for name in record["outputs"]):
        raise RunFileError(f"{path}: an output is named outside the folder")
