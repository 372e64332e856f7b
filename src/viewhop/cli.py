"""The ``viewhop`` command."""

from __future__ import annotations

import click

from viewhop._version import __version__
from viewhop.commands.bandwidth_command import bandwidth
from viewhop.commands.cluster_command import cluster
from viewhop.commands.completion_command import completion
from viewhop.commands.data_command import data
from viewhop.commands.demo_command import demo
from viewhop.commands.fit_command import fit
from viewhop.commands.info_command import info
from viewhop.commands.report_command import report
from viewhop.commands.reproduce_command import reproduce
from viewhop.commands.seismic_command import seismic
from viewhop.commands.transform_command import transform

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="viewhop")
def main() -> None:
    """Multi-view diffusion maps: several measurements in, one geometry out."""


for command in (
    bandwidth,
    cluster,
    completion,
    data,
    demo,
    fit,
    info,
    report,
    reproduce,
    seismic,
    transform,
):
    main.add_command(command)
