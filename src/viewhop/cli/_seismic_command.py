"""``viewhop seismic``."""

from __future__ import annotations

import click

from viewhop.cli._seismic_classify import classify
from viewhop.cli._seismic_detect import detect
from viewhop.cli._seismic_simulate import simulate
from viewhop.cli._seismic_sonogram import sonogram

__all__ = ["seismic"]

_EXAMPLE = """\b
Examples:
  viewhop seismic simulate --earthquakes 8 --blasts 8 -o simulated
  viewhop seismic classify simulated/SOUTH.mseed --catalogue simulated/catalogue.csv -o classes
"""


@click.group(epilog=_EXAMPLE)
def seismic() -> None:
    """Detect and classify seismic events in waveforms.

    Needs obspy: pip install "viewhop[seismic]".
    """


for command in (classify, detect, simulate, sonogram):
    seismic.add_command(command)
