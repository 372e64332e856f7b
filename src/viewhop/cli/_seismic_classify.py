"""``viewhop seismic classify``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from viewhop.cli._command import Command
from viewhop.cli._options import (
    check_apart,
    folder_option,
    output_folder,
    quiet_option,
    seed_option,
)
from viewhop.cli._progress_display import progress_shown
from viewhop.cli._seismic_classify_files import FILE_NAMES, write_results
from viewhop.cli._seismic_options import (
    echo_left_out_on_error,
    echo_summary,
    files_argument,
    read_files,
    require_obspy,
)

if TYPE_CHECKING:
    from viewhop._runtime.progress import Progress
    from viewhop.seismic import Classification, PairScores
    from viewhop.seismic.events import EventViews
    from viewhop.seismic.io import Catalogue

__all__ = ["classify"]


_EXAMPLE = """\b
Examples:
  viewhop seismic simulate --earthquakes 8 --blasts 8 -o simulated
  viewhop seismic classify simulated/SOUTH.mseed --catalogue simulated/catalogue.csv -o classes
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@files_argument
@click.option(
    "--catalogue",
    type=click.Path(path_type=Path),
    metavar="FILE",
    required=True,
    help="Events with labels and picks: CSV as written by detect, or QuakeML.",
)
@click.option(
    "--label",
    metavar="COLUMN",
    help="Column of labels in a CSV catalogue.  [default: label, type or event_type]",
)
@click.option(
    "--unpicked",
    type=click.Choice(["missing", "event"]),
    default="missing",
    show_default=True,
    help="A station without a pick missed the event, or its window is around the event time.",
)
@click.option(
    "--before",
    type=float,
    default=20.0,
    show_default=True,
    help="Seconds of the window before the pick.",
)
@click.option(
    "--length",
    type=float,
    default=125.775,
    show_default=True,
    help="Length of the window in seconds.",
)
@click.option(
    "--components",
    "-r",
    type=click.IntRange(min=1),
    multiple=True,
    default=(3, 4),
    show_default=True,
    help="Number of coordinates; may be repeated.",
)
@click.option(
    "--steps",
    metavar="T",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Diffusion time.",
)
@click.option(
    "--within-view-weight",
    metavar="NUMBER",
    type=click.FloatRange(min=0, max=1),
    default=0.0,
    show_default=True,
    help="Weight of steps within a view in the multi-view walk, 0 to 1; 0 is the paper's walk.",
)
@click.option(
    "--neighbors", type=click.IntRange(min=1), default=1, show_default=True, help="K of K-NN."
)
@click.option(
    "--kernel",
    type=click.Choice(["local", "adaptive", "gaussian", "laplacian", "correlation"]),
    default="local",
    show_default=True,
    help="Similarity of two sonograms; local is a Gaussian on 10 neighbours with local scales.",
)
@click.option(
    "--procedure",
    type=click.Choice(["both", "transductive", "refitted"]),
    default="both",
    show_default=True,
    help="One embedding of all events, or one fit per left-out event.",
)
@click.option("--pairs", is_flag=True, help="Also classify with every pair of channels.")
@seed_option
@folder_option(
    "Folder for scores.csv, events.csv, left-out.csv, report.html and pictures.", required=True
)
@quiet_option
def classify(
    files: tuple[Path, ...],
    catalogue: Path,
    label: str | None,
    unpicked: Any,
    before: float,
    length: float,
    components: tuple[int, ...],
    steps: float,
    within_view_weight: float,
    neighbors: int,
    kernel: str,
    procedure: str,
    pairs: bool,
    seed: int,
    out: Path,
    quiet: bool,
) -> None:
    """Classify events by the sonograms of all channels, and measure the accuracy.

    Every event is classified by its nearest neighbours among the others: in each channel alone,
    and in the kernel sum, the kernel product and the multi-view walk of all channels. Events of the
    catalogue without a label are classified by those with one.
    """
    from viewhop.seismic.events import event_views
    from viewhop.seismic.io import read_catalogue

    check_apart([out / name for name in FILE_NAMES], [*files, catalogue])
    with output_folder(out) as folder:
        with require_obspy():
            listing = read_catalogue(catalogue, label=label)
        with echo_left_out_on_error():
            _check_labels(listing, catalogue, label)
        with require_obspy(), echo_left_out_on_error(listing.summary.left_out):
            dataset = event_views(
                read_files(files), listing.events, before=before, length=length, unpicked=unpicked
            )
        summary = dataset.summary.after(listing.summary.left_out)
        with echo_left_out_on_error(summary.left_out), progress_shown(quiet=quiet) as progress:
            classification, pair_scores = _classify(
                dataset,
                components,
                procedure,
                is_paired=pairs,
                n_steps=steps,
                within_view_weight=within_view_weight,
                n_neighbors=neighbors,
                kernel=None if kernel == "local" else kernel,
                random_state=seed,
                progress=progress,
            )
        settings = {
            **_describe(dataset),
            "catalogue": catalogue.name,
            "window": f"{length:g} s, from {before:g} s before the pick",
            "kernel": kernel,
            "steps": f"{steps:g}",
            "within-view weight": f"{within_view_weight:g}",
            "K": neighbors,
            "seed": seed,
        }
        lines = write_results(
            folder, classification, dataset, summary, pairs=pair_scores, settings=settings
        )
    for line in lines:
        click.echo(line)
    _show(classification)
    if not quiet:
        echo_summary(summary)
    click.echo(f"wrote {out / 'report.html'}")


