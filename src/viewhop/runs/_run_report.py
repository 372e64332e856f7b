"""Reports of runs and of models, with whatever is known about their samples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from viewhop._runtime.files import stage_files
from viewhop._runtime.outputs import output_file, output_folder
from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.suggestion import suggestion
from viewhop.errors import RunFileError, SettingsError, TableError
from viewhop.estimators import KernelCCA, load
from viewhop.runs._column_match import check_training_samples, read_model_views
from viewhop.runs._estimator import Model, embedder_of, table_options
from viewhop.runs._record import MODEL, RECORD, describe_files, encode_record
from viewhop.runs._result_table import name_columns, table_stem
from viewhop.runs._settings import Settings
from viewhop.runs._verify import State, verify
from viewhop.runs._writing import check_apart
from viewhop.tables import Joined, Options, join_tables, read, read_views
from viewhop.views import Views

__all__ = [
    "NO_REPORT",
    "ReportResult",
    "Samples",
    "require_report",
    "summarise_record",
    "write_page",
    "write_report",
]

#: The report in the folder of a run.
_PAGE = "report.html"
#: Why there is no report where plotly is missing.
NO_REPORT = 'no report: it needs plotly (pip install "viewhop[report]")'


@dataclass(frozen=True)
class ReportResult:
    """The result of writing a report.

    Attributes
    ----------
    path : Path
    notes : tuple of str
        What a user should know: why the report has no features.
    """

    path: Path
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Samples:
    """What is known about the samples of a model.

    Attributes
    ----------
    ids : (n_samples,) array or None
    labels : (n_samples,) array or None
    label_name : str or None
    features : Views or None
        The training data.
    """

    ids: Any = None
    labels: Any = None
    label_name: str | None = None
    features: Views | None = None

    @classmethod
    def from_joined(cls, joined: Joined, *, label_name: str | None) -> Samples:
        """The samples of files.

        Parameters
        ----------
        joined : Joined
        label_name : str or None
            The column of the labels.
        """
        return cls(joined.views.ids, joined.labels, label_name, joined.views)


def write_report(
    source: str | os.PathLike[str],
    views: Mapping[str, str] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    options: Options | None = None,
    progress: Progress = no_progress,
) -> ReportResult:
    """Write the report of a run, or of a model: what ``viewhop report`` does.

    Parameters
    ----------
    source : path
        The folder of a run, or a model file.
    views : dict of paths by view name, or None
        The files of the training samples. Those of a run are read from where they were, unless
        given here. Without them the report has no features.
    out : path or None
        The file to write; None is report.html in the folder of the run, which is then recorded.
    options : Options or None
        How the files of a model are read; the record of a run holds them already.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    ReportResult

    Raises
    ------
    SettingsError
        If an argument is missing, does not apply, or `out` would overwrite an input.
    RunFileError
        If the folder holds no run, or another model than the recorded one.
    TableError
        If a file cannot be read, or holds other samples.
    OutputError
        If the report cannot be written.
    ImportError
        If plotly is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import viewhop as vh
    >>> from viewhop.runs import write_report
    >>> rolls = vh.datasets.make_swiss_rolls(60, noise=0.1, random_state=0).views
    >>> est = vh.MultiViewDiffusionMaps(random_state=0).fit(rolls)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     est.save(f"{folder}/rolls.viewhop")
    ...     result = write_report(f"{folder}/rolls.viewhop", out=f"{folder}/rolls.html")
    ...     result.path.stat().st_size > 1_000_000
    True
    """
    path, views = Path(source), dict(views or {})
    target = None if out is None else Path(out)
    if path.is_dir():
        if options is not None:
            raise SettingsError(
                "table options cannot be combined with a run folder: its record already holds them"
            )
        if target is not None and os.path.realpath(target) == os.path.realpath(path / _PAGE):
            target = None  # the default, which updates the record
        with output_folder(path) if target is None else output_file(target):
            return _report_run(path, views, target, progress)
    if target is None:
        raise SettingsError("missing output file: pass -o FILE", key="out")
    with output_file(target):
        return _report_model(path, views, target, options or Options(), progress)


def require_report() -> None:
    """Raise ImportError, with what to install, if reports cannot be written."""
    try:
        from viewhop import report  # noqa: F401
    except ImportError as error:
        raise ImportError(NO_REPORT, name="plotly") from error
    if find_spec("plotly") is None:
        raise ImportError(NO_REPORT, name="plotly")


def write_page(
    path: Path,
    model: Model,
    samples: Samples,
    *,
    title: str = "viewhop",
    about: dict[str, str] | None = None,
    repeat: str = "",
    progress: Progress = no_progress,
) -> None:
    """Write the page of a fitted model; ImportError if plotly is missing.

    Parameters
    ----------
    path : Path
    model : estimator
        Fitted.
    samples : Samples
    title : str
    about : dict of str by str, or None
        A table of further facts.
    repeat : str
        The command that repeats the run.
    progress : callable
    """
    from viewhop import report

    report.write(
        path,
        embedder_of(model),
        ids=samples.ids,
        labels=samples.labels,
        label_name=samples.label_name or "label",
        clusters=getattr(model, "labels_", None),
        features=samples.features,
        title=title,
        about=about,
        repeat=repeat,
        progress=progress,
    )


def summarise_record(record: Mapping[str, Any]) -> dict[str, str]:
    """The facts of a record that the report of the run shows as a table.

    Parameters
    ----------
    record : dict
    """
    settings = record["settings"]
    views = [
        f"{name} ({record['observed'][name]:,} × {entry['columns']:,}, {Path(entry['path']).name})"
        for name, entry in record["inputs"].items()
    ]
    facts = {
        "samples": f"{record['n_samples']:,}",
        "views": ", ".join(views),
        "kernel": str(settings.get("kernel", "adaptive")),
        "fusion": str(settings["fusion"]),
        "coordinates": str(record["n_components"]),
        "eigenvalues": ", ".join(f"{value:.4g}" for value in record["eigenvalues"][:10]),
        "pieces": str(record["n_pieces"]),
        "solver": str(record["solver"]),
        "seed": str(record["seed"]),
        "seconds": f"{sum(record['timings'].values()):.1f}",
        "viewhop": str(record["viewhop"]),
    }
    if "n_neighbors" in record:  # not in records of earlier versions
        facts["neighbours"] = _format_neighbours(record["n_neighbors"])
    for entry in record["warnings"]:
        facts[entry["kind"]] = entry["text"]
    return facts


def _format_neighbours(counts: Mapping[str, int | None]) -> str:
    """The neighbours that each kernel keeps: one number if it is the same for all views."""
    words = {name: "all" if k is None else f"{k:,}" for name, k in counts.items()}
    if len({*words.values()}) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{word} ({name})" for name, word in words.items())


def _report_run(
    folder: Path, views: dict[str, str], out: Path | None, progress: Progress
) -> ReportResult:
    state = verify(folder)
    record = state.record
    model_state = state.outputs.get(MODEL, "missing")
    if model_state != "as recorded":
        raise RunFileError(
            f"{folder / 'model.viewhop'} is {model_state}; see viewhop info {folder}, and run "
            f"viewhop {record['command']} again"
        )
    if out is not None:
        recorded = [folder / name for name in (*record["outputs"], RECORD)]
        inputs = [folder / entry["path"] for entry in record["inputs"].values()]
        check_apart([out], [*recorded, *inputs, *views.values()])
    model = load(folder / MODEL)
    samples, notes = _samples_of_run(folder, state, views, model)
    target = folder / _PAGE if out is None else out
    with stage_files(target.parent, last=RECORD if out is None else target.name) as inside:
        write_page(
            inside / target.name,
            model,
            samples,
            title=", ".join(record["inputs"]),
            about=summarise_record(record),
            repeat=f"viewhop {record['command']} --config run.toml",
            progress=progress,
        )
        if out is None:
            outputs = {**record["outputs"], **describe_files(inside)}
            (inside / RECORD).write_bytes(encode_record({**record, "outputs": outputs}))
    return ReportResult(target, notes)


def _samples_of_run(
    folder: Path, state: State, views: dict[str, str], model: Model
) -> tuple[Samples, tuple[str, ...]]:
    """The samples of a run, and notes: from its inputs if these are unchanged, else its table."""
    try:
        settings = Settings.from_values(
            state.record["settings"], where=lambda key: f"{folder / RECORD}: {key}"
        )
    except SettingsError as error:
        raise RunFileError(str(error)) from None
    unknown = [name for name in views if name not in settings.views]
    if unknown:
        raise SettingsError(
            f"the run has no view {unknown[0]!r}{suggestion(unknown[0], settings.views)}; its "
            f"views are {', '.join(settings.views)}",
            key="views",
        )
    absent = [name for name, word in state.inputs.items() if word != "same" and name not in views]
    if absent:
        listed = ", ".join(f"{view} ({state.inputs[view]})" for view in absent)
        note = f"the report has no features, because input files were moved or changed: {listed}"
        return _samples_of_table(folder, state, settings, model), (note,)
    paths = {
        view: views.get(view, str(folder / entry.path)) for view, entry in settings.views.items()
    }
    joined = read_views(paths, options=table_options(settings), max_memory=settings.memory)
    for view, table in joined.tables.items():
        if table.sha256 != state.record["inputs"][view]["sha256"]:
            raise TableError(
                f"{table.path}: not the file that the run read for view {view!r}", table.path
            )
    return Samples.from_joined(joined, label_name=settings.label), ()


def _samples_of_table(folder: Path, state: State, settings: Settings, model: Model) -> Samples:
    """Ids and labels of the samples, from the table that the run wrote."""
    name = f"{table_stem(settings.command)}.{settings.format}"
    if state.outputs.get(name) != "as recorded" or (settings.id or settings.label) is None:
        return Samples(label_name=settings.label)
    id_name, label_name = name_columns(
        model,
        computed=("cluster",) if settings.command == "cluster" else (),
        id=settings.id,
        label=settings.label,
    )
    options = Options(id=None if settings.id is None else id_name, label=label_name, shared=True)
    joined = join_tables({"x": read(folder / name, options=options)})
    return Samples(joined.views.ids, joined.labels, settings.label)


def _report_model(
    path: Path, views: dict[str, str], out: Path, options: Options, progress: Progress
) -> ReportResult:
    check_apart([out], [path, *views.values()])
    model = load(path)
    if isinstance(model, KernelCCA):
        raise SettingsError(
            f"{path} is a KernelCCA, which has no walk to report on; see viewhop info {path}",
            key="path",
        )
    samples = Samples(label_name=options.label)
    if views:
        joined = read_model_views(model, views, options=options)
        check_training_samples(model, joined)
        samples = Samples.from_joined(joined, label_name=options.label)
    with stage_files(out.parent, last=out.name) as inside:
        write_page(inside / out.name, model, samples, title=path.stem, progress=progress)
    return ReportResult(out)
