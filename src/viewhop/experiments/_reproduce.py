"""Runs of experiments that keep finished results."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from viewhop._runtime.files import replace_file, writable_folder
from viewhop._runtime.progress import Progress, Stage, no_progress
from viewhop._version import __version__
from viewhop.errors import DataMissingError
from viewhop.experiments import _results_page as page
from viewhop.experiments import _results_store as recording
from viewhop.experiments._experiment import Context, Experiment, Picture, Result
from viewhop.experiments._index import NAMES, find

__all__ = ["Outcome", "reproduce"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")
#: Modules that each extra installs, by import name.
_MODULES_BY_EXTRA = {"vision": ("cv2", "skimage")}


@dataclass(frozen=True)
class Outcome:
    """Outcome of one experiment.

    Attributes
    ----------
    name : str
    status : {"done", "kept", "skipped", "failed"}
        Run now; finished earlier with the same settings; data or a package missing; an error.
    reason : str
        Why it was skipped or failed, on one line.
    seconds : float
    error : Exception or None
    """

    name: str
    status: Literal["done", "kept", "skipped", "failed"]
    reason: str = ""
    seconds: float = 0.0
    error: Exception | None = None


def reproduce(
    names: Iterable[str] = NAMES,
    *,
    out: str | os.PathLike[str],
    quick: bool = False,
    trials: int | None = None,
    seed: int = 0,
    force: bool = False,
    data_home: str | os.PathLike[str] | None = None,
    progress: Progress = no_progress,
) -> list[Outcome]:
    """Run experiments of the paper and compare their results with the published ones.

    Each writes its pictures and then ``NAME.json``; ``report.md`` and ``report.html`` show all
    results in the folder. Experiments that are finished there with the same settings are skipped,
    so a stopped run resumes.

    Parameters
    ----------
    names : list of str
        From `NAMES`; all of them by default.
    out : path
        Folder; created if necessary.
    quick : bool
        Use toy sizes, to check that everything runs; the results are not meaningful.
    trials : int or None
        Repetitions of repeated experiments; None uses the default of each.
    seed : int
    force : bool
        Run finished experiments again.
    data_home : path or None
        Folder of data sets that are not included in the package; None uses the environment
        variable ``VIEWHOP_DATA``.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    outcomes : list of Outcome
        One per name. An experiment that fails does not stop the others.

    Examples
    --------
    >>> import tempfile
    >>> from viewhop.experiments import reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [outcome] = reproduce(["decay-over-time"], out=folder, quick=True)
    >>> outcome.status
    'done'
    """
    chosen = [find(name) for name in dict.fromkeys(names)]
    if trials is not None and trials < 1:
        raise ValueError(f"expected at least one trial, got {trials}")
    home = data_home or os.environ.get("VIEWHOP_DATA") or None
    folder = writable_folder(out)
    outcomes = []
    for count, experiment in enumerate(chosen):
        progress(Stage("experiments", experiment.name), count, len(chosen))
        context = Context(
            quick=quick,
            trials=_trial_count(experiment, quick=quick, requested=trials),
            seed=seed,
            data_home=None if home is None else Path(home),
            progress=_prefix_progress(experiment.name, progress),
        )
        outcomes.append(_run_experiment(experiment, context, folder, force=force))
        page.write(folder)
    progress(Stage("experiments"), len(chosen), len(chosen))
    return outcomes


def _trial_count(experiment: Experiment, *, quick: bool, requested: int | None) -> int:
    if experiment.trials is None:
        return 1
    if requested is not None:
        return requested
    return experiment.trials.quick if quick else experiment.trials.default


def _prefix_progress(name: str, progress: Progress) -> Progress:
    """Progress callback that puts the experiment's name before each stage."""

    def named(stage: str, done: int, total: int | None) -> None:
        progress(Stage(f"{name}: {stage}", getattr(stage, "detail", "")), done, total)

    return named


def _run_experiment(
    experiment: Experiment, context: Context, folder: Path, *, force: bool
) -> Outcome:
    """Outcome of an experiment, which is run unless it is finished."""
    path = folder / f"{experiment.name}.json"
    settings = {"quick": context.quick, "trials": context.trials, "seed": context.seed}
    earlier = recording.read(path)
    if not force and earlier is not None and _is_current(earlier[1], settings, folder):
        return Outcome(experiment.name, "kept")
    for extra in experiment.extras:
        if any(find_spec(module) is None for module in _MODULES_BY_EXTRA[extra]):
            what = f'a package is missing; pip install "viewhop[{extra}]"'
            return Outcome(experiment.name, "skipped", what)
    start = perf_counter()
    try:
        result = recording.as_stored(experiment.run(context))
        seconds = perf_counter() - start
        pictures = _write_pictures(experiment, result, folder)
    except DataMissingError as error:
        return Outcome(experiment.name, "skipped", str(error))
    except OSError:
        raise  # The folder is not writable, so the others would fail, too.
    except Exception as error:  # of any kind: it is reported, and the other experiments go on
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Outcome(experiment.name, "failed", reason, perf_counter() - start, error)
    record = {
        "experiment": experiment.name,
        "where": experiment.where,
        "title": experiment.title,
        "about": experiment.about,
        "settings": settings,
        "versions": _versions(),
        "seconds": seconds,
        "pictures": pictures,
    }
    recording.write(path, result, record)
    return Outcome(experiment.name, "done", seconds=seconds)


def _is_current(record: Mapping[str, Any], settings: Mapping[str, Any], folder: Path) -> bool:
    """Whether a finished experiment has the requested settings and all its pictures."""
    return (
        record.get("settings") == settings
        and record.get("versions", {}).get("viewhop") == __version__
        and (bool(record.get("pictures")) or find_spec("matplotlib") is None)
        and all((folder / each["file"]).is_file() for each in record["pictures"])
    )


def _write_pictures(experiment: Experiment, result: Result, folder: Path) -> list[dict[str, str]]:
    """File names and captions of the pictures written; empty without matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    pictures: dict[str, Picture] = experiment.draw(result)
    written = []
    for name, (figure, caption) in pictures.items():
        file = f"{experiment.name}-{name}.png" if name else f"{experiment.name}.png"
        with replace_file(folder / file) as handle:
            figure.savefig(handle, format="png", dpi=130)
        written.append({"file": file, "caption": caption})
    return written


def _versions() -> dict[str, str]:
    versions = {"viewhop": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions
