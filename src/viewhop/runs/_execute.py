"""A run: read files, fit a model, and write all results to a folder, or none of them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from viewhop._runtime.files import check_replaceable, stage_files
from viewhop._runtime.outputs import output_folder
from viewhop._runtime.progress import Progress, no_progress
from viewhop.errors import SettingsError
from viewhop.runs._configuration import format_configuration
from viewhop.runs._estimator import (
    Model,
    build_estimator,
    embedder_of,
    resolve_settings,
    table_options,
)
from viewhop.runs._evidence import attach_evidence, read_evidence, state_parameters
from viewhop.runs._picture import NO_PICTURE, PICTURE, draw_embedding, require_matplotlib
from viewhop.runs._record import MODEL, RECORD, build_record, describe_files, encode_record
from viewhop.runs._repeat import earlier_record, recorded_inputs, warn_of_changes
from viewhop.runs._result_table import table_stem, write_table
from viewhop.runs._run_report import (
    NO_REPORT,
    Samples,
    require_report,
    summarise_record,
    write_page,
)
from viewhop.runs._settings import Settings
from viewhop.runs._verify import NAMES
from viewhop.runs._writing import check_apart
from viewhop.scores import Agreement, agreement
from viewhop.tables import Joined, check_writable, read_views

__all__ = ["RunResult", "execute"]


@dataclass(frozen=True)
class RunResult:
    """The result of a run.

    Attributes
    ----------
    folder : Path
    record : dict
        The content of run.json.
    model : MultiViewDiffusionMaps, DiffusionMaps or MultiViewSpectralClustering
        Fitted.
    written : tuple of Path
        All files, the record last.
    notes : tuple of str
        What a user should know: why there is no report, which files are of an earlier run.
    warnings : tuple of Warning or str
        Warnings that were raised, which are also in the record.
    scores : Agreement or None
        How well the clusters agree with the labels, if the run has both.
    """

    folder: Path
    record: dict[str, Any]
    model: Model
    written: tuple[Path, ...]
    notes: tuple[str, ...]
    warnings: tuple[Warning | str, ...]
    scores: Agreement | None = None


def execute(
    settings: Settings,
    *,
    repeats: str | os.PathLike[str] | None = None,
    progress: Progress = no_progress,
) -> RunResult:
    """Fit a model on files and write the results: what ``viewhop fit`` and ``cluster`` do.

    The folder gets the table of coordinates, the model (model.viewhop), of a fit a picture of the
    first two coordinates (embedding.png), report.html, the settings that repeat the run (run.toml)
    and its record (run.json). Files of an earlier run are replaced
    when all new ones are complete; if anything fails before, they stay as they were.

    Parameters
    ----------
    settings : Settings
        With a file for every view and an output folder.
    repeats : path or None
        Folder of an earlier run that this one repeats. A `ChangedInputWarning` names the input
        files that have changed since.
    progress : callable
        Called as ``progress(stage, done, total)``, from any thread.

    Returns
    -------
    RunResult

    Raises
    ------
    SettingsError
        If a setting is not valid, or an output would overwrite an input.
    TableError
        If a file cannot be read, or the files do not fit together.
    OutputError
        If the folder cannot be written.
    ImportError
        If the settings ask for a report or a picture, and plotly or matplotlib is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import viewhop as vh
    >>> from viewhop.runs import Settings, ViewSettings, execute
    >>> rolls = vh.datasets.make_swiss_rolls(60, noise=0.1, random_state=0).views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     views = {}
    ...     for name, rows in rolls.items():
    ...         vh.tables.write(f"{folder}/{name}.csv", dict(zip("abc", rows.T)))
    ...         views[name] = ViewSettings(path=f"{folder}/{name}.csv")
    ...     less = {"format": "csv", "report": False, "picture": False}
    ...     run = execute(Settings(views=views, out=f"{folder}/out", **less))
    >>> [path.name for path in run.written]
    ['embedding.csv', 'model.viewhop', 'run.toml', 'run.json']
    >>> run.model.embedding_.shape
    (60, 2)
    """
    settings.check()
    if settings.out is None:
        raise SettingsError("missing output folder: set out", key="out")
    if settings.report:
        require_report()
    if settings.picture:
        require_matplotlib()
    earlier = None if repeats is None else earlier_record(repeats)
    hashes = {} if earlier is None else recorded_inputs(earlier, str(repeats))
    settings = replace(settings, format=settings.format or _best_format())
    table = f"{table_stem(settings.command)}.{settings.format}"
    names = [table, MODEL, "run.toml", RECORD]
    draws = settings.command == "fit" and settings.picture is not False
    names += [PICTURE] * draws + ["report.html"] * (settings.report is not False)
    out = Path(str(settings.out))
    check_apart([out / name for name in names], [view.path for view in settings.views.values()])
    options = table_options(settings)
    with output_folder(out) as folder:
        check_writable(folder / table)
        check_replaceable(folder, names)
        format_configuration(settings, folder)  # before long work: a path may not be UTF-8
        timings: dict[str, float] = {}
        with _collect_warnings() as warned:
            with _timed(timings, "reading"):
                progress("reading", 0, 1)
                paths = {name: view.path for name, view in settings.views.items()}
                samples = read_views(paths, options=options, max_memory=settings.memory)
                warn_of_changes(hashes, samples.tables)
                progress("reading", 1, 1)
            model = build_estimator(settings, verbose=progress)
            with _timed(timings, "fit"):
                model.fit(samples.views)
            if earlier is not None:
                evidence = read_evidence(earlier, settings, model, samples.tables)
                model = model if evidence is None else attach_evidence(model, evidence)
            record, notes = _write_files(
                folder,
                table,
                model,
                samples,
                settings,
                timings=timings,
                warned=warned,
                progress=progress,
            )
    model.set_params(verbose=0)  # the callback belongs to this call
    embedder_of(model).set_params(verbose=0)
    return RunResult(
        folder=out,
        record=record,
        model=model,
        written=(*(out / name for name in names if name in record["outputs"]), out / RECORD),
        notes=(*notes, *_foreign_files(folder, record)),
        warnings=tuple(warned),
        scores=_score(model, samples),
    )


def _write_files(
    folder: Path,
    table: str,
    model: Model,
    samples: Joined,
    settings: Settings,
    *,
    timings: dict[str, float],
    warned: list[Warning | str],
    progress: Progress,
) -> tuple[dict[str, Any], list[str]]:
    """Write all files, the record last; the record, and notes for the user."""
    fitting = {f"fit: {stage}": seconds for stage, seconds in embedder_of(model).timings_.items()}
    timings |= fitting
    timings["fit"] -= sum(fitting.values())  # the rest: scales, K-means
    notes = []
    resolved = resolve_settings(settings, model)
    with stage_files(folder, last=RECORD) as inside:
        with _timed(timings, "table"):
            write_table(
                inside / table,
                model,
                embedder_of(model).embedding_,
                samples,
                computed={"cluster": model.labels_} if settings.command == "cluster" else {},
                id=settings.id,
                label=settings.label,
            )
        with _timed(timings, "model"):
            state_parameters(model, resolved).save(inside / MODEL)
        if settings.command == "fit" and settings.picture is not False:
            with _timed(timings, "picture"):
                is_drawn = draw_embedding(inside / PICTURE, embedder_of(model), samples.labels)
            notes += [] if is_drawn else [NO_PICTURE]
        text = format_configuration(resolved, folder, is_complete=True)
        (inside / "run.toml").write_text(text, encoding="utf-8", newline="\n")
        record = build_record(
            settings, model, samples, folder=folder, timings=timings, warned=warned
        )
        if settings.report is not False:
            try:
                with _timed(timings, "report"):
                    write_page(
                        inside / "report.html",
                        model,
                        Samples.from_joined(samples, label_name=settings.label),
                        title=", ".join(settings.views),
                        about=summarise_record(record),
                        repeat=f"viewhop {settings.command} --config run.toml",
                        progress=progress,
                    )
            except ImportError:
                if settings.report:
                    raise
                notes.append(NO_REPORT)
        record["timings"] = {stage: round(seconds, 6) for stage, seconds in timings.items()}
        record["outputs"] = describe_files(inside)
        (inside / RECORD).write_bytes(encode_record(record))
    return record, notes


def _best_format() -> str:
    return "csv" if find_spec("pyarrow") is None else "parquet"


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    start = perf_counter()
    yield
    timings[stage] = perf_counter() - start


@contextmanager
def _collect_warnings() -> Iterator[list[Warning | str]]:
    """A list that receives every warning of the block; each is shown as well."""
    messages: list[Warning | str] = []
    with warnings.catch_warnings():
        show = warnings.showwarning

        def collect(message: Warning | str, *where: Any, **more: Any) -> None:
            messages.append(message)
            show(message, *where, **more)

        warnings.showwarning = collect
        yield messages


def _foreign_files(folder: Path, record: Mapping[str, Any]) -> list[str]:
    """A note for each file in the folder that another run wrote."""
    names = [name for name in NAMES if name not in record["outputs"] and (folder / name).exists()]
    return [f"{name} was written by another run; delete it if you do not need it" for name in names]


def _score(model: Model, samples: Joined) -> Agreement | None:
    clusters = getattr(model, "labels_", None)
    if clusters is None or samples.labels is None:
        return None
    return agreement(samples.labels, clusters)
