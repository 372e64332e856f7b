"""``viewhop cluster``."""

from __future__ import annotations

from pathlib import Path

import click

from viewhop.cli._command import Command
from viewhop.cli._fit_options import asked_settings, fit_options, setting
from viewhop.cli._options import folder_option, table_options, views_argument

__all__ = ["cluster"]

_EXAMPLE = """\b
Example:
  viewhop data mixtures --samples 300 -o mixtures
  viewhop cluster x=mixtures/x.csv y=mixtures/y.csv --id sample --label cluster -k 6 -o groups
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@views_argument(required=False)
@table_options
@setting("-k", "--clusters", metavar="N|auto", help="Clusters; auto is by the eigengap.")
@setting("--max-clusters", metavar="N", type=int, help="Most that auto considers.  [default: 20]")
@setting(
    "--normalize/--no-normalize",
    default=None,
    help="Let only the direction of coordinates count.",
)
@setting("--components", metavar="N", help="Coordinates per view.  [default: by the clusters]")
@fit_options
@folder_option("Folder for all that is written; made if need be.")
def cluster(views: dict[str, str], config: Path | None, quiet: bool, out: Path | None) -> None:
    """Find clusters of samples that several files describe.

    As viewhop fit, with K-means on the coordinates: the folder gets clusters in place of the
    embedding. With --label, classes that are known, it says how well they agree. The clusters of
    new samples are what viewhop transform gives with the model.
    """
    from viewhop.cli._running import run

    run(asked_settings("cluster", views, out, config), quiet=quiet)
