"""Runs of experiments that keep finished results."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from viewhop._runtime.files import stage_files
from viewhop._runtime.outputs import output_folder
from viewhop._runtime.progress import Progress, Stage, no_progress
from viewhop.errors import DataMissingError
from viewhop.experiments import _results_page as page
from viewhop.experiments import _results_store as recording
from viewhop.experiments._experiment import Context, Experiment, Picture, Result
from viewhop.experiments._index import NAMES, find
from viewhop.experiments._resume import Earlier, digest_file, find_earlier, find_origin

__all__ = ["Outcome", "reproduce"]

#: Modules that each extra installs, by import name.
_MODULES_BY_EXTRA = {"vision": ("cv2", "skimage"), "dimension": ("skdim",)}


@dataclass(frozen=True)
class Outcome:
    """Outcome of one experiment.

    Attributes
    ----------
    name : str
    status : {"done", "kept", "skipped", "failed"}
        Run now; finished earlier with the same settings; data or a package missing; an error.
    reason : str
        Why it was skipped, failed or run again, on one line.
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

    Each writes its pictures and ``NAME.json``; ``report.md`` and ``report.html`` show all results
    in the folder. Experiments that are finished there are kept, so a stopped run resumes: calling
    it again gives the same files, to the last bit, as a run that was not stopped. A result whose
    checksum differs is computed again. A result of other settings, versions or data is never
    mixed with new ones: the call is refused.

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

    Raises
    ------
    RunFileError
        If the folder has a result of one of the experiments with other settings, of other
        versions or of other data, unless `force`; nothing is then run.
    OutputError
        If the folder is not writable, or another process writes there.

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
    contexts = [
        Context(
            quick=quick,
            trials=_trial_count(experiment, quick=quick, requested=trials),
            seed=seed,
            data_home=None if home is None else Path(home),
            progress=_prefix_progress(experiment.name, progress),
        )
        for experiment in chosen
    ]
    with output_folder(Path(out)) as folder:
        origins = [find_origin(*each) for each in zip(chosen, contexts, strict=True)]
        earlier = [
            Earlier() if force else find_earlier(folder, experiment, origin)
            for experiment, origin in zip(chosen, origins, strict=True)
        ]
        outcomes = []
        for count, experiment in enumerate(chosen):
            progress(Stage("experiments", experiment.name), count, len(chosen))
            if earlier[count].is_finished:
                outcomes.append(Outcome(experiment.name, "kept"))
            else:
                again, origin = earlier[count].damage, origins[count]
                outcomes.append(_run(experiment, contexts[count], folder, origin, again=again))
        page.update(folder)
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


def _run(
    experiment: Experiment, context: Context, folder: Path, origin: dict[str, Any], *, again: str
) -> Outcome:
    """Outcome of an experiment that is run; `again` says why, if it had been finished."""
    for extra in experiment.extras:
        if any(find_spec(module) is None for module in _MODULES_BY_EXTRA[extra]):
            what = f'a package is missing; pip install "viewhop[{extra}]"'
            return Outcome(experiment.name, "skipped", what)
    start = perf_counter()
    try:
        result = recording.as_stored(experiment.run(context))
        seconds = perf_counter() - start
        _write(experiment, result, folder, origin)
    except DataMissingError as error:
        return Outcome(experiment.name, "skipped", str(error))
    except OSError:
        raise  # The folder is not writable, so the others would fail, too.
    except Exception as error:  # of any kind: it is reported, and the other experiments go on
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Outcome(experiment.name, "failed", reason, perf_counter() - start, error)
    return Outcome(experiment.name, "done", again, seconds)


def _write(experiment: Experiment, result: Result, folder: Path, origin: dict[str, Any]) -> None:
    """Write the pictures, the page and the file of a result, or nothing."""
    file = f"{experiment.name}.json"
    with stage_files(folder, last=file) as inside:
        record = {
            "experiment": experiment.name,
            "where": experiment.where,
            "title": experiment.title,
            "about": experiment.about,
            **origin,
            "pictures": _write_pictures(experiment, result, inside),
        }
        recording.write(inside / file, result, record)
        page.write(inside, folder)


def _write_pictures(experiment: Experiment, result: Result, folder: Path) -> list[dict[str, str]]:
    """Names, captions and checksums of the pictures written; empty without matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    pictures: dict[str, Picture] = experiment.draw(result)
    written = []
    for name, (figure, caption) in pictures.items():
        file = f"{experiment.name}-{name}.png" if name else f"{experiment.name}.png"
        figure.savefig(folder / file, format="png", dpi=130)
        written.append({"file": file, "caption": caption, "sha256": digest_file(folder / file)})
    return written
