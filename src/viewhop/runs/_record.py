"""The record of a run, ``run.json``: what went in, what came out, and with what."""

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

from viewhop._version import __version__
from viewhop.errors import RunFileError
from viewhop.runs._configuration import relative
from viewhop.runs._estimator import Model, embedder_of
from viewhop.runs._settings import COMMANDS, Settings
from viewhop.tables import Joined

__all__ = ["RECORD", "VERSION", "digest", "encoded", "of", "outputs", "read"]

RECORD = "run.json"
FORMAT = "viewhop run"
#: The version of the record. One of another is refused, not guessed at.
VERSION = 1

_LARGEST = 50_000_000
_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")


def of(
    settings: Settings,
    model: Model,
    read: Joined,
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
    read : Joined
        What the files held.
    folder : Path
        Where it will stand: paths are relative to it.
    timings : dict of float
        Seconds of each stage.
    warned : list
        Warnings that were raised.
    """
    est = embedder_of(model)
    counts = est.observed_.sum(axis=0).tolist()
    found = {
        "format": FORMAT,
        "version": VERSION,
        "command": settings.command,
        "viewhop": __version__,
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in _PACKAGES},
        },
        "settings": _plain(settings, folder),
        "seed": settings.seed,
        "inputs": {
            name: {
                "path": relative(settings.views[name].path, folder),
                "sha256": table.sha256,
                "size": table.size,
                "rows": len(table),
                "columns": table.matrix.shape[1],
            }
            for name, table in read.tables.items()
        },
        "n_samples": len(read.views),
        "observed": dict(zip(est.view_names_, counts, strict=True)),
        "class": type(model).__name__,
        "n_components": est.n_components_,
        "eigenvalues": est.eigenvalues_.tolist(),
        "n_pieces": est.n_pieces_,
        "solver": est.solver_,
        "recall": {name: float(recall) for name, recall in est.recall_.items()},
        "bandwidths": {name: _summary(scale) for name, scale in est.bandwidths_.items()},
        "memory": est.memory_,
        "timings": {stage: round(seconds, 6) for stage, seconds in timings.items()},
        "warnings": [
            {"kind": type(entry).__name__, "text": " ".join(str(entry).split())} for entry in warned
        ],
    }
    if settings.command == "cluster":
        found["n_clusters"] = model.n_clusters_
    return found


def _plain(settings: Settings, folder: Path) -> dict[str, Any]:
    """Settings as plain data, with paths relative to the folder, without what is not set."""

    def values(entry: Any) -> dict[str, Any]:
        found = {field.name: getattr(entry, field.name) for field in fields(entry)}
        return {key: value for key, value in found.items() if value is not None}

    found = values(settings)
    found.pop("out", None)
    found["views"] = {
        name: {**values(view), "path": relative(view.path, folder)}
        for name, view in settings.views.items()
    }
    return found


def _summary(scale: Any) -> float | dict[str, float] | None:
    """A scale, or what the scales of samples are like; None for a precomputed kernel."""
    values = np.asarray(scale, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    if np.ndim(scale) == 0:
        return float(values[0])
    middle = {"smallest": values.min(), "median": np.median(values), "largest": values.max()}
    return {name: float(value) for name, value in middle.items()}


def outputs(folder: Path) -> dict[str, dict[str, Any]]:
    """Hash and size of each file of a folder, by name.

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


def encoded(record: Mapping[str, Any]) -> bytes:
    """The record as it stands in its file."""
    return f"{json.dumps(record, indent=1, allow_nan=False)}\n".encode()


def read(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The record of a run in a folder, or RunFileError.

    Parameters
    ----------
    folder : path
    """
    path = Path(folder, RECORD)
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
        found: Any = json.loads(data) if len(data) <= _LARGEST else None
    except FileNotFoundError:
        raise RunFileError(
            f"{folder}: it has no {RECORD}, so no run has finished there; expected a folder that "
            "viewhop fit or viewhop cluster wrote"
        ) from None
    except OSError as error:
        raise RunFileError(f"{path}: it cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise RunFileError(f"{path}: it is not JSON: {error}") from None
    _check(path, found)
    record: dict[str, Any] = found
    return record


def _check(path: Path, found: Any) -> None:
    """Raise RunFileError unless what is read here is there, and of its kind."""
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise RunFileError(f"{path}: it is not the record of a run of viewhop")
    if found.get("version") != VERSION or isinstance(found["version"], bool | float):
        raise RunFileError(
            f"{path}: its version is {found.get('version')!r}, and this is viewhop {__version__}, "
            f"which knows version {VERSION}"
        )
    kinds = {"settings": dict, "inputs": dict, "outputs": dict, "viewhop": str, "command": str}
    for key, kind in kinds.items():
        if not isinstance(found.get(key), kind):
            raise RunFileError(f"{path}: {key} is missing, or no {kind.__name__}")
    if found["command"] not in COMMANDS:
        raise RunFileError(f"{path}: the command is {found['command']!r}")
    for entry in (*found["inputs"].values(), *found["outputs"].values()):
        if not isinstance(entry, dict) or not isinstance(entry.get("sha256"), str):
            raise RunFileError(f"{path}: a file has no SHA-256")
    if not all(isinstance(entry.get("path"), str) for entry in found["inputs"].values()):
        raise RunFileError(f"{path}: an input has no path")
    if any(Path(name).name != name or name in (".", "..") for name in found["outputs"]):
        raise RunFileError(f"{path}: an output has a name that leads elsewhere")
