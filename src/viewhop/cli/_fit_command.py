"""``viewhop fit``."""

from __future__ import annotations

from pathlib import Path

import click

from viewhop.cli._command import Command
from viewhop.cli._fit_options import fit_options, setting, settings_from_options
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
@setting(
    "--components",
    metavar="N|auto",
    help="Number of coordinates; per view, if the output is concat.  [default: 2]",
)
@setting(
    "--accuracy",
    metavar="NUMBER|METHOD",
    help="How auto chooses: a share of the first eigenvalue, local_pca or danco.  [default: 0.1]",
)
@setting(
    "--picture/--no-picture",
    default=None,
    help="Write embedding.png.  [default: if matplotlib is installed]",
)
@fit_options
@folder_option("Output folder; created if necessary.")
def fit(views: dict[str, str], config: Path | None, quiet: bool, out: Path | None) -> None:
    """Embed samples that several files describe.

    Each file is a view and has a name: rna=rna.csv protein=protein.parquet. The folder gets the
    embedding, a picture of it (embedding.png), the model (model.viewhop), report.html, the settings
    that repeat the run (run.toml) and its record (run.json). Files of an earlier run are replaced
    once all new ones are complete.

    Options with [NAME=] can be set for a single view: --kernel rna=correlation.
    """
    from viewhop.cli._run_summary import run_and_summarise

    settings = settings_from_options("fit", views, out, config)
    run_and_summarise(settings, config=config, quiet=quiet)
