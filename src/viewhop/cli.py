"""The ``viewhop`` command."""

from __future__ import annotations

import click

from viewhop._version import __version__
from viewhop.commands.bandwidth_command import bandwidth
from viewhop.commands.data_command import data
from viewhop.commands.demo_command import demo
from viewhop.commands.reproduce_command import reproduce

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="viewhop")
def main() -> None:
    """Multi-view diffusion maps: several measurements in, one geometry out."""


for command in (bandwidth, data, demo, reproduce):
    main.add_command(command)
