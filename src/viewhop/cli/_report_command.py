"""``viewhop report``."""

from __future__ import annotations

from pathlib import Path

import click

from viewhop.cli._command import Command
from viewhop.cli._completions import files
from viewhop.cli._options import (
    chosen_table_options,
    convert_errors,
    quiet_option,
    report_written,
    stated_table_options,
    table_options,
    views_argument,
)
from viewhop.cli._progress_display import progress_shown

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
@quiet_option
def report(source: Path, views: dict[str, str], out: Path | None, quiet: bool) -> None:
    """Write the report of a run or of a model.

    The input files of a run are read from where they were; if they were moved, pass the new paths
    as NAME=PATH. Without them the report has no features. For a model, pass the files of the
    training samples with their --id and --label.
    """
    from viewhop.runs import write_report

    options = chosen_table_options(views) if stated_table_options() else None
    with (
        report_written(),
        convert_errors("another file with --out"),
        progress_shown(quiet=quiet) as progress,
    ):
        result = write_report(source, views, out=out, options=options, progress=progress)
    for note in () if quiet else result.notes:
        click.echo(f"note: {note}")
    click.echo(f"wrote {result.path}")
