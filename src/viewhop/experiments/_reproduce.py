"""Running experiments, with what is finished kept."""

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
#: What each extra brings, by the name under which it is imported.
_BROUGHT = {"vision": ("cv2", "skimage")}


@dataclass(frozen=True)
class Outcome:
    """How an experiment ended.

    Attributes
    ----------
    name : str
    status : {"done", "kept", "skipped", "failed"}
        Run; finished before with the same settings; data or a package missing; an error.
    reason : str
        Why it was skipped or failed, in a line.
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
    """Run experiments of the paper, and write what they found beside the paper's own numbers.

    Each writes ``NAME.json`` last, after its pictures; ``report.md`` and ``report.html`` show all
    that are in the folder. An experiment that is finished there with the same settings is not run
    again, so a run that was stopped goes on where it was.

    Parameters
    ----------
    names : list of str
        Of `NAMES`; all of them by default.
    out : path
        Folder; made if need be.
    quick : bool
        Toy sizes: to see that everything runs, not what comes out.
    trials : int or None
        Repetitions where an experiment has them; None is what each takes by itself.
    seed : int
    force : bool
        Run what is finished, too.
    data_home : path or None
        Folder of data that does not come with the package; None is the one that the environment
        variable ``VIEWHOP_DATA`` names.
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
            trials=_repeated(experiment, quick=quick, asked=trials),
            seed=seed,
            data_home=None if home is None else Path(home),
            progress=_within(experiment.name, progress),
        )
        outcomes.append(_outcome(experiment, context, folder, force=force))
        page.write(folder)
    progress(Stage("experiments"), len(chosen), len(chosen))
    return outcomes


def _repeated(experiment: Experiment, *, quick: bool, asked: int | None) -> int:
    if experiment.trials is None:
        return 1
    if asked is not None:
        return asked
    return experiment.trials.quick if quick else experiment.trials.default


def _within(name: str, progress: Progress) -> Progress:
    """The callback with the experiment's name before each stage."""

    def named(stage: str, done: int, total: int | None) -> None:
        progress(Stage(f"{name}: {stage}", getattr(stage, "detail", "")), done, total)

    return named


def _outcome(experiment: Experiment, context: Context, folder: Path, *, force: bool) -> Outcome:
    """Run an experiment unless it is finished."""
    path = folder / f"{experiment.name}.json"
    settings = {"quick": context.quick, "trials": context.trials, "seed": context.seed}
    known = recording.read(path)
    if not force and known is not None and _is_same(known[1], settings, folder):
        return Outcome(experiment.name, "kept")
    for extra in experiment.extras:
        if any(find_spec(module) is None for module in _BROUGHT[extra]):
            return Outcome(experiment.name, "skipped", f'it needs pip install "viewhop[{extra}]"')
    start = perf_counter()
    try:
        result = recording.settled(experiment.run(context))
        seconds = perf_counter() - start
        pictures = _drawn(experiment, result, folder)
    except DataMissingError as error:
        return Outcome(experiment.name, "skipped", str(error))
    except OSError:
        raise  # The folder cannot be written to: the others would fail, too.
    except Exception as error:  # of any kind: the other experiments go on, and this one is told
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


def _is_same(record: Mapping[str, Any], settings: Mapping[str, Any], folder: Path) -> bool:
    """Whether a finished experiment is the one that is asked for, with its pictures."""
    return (
        record.get("settings") == settings
        and record.get("versions", {}).get("viewhop") == __version__
        and (bool(record.get("pictures")) or find_spec("matplotlib") is None)
        and all((folder / each["file"]).is_file() for each in record["pictures"])
    )


def _drawn(experiment: Experiment, result: Result, folder: Path) -> list[dict[str, str]]:
    """Write the pictures; none without matplotlib."""
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
    found = {"viewhop": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
