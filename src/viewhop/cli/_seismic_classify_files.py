"""Files that ``viewhop seismic classify`` writes."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewhop.cli._seismic_options import remove_stale

if TYPE_CHECKING:
    from viewhop.seismic import Classification, PairScores
    from viewhop.seismic.events import EventViews, Summary

__all__ = ["FILE_NAMES", "write_results"]

#: Files that are always written, and all files that may be.
_ALWAYS = ("scores.csv", "events.csv", "left-out.csv", "report.html")
FILE_NAMES = (*_ALWAYS, "pairs.csv", "confusion.png", "pairs.png", "sonograms.png")
_NO_PICTURES = 'no pictures: matplotlib is missing; pip install "viewhop[plot]"'


def write_results(
    folder: Path,
    classification: Classification,
    dataset: EventViews,
    summary: Summary,
    *,
    pairs: PairScores | None,
    settings: dict[str, Any],
) -> list[str]:
    """Write tables, pictures and the page, or nothing; remove stale files of an earlier run.

    Parameters
    ----------
    folder : Path
    classification : Classification
    dataset : EventViews
        The classified events.
    summary : Summary
        Items left out.
    pairs : PairScores or None
    settings : dict
        Settings shown on the page.

    Returns
    -------
    list of str
        Lines for the user: why there are no pictures, which files were removed.
    """
    from viewhop._runtime.files import stage_files

    had_report = (folder / "report.html").is_file()
    with stage_files(folder, last="report.html") as inside:
        _write_tables(inside, classification, dataset, summary, pairs)
        pictures = _draw_pictures(inside, classification, dataset, pairs)
        _write_page(inside, classification, summary, settings, pictures)
    drawn = () if not pictures else ("confusion.png", "sonograms.png")
    paired = () if pairs is None else ("pairs.csv", "pairs.png")[: 1 + bool(pictures)]
    stale = {*FILE_NAMES} - {*_ALWAYS, *drawn, *paired} if had_report else set()
    lines = [] if pictures else [_NO_PICTURES]
    return [*lines, *remove_stale(folder, stale)]


def _write_tables(
    folder: Path,
    classification: Classification,
    dataset: EventViews,
    summary: Summary,
    pairs: PairScores | None,
) -> None:
    """Write tables of scores, of events with their predictions, and of items left out."""
    from viewhop.seismic._summary import printable, stamp
    from viewhop.tables import write

    frame = classification.to_frame()
    write(folder / "scores.csv", {name: frame[name].to_numpy() for name in frame.columns})
    events: dict[str, Any] = {
        "id": [event.id for event in dataset.events],
        "time": [stamp(event.time) for event in dataset.events],
        "label": list(dataset.labels),
    }
    for score in classification:
        if score.n_components == classification[-1].n_components:
            events[f"{score.method}, {score.procedure}"] = list(score.labels)
    write(folder / "events.csv", events)
    lost = summary.left_out
    write(
        folder / "left-out.csv",
        {
            "trace": [printable(each.trace) for each in lost],
            "reason": [each.reason for each in lost],
            "detail": [printable(each.detail) for each in lost],
            "time": [None if each.time is None else stamp(each.time) for each in lost],
            "event": [None if each.event is None else printable(each.event) for each in lost],
        },
    )
    if pairs is not None:
        columns = dict(zip(pairs.names, pairs.accuracy.T, strict=True))
        write(folder / "pairs.csv", {"first view": list(pairs.names), **columns})


def _draw_pictures(
    folder: Path, classification: Classification, dataset: EventViews, pairs: PairScores | None
) -> list[tuple[str, bytes]]:
    """Captions and PNGs of the pictures written; empty without matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    from matplotlib.figure import Figure

    from viewhop import plotting
    from viewhop.seismic._gallery import draw_gallery
    from viewhop.seismic._summary import printable

    last = {score.procedure: score for score in classification}
    figure = Figure(figsize=(5.2 * len(last), 4.6), layout="constrained")
    for ax, score in zip(
        figure.subplots(1, len(last), squeeze=False)[0], last.values(), strict=True
    ):
        title = f"{score.method}, {score.procedure}"
        names = [printable(name) for name in score.classes]
        plotting.confusion(score.confusion, names, ax=ax, title=title, legend=False)
    method = classification[-1].method
    figures = {"confusion": (f"Predictions of {method} by class.", figure)}
    if pairs is not None:
        pair = Figure(figsize=(7.5, 6.5), layout="constrained")
        plotting.pair_accuracy(pairs.accuracy, pairs.names, ax=pair.subplots())
        figures["pairs"] = ("Accuracy of every channel in the walk with every other channel.", pair)
    figures["sonograms"] = ("Sonograms of some events of every class.", draw_gallery(dataset))
    drawn = []
    for name, (caption, each) in figures.items():
        buffer = BytesIO()
        each.savefig(buffer, format="png", dpi=100)
        (folder / f"{name}.png").write_bytes(buffer.getvalue())
        drawn.append((caption, buffer.getvalue()))
    return drawn


def _write_page(
    folder: Path,
    classification: Classification,
    summary: Summary,
    settings: dict[str, Any],
    pictures: list[tuple[str, bytes]],
) -> None:
    from viewhop.seismic._classification_page import classification_page

    page = classification_page(
        classification, summary=summary, settings=settings, pictures=pictures
    )
    (folder / "report.html").write_bytes(page.encode("utf-8"))
