"""Findings in a fitted geometry: the graph of each view, and the agreement between views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.advice._finding import Finding
from viewhop.advice._graph_health import graph_health
from viewhop.affinity import Affinity
from viewhop.geometry import Geometry

__all__ = ["NEGLIGIBLE", "agreement_findings", "effective_neighbours", "graph_findings"]

Floats = NDArray[np.float64]

#: Rows whose effective number of neighbours is computed, where all pairs are stored.
ROWS = 64
#: Effective number of neighbours, with the sample itself, below which a kernel is nearly the
#: identity.
ALONE = 1.5
#: Share of all samples above which a kernel is nearly constant.
EVERYONE = 0.9
#: Neighbours of one row, relative to k, and skewness of their number, from which it is a hub.
HUB, SKEWED = 10.0, 2.0
#: Samples per neighbour below which there are few.
PER_NEIGHBOUR = 4
#: Agreement that is negligible, even if it is more than shuffled rows have.
NEGLIGIBLE = 0.01


def graph_findings(geometry: Geometry, health: Mapping[str, Any] | None = None) -> list[Finding]:
    """Findings in the graphs of a fitted geometry: pieces, extreme kernels, hubs, few samples.

    Parameters
    ----------
    geometry : Geometry
    health : dict or None
        From `graph_health`, if it is at hand.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.advice import graph_findings
    >>> circles = vh.datasets.make_circles(100, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(kernel=vh.kernels.Gaussian(1e3)).fit(circles.views)
    >>> [(finding.kind, finding.view) for finding in graph_findings(est.geometry_)]
    [('complete', 'x'), ('complete', 'y')]
    """
    health = graph_health(geometry) if health is None else health
    findings = [
        Finding("pieces", None, float(health["pieces"]), text, "warning")
        for text in health["words"]
    ]
    for K, graph in zip(geometry.walk.affinities, health["views"], strict=True):
        if graph["pieces"] > 1 and health["pieces"] == 1:
            findings.append(_joined_pieces(graph))
        findings += [*_extreme_kernel(K), *_hubs(K), *_few_samples(K)]
    return findings


def _joined_pieces(graph: Mapping[str, Any]) -> Finding:
    text = (
        f"The graph of this view alone has {graph['pieces']:,} pieces, the largest with "
        f"{graph['largest']:,} of {graph['rows']:,} rows; the other views connect them."
    )
    return Finding("pieces", graph["name"], float(graph["pieces"]), text, "note")


def effective_neighbours(K: Affinity) -> float:
    """The median effective number of neighbours of a sample, itself included.

    Parameters
    ----------
    K : Affinity

    Notes
    -----
    The perplexity exp(−Σ_j p_j log p_j) of a row of the kernel, scaled to sum 1: 1 for the
    identity, n if all samples are equally similar. If all pairs are stored, some rows are drawn.
    """
    n, pairs = K.n_samples, K.stored_pairs
    if pairs is not None:
        rows = np.repeat(np.arange(n), np.diff(pairs.indptr))
        values = np.asarray(pairs.data, dtype=np.float64)
        total = np.bincount(rows, values, minlength=n)
        share = values / total[rows]
        logs = np.log(np.where(share > 0, share, 1.0))
        entropy = np.bincount(rows, -share * logs, minlength=n)
    else:
        drawn = np.unique(np.linspace(0, n - 1, min(ROWS, n)).astype(np.intp))
        columns = np.zeros((n, drawn.size))
        columns[drawn, np.arange(drawn.size)] = 1.0
        block = np.maximum(np.asarray(K @ columns, dtype=np.float64), 0.0)
        share = block / block.sum(axis=0)
        entropy = -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=0)
    return float(np.exp(np.median(entropy)))


def _extreme_kernel(K: Affinity) -> list[Finding]:
    effective, n = effective_neighbours(K), K.n_samples
    if effective < ALONE:
        text = (
            f"The kernel is nearly the identity: a sample has effectively {effective:.2f} "
            "neighbours, itself included, so the walk rarely leaves it. Raise the scale."
        )
        return [Finding("identity", K.name, effective, text, "warning")]
    if K.kernel.n_neighbors is None and effective > EVERYONE * n:
        text = (
            f"The kernel is nearly constant: a sample has effectively {effective:,.0f} neighbours "
            f"among {n:,} samples, so the view hardly distinguishes them. Lower the scale."
        )
        return [Finding("complete", K.name, effective, text, "warning")]
    return []


def _hubs(K: Affinity) -> list[Finding]:
    pairs, k = K.stored_pairs, K.kernel.n_neighbors
    if pairs is None or k is None:
        return []
    counts = np.diff(pairs.indptr) - 1.0
    deviation = float(counts.std())
    most = float(counts.max())
    if deviation == 0 or most < HUB * k:
        return []
    skewness = float((((counts - counts.mean()) / deviation) ** 3).mean())
    if skewness < SKEWED:
        return []
    text = (
        f"One row is connected to {most:,.0f} others, {most / k:.0f} times n_neighbors ({k}); the "
        f"skewness of that number over all rows is {skewness:.1f}. Such hubs link unrelated "
        "samples: check these rows, or try another metric."
    )
    return [Finding("hubs", K.name, most / k, text, "warning")]


def _few_samples(K: Affinity) -> list[Finding]:
    k, n = K.kernel.n_neighbors, K.n_samples
    if k is None or n >= PER_NEIGHBOUR * k:
        return []
    text = (
        f"The view has {n:,} rows, fewer than {PER_NEIGHBOUR} times n_neighbors ({k}): "
        "neighbourhoods cover much of the data, and the graph shows little structure."
    )
    return [Finding("few samples", K.name, float(n), text, "warning")]


def agreement_findings(
    names: Sequence[str],
    agreement: Floats | None,
    weights: Mapping[str, float],
    bound: Floats | None = None,
) -> list[Finding]:
    """Views that agree with no other view, or that cannot be compared with any.

    Parameters
    ----------
    names : sequence of str
    agreement : (L, L) array or None
        Agreement of the neighbour lists of two views, NaN without evidence; None if it was not
        measured.
    weights : dict of float by view name
        May be empty.
    bound : (L, L) array or None
        What shuffled rows hardly exceed, from `viewhop.selection.shuffled_agreement`; None counts
        an agreement below 0.01 as none.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.advice import agreement_findings
    >>> agreement = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.002], [0.0, 0.002, 1.0]])
    >>> [finding.view for finding in agreement_findings("abc", agreement, {})]
    ['c']
    """
    if agreement is None or len(names) < 2:
        return []
    findings = []
    for l, name in enumerate(names):
        others = np.delete(agreement[l], l)
        if np.isnan(others).all():
            text = (
                "No other view has enough samples in common with it (50), or its neighbours "
                "cannot be read off its rows, so its metric and weight rest on no evidence."
            )
            findings.append(Finding("no evidence", name, 0.0, text, "note"))
            continue
        limits = np.full(others.size, np.nan) if bound is None else np.delete(bound[l], l)
        limits = np.fmax(limits, NEGLIGIBLE)
        if (others > limits).any():
            continue
        findings.append(_no_agreement(name, len(names), others, limits, weights))
    return findings


def _no_agreement(
    name: str, n_views: int, others: Floats, limits: Floats, weights: Mapping[str, float]
) -> Finding:
    best = int(np.nanargmax(others))
    text = (
        f"Its neighbours agree with those of no other view: at most {others[best] + 0.0:.3f}, "
        f"where up to {limits[best]:.3f} counts as chance. "
    )
    if n_views == 2:
        text += "With two views, either may be the cause. "
    elif name in weights:
        text += f"Its weight is {weights[name]:.2g}. "
    text += "Check that its rows are in the order of the other views, or leave it out."
    return Finding("no agreement", name, float(others[best]), text, "warning")
