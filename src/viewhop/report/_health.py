"""Health: what the graph of each view is like, in numbers and in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from viewhop.affinity import Affinity
from viewhop.estimators import MultiViewDiffusionMaps

__all__ = ["graphs", "missing"]

#: A degree below this share of the median is next to nothing.
FAINT = 1e-3
#: Recall below which neighbours that were missed are worth a word; as `RecallWarning` has it.
LOW_RECALL = 0.95
#: Bars of the histogram of degrees.
BARS = 32
#: Combinations of views that are listed.
MOST_PATTERNS = 16


def graphs(est: MultiViewDiffusionMaps) -> dict[str, Any]:
    """The graph of each view: neighbours, pieces, degrees, recall, and what to worry about.

    Parameters
    ----------
    est : fitted estimator
    """
    pieces = est.walk_.pieces()
    sizes = np.sort(np.bincount(pieces[pieces >= 0]))[::-1]
    words = []
    if sizes.size > 1:
        words.append(
            f"The walk falls into {sizes.size} pieces, the largest of {sizes[0]:,} of "
            f"{sizes.sum():,} nodes: coordinates between pieces say nothing of distance. Raise the "
            "bandwidth (factor) or n_neighbors to join them."
        )
    return {
        "pieces": int(est.n_pieces_),
        "sizes": sizes[:8].tolist(),
        "words": words,
        "views": [_graph(est, l, K) for l, K in enumerate(est.walk_.affinities)],
    }


def _graph(est: MultiViewDiffusionMaps, view: int, K: Affinity) -> dict[str, Any]:
    values: csr_array | None = getattr(K, "values", None)
    count, labels = connected_components(K.pattern(), directed=False)
    sizes = np.bincount(labels)
    degrees = np.asarray(est.degrees_[K.name], dtype=np.float64)
    degrees = degrees[np.isfinite(degrees)]
    positive = degrees[degrees > 0]
    median = float(np.median(degrees))
    faint = int((degrees < FAINT * median).sum())
    found: dict[str, Any] = {
        "name": K.name,
        "observed": int(est.observed_[:, view].sum()),
        "rows": K.n_samples,
        "held": "all pairs" if values is None else "neighbours",
        "pieces": int(count),
        "largest": int(sizes.max()),
        "recall": float(est.recall_[K.name]),
        "degree": [float(degrees.min()), median, float(degrees.max())],
        "faint": faint,
        "bytes": int(K.nbytes),
    }
    alone = 0
    if values is not None:
        others = np.diff(values.indptr) - 1
        alone = int((others < 1).sum())
        found["neighbours"] = [int(others.min()), float(np.median(others)), int(others.max())]
        found["pairs"] = int((values.nnz - K.n_samples) // 2)
    if positive.size:
        logs = np.log10(positive)
        # Equal degrees, as alternating diffusion has them, need some width, too.
        wide = np.ptp(logs) > 1e-6
        counts, edges = np.histogram(logs, bins=BARS if wide else 1)
        found["bars"] = {
            "counts": counts.tolist(),
            "low": float(edges[0]),
            "high": float(edges[-1]),
        }
    return found | {"words": _words(found, alone)}


def _words(found: dict[str, Any], alone: int) -> list[str]:
    words = []
    if found["pieces"] > 1:
        words.append(
            f"By itself this view is in {found['pieces']:,} pieces; the largest has "
            f"{found['largest']:,} of {found['rows']:,} rows."
        )
    if found["recall"] < LOW_RECALL:
        words.append(
            f'The search found {found["recall"]:.1%} of the true neighbours; search="exact" '
            "finds all."
        )
    if alone:
        words.append(f"{alone:,} rows see no other row.")
    if found["faint"]:
        words.append(
            f"{found['faint']:,} nodes have less than a thousandth of the median degree: the walk "
            "hardly visits them."
        )
    return words


def missing(est: MultiViewDiffusionMaps) -> dict[str, Any]:
    """Which views observed how many samples, and the commonest combinations of views.

    Parameters
    ----------
    est : fitted estimator
    """
    observed = est.observed_
    patterns, counts = np.unique(observed, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {
        "complete": int(observed.all(axis=1).sum()),
        "observed": observed.sum(axis=0).tolist(),
        "patterns": [
            {"views": patterns[k].astype(int).tolist(), "count": int(counts[k])}
            for k in order[:MOST_PATTERNS]
        ],
        "others": int(counts[order[MOST_PATTERNS:]].sum()),
        "repeated": [
            est.view_names_[l] for l in range(est.n_views_) if est.walk_.rows.is_repeated(l)
        ],
    }
