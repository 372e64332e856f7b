"""``viewhop fit``."""

from __future__ import annotations

from pathlib import Path

import click

from viewhop.cli._command import Command
from viewhop.cli._fit_options import asked_settings, fit_options, setting
from viewhop.cli._options import folder_option, table_options, views_argument

__all__ = ["fit"]

_EXAMPLE = """\b
Example:
  viewhop data rolls --samples 300 --noise 0.1 -o rolls
  viewhop fit x=rolls/x.csv y=rolls/y.csv --id sample --label theta -o out
  viewhop fit --config out/run.toml --kernel y=gaussian -o again
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@views_argument(required=False)
@table_options
@setting("--components", metavar="N|auto", help="Coordinates per view.  [default: 2]")
@setting(
    "--accuracy",
    metavar="NUMBER|HOW",
    help="How auto counts: by eigenvalue, local_pca or danco.  [default: 0.1]",
)
@fit_options
@folder_option("Folder for all that is written; made if need be.")
def fit(views: dict[str, str], config: Path | None, quiet: bool, out: Path | None) -> None:
    """Embed samples that several files describe.

    Each file is a view and has a name: rna=rna.csv protein=protein.parquet. The folder gets the
    embedding, the model (model.viewhop), report.html, the settings that repeat the run (run.toml)
    and its record (run.json). What is there from an earlier run is replaced when all is ready.

    Options with [NAME=] may be given for one view: --kernel rna=correlation.
    """
    from viewhop.cli._running import run

    run(asked_settings("fit", views, out, config), quiet=quiet)
