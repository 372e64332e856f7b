"""``viewhop cluster``."""

from __future__ import annotations

from pathlib import Path

import click

from viewhop.cli._command import Command
from viewhop.cli._fit_options import fit_options, setting, settings_from_options
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
@setting(
    "-k",
    "--clusters",
    metavar="N|auto",
    help="Number of clusters; auto counts them in the walk.  [default: auto]",
)
@setting(
    "--max-clusters",
    metavar="N",
    type=int,
    help="Largest number that auto considers.  [default: 20]",
)
@setting(
    "--normalize/--no-normalize",
    default=None,
    help="Scale the coordinates of each sample to unit length before K-means.",
)
@setting(
    "--components",
    metavar="N",
    help="Number of coordinates; per view, if the output is concat.  [default: clusters minus 1]",
)
@fit_options
@folder_option("Output folder; created if necessary.")
def cluster(views: dict[str, str], config: Path | None, quiet: bool, out: Path | None) -> None:
    """Cluster samples that several files describe.

    Like viewhop fit, followed by K-means on the coordinates: the folder gets a table of clusters
    instead of the embedding. With --label (known classes), the agreement is printed. To assign new
    samples to the clusters, use viewhop transform with the model.
    """
    from viewhop.cli._run_summary import run_and_summarise

    settings = settings_from_options("cluster", views, out, config)
    run_and_summarise(settings, config=config, quiet=quiet)
