"""``viewhop seismic classify``."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from viewhop.cli._command import Command
from viewhop.cli._options import check_apart, folder_option, output_folder, seed_option
from viewhop.cli._progress_display import progress_shown
from viewhop.cli._seismic_options import (
    files_argument,
    read_files,
    remove_stale,
    tell_summary,
    telling,
    with_obspy,
)

if TYPE_CHECKING:
    from viewhop.seismic import Classification
    from viewhop.seismic.events import EventViews
    from viewhop.seismic.io import Catalogue

__all__ = ["classify"]

#: What is written in the folder always, and what may be.
_ALWAYS = ("scores.csv", "events.csv", "left-out.csv", "report.html")
_WRITTEN = (*_ALWAYS, "pairs.csv", "confusion.png", "pairs.png", "sonograms.png")

_EXAMPLE = """\b
Examples:
  viewhop seismic simulate --earthquakes 8 --blasts 8 -o simulated
  viewhop seismic classify simulated/SOUTH.mseed --catalogue simulated/catalogue.csv -o found
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@files_argument
@click.option(
    "--catalogue",
    type=click.Path(path_type=Path),
    metavar="FILE",
    required=True,
    help="Events with labels and picks: CSV as detect writes it, or QuakeML.",
)
@click.option(
    "--label",
    metavar="COLUMN",
    help="Labels in a CSV catalogue.  [default: label, type or event_type]",
)
@click.option(
    "--unpicked",
    type=click.Choice(["missing", "event"]),
    default="missing",
    show_default=True,
    help="Where a station has no pick: it missed the event, or windows are around its time.",
)
@click.option(
    "--before",
    type=float,
    default=20.0,
    show_default=True,
    help="Seconds in a window before the pick.",
)
@click.option(
    "--length", type=float, default=125.775, show_default=True, help="Seconds in a window."
)
@click.option(
    "--components",
    "-r",
    type=click.IntRange(min=1),
    multiple=True,
    default=(3, 4),
    show_default=True,
    help="Coordinates; may be repeated.",
)
@click.option(
    "--neighbors", type=click.IntRange(min=1), default=1, show_default=True, help="K of K-NN."
)
@click.option(
    "--kernel",
    type=click.Choice(["adaptive", "gaussian", "laplacian", "correlation"]),
    default="adaptive",
    show_default=True,
    help="How alike two sonograms are.",
)
@click.option(
    "--procedure",
    type=click.Choice(["both", "transductive", "refitted"]),
    default="both",
    show_default=True,
    help="One embedding of all events, or a fit without each.",
)
@click.option("--pairs", is_flag=True, help="Also every two channels.")
@seed_option
@folder_option(
    "Folder for scores.csv, events.csv, left-out.csv, report.html and pictures.", required=True
)
def classify(
    files: tuple[Path, ...],
    catalogue: Path,
    label: str | None,
    unpicked: Any,
    before: float,
    length: float,
    components: tuple[int, ...],
    neighbors: int,
    kernel: str,
    procedure: str,
    pairs: bool,
    seed: int,
    out: Path,
) -> None:
    """Tell what events were, from the sonograms of all channels, and how well that goes.

    Every event is classified by its nearest neighbours among the others: in each channel alone,
    and in the kernel sum, the kernel product and the multi-view walk of all. An event of the
    catalogue without a label is classified by those that have one.
    """
    from viewhop.seismic import _classification as classification
    from viewhop.seismic.events import event_views
    from viewhop.seismic.io import read_catalogue

    check_apart([out / name for name in _WRITTEN], [*files, catalogue])
    with with_obspy():
        known = read_catalogue(catalogue, label=label)
    with telling():
        _check_labels(known, catalogue, label)
    with with_obspy(), telling(known.summary.left_out):
        seen = event_views(
            read_files(files), known.events, before=before, length=length, unpicked=unpicked
        )
    summary = seen.summary.after(known.summary.left_out)
    chosen = ("transductive", "refitted") if procedure == "both" else (procedure,)
    with telling(summary.left_out), progress_shown() as progress:
        found = classification.classify(
            seen.views,
            seen.labels,
            n_components=components,
            n_neighbors=neighbors,
            kernel=kernel,
            procedures=chosen,
            overlaps=seen.overlaps,
            random_state=seed,
            progress=progress,
        )
        beside = None
        if pairs:
            beside = classification.classify_pairs(
                seen.views,
                seen.labels,
                n_components=max(components),
                n_neighbors=neighbors,
                kernel=kernel,
                procedure=chosen[0],
                overlaps=seen.overlaps,
                random_state=seed,
                progress=progress,
            )
    if beside is not None:
        found = replace(
            found,
            refused={**beside.refused, **found.refused},
            remarks=(*found.remarks, *beside.remarks),
        )
    settings = {
        "events": len(seen.events),
        "with a label": sum(each is not None for each in seen.labels),
        "channels": ", ".join(seen.views.names),
        "catalogue": catalogue.name,
        "window": f"{length:g} s, from {before:g} s before the pick",
        "kernel": kernel,
        "K": neighbors,
        "seed": seed,
    }
    had_report = (out / "report.html").is_file()
    with output_folder(out) as folder:
        _write(folder, found, seen, summary, beside)
        pictures = _drawn(folder, found, seen, beside)
        _write_page(folder, found, summary, settings, pictures)
        drawn = () if not pictures else ("confusion.png", "sonograms.png")
        paired = () if beside is None else ("pairs.csv", "pairs.png")[: 1 + bool(pictures)]
        if had_report:
            remove_stale(folder, {*_WRITTEN} - {*_ALWAYS, *drawn, *paired})
    _show(found)
    tell_summary(summary)
    click.echo(f"wrote {out / 'report.html'}")


