"""The page: what was run, the rule, and the tables."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib import metadata

from benchmarks.quality.cells import source_digest
from benchmarks.quality.clustering_tables import (
    write_clusters,
    write_counts,
    write_means,
    write_winners,
)
from benchmarks.quality.markdown import DASH, Gaps, bold_default, table
from benchmarks.quality.peer_list import SHRINKAGE
from benchmarks.quality.perturbations import MISSING, PERTURBATIONS, WIDTH
from benchmarks.quality.plan import Size
from benchmarks.quality.sets import COUNTED, SYNTHETIC
from benchmarks.quality.summary import BEST_VIEW, Summary, Value
from benchmarks.quality.tasks import KMEANS_SEEDS, MOST_COLUMNS, N_INIT

__all__ = ["PACKAGES", "find_versions", "write_page"]

PACKAGES = ("viewhop", "numpy", "scipy", "scikit-learn")

COMMANDS = {
    Size.QUICK: "`make bench-quality-quick`",
    Size.USUAL: "`make bench-quality`",
    Size.FULL: "`make bench-quality FULL=1`",
}


def find_versions() -> dict[str, str]:
    """Versions of Python and the packages of this process."""
    versions = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def write_page(
    summary: Summary, size: Size, versions: Mapping[str, str], choices: str = "", picture: str = ""
) -> str:
    """The whole page, in Markdown.

    Parameters
    ----------
    summary : Summary
    size : Size
    versions : dict of str
        By package, those of the peers included.
    choices : str
        The section on the choice of the default.
    picture : str
        Path of the picture, seen from the page.
    """
    parts = [
        "# Quality",
        _head(summary, size, versions),
        _rule(),
        f"![Mean ranks of the methods, and AMI by set]({picture})" if picture else "",
        _sets(summary),
        write_clusters(summary),
        write_winners(summary),
        write_means(summary),
        write_counts(summary),
        _neighbours(summary),
        _geometry(summary),
        _robustness(summary),
        choices,
        _failures(summary),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(summary: Summary, size: Size, versions: Mapping[str, str]) -> str:
    seeds = {record.cell.seed for record in summary.results.records}
    text = (
        f"*Made by {COMMANDS[size]}.* "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + f". {len(summary.results.records):,} cells, of which "
        f"{len(summary.failures()):,} failed; seeds {', '.join(map(str, sorted(seeds)))}."
    )
    old = sum(record.source != source_digest() for record in summary.results.records)
    if old:
        text += f" {old:,} cells come from an earlier state of the source."
    if summary.results.absent:
        text += "\n\n**Sets that are missing:** " + "; ".join(
            f"{name} ({why})" for name, why in summary.results.absent.items()
        )
        text += ". Set `VIEWHOP_DATA` to the folder with the files."
    if size is Size.QUICK:
        text += "\n\nSizes are small: this run shows that everything works, not how well."
    return text


def _rule() -> str:
    return (
        "**The rule.** A method sees no label and no set has parameters of its own. With K "
        "classes, a method that embeds gets r = K − 1 columns, and K-means with K clusters runs on "
        f"all its coordinates: the mean over {len(KMEANS_SEEDS)} seeds, each the best of {N_INIT} "
        f"starts. The mean that counts is over fourteen real sets: {', '.join(COUNTED)}. "
        "Differences below 0.01 on one set, and below 0.005 in the mean, are noise. Peers run with "
        "their own defaults, but for MCCA: its default of no shrinkage fits noise where a view has "
        f"more features than samples, so it has {SHRINKAGE:g}, chosen in its favour from four "
        "values, with the labels of four sets. “Cosine” is a setting given to a peer: rows of unit "
        f"length in each view. A gap is a “{DASH}”, and its reason is given below the table."
    )


def _sets(summary: Summary) -> str:
    rows = [
        [name, f"{size.n_samples:,}", str(size.n_views), str(size.n_classes or DASH)]
        for name, size in summary.results.sizes.items()
    ]
    return "## The sets\n\n" + table(["set", "samples", "views", "classes K"], rows)


def _neighbours(summary: Summary) -> str:
    if not summary.sets:
        return ""
    gaps = Gaps()
    rows = []
    for column in summary.columns("neighbours"):
        means = [
            gaps.show(summary.mean(column, "neighbours", f"{k}-NN"), column, "mean", 3)
            for k in (1, 5)
        ]
        cells = [
            gaps.show(summary.value(name, column, "neighbours", "1-NN"), column, name)
            for name in summary.sets
        ]
        rows.append(bold_default([column, *means, *cells]))
    return gaps.below(
        "## Nearest neighbours\n\nHalf of the samples, with equal shares of the classes, are held "
        "out and placed by `transform`; the accuracy of their nearest neighbours in the other "
        f"half. r = K − 1, at most {MOST_COLUMNS}. By set: 1-NN.\n\n"
        + table(["method", "1-NN", "5-NN", *summary.sets], rows),
    )


def _geometry(summary: Summary) -> str:
    sets = [name for name in SYNTHETIC if name in summary.results.sizes]
    if not sets:
        return ""
    gaps = Gaps()
    rows = [
        bold_default(
            [column]
            + [
                gaps.show(summary.value(name, column, "geometry", "score"), column, name)
                for name in sets
            ]
        )
        for column in summary.columns("geometry")
    ]
    return gaps.below(
        "## Geometry\n\nRolls: |Spearman| of the first coordinate with the angle. Helices: "
        "circular rank correlation of the angle in two coordinates with the true one. Circles and "
        "mixtures: AMI.\n\n" + table(["method", *sets], rows),
    )


def _robustness(summary: Summary) -> str:
    if not summary.sets:
        return ""
    gaps = Gaps()
    rows = []
    for column in summary.columns("clusters"):
        if column == BEST_VIEW:
            continue
        losses = [_loss(summary, column, perturbation) for perturbation in PERTURBATIONS]
        if all(loss.number is None for loss in losses):
            for loss, head in zip(losses, PERTURBATIONS, strict=True):
                gaps.show(loss, column, head)
            continue
        clean = summary.mean(column, "clusters", "ami")
        shown = [
            gaps.show(loss, column, head, 3)
            for loss, head in zip((clean, *losses), ("clean", *PERTURBATIONS), strict=True)
        ]
        rows.append(bold_default([column, *shown]))
    drawn = " or ".join(f"{share:.0%}".replace("%", " %") for share in MISSING.values())
    return gaps.below(
        "## Robustness\n\nMean AMI on clean data, and the mean loss over the sets. A view of "
        f"noise has {WIDTH} features, N(0, 1); a shuffled view is the last one, with its rows "
        f"permuted; of (sample, view) pairs, {drawn} are drawn to be missing, and a sample that "
        "lost all its views gets one back.\n\n"
        + table(["method", "clean", *(f"loss, {name}" for name in PERTURBATIONS)], rows),
    )


def _loss(summary: Summary, column: str, perturbation: str) -> Value:
    clean = summary.mean(column, "clusters", "ami")
    worse = summary.mean(column, "clusters", "ami", perturbation)
    reasons = {
        summary.value(name, column, "clusters", "ami", perturbation).reason for name in summary.sets
    } - {""}
    if clean.number is None or worse.number is None:
        return Value(None, "; ".join(sorted(reasons)) or clean.reason)
    return Value(clean.number - worse.number)


def _failures(summary: Summary) -> str:
    failed = [f"- {record.cell}: {record.error}" for record in summary.failures()]
    return "## Cells that failed\n\n" + "\n".join(failed) if failed else ""