def _describe(dataset: EventViews) -> dict[str, Any]:
    """Numbers of events and names of channels, as shown on the page."""
    return {
        "events": len(dataset.events),
        "labelled": sum(each is not None for each in dataset.labels),
        "channels": ", ".join(dataset.views.names),
    }


def _classify(
    dataset: EventViews,
    components: tuple[int, ...],
    procedure: str,
    *,
    is_paired: bool,
    n_steps: float,
    within_view_weight: float,
    n_neighbors: int,
    kernel: str | None,
    random_state: int,
    progress: Progress,
) -> tuple[Classification, PairScores | None]:
    """Scores of all methods, and of all pairs of channels if they are requested."""
    from viewhop.seismic import classify, classify_pairs

    procedures = ("transductive", "refitted") if procedure == "both" else (procedure,)
    classification = classify(
        dataset.views,
        dataset.labels,
        n_components=components,
        n_steps=n_steps,
        within_view_weight=within_view_weight,
        n_neighbors=n_neighbors,
        kernel=kernel,
        procedures=procedures,
        overlaps=dataset.overlaps,
        random_state=random_state,
        progress=progress,
    )
    if not is_paired:
        return classification, None
    pairs = classify_pairs(
        dataset.views,
        dataset.labels,
        n_components=max(components),
        n_steps=n_steps,
        within_view_weight=within_view_weight,
        n_neighbors=n_neighbors,
        kernel=kernel,
        procedure=procedures[0],
        overlaps=dataset.overlaps,
        random_state=random_state,
        progress=progress,
    )
    refused = {**pairs.refused, **classification.refused}
    remarks = (*classification.remarks, *pairs.remarks)
    return replace(classification, refused=refused, remarks=remarks), pairs


def _check_labels(events: Catalogue, catalogue: Path, label: str | None) -> None:
    """Raise SeismicError if a catalogue has fewer than two different labels."""
    from viewhop.errors import SeismicError
    from viewhop.seismic._summary import printable

    classes = sorted({event.label for event in events if event.label is not None})
    if len(classes) > 1:
        return
    if classes:
        what = f"all labels are {printable(classes[0])}; expected labels of at least two classes"
    elif label is not None:
        what = f"column {label!r} has no label; choose another with --label"
    else:
        what = "no event has a label; choose the column of labels with --label"
    raise SeismicError(f"{catalogue}: {what}", str(catalogue), events.summary.left_out)


def _show(classification: Classification) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    table.add_column("method")
    table.add_column("procedure")
    for name in ("r", "accuracy", "balanced", "events"):
        table.add_column(name, justify="right")
    for score in classification:
        table.add_row(
            Text(score.method),
            score.procedure,
            str(score.n_components),
            f"{score.accuracy:.3f}",
            f"{score.balanced_accuracy:.3f}",
            str(score.n_events),
        )
    Console().print(table)
    for why in classification.refused.values():
        click.echo(f"not used: {why}")
    for remark in classification.remarks:
        click.echo(f"note: {remark}")
