"""``viewhop seismic sonogram``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from viewhop.cli._command import Command
from viewhop.cli._options import check_apart, folder_option, output_folder
from viewhop.cli._seismic_options import (
    files_argument,
    read_files,
    remove_stale,
    tell_summary,
    telling,
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
@click.option("--lowest", type=float, metavar="HZ", help="Frequencies below are left out.")
@click.option(
    "--pictures",
    type=click.IntRange(0, 10_000),
    default=12,
    show_default=True,
    help="Sonograms that are drawn, at most.",
)
@folder_option("Folder for sonograms.npz, sonograms.csv and pictures.", required=True)
def sonogram(
    files: tuple[Path, ...], bands: int, lowest: float | None, pictures: int, out: Path
) -> None:
    """Make normalised sonograms of waveform files, one per stretch without a gap.

    sonograms.npz has an array (bands, frames) for each, and the frequencies between bands;
    sonograms.csv lists them. Traces are resampled to 40 Hz. What cannot be used is named and
    counted, and so is what is clipped; the rest goes on.
    """
    from viewhop.errors import SeismicError
    from viewhop.seismic.sonogram import band_edges

    try:
        edges = band_edges(bands, lowest_frequency=lowest)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    pictured = [f"sonogram{number}.png" for number in range(1, pictures + 1)]
    check_apart([out / name for name in ("sonograms.npz", "sonograms.csv", *pictured)], files)
    with telling():
        found, summary = _sonograms(read_files(files), bands, lowest, edges)
        if not found:
            raise SeismicError("no sonogram could be made", left_out=summary.left_out)
    had_sonograms = (out / "sonograms.npz").is_file()
    with output_folder(out) as folder:
        _write(folder, found, edges)
        click.echo(f"wrote {folder / 'sonograms.npz'}")
        click.echo(f"wrote {folder / 'sonograms.csv'}")
        drawn = _draw(folder, found[:pictures], edges)
        others = {path.name for path in folder.glob("sonogram[0-9]*.png")}
        if had_sonograms:
            remove_stale(folder, {name for name in others if name[8:-4].isdigit()} - drawn)
    tell_summary(summary)


def _sonograms(
    waveforms: Waveforms, bands: int, lowest: float | None, edges: Any
) -> tuple[list[Any], Any]:
    """Channel, time of the first sample, and sonogram, of every stretch; and what was left out."""
    from viewhop.seismic._channels import timestamp
    from viewhop.seismic._clipping import clipped_blocks
    from viewhop.seismic._stretches import stretches
    from viewhop.seismic._summary import LeftOut, Summary
    from viewhop.seismic.sonogram import sonogram as normalised

    found, left_out, doubtful = [], [], []
    for channel in waveforms.channels.values():
        pieces, gaps = stretches(channel)
        left_out += gaps
        for piece in pieces:
            start = timestamp(piece.start)
            try:
                made = normalised(
                    piece.data,
                    sampling_rate=piece.sampling_rate,
                    n_bands=bands,
                    lowest_frequency=lowest,
                )
            except ValueError as error:
                left_out.append(LeftOut(channel.id, "no sonogram", str(error), start))
                continue
            found.append((channel.id, start, made))
            doubtful += [
                LeftOut(channel.id, "clipped", what, timestamp(piece.time(first)))
                for first, what in clipped_blocks(piece.data)
            ]
            highest = piece.sampling_rate / 2
            if even := int((edges[:-1] >= highest).sum()):
                what = f"it has nothing above {highest:g} Hz: {even} of {bands} bands are even"
                doubtful.append(LeftOut(channel.id, "sampling rate", what, start))
    summary = Summary(len(found), "sonograms", tuple(left_out), tuple(doubtful))
    return found, summary.after(waveforms.summary.left_out)


def _write(folder: Path, found: list[Any], edges: Any) -> None:
    import numpy as np

    from viewhop._runtime.files import replace_file
    from viewhop.seismic._summary import stamp
    from viewhop.tables import write

    keys = [f"sonogram{k}" for k in range(1, len(found) + 1)]
    with replace_file(folder / "sonograms.npz") as file:
        arrays = dict(zip(keys, (made for _, _, made in found), strict=True))
        np.savez(file, edges=edges, **arrays)
    write(
        folder / "sonograms.csv",
        {
            "sonogram": keys,
            "trace": [name for name, _, _ in found],
            "start": [stamp(start) for _, start, _ in found],
            "bands": [len(made) for _, _, made in found],
            "frames": [made.shape[1] for _, _, made in found],
        },
    )


def _draw(folder: Path, found: list[Any], edges: Any) -> set[str]:
    """Draw pictures, if matplotlib is there; the names of their files."""
    if not found:
        return set()
    if find_spec("matplotlib") is None:
        click.echo('no pictures: they need pip install "viewhop[plot]"')
        return set()
    from matplotlib.figure import Figure

    from viewhop import plotting
    from viewhop._runtime.files import replace_file
    from viewhop.seismic._summary import stamp

    for number, (name, start, made) in enumerate(found, start=1):
        figure = Figure(figsize=(7.2, 3.2), layout="constrained")
        ax = plotting.sonogram(made, edges=edges, ax=figure.subplots())
        # Names of stations are no formulas.
        ax.set_title(f"{name}, {stamp(start)}", loc="left", fontsize="medium", parse_math=False)
        with replace_file(folder / f"sonogram{number}.png") as file:
            figure.savefig(file, format="png", dpi=110)
    click.echo(f"wrote {len(found)} pictures")
    return {f"sonogram{number}.png" for number in range(1, len(found) + 1)}
