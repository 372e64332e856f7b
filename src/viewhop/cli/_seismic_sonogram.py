"""``viewhop seismic sonogram``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from viewhop.cli._command import Command
from viewhop.cli._options import check_apart, folder_option, output_folder
from viewhop.cli._seismic_options import (
    echo_left_out_on_error,
    echo_summary,
    files_argument,
    read_files,
    remove_stale,
)

if TYPE_CHECKING:
    from viewhop.seismic.io import Waveforms

__all__ = ["sonogram"]

_EXAMPLE = """\b
Examples:
  viewhop seismic simulate --earthquakes 2 --blasts 2 -o simulated
  viewhop seismic sonogram simulated/SOUTH.mseed --pictures 3 -o sonograms
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@files_argument
@click.option(
    "--bands", type=click.IntRange(1, 128), default=14, show_default=True, help="Number of bands."
)
@click.option(
    "--lowest", type=float, metavar="HZ", help="Lowest frequency; lower ones are left out."
)
@click.option(
    "--pictures",
    type=click.IntRange(0, 10_000),
    default=12,
    show_default=True,
    help="Maximum number of sonograms to draw.",
)
@folder_option("Folder for sonograms.npz, sonograms.csv and pictures.", required=True)
def sonogram(
    files: tuple[Path, ...], bands: int, lowest: float | None, pictures: int, out: Path
) -> None:
    """Compute normalised sonograms of waveform files, one per stretch without a gap.

    sonograms.npz holds one array (bands, frames) per sonogram and the edge frequencies of the
    bands; sonograms.csv lists the sonograms. Traces are resampled to 40 Hz. Unusable data are
    skipped; they are listed and counted, and so are clipped stretches.
    """
    from viewhop._runtime.files import stage_files
    from viewhop.errors import SeismicError
    from viewhop.seismic.sonogram import band_edges

    try:
        edges = band_edges(bands, lowest_frequency=lowest)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    pictured = [f"sonogram{number}.png" for number in range(1, pictures + 1)]
    check_apart([out / name for name in ("sonograms.npz", "sonograms.csv", *pictured)], files)
    with output_folder(out) as folder:
        with echo_left_out_on_error():
            sonograms, summary = _sonograms(read_files(files), bands, lowest, edges)
            if not sonograms:
                raise SeismicError("no sonogram could be computed", left_out=summary.left_out)
        had_sonograms = (out / "sonograms.npz").is_file()
        with stage_files(folder, last="sonograms.npz") as inside:
            _write(inside, sonograms, edges)
            drawn = _draw(inside, sonograms[:pictures], edges)
        others = {path.name for path in folder.glob("sonogram[0-9]*.png")}
        stale = {name for name in others if name[8:-4].isdigit()} - drawn
        removed = remove_stale(folder, stale if had_sonograms else ())
    click.echo(f"wrote {out / 'sonograms.npz'}")
    click.echo(f"wrote {out / 'sonograms.csv'}")
    if drawn:
        click.echo(f"wrote {len(drawn)} pictures")
    elif pictures:
        click.echo('no pictures: matplotlib is missing; pip install "viewhop[plot]"')
    for line in removed:
        click.echo(line)
    echo_summary(summary)


def _sonograms(
    waveforms: Waveforms, bands: int, lowest: float | None, edges: Any
) -> tuple[list[Any], Any]:
    """Channel, start time and sonogram of every stretch, and the summary."""
    from viewhop.seismic._channels import timestamp
    from viewhop.seismic._clipping import find_clipped_blocks
    from viewhop.seismic._stretches import split_stretches
    from viewhop.seismic._summary import LeftOut, Summary
    from viewhop.seismic.sonogram import sonogram as normalised

    sonograms, left_out, doubtful = [], [], []
    for channel in waveforms.channels.values():
        pieces, gaps = split_stretches(channel)
        left_out += gaps
        for piece in pieces:
            start = timestamp(piece.start)
            try:
                shares = normalised(
                    piece.data,
                    sampling_rate=piece.sampling_rate,
                    n_bands=bands,
                    lowest_frequency=lowest,
                )
            except ValueError as error:
                left_out.append(LeftOut(channel.id, "no sonogram", str(error), start))
                continue
            sonograms.append((channel.id, start, shares))
            doubtful += [
                LeftOut(channel.id, "clipped", what, timestamp(piece.time(first)))
                for first, what in find_clipped_blocks(piece.data)
            ]
            highest = piece.sampling_rate / 2
            if even := int((edges[:-1] >= highest).sum()):
                what = f"it has no data above {highest:g} Hz; {even} of {bands} bands are uniform"
                doubtful.append(LeftOut(channel.id, "sampling rate", what, start))
    summary = Summary(len(sonograms), "sonograms", tuple(left_out), tuple(doubtful))
    return sonograms, summary.after(waveforms.summary.left_out)


def _write(folder: Path, sonograms: list[Any], edges: Any) -> None:
    import numpy as np

    from viewhop.seismic._summary import stamp
    from viewhop.tables import write

    keys = [f"sonogram{k}" for k in range(1, len(sonograms) + 1)]
    arrays = dict(zip(keys, (bands for _, _, bands in sonograms), strict=True))
    np.savez(folder / "sonograms.npz", edges=edges, **arrays)
    write(
        folder / "sonograms.csv",
        {
            "sonogram": keys,
            "trace": [name for name, _, _ in sonograms],
            "start": [stamp(start) for _, start, _ in sonograms],
            "bands": [len(bands) for _, _, bands in sonograms],
            "frames": [bands.shape[1] for _, _, bands in sonograms],
        },
    )


def _draw(folder: Path, sonograms: list[Any], edges: Any) -> set[str]:
    """Names of the picture files drawn; empty without matplotlib."""
    if not sonograms or find_spec("matplotlib") is None:
        return set()
    from matplotlib.figure import Figure

    from viewhop import plotting
    from viewhop.seismic._summary import stamp

    for number, (name, start, bands) in enumerate(sonograms, start=1):
        figure = Figure(figsize=(7.2, 3.2), layout="constrained")
        ax = plotting.sonogram(bands, edges=edges, ax=figure.subplots())
        # Names may contain dollar signs; they are not formulas.
        ax.set_title(f"{name}, {stamp(start)}", loc="left", fontsize="medium", parse_math=False)
        figure.savefig(folder / f"sonogram{number}.png", format="png", dpi=110)
    return {f"sonogram{number}.png" for number in range(1, len(sonograms) + 1)}
