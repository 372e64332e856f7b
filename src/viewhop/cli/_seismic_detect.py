"""``viewhop seismic detect``."""

from __future__ import annotations

from pathlib import Path

import click

from viewhop.cli._command import Command
from viewhop.cli._options import check_apart, output_file, quiet_option
from viewhop.cli._progress_display import progress_shown
from viewhop.cli._seismic_options import (
    echo_left_out_on_error,
    echo_summary,
    files_argument,
    read_files,
    require_obspy,
)

__all__ = ["detect"]

_EXAMPLE = """\b
Examples:
  viewhop seismic simulate --earthquakes 8 --blasts 8 -o simulated
  viewhop seismic detect simulated/SOUTH.mseed simulated/NORTH.mseed -o events.csv
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@files_argument
@click.option(
    "--sta", type=float, default=0.5, show_default=True, help="Length of the short average, s."
)
@click.option(
    "--lta", type=float, default=10.0, show_default=True, help="Length of the long average, s."
)
@click.option(
    "--on", type=float, default=3.5, show_default=True, help="Ratio that starts a trigger."
)
@click.option(
    "--off", type=float, default=1.0, show_default=True, help="Ratio that ends a trigger."
)
@click.option(
    "--method",
    type=click.Choice(["recursive", "classic"]),
    default="recursive",
    show_default=True,
    help="Kind of averages.",
)
@click.option(
    "--band",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    default=(1.0, 10.0),
    show_default=True,
    help="Pass band of the filter, Hz.",
)
@click.option(
    "--channels",
    metavar="LETTERS",
    default="Z",
    show_default=True,
    help="Last letters of the channels to search.",
)
@click.option(
    "--min-stations",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Minimum number of stations per event.",
)
@click.option(
    "--allowance",
    type=float,
    default=0.0,
    show_default=True,
    help="Travel time between stations, s.",
)
@click.option(
    "--separation",
    type=float,
    default=1.0,
    show_default=True,
    help="Minimum time between two events, s.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    required=True,
    help="Table of events: .csv, .tsv or .parquet.",
)
@quiet_option
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
    quiet: bool,
) -> None:
    """Detect events in waveform files by STA/LTA at several stations.

    FILE is in miniSEED, SAC, GSE, SLIST or another format of obspy. Unusable data are skipped,
    listed and counted.
    """
    from viewhop.seismic import events
    from viewhop.seismic.io import write_events

    try:
        trigger = events.StaLta(sta, lta, on, off, method)  # type: ignore[arg-type]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    check_apart([out], files)
    with (
        output_file(out),
        require_obspy(),
        echo_left_out_on_error(),
        progress_shown(quiet=quiet),
    ):
        detections = events.detect(
            read_files(files),
            trigger=trigger,
            band=band,
            components=channels,
            min_stations=min_stations,
            allowance=allowance,
            separation=separation,
        )
        write_events(out, detections)
    if not quiet:
        echo_summary(detections.summary)
    click.echo(f"wrote {out}")
