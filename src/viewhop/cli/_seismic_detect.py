"""``viewhop seismic detect``."""

from __future__ import annotations

from pathlib import Path

import click

from viewhop.cli._command import Command
from viewhop.cli._options import check_apart, output_file
from viewhop.cli._seismic_options import (
    files_argument,
    read_files,
    tell_summary,
    telling,
    with_obspy,
)

__all__ = ["detect"]

_EXAMPLE = """\b
Examples:
  viewhop seismic simulate --earthquakes 8 --blasts 8 -o simulated
  viewhop seismic detect simulated/SOUTH.mseed simulated/NORTH.mseed -o events.csv
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@files_argument
@click.option("--sta", type=float, default=0.5, show_default=True, help="Short average, s.")
@click.option("--lta", type=float, default=10.0, show_default=True, help="Long average, s.")
@click.option("--on", type=float, default=3.5, show_default=True, help="Ratio to go on at.")
@click.option("--off", type=float, default=1.0, show_default=True, help="Ratio to go off at.")
@click.option(
    "--method",
    type=click.Choice(["recursive", "classic"]),
    default="recursive",
    show_default=True,
    help="How averages are taken.",
)
@click.option(
    "--band",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    default=(1.0, 10.0),
    show_default=True,
    help="Frequencies that traces are filtered to, Hz.",
)
@click.option(
    "--channels",
    metavar="LETTERS",
    default="Z",
    show_default=True,
    help="Last letters of the channels to look at.",
)
@click.option(
    "--min-stations",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Stations that must see an event.",
)
@click.option(
    "--allowance", type=float, default=0.0, show_default=True, help="Travel time between them, s."
)
@click.option(
    "--separation", type=float, default=1.0, show_default=True, help="Between two events, s."
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    required=True,
    help="Table of events: .csv, .tsv or .parquet.",
)
def detect(
    files: tuple[Path, ...],
    sta: float,
    lta: float,
    on: float,
    off: float,
    method: str,
    band: tuple[float, float],
    channels: str,
    min_stations: int,
    allowance: float,
    separation: float,
    out: Path,
) -> None:
    """Find events in waveform files, by STA/LTA at several stations.

    FILE is miniSEED, SAC, GSE, SLIST, or another format of obspy's. What cannot be used is
    named and counted; the rest goes on.
    """
    from viewhop.seismic import events
    from viewhop.seismic.io import write_events

    try:
        trigger = events.StaLta(sta, lta, on, off, method)  # type: ignore[arg-type]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    check_apart([out], files)
    with with_obspy(), telling():
        found = events.detect(
            read_files(files),
            trigger=trigger,
            band=band,
            components=channels,
            min_stations=min_stations,
            allowance=allowance,
            separation=separation,
        )
    with output_file(out):
        write_events(out, found)
    tell_summary(found.summary)
    click.echo(f"wrote {out}")