def _check_labels(known: Catalogue, catalogue: Path, label: str | None) -> None:
    """Raise SeismicError for a catalogue whose labels are missing, or all the same."""
    from viewhop.errors import SeismicError
    from viewhop.seismic._summary import plain

    classes = sorted({event.label for event in known if event.label is not None})
    if len(classes) > 1:
        return
    if classes:
        what = f"all labels are {plain(classes[0])}; expected labels of at least two classes"
    elif label is not None:
        what = f"the column {label!r} has no label; give another with --label"
    else:
        what = "no event has a label; name the column of labels with --label"
    raise SeismicError(f"{catalogue}: {what}", str(catalogue), known.summary.left_out)


def _write(
    folder: Path, found: Classification, seen: EventViews, summary: Any, beside: Any
) -> None:
    """Tables of scores, of events with what they were taken for, and of what was left out."""
    from viewhop.seismic._summary import plain, stamp
    from viewhop.tables import write

    frame = found.to_frame()
    write(folder / "scores.csv", {name: frame[name].to_numpy() for name in frame.columns})
    events: dict[str, Any] = {
        "id": [event.id for event in seen.events],
        "time": [stamp(event.time) for event in seen.events],
        "label": list(seen.labels),
    }
    for score in found:
        if score.n_components == found[-1].n_components:
            events[f"{score.method}, {score.procedure}"] = list(score.labels)
    write(folder / "events.csv", events)
    lost = summary.left_out
    write(
        folder / "left-out.csv",
        {
            "trace": [plain(each.trace) for each in lost],
            "reason": [each.reason for each in lost],
            "detail": [plain(each.detail) for each in lost],
            "time": [None if each.time is None else stamp(each.time) for each in lost],
            "event": [None if each.event is None else plain(each.event) for each in lost],
        },
    )
    if beside is not None:
        columns = dict(zip(beside.names, beside.accuracy.T, strict=True))
        write(folder / "pairs.csv", {"first view": list(beside.names), **columns})


def _drawn(
    folder: Path, found: Classification, seen: EventViews, beside: Any
) -> list[tuple[str, bytes]]:
    """Captions and PNGs, which are also written; none without matplotlib."""
    if find_spec("matplotlib") is None:
        click.echo('no pictures: they need pip install "viewhop[plot]"')
        return []
    from matplotlib.figure import Figure

    from viewhop import plotting
    from viewhop._runtime.files import replace_file
    from viewhop.seismic._gallery import gallery
    from viewhop.seismic._summary import plain

    last = {score.procedure: score for score in found}
    figure = Figure(figsize=(5.2 * len(last), 4.6), layout="constrained")
    for ax, score in zip(
        figure.subplots(1, len(last), squeeze=False)[0], last.values(), strict=True
    ):
        title = f"{score.method}, {score.procedure}"
        names = [plain(name) for name in score.classes]
        plotting.confusion(score.confusion, names, ax=ax, title=title, legend=False)
    method = found[-1].method
    figures = {"confusion": (f"What {method} takes events for.", figure)}
    if beside is not None:
        pair = Figure(figsize=(7.5, 6.5), layout="constrained")
        plotting.pair_accuracy(beside.accuracy, beside.names, ax=pair.subplots())
        figures["pairs"] = ("Accuracy of every channel beside every other.", pair)
    figures["sonograms"] = ("Sonograms of some events of every class.", gallery(seen))
    drawn = []
    for name, (caption, each) in figures.items():
        held = BytesIO()
        each.savefig(held, format="png", dpi=100)
        with replace_file(folder / f"{name}.png") as file:
            file.write(held.getvalue())
        drawn.append((caption, held.getvalue()))
    return drawn


def _write_page(
    folder: Path,
    found: Classification,
    summary: Any,
    settings: dict[str, Any],
    pictures: list[tuple[str, bytes]],
) -> None:
    from viewhop._runtime.files import replace_file
    from viewhop.seismic._classification_page import classification_page

    page = classification_page(found, summary=summary, settings=settings, pictures=pictures)
    with replace_file(folder / "report.html") as file:
        file.write(page.encode("utf-8"))


def _show(found: Classification) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    table.add_column("method")
    table.add_column("procedure")
    for name in ("r", "accuracy", "balanced", "events"):
        table.add_column(name, justify="right")
    for score in found:
        table.add_row(
            Text(score.method),
            score.procedure,
            str(score.n_components),
            f"{score.accuracy:.3f}",
            f"{score.balanced_accuracy:.3f}",
            str(score.n_events),
        )
    Console().print(table)
    for why in found.refused.values():
        click.echo(f"not used: {why}")
    for remark in found.remarks:
        click.echo(f"note: {remark}")
