"""Health: the graph of each view in numbers, with a warning in words where there is one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from viewhop.affinity import Affinity
from viewhop.geometry import Geometry, ways_to_join

__all__ = ["graph_health", "missing_samples"]

#: A degree below this share of the median is negligible.
FAINT = 1e-3
#: Recall below which missed neighbours are mentioned; the same as for `RecallWarning`.
LOW_RECALL = 0.95
#: Bars of the histogram of degrees.
BARS = 32
#: Combinations of views that are listed.
MOST_PATTERNS = 16


def graph_health(geometry: Geometry) -> dict[str, Any]:
    """The graph of each view: neighbours, pieces, degrees, recall, and warnings in words.

    Parameters
    ----------
    geometry : Geometry
    """
    pieces = geometry.walk.pieces()
    sizes = np.sort(np.bincount(pieces[pieces >= 0]))[::-1]
    words = []
    if sizes.size > 1:
        words.append(
            f"The walk falls into {sizes.size} pieces; the largest has {sizes[0]:,} of "
            f"{sizes.sum():,} nodes. Distances between samples of different pieces have no "
            f"meaning. To join them, {', or '.join(ways_to_join(geometry.walk))}."
        )
    return {
        "pieces": geometry.record.n_pieces,
        "sizes": sizes[:8].tolist(),
        "words": words,
        "views": [_graph(geometry, l, K) for l, K in enumerate(geometry.walk.affinities)],
    }


def _graph(geometry: Geometry, view: int, K: Affinity) -> dict[str, Any]:
    values = K.stored_pairs
    count, labels = connected_components(K.pattern(), directed=False)
    sizes = np.bincount(labels)
    degrees = np.asarray(geometry.degrees[K.name], dtype=np.float64)
    degrees = degrees[np.isfinite(degrees)]
    positive = degrees[degrees > 0]
    median = float(np.median(degrees))
    faint = int((degrees < FAINT * median).sum())
    graph: dict[str, Any] = {
        "name": K.name,
        "observed": int(geometry.observed[:, view].sum()),
        "rows": K.n_samples,
        "held": _held_pairs(geometry.n_neighbors[K.name], is_full=values is None),
        "metric": geometry.metrics[K.name],
        "scores": _ranked_scores(geometry, K.name),
        "weight": geometry.record.view_weights.get(K.name),
        "pieces": int(count),
        "largest": int(sizes.max()),
        "recall": float(K.recall),
        "degree": [float(degrees.min()), median, float(degrees.max())],
        "faint": faint,
        "bytes": int(K.nbytes),
    }
    isolated = 0
    if values is not None:
        others = np.diff(values.indptr) - 1
        isolated = int((others < 1).sum())
        graph["neighbours"] = [int(others.min()), float(np.median(others)), int(others.max())]
        graph["pairs"] = int((values.nnz - K.n_samples) // 2)
    if positive.size:
        logs = np.log10(positive)
        # Equal degrees, as in alternating diffusion, have no range to divide.
        has_range = np.ptp(logs) > 1e-6
        counts, edges = np.histogram(logs, bins=BARS if has_range else 1)
        graph["bars"] = {
            "counts": counts.tolist(),
            "low": float(edges[0]),
            "high": float(edges[-1]),
        }
    return graph | {"words": _words(graph, isolated)}


def _held_pairs(k: int | None, *, is_full: bool) -> str:
    """Which pairs a kernel keeps, in words."""
    if is_full:
        return "all pairs"
    return "stored pairs" if k is None else f"{k:,} neighbours"


def _ranked_scores(geometry: Geometry, name: str) -> list[list[Any]]:
    """Metrics that were tried, with their agreement with the other views, the best first."""
    scores = geometry.record.metric_scores.get(name, {})
    return [[metric, scores[metric]] for metric in sorted(scores, key=lambda key: -scores[key])]


def _words(graph: dict[str, Any], isolated: int) -> list[str]:
    words = []
    if graph["pieces"] > 1:
        words.append(
            f"The graph of this view alone has {graph['pieces']:,} pieces; the largest has "
            f"{graph['largest']:,} of {graph['rows']:,} rows."
        )
    if graph["recall"] < LOW_RECALL:
        words.append(
            f'The search found {graph["recall"]:.1%} of the true neighbours; search="exact" '
            "finds all."
        )
    if isolated:
        words.append(f"{isolated:,} rows have no neighbour.")
    if graph["faint"]:
        words.append(
            f"{graph['faint']:,} nodes have less than a thousandth of the median degree: the walk "
            "rarely visits them."
        )
    return words


def missing_samples(geometry: Geometry) -> dict[str, Any]:
    """How many samples each view observed, and the most frequent combinations of views.

    Parameters
    ----------
    geometry : Geometry
    """
    observed = geometry.observed
    patterns, counts = np.unique(observed, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rows = geometry.walk.rows
    return {
        "complete": int(observed.all(axis=1).sum()),
        "observed": observed.sum(axis=0).tolist(),
        "patterns": [
            {"views": patterns[k].astype(int).tolist(), "count": int(counts[k])}
            for k in order[:MOST_PATTERNS]
        ],
        "others": int(counts[order[MOST_PATTERNS:]].sum()),
        "repeated": [name for l, name in enumerate(geometry.schema.names) if rows.is_repeated(l)],
    }
