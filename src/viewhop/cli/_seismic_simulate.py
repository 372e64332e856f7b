"""``viewhop seismic simulate``."""

from __future__ import annotations

from pathlib import Path

import click

from viewhop.cli._command import Command
from viewhop.cli._options import folder_option, output_folder, seed_option
from viewhop.cli._seismic_options import require_obspy

__all__ = ["simulate"]


@click.command(
    cls=Command,
    epilog="\b\nExample:\n  viewhop seismic simulate --earthquakes 8 --blasts 8 -o simulated",
)
@click.option(
    "--earthquakes",
    type=click.IntRange(min=0),
    default=46,
    show_default=True,
    help="Number of earthquakes.",
)
@click.option(
    "--blasts",
    type=click.IntRange(min=0),
    default=62,
    show_default=True,
    help="Number of quarry blasts.",
)
@click.option(
    "--noise",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Scale of the ground noise.",
)
@seed_option
@folder_option("Folder for SOUTH.mseed, NORTH.mseed and catalogue.csv.", required=True)
def simulate(earthquakes: int, blasts: int, noise: float, seed: int, out: Path) -> None:
    """Simulate records of earthquakes and quarry blasts for trying the other commands."""
    from viewhop.seismic import make_events
    from viewhop.seismic._obspy import obspy_module
    from viewhop.seismic.io._simulated_files import write_simulated

    if not earthquakes + blasts:
        raise click.UsageError("expected at least one event: raise --earthquakes or --blasts")
    with require_obspy():
        obspy_module()
    with output_folder(out) as folder:
        events = make_events(earthquakes, blasts, noise=noise, random_state=seed)
        written = write_simulated(folder, events)
    for path in written:
        click.echo(f"wrote {path}")
