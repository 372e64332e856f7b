"""``viewhop report``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from viewhop.cli._command import Command
from viewhop.cli._completions import files
from viewhop.cli._options import (
    asked_tables,
    check_apart,
    given_tables,
    output_file,
    table_options,
    views_argument,
)
from viewhop.cli._reporting import NEEDED, about, write_report

if TYPE_CHECKING:
    from viewhop.tables import Joined

__all__ = ["report"]

_EXAMPLE = """\b
Example:
  viewhop data rolls --samples 300 --noise 0.1 -o rolls
  viewhop fit x=rolls/x.csv y=rolls/y.csv --id sample --label theta --no-report -o out
  viewhop report out
  viewhop report out/model.viewhop x=rolls/x.csv y=rolls/y.csv --id sample -o rolls.html
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@click.argument(
    "source", metavar="DIR|MODEL", type=click.Path(path_type=Path), shell_complete=files
)
@views_argument(required=False)
@table_options
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write.  [default: report.html in DIR]",
)
def report(source: Path, views: dict[str, str], out: Path | None) -> None:
    """Write the report of a run again, or that of a model.

    Of a run the files that it read are looked for where they were; if they were moved, give them
    again, NAME=PATH. Without them the report has no features. Of a model alone, give the files of
    the training samples, with their --id and --label.
    """
    try:
        if source.is_dir():
            _of_run(source, views, out)
        else:
            _of_model(source, views, out)
    except ImportError as error:
        if (error.name or "plotly").partition(".")[0] not in ("plotly", "viewhop"):
            raise
        raise click.ClickException(f"no report: {NEEDED}") from error


def _of_run(folder: Path, views: dict[str, str], out: Path | None) -> None:
    from viewhop import load
    from viewhop._runtime.files import stage_files
    from viewhop.runs import _record as records
    from viewhop.runs._verify import state

    if given_tables():
        raise click.UsageError("how the files of a run are read stands in its record.")
    found = state(folder)
    told = found.outputs.get("model.viewhop", "missing")
    if told != "as recorded":
        raise click.ClickException(
            f"{folder / 'model.viewhop'}: it is {told}; see viewhop info {folder}, and run "
            f"viewhop {found.record['command']} again"
        )
    if out is not None:
        if os.path.realpath(out) == os.path.realpath(folder / "report.html"):
            out = None  # which is where it goes anyway, with the record
        else:
            recorded = [folder / name for name in (*found.record["outputs"], records.RECORD)]
            inputs = [folder / entry["path"] for entry in found.record["inputs"].values()]
            check_apart([out], [*recorded, *inputs, *views.values()])
    model = load(folder / "model.viewhop")
    given = _known(folder, found, views, model)
    given["told"] = about(found.record)
    given["repeat"] = f"viewhop {found.record['command']} --config run.toml"
    given["title"] = ", ".join(found.record["inputs"])
    if out is not None:
        _replace(out, model, given)
        return
    with output_file(folder / "report.html"), stage_files(folder, last=records.RECORD) as inside:
        write_report(inside / "report.html", model, **given)
        new = records.outputs(inside)
        record = {**found.record, "outputs": {**found.record["outputs"], **new}}
        (inside / records.RECORD).write_bytes(records.encoded(record))
    click.echo(f"wrote {folder / 'report.html'}")


def _known(folder: Path, found: Any, views: dict[str, str], model: Any) -> dict[str, Any]:
    """What is known of the samples of a run: from its inputs if they are there, else its table."""
    from viewhop.runs._estimator import table_options as options_of
    from viewhop.runs._settings import Settings
    from viewhop.tables import read_views

    settings = Settings.of(found.record["settings"], where=lambda key: f"run.json: {key}")
    strange = [name for name in views if name not in settings.views]
    if strange:
        raise click.UsageError(
            f"the run has no view {strange[0]!r}; there are {', '.join(settings.views)}."
        )
    absent = [name for name, told in found.inputs.items() if told != "same" and name not in views]
    name = settings.label
    if absent:
        told = ", ".join(f"{view} ({found.inputs[view]})" for view in absent)
        click.echo(f"note: the report has no features: files are not as they were: {told}")
        return {"label_name": name, **_from_table(folder, found, settings, model)}
    paths = {
        view: views.get(view, str(folder / entry.path)) for view, entry in settings.views.items()
    }
    read = read_views(paths, options=options_of(settings), max_memory=settings.memory)
    for view, table in read.tables.items():
        if table.sha256 != found.record["inputs"][view]["sha256"]:
            raise click.ClickException(
                f"{table.path}: it is not the file that the run read for the view {view!r}"
            )
    return {"read": read, "label_name": name}


def _from_table(folder: Path, found: Any, settings: Any, model: Any) -> dict[str, Any]:
    """Ids and labels of the samples, from the table that the run wrote."""
    from viewhop.cli._running import table_names
    from viewhop.tables import Options, join_tables, read

    stem = "clusters" if settings.command == "cluster" else "embedding"
    name = f"{stem}.{settings.format}"
    if found.outputs.get(name) != "as recorded" or (settings.id or settings.label) is None:
        return {}
    id_name, label_name = table_names(model, settings)
    options = Options(id=None if settings.id is None else id_name, label=label_name, shared=True)
    table = read(folder / name, options=options)
    one: Joined = join_tables({"x": table})
    return {"ids": one.views.ids, "labels": one.labels}


def _of_model(path: Path, views: dict[str, str], out: Path | None) -> None:
    from viewhop import load
    from viewhop.runs import _column_match as matching
    from viewhop.runs._estimator import embedder_of

    if out is None:
        raise click.UsageError("where to? Give the file with -o.")
    options = asked_tables()
    check_apart([out], [path, *views.values()])
    model = load(path)
    est = embedder_of(model)
    read = matching.read_for(est, views, options=options) if views else None
    if read is not None:
        matching.check_training(est, read)
    _replace(out, model, {"read": read, "label_name": options.label, "title": path.stem})


def _replace(out: Path, model: Any, given: dict[str, Any]) -> None:
    """Write a report that takes the place of a file when it is whole."""
    from viewhop._runtime.files import stage_files

    with output_file(out), stage_files(out.parent, last=out.name) as inside:
        write_report(inside / out.name, model, **given)
    click.echo(f"wrote {out}")
