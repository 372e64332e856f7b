"""Recommendations in words, each with the numbers that it is based on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from viewhop.advice._finding import Recommendation
from viewhop.advice._spectral_choice import ACCURACY, RankChoice, entropy_knee
from viewhop.geometry import Geometry, ways_to_join
from viewhop.kernels import DistanceKernel
from viewhop.selection import Selection
from viewhop.views import Views

__all__ = [
    "fusion_reason",
    "metric_reasons",
    "neighbours_reason",
    "scale_reasons",
    "spectral_reasons",
    "weight_reasons",
]

#: Overlap of coordinates from which two fusions give nearly the same.
SAME = 0.9


def metric_reasons(selection: Selection, standardised: Mapping[str, float]) -> list[Recommendation]:
    """The metric of each view, and why.

    Parameters
    ----------
    selection : Selection
    standardised : dict of float by view name
        Ratio of scales of views that are standardised because of it.
    """
    return [
        Recommendation(
            "metric",
            name,
            metric,
            _metric_reason(name, metric, selection, standardised),
            is_override=name in standardised,
        )
        for name, metric in selection.metrics.items()
    ]


def _metric_reason(
    name: str, metric: str, selection: Selection, standardised: Mapping[str, float]
) -> str:
    scores = selection.scores[name]
    if name in standardised:
        return (
            f"Scales of the features differ by a factor of {standardised[name]:.2g}, and no other "
            "view can decide."
        )
    if metric not in scores:
        if metric == "precomputed":
            return "The kernel is given."
        return "No other view can be compared; the features give no reason for another metric."
    text = f"Agreement with the other views {_two_digits(scores[metric])}"
    others = {key: score for key, score in scores.items() if key != metric}
    if not others:
        return f"{text}; the metric was given."
    best = max(others, key=others.__getitem__)
    text += f"; the next best, {best}, {_two_digits(others[best])}"
    if metric == "euclidean" and others[best] > scores[metric]:
        text += ", which is not better by the margin that replaces Euclidean distances"
    return f"{text}."


def _two_digits(value: float) -> str:
    """A number with two digits, without a negative zero."""
    return f"{round(value, 2) + 0.0:.2f}"


def neighbours_reason(geometry: Geometry, tried: Mapping[int, int]) -> Recommendation:
    """The number of neighbours, and why.

    Parameters
    ----------
    geometry : Geometry
        With the recommended number.
    tried : dict of int by int
        Pieces of the walk at each number that was tried; empty for dense kernels.
    """
    if not tried:
        return Recommendation("n_neighbors", None, "all", "The kernels keep all pairs.")
    counts = [K.kernel.n_neighbors for K in geometry.walk.affinities]
    k = min(count for count in counts if count is not None)
    first = next(iter(tried))
    if geometry.record.n_pieces > 1:
        pieces = ", ".join(f"{m} neighbours: {count}" for m, count in tried.items())
        text = (
            f"The walk stays in pieces ({pieces}): no number of neighbours up to {max(tried)} "
            f"connects it. To join them, {ways_to_join(geometry.walk)[0]}."
        )
    elif k == first:
        text = "The walk is connected with it."
    elif k < first:
        text = f"There are {geometry.n_samples:,} samples, and the walk is connected with it."
    else:
        text = (
            f"The smallest number of those tried that connects the walk, which has "
            f"{tried[first]} pieces with {first}."
        )
    return Recommendation("n_neighbors", None, k, text, is_override=k != first)


def scale_reasons(geometry: Geometry) -> list[Recommendation]:
    """The scale of each view that has one.

    Parameters
    ----------
    geometry : Geometry
    """
    reasons = []
    for K in geometry.walk.affinities:
        if not isinstance(K.kernel, DistanceKernel):
            continue
        sigma, rule = np.asarray(K.scale, dtype=np.float64), K.kernel.bandwidth
        text = f"One scale, {float(np.median(sigma)):.3g}."
        if sigma.ndim:
            low, middle, high = np.quantile(sigma, [0.05, 0.5, 0.95])
            text = (
                f"One scale per sample, the distance to neighbour {K.kernel.scale_rank}: median "
                f"{middle:.3g}, 5 % to 95 % {low:.3g} to {high:.3g}."
            )
        reasons.append(Recommendation("bandwidth", K.name, rule, text))
    return reasons


def weight_reasons(selection: Selection) -> list[Recommendation]:
    """The weight of each of several views.

    Parameters
    ----------
    selection : Selection
    """
    names = [*selection.weights]
    if len(names) < 2:
        return []
    reasons = []
    for l, name in enumerate(names):
        others = np.delete(selection.agreement[l], l)
        if np.isnan(others).all():
            text = "No other view can be compared."
        else:
            text = f"Mean agreement with the other views {np.nanmean(others) + 0.0:.3f}."
        reasons.append(Recommendation("weight", name, selection.weights[name], text))
    return reasons


def spectral_reasons(geometry: Geometry, rank: RankChoice) -> list[Recommendation]:
    """The number of coordinates and the diffusion time, and why.

    Parameters
    ----------
    geometry : Geometry
    rank : RankChoice
    """
    values = geometry.spectrum.eigenvalues
    n = values.size
    within = f"at least {n}" if rank.by_accuracy == n else str(rank.by_accuracy)
    gap = (
        f"The largest gap between eigenvalues, {rank.gap:.2g}, comes after coordinate {rank.by_gap}"
    )
    if rank.is_clear:
        gap += ", and no other is comparable"
    elif rank.by_last_gap > rank.by_gap:
        gap += f", the last comparable one after {rank.by_last_gap}"
    text = (
        f"{gap}; an accuracy of {ACCURACY} at t = 1 needs {within}. The smaller number is "
        "recommended."
    )
    if not rank.is_clear:
        text += " The gaps are not clear: along a curve or surface there are none."
    if geometry.record.n_pieces > 1:
        text += f" {geometry.record.n_pieces - 1} of the coordinates separate pieces."
    knee = entropy_knee(values)
    time = (
        f"The spectral entropy of {n} eigenvalues falls more slowly from t = {knee} on. A longer "
        "time suppresses later coordinates; n_components leaves them out already."
    )
    return [
        Recommendation("n_components", None, rank.r, text),
        Recommendation("n_steps", None, 1, time),
    ]


def fusion_reason(views: Views, r: int, overlap: float | None) -> Recommendation:
    """How the views are combined, and why.

    Parameters
    ----------
    views : Views
    r : int
        Number of coordinates that were compared.
    overlap : float or None
        Of the coordinates with those of the sum of the kernels; None if it was not measured.
    """
    if views.n_views == 1:
        text = "There is one view: this is an ordinary diffusion map, as in DiffusionMaps."
    elif not views.is_complete:
        complete = float(views.observed.all(axis=1).mean())
        text = (
            f"{complete:.0%} of the samples were observed by every view; other fusions need all of "
            "them."
        )
    elif overlap is None:
        text = "It weights the views by their agreement."
    else:
        same = "nearly the same coordinates" if overlap >= SAME else "other coordinates"
        text = (
            f'fusion="sum" gives {same} (overlap of the first {r}: {overlap:.2f}, where 1 is the '
            "same space); hop weights the views by agreement, and places samples with missing "
            "views."
        )
    return Recommendation("fusion", None, "hop", text)
