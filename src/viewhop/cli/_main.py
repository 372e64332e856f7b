"""The ``viewhop`` command."""

from __future__ import annotations

import click

from viewhop._runtime.version import __version__
from viewhop.cli._advise_command import advise
from viewhop.cli._bandwidth_command import bandwidth
from viewhop.cli._cluster_command import cluster
from viewhop.cli._completion_command import completion
from viewhop.cli._data_command import data
from viewhop.cli._demo_command import demo
from viewhop.cli._fit_command import fit
from viewhop.cli._info_command import info
from viewhop.cli._report_command import report
from viewhop.cli._reproduce_command import reproduce
from viewhop.cli._seismic_command import seismic
from viewhop.cli._transform_command import transform

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="viewhop")
def main() -> None:
    """Multi-view diffusion maps: several measurements in, one geometry out."""


for command in (
    advise,
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
