"""The tables of clustering: with the number of clusters known, and unknown."""

from __future__ import annotations

from benchmarks.quality.markdown import DASH, Gaps, bold_default, format_value, table
from benchmarks.quality.peer_list import LARGEST_NETWORK
from benchmarks.quality.ranks import critical_difference
from benchmarks.quality.sets import CUT
from benchmarks.quality.summary import Summary

__all__ = ["write_clusters", "write_counts", "write_means", "write_winners"]


def write_clusters(summary: Summary) -> str:
    """AMI with K known, by method and set, with means and ranks."""
    sets = [*summary.sets, *(name for name in CUT if name in summary.results.sizes)]
    if not sets:
        return ""
    gaps, ranks = Gaps(), summary.ranks()
    few = [name for name in summary.sets if summary.results.sizes[name][0] <= LARGEST_NETWORK]
    has_few = 0 < len(few) < len(summary.sets)
    order = sorted(
        summary.columns("clusters"),
        key=lambda column: -(summary.mean(column, "clusters", "ami").number or -1.0),
    )
    rows = []
    for column in order:
        mean = summary.mean(column, "clusters", "ami")
        cells = [
            gaps.show(summary.value(name, column, "clusters", "ami"), column, name) for name in sets
        ]
        rank = ranks.get(column)
        shown = [DASH if rank is None else f"{rank:.1f}"]
        if has_few:
            mean_few = summary.mean(column, "clusters", "ami", sets=few)
            shown.append(gaps.show(mean_few, column, "mean of small sets", 3))
        rows.append(bold_default([column, gaps.show(mean, column, "mean", 3), *shown, *cells]))
    n_sets = len(summary.sets)
    text = "## Clustering with K known\n\nAMI"
    text += f"; the mean and the mean rank are over {n_sets} of the fourteen sets.\n\n"
    if has_few:
        text += (
            f"“Small” is the mean over the {len(few)} sets with at most {LARGEST_NETWORK:,} "
            "samples, up to which SNF is run.\n\n"
        )
    text += table(["method", "mean", "rank", *(["small"] if has_few else []), *sets], rows)
    if len(ranks) > 1 and n_sets > 1:
        difference = critical_difference(len(ranks), n_sets)
        text += (
            f"\n\nMean ranks differ at the level of 5 % if they are {difference:.1f} apart "
            f"(Nemenyi, {len(ranks)} methods, {n_sets} sets). Methods that lack a set have no "
            "rank, nor has the best view, which is chosen with labels."
        )
    return gaps.below(text)


def write_winners(summary: Summary) -> str:
    """One sentence per set: the default and the best peer."""
    lines = []
    for name in summary.sets:
        ours, peer = summary.default(name), summary.best_peer(name)
        if ours is None or peer is None:
            continue
        who, number = peer
        texts = format_value(ours), format_value(number)
        if number > ours:
            lines.append(f"- {name}: {who} wins with {texts[1]}; the default has {texts[0]}.")
        else:
            lines.append(
                f"- {name}: no peer beats the default, {texts[0]}; the best is {who} with "
                f"{texts[1]}."
            )
    return "### The default and the best peer, set by set\n\n" + "\n".join(lines) if lines else ""


def write_means(summary: Summary) -> str:
    """Means of AMI, ARI and accuracy by method."""
    scores = {"AMI": "ami", "ARI": "ari", "accuracy": "accuracy"}
    gaps = Gaps()
    rows = [
        bold_default(
            [column]
            + [
                gaps.show(summary.mean(column, "clusters", score), column, head, 3)
                for head, score in scores.items()
            ]
        )
        for column in summary.columns("clusters")
    ]
    if not summary.sets:
        return ""
    return gaps.below(
        "### Means of three scores\n\nAccuracy is the share of samples in matching pairs of "
        "clusters and classes.\n\n" + table(["method", *scores], rows),
    )


def write_counts(summary: Summary) -> str:
    """The number of clusters that is found, and the AMI."""
    sets = [*summary.sets, *(name for name in CUT if name in summary.results.sizes)]
    columns = summary.columns("count")
    gaps = Gaps()
    rows = []
    for name in sets:
        cells = [name, str(summary.results.sizes[name].n_classes)]
        for column in columns:
            k = summary.value(name, column, "count", "k")
            ami = summary.value(name, column, "count", "ami")
            if k.number is None:
                cells.append(gaps.show(k, column, name))
            else:
                cells.append(f"{k.number:.3g} ({gaps.show(ami, column, name)})")
        rows.append(cells)
    means = [gaps.show(summary.mean(c, "count", "ami"), c, "mean AMI", 3) for c in columns]
    rows.append(["mean AMI", "", *means])
    return gaps.below(
        "## Clustering with K unknown\n\nThe number of clusters that "
        '`MultiViewSpectralClustering("auto")` finds, and the AMI in brackets.\n\n'
        + table(["set", "K", *columns], rows),
    )
