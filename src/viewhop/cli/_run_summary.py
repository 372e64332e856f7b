"""What a command prints about a run: its numbers, its files, and what to try next."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewhop.cli._progress_display import progress_shown

if TYPE_CHECKING:
    from viewhop.runs import RunResult, Settings

__all__ = ["run_and_summarise"]


def run_and_summarise(
    settings: Settings, *, config: Path | None = None, quiet: bool = False
) -> None:
    """Execute a run and print its result.

    Parameters
    ----------
    settings : Settings
        Checked, with a folder.
    config : Path or None
        The configuration file. If it is that of a run, input files that have changed since are
        named.
    quiet : bool
        Whether to print only which files were written.
    """
    from viewhop.cli._options import convert_errors, report_written
    from viewhop.runs import execute

    with (
        report_written(),
        convert_errors("another folder with --out"),
        progress_shown(quiet=quiet) as progress,
    ):
        repeats = None if config is None else config.parent
        result = execute(settings, repeats=repeats, progress=progress)
    if not quiet:
        _print_numbers(result)
    for path in result.written:
        click.echo(f"wrote {path}")
    if quiet:
        return
    for note in result.notes:
        click.echo(f"note: {note}")
    _print_advice(result, settings)


def _print_numbers(result: RunResult) -> None:
    record = result.record
    n = record["n_samples"]
    click.echo(f"{n:,} samples")
    width = max(map(len, record["observed"]))
    for name, count in record["observed"].items():
        missing = f" ({n - count:,} missing)" if count < n else ""
        columns = record["inputs"][name]["columns"]
        recall = record["recall"].get(name, 1.0)
        search = "" if recall == 1 else f", {recall:.1%} of neighbours found"
        click.echo(
            f"  {name:<{width}}  {count:,} samples{missing}, {columns:,} features, "
            f"{record['metrics'][name]}, weight {record['view_weights'][name]:.2g}{search}"
        )
    values = record["eigenvalues"]
    listed = " ".join(f"{value:.4f}" for value in values[:6]) + (" …" if len(values) > 6 else "")
    click.echo(f"{record['n_components']} coordinates, eigenvalues {listed} ({record['solver']})")
    if record["n_pieces"] > 1:
        click.echo(f"the walk falls into {record['n_pieces']} pieces")
    elif record["settings"]["connect"]:
        kept = {k for k in record["n_neighbors"].values() if k is not None}
        counts = " and ".join(f"{k:,}" for k in sorted(kept)) or "all"
        click.echo(f"the walk is in one piece, with {counts} neighbours")
    if "n_clusters" in record:
        _print_clusters(result)


def _print_clusters(result: RunResult) -> None:
    n_clusters, labels = result.record["n_clusters"], result.model.labels_
    sizes = ", ".join(f"{int((labels == k).sum()):,}" for k in range(n_clusters))
    click.echo(f"{n_clusters} clusters of {sizes} samples")
    count = result.model.cluster_count_
    if count is not None and count.shape == "sections":
        click.echo(f"their number is uncertain (confidence {count.confidence:.2f}): {count.reason}")
    elif count is not None and not count.is_sure:
        click.echo(
            f"their number is uncertain (confidence {count.confidence:.2f}): the walk leaves these "
            "clusters as fast as it mixes within them; pass --clusters if you know it"
        )
    if (scores := result.scores) is not None:
        click.echo(
            f"against the labels of {scores.n_samples:,} samples: NMI {scores.nmi:.3f}, "
            f"AMI {scores.ami:.3f}, accuracy {scores.accuracy:.3f}"
        )


def _print_advice(result: RunResult, settings: Settings) -> None:
    model = str(result.folder / "model.viewhop")
    ids = [] if settings.id is None else ["--id", settings.id]
    view = f"{next(iter(settings.views))}=NEW"
    click.echo(f"try: {shlex.join(['viewhop', 'transform', model, view, *ids, '-o', 'new.csv'])}")
