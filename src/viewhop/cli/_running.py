"""A run: files are read, a model is fitted, and a folder gets all that came of it, or nothing."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from viewhop.cli._options import check_apart, output_folder
from viewhop.cli._progress_display import progress_shown
from viewhop.cli._reporting import NEEDED, about, write_report
from viewhop.errors import SettingsError

if TYPE_CHECKING:
    from viewhop.runs._estimator import Model
    from viewhop.runs._settings import Settings
    from viewhop.tables import Joined

__all__ = ["free_name", "run", "table_names"]

_STEMS = {"fit": "embedding", "cluster": "clusters"}


def run(settings: Settings, *, quiet: bool = False) -> None:
    """Fit a model on files and write what comes of it.

    Parameters
    ----------
    settings : Settings
        Checked, with a folder.
    quiet : bool
        Whether progress and the summary are left out.
    """
    from viewhop._runtime.files import check_replaceable
    from viewhop.runs import _configuration as configuration
    from viewhop.runs import _estimator as building
    from viewhop.runs._record import RECORD
    from viewhop.tables import check_writable, read_views

    settings = replace(settings, format=settings.format or _best_format())
    table = f"{_STEMS[settings.command]}.{settings.format}"
    names = [table, "model.viewhop", "run.toml", RECORD, *["report.html"] * settings.report]
    out = Path(str(settings.out))
    check_apart([out / name for name in names], [v.path for v in settings.views.values()])
    try:
        options = building.table_options(settings)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    with output_folder(out) as folder:
        check_writable(folder / table)
        check_replaceable(folder, names)
        again = configuration.written(settings, folder)
        timings: dict[str, float] = {}
        with progress_shown(quiet=quiet) as progress, _noted() as warned:
            with _timed(timings, "reading"):
                progress("reading", 0, 1)
                paths = {name: view.path for name, view in settings.views.items()}
                read = read_views(paths, options=options, max_memory=settings.memory)
                progress("reading", 1, 1)
            model = building.estimator(settings, verbose=progress)
            with _timed(timings, "fit"):
                model.fit(read.views)
            record, notes = _write(
                folder, table, model, read, settings, again, timings=timings, warned=warned
            )
    if not quiet:
        _summarise(record, read, model, settings)
    for name in sorted(record["outputs"], key=names.index):
        click.echo(f"wrote {out / name}")
    click.echo(f"wrote {out / RECORD}")
    for note in (*notes, *_strangers(folder, record)):
        click.echo(f"note: {note}")
    if not quiet:
        _advise(settings, out)


def _write(
    folder: Path,
    table: str,
    model: Model,
    read: Joined,
    settings: Settings,
    again: str,
    *,
    timings: dict[str, float],
    warned: list[Warning | str],
) -> tuple[dict[str, Any], list[str]]:
    """Write all files, the record last; the record, and what is to be said of them."""
    from viewhop._runtime.files import stage_files
    from viewhop.runs import _record as records
    from viewhop.runs._estimator import embedder_of

    fitted = {f"fit: {stage}": spent for stage, spent in embedder_of(model).timings_.items()}
    timings |= fitted
    timings["fit"] -= sum(fitted.values())  # what is left: scales, K-means
    notes = []
    with stage_files(folder, last=records.RECORD) as inside:
        with _timed(timings, "table"):
            _write_table(inside / table, model, read, settings)
        with _timed(timings, "model"):
            model.save(inside / "model.viewhop")
        (inside / "run.toml").write_text(again, encoding="utf-8", newline="\n")
        found = records.of(settings, model, read, folder=folder, timings=timings, warned=warned)
        if settings.report:
            try:
                with _timed(timings, "report"):
                    write_report(
                        inside / "report.html",
                        model,
                        read=read,
                        label_name=settings.label,
                        title=", ".join(settings.views),
                        told=about(found),
                        repeat=f"viewhop {settings.command} --config run.toml",
                    )
            except ImportError:
                notes.append(f"no report: {NEEDED}")
        found["timings"] = {stage: round(seconds, 6) for stage, seconds in timings.items()}
        found["outputs"] = records.outputs(inside)
        (inside / records.RECORD).write_bytes(records.encoded(found))
    return found, notes


def _write_table(path: Path, model: Model, read: Joined, settings: Settings) -> None:
    """Ids, labels, clusters and coordinates of the training samples."""
    from viewhop.runs._estimator import embedder_of
    from viewhop.tables import write_embedding

    est = embedder_of(model)
    names = est.get_feature_names_out().tolist()
    ours = {"cluster": model.labels_} if settings.command == "cluster" else {}
    id_name, label_name = table_names(model, settings)
    extra: dict[str, Any] = {}
    if read.labels is not None and label_name is not None:
        extra[label_name] = read.labels
    write_embedding(
        path, est.embedding_, names=names, ids=read.views.ids, id_name=id_name, extra=extra | ours
    )


def table_names(model: Model, settings: Settings) -> tuple[str, str | None]:
    """The columns of ids and labels in the table of a run, which give way to its own columns.

    Parameters
    ----------
    model : estimator
        Fitted.
    settings : Settings
    """
    from viewhop.runs._estimator import embedder_of

    taken = {*embedder_of(model).get_feature_names_out().tolist()}
    if settings.command == "cluster":
        taken.add("cluster")
    id_name = free_name(settings.id or "id", taken)
    if settings.label is None:
        return id_name, None
    return id_name, free_name(settings.label, taken | {id_name})


def free_name(name: str, taken: set[str]) -> str:
    """A name of a column that is not taken: with as many ``_`` behind it as that needs.

    Parameters
    ----------
    name : str
    taken : set of str
    """
    while name in taken:
        name += "_"
    return name


def _best_format() -> str:
    return "csv" if find_spec("pyarrow") is None else "parquet"


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    start = perf_counter()
    yield
    timings[stage] = perf_counter() - start


@contextmanager
def _noted() -> Iterator[list[Warning | str]]:
    """A list that gets every warning, which is shown as before."""
    found: list[Warning | str] = []
    with warnings.catch_warnings():
        show = warnings.showwarning

        def both(message: Warning | str, *where: Any, **more: Any) -> None:
            found.append(message)
            show(message, *where, **more)

        warnings.showwarning = both
        yield found


def _strangers(folder: Path, record: dict[str, Any]) -> list[str]:
    """What runs write and this one did not, if it is there."""
    from viewhop.runs._verify import NAMES

    there = [name for name in NAMES if name not in record["outputs"] and (folder / name).exists()]
    return [f"{name} is there from another run; remove it if it is not wanted" for name in there]


def _summarise(record: dict[str, Any], read: Joined, model: Model, settings: Settings) -> None:
    """Say what was found."""
    n = record["n_samples"]
    click.echo(f"{n:,} samples")
    width = max(map(len, record["observed"]))
    for name, seen in record["observed"].items():
        missing = f" ({n - seen:,} missing)" if seen < n else ""
        columns = record["inputs"][name]["columns"]
        recall = record["recall"].get(name, 1.0)
        found = "" if recall == 1 else f", {recall:.3f} of the neighbours found"
        click.echo(f"  {name:<{width}}  {seen:,} samples{missing}, {columns:,} features{found}")
    values = record["eigenvalues"]
    told = " ".join(f"{value:.4f}" for value in values[:6]) + (" …" if len(values) > 6 else "")
    click.echo(f"{record['n_components']} coordinates, eigenvalues {told} ({record['solver']})")
    if record["n_pieces"] > 1:
        click.echo(f"the walk falls into {record['n_pieces']} pieces")
    if settings.command == "cluster":
        _summarise_clusters(read, model)


def _summarise_clusters(read: Joined, model: Any) -> None:
    from viewhop.scores import agreement

    sizes = [int((model.labels_ == k).sum()) for k in range(model.n_clusters_)]
    listed = ", ".join(f"{size:,}" for size in sizes)
    click.echo(f"{model.n_clusters_} clusters of {listed} samples")
    scores = None if read.labels is None else agreement(read.labels, model.labels_)
    if scores is not None:
        click.echo(
            f"against the labels of {scores.n_samples:,} samples: NMI {scores.nmi:.3f}, "
            f"AMI {scores.ami:.3f}, accuracy {scores.accuracy:.3f}"
        )


def _advise(settings: Settings, out: Path) -> None:
    ids = [] if settings.id is None else ["--id", settings.id]
    view = f"{next(iter(settings.views))}=NEW"
    words = ["viewhop", "transform", str(out / "model.viewhop"), view, *ids, "-o", "new.csv"]
    click.echo(f"try: {shlex.join(words)}")
