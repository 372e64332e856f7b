"""``viewhop bandwidth``."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from viewhop._registry import LINEAR_RANGES
from viewhop.cli._command import Command
from viewhop.cli._options import (
    chosen_table_options,
    folder_option,
    output_folder,
    quiet_option,
    seed_option,
    table_options,
    views_argument,
)
from viewhop.cli._progress_display import progress_shown

if TYPE_CHECKING:
    from viewhop.bandwidth import JointScales
    from viewhop.tables import Joined

__all__ = ["bandwidth"]

_EXAMPLE = """\b
Example:
  viewhop data rolls --samples 300 --noise 0.1 -o rolls
  viewhop bandwidth x=rolls/x.csv y=rolls/y.csv --id sample --label theta -o scales
"""
#: Most pairs of views in a picture; more would make it too tall.
_MOST_PAIRS = 15


@click.command(cls=Command, epilog=_EXAMPLE)
@views_argument()
@table_options
@click.option(
    "--grid",
    type=click.IntRange(min=10),
    default=60,
    show_default=True,
    help="Number of values to try for each scale.",
)
@click.option(
    "--rule",
    type=click.Choice([*LINEAR_RANGES]),
    default="minimal",
    show_default=True,
    help=f"The linear range of log S: {'; '.join(f'{k}, {v}' for k, v in LINEAR_RANGES.items())}.",
)
@seed_option
@folder_option("Folder for bandwidth.json and the pictures surfaces.png and slices.png.")
@quiet_option
def bandwidth(
    views: dict[str, str], grid: int, rule: str, seed: int, out: Path | None, quiet: bool
) -> None:
    """Choose the scale of each view by Algorithm 1 of the paper.

    Pass at least two files, each with a name: rna=rna.csv protein=protein.parquet. At the scales
    that are printed, log S is linear in all views together; use them as --bandwidth.
    """
    if len(views) < 2:
        raise click.UsageError("Algorithm 1 compares views: pass at least two, as NAME=PATH.")
    from viewhop.bandwidth import joint
    from viewhop.tables import read_views

    options = chosen_table_options(views)
    if out is None:
        with progress_shown(quiet=quiet):
            samples = read_views(views, options=options)
            result = joint(samples.views, grid, rule=rule, random_state=seed)
        _print_scales(result)
        return
    with output_folder(out) as folder, progress_shown(quiet=quiet):
        samples = read_views(views, options=options)
        result = joint(samples.views, grid, rule=rule, random_state=seed)
        notes, written = _write(folder, result, samples, seed=seed)
    _print_scales(result)
    for path in written:
        click.echo(f"wrote {path}")
    if not quiet:
        for note in notes:
            click.echo(f"note: {note}")


def _print_scales(result: JointScales) -> None:
    width = max(map(len, result.scales))
    for name, sigma in result.scales.items():
        click.echo(f"{name:<{width}}  {sigma:.6g}")


def _write(
    folder: Path, result: JointScales, samples: Joined, *, seed: int
) -> tuple[list[str], list[Path]]:
    """Write all files, or none; notes for the user, and the files."""
    from viewhop._runtime.files import stage_files

    written = [folder / "bandwidth.json"]
    pairs = [*combinations(result.scales, 2)]
    record = _build_record(result, samples, seed)
    with stage_files(folder, last="bandwidth.json") as inside:
        text = f"{json.dumps(record, indent=1, allow_nan=False)}\n"
        (inside / "bandwidth.json").write_text(text, encoding="utf-8", newline="\n")
        try:
            surfaces, slices = _draw(result, pairs[:_MOST_PAIRS])
        except ImportError:
            return ['no pictures: they require matplotlib (pip install "viewhop[plot]")'], written
        for name, figure in (("surfaces.png", surfaces), ("slices.png", slices)):
            figure.savefig(inside / name, format="png", dpi=120)
            written.append(folder / name)
    if len(pairs) > _MOST_PAIRS:
        return [f"the pictures show {_MOST_PAIRS} of {len(pairs)} pairs of views"], written
    return [], written


def _build_record(result: JointScales, samples: Joined, seed: int) -> dict[str, Any]:
    """The scales and their inputs; file names without their folders."""
    from viewhop._runtime.version import __version__

    return {
        "viewhop": __version__,
        "rule": "joint",
        "linear_range": result.rule,
        "seed": seed,
        "n_samples": len(samples.views),
        "files": {name: Path(table.path).name for name, table in samples.tables.items()},
        "scales": result.scales,
        "surfaces": [
            {
                "views": [first, second],
                "scales": surface.scales.tolist(),
                "other_scales": surface.other_scales.tolist(),
                "log_sums": surface.values.tolist(),
            }
            for (first, second), surface in result.surfaces.items()
            if (first, second) in set(combinations(result.scales, 2))
        ],
    }


def _draw(result: JointScales, pairs: list[tuple[str, str]]) -> tuple[Any, Any]:
    """A figure with the surface of each pair, and one with its two slices."""
    from matplotlib.figure import Figure

    from viewhop import plotting

    across = min(3, len(pairs))
    down = -(-len(pairs) // across)
    surfaces = Figure(figsize=(5.4 * across, 4.4 * down), layout="constrained")
    panels = surfaces.subplots(down, across, squeeze=False).ravel()
    for ax, pair in zip(panels, pairs, strict=False):
        plotting.bandwidth_surface(result, pair=pair, ax=ax, title=f"{pair[0]} and {pair[1]}")
    for ax in panels[len(pairs) :]:
        ax.remove()
    slices = Figure(figsize=(10.8, 3.6 * len(pairs)), layout="constrained")
    for row, pair in zip(slices.subplots(len(pairs), 2, squeeze=False), pairs, strict=True):
        for ax, (first, second) in zip(row, (pair, pair[::-1]), strict=True):
            plotting.bandwidth_slice(
                result, pair=(first, second), ax=ax, title=f"{first} beside {second}"
            )
    return surfaces, slices
