"""Which results in a folder a run may keep: those of the same settings, versions and data."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from viewhop._runtime.version import __version__
from viewhop.errors import RunFileError
from viewhop.experiments import _results_store as recording
from viewhop.experiments._experiment import Context, Experiment

__all__ = ["Earlier", "digest_file", "find_earlier", "find_origin"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")
#: What a result depends on, by the name of its part in the record.
_PARTS = {"settings": "", "versions": "version of ", "data": "data "}


@dataclass(frozen=True)
class Earlier:
    """The result of an earlier run.

    Attributes
    ----------
    is_finished : bool
        Whether it can be kept.
    damage : str
        Why it cannot, if it was finished once.
    """

    is_finished: bool = False
    damage: str = ""


def find_origin(experiment: Experiment, context: Context) -> dict[str, Any]:
    """What a result depends on, and its hash.

    Parameters
    ----------
    experiment : Experiment
    context : Context
    """
    origin: dict[str, Any] = {
        "settings": {"quick": context.quick, "trials": context.trials, "seed": context.seed},
        "versions": _find_versions(),
        "data": {path.name: digest_file(path) for path in experiment.find_data(context.data_home)},
    }
    return {**origin, "origin": recording.digest_plain([experiment.name, origin])}


def find_earlier(folder: Path, experiment: Experiment, origin: Mapping[str, Any]) -> Earlier:
    """What is left of an earlier run of an experiment.

    Parameters
    ----------
    folder : Path
    experiment : Experiment
    origin : dict
        Of the run that would keep it.

    Raises
    ------
    RunFileError
        If it has another origin.
    """
    file = f"{experiment.name}.json"
    try:
        stored = recording.read(folder / file)
    except recording.DamagedResultError as error:
        return Earlier(damage=f"run again because {error}")
    except RunFileError as error:
        raise RunFileError(f"{error}. {_advise(folder)}") from None
    if stored is None:
        return Earlier()
    record = stored[1]
    if record.get("origin") != origin["origin"]:
        changes = "; ".join(_list_changes(record, origin)) or "another origin"
        raise RunFileError(f"{file} is of another run: {changes}. {_advise(folder)}")
    if not record["pictures"] and find_spec("matplotlib") is not None:
        return Earlier(damage="run again because it has no pictures")
    for picture in record["pictures"]:
        path = folder / picture["file"]
        if not path.is_file():
            return Earlier(damage=f"run again because {path.name} is missing")
        if digest_file(path) != picture["sha256"]:
            return Earlier(damage=f"run again because {path.name} is damaged: its checksum differs")
    return Earlier(is_finished=True)


def digest_file(path: Path) -> str:
    """SHA-256 of a file.

    Parameters
    ----------
    path : Path
    """
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _advise(folder: Path) -> str:
    return f"To keep what is in {folder}, choose another folder (--out); to replace it, --force."


def _list_changes(record: Mapping[str, Any], origin: Mapping[str, Any]) -> list[str]:
    changes = []
    for part, begin in _PARTS.items():
        before, now = record.get(part, {}), origin[part]
        for name in dict.fromkeys([*before, *now]):
            if before.get(name) != now.get(name):
                pair = [_shorten(values.get(name)) for values in (before, now)]
                changes.append(f"{begin}{name} was {pair[0]} and is now {pair[1]}")
    return changes


def _shorten(value: Any) -> str:
    if value is None:
        return "missing"
    return f"{value[:12]}…" if isinstance(value, str) and len(value) == 64 else str(value)


def _find_versions() -> dict[str, str]:
    versions = {"viewhop": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions
