"""Classification with pairs of views: the multi-view walk of every two views."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from viewhop._runtime.progress import Progress, no_progress
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.seismic._classification_input import (
    check_choices,
    check_walk,
    overlapping_events,
    read_input,
    read_kernels,
    read_ranks,
    renumber,
)
from viewhop.seismic._fewer_features import with_fewer_features
from viewhop.seismic._methods import (
    explain_few_events,
    explain_one_class,
    min_events,
    select_views,
)
from viewhop.seismic._nearest_labels import PROCEDURES
from viewhop.seismic._outcomes import PairScores, Score
from viewhop.seismic._remarks import warning_remarks
from viewhop.views import Views

__all__ = ["classify_pairs"]


def classify_pairs(
    views: Views,
    labels: Sequence[Any],
    *,
    n_components: int = 4,
    n_steps: float = 1,
    within_view_weight: float = 0.0,
    n_neighbors: int = 1,
    kernel: Any = None,
    procedure: str = "transductive",
    overlaps: Sequence[tuple[int, int]] = (),
    random_state: int = 0,
    progress: Progress = no_progress,
) -> PairScores:
    """Accuracy of each view in the multi-view walk with each other view.

    Parameters
    ----------
    views, labels, n_steps, within_view_weight, n_neighbors, kernel, overlaps
        As for `classify`; so are `random_state` and `progress`.
    n_components : int
        r, number of coordinates of the first view of a pair.
    procedure : {"transductive", "refitted"}

    Returns
    -------
    PairScores

    Notes
    -----
    The paper's figure of all pairs. The coordinates of both views of a pair come from one walk, so
    the matrix is nearly, but not exactly, symmetric. A pair is refused, and its entry NaN, if one
    of its views recorded too few labelled events, if both recorded one class only, or if its fit
    fails.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic import classify_pairs
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat(["blast", "earthquake"], 15)
    >>> views = [(kind == "blast")[:, None] + 0.2 * rng.normal(size=(30, 50)) for _ in range(3)]
    >>> classify_pairs(views, kind, kernel="gaussian", n_components=2).accuracy.tolist()
    [[nan, 1.0, 1.0], [1.0, nan, 1.0], [1.0, 1.0, nan]]
    """
    views, codes, classes = read_input(views, labels)
    apart = overlapping_events(overlaps, len(codes))
    [r] = read_ranks(n_components)
    check_choices(n_neighbors, ("hop",), (procedure,))
    check_walk(n_steps, within_view_weight)
    if views.n_views < 2:
        raise ValueError("expected at least two views for pairs, got one")
    kernels = read_kernels(kernel, views.names)
    reduced = with_fewer_features(views, kernels)
    names = tuple(views.names)
    accuracy = np.full((len(names), len(names)), np.nan)
    balanced = accuracy.copy()
    few = explain_few_events(views, codes, min_events(r, n_neighbors, (procedure,)))
    refused = {name: f"{name}, in every pair: {why}" for name, why in few.items()}
    scores: list[Score] = []
    pairs = list(combinations(range(len(names)), 2))
    for count, (l, m) in enumerate(pairs, start=1):
        pair = [names[l], names[m]]
        pair_name = " and ".join(pair)
        progress("pairs", count, len(pairs))
        if any(name in few for name in pair):
            continue
        events = np.flatnonzero(reduced.observed[:, [l, m]].any(axis=1))
        if why := explain_one_class(codes[events], classes):
            refused[pair_name] = f"{pair_name}: {why}"
            continue
        try:
            answers, warned = PROCEDURES[procedure](
                MultiViewDiffusionMaps.paper_settings(
                    r,
                    n_steps=n_steps,
                    kernel={name: kernels[name] for name in pair},
                    within_view_weight=within_view_weight,
                    random_state=random_state,
                ),
                select_views(reduced, pair, events),
                codes[events],
                columns=[np.arange(r), np.arange(r, 2 * r)],
                n_neighbors=n_neighbors,
                apart=renumber(apart, events),
                left_out=None,
                progress=no_progress,
            )
        except ValueError as error:  # as in classify
            refused[pair_name] = f"{pair_name}: {error}"
            continue
        for (row, column), answer in zip(((l, m), (m, l)), answers, strict=True):
            score = Score(pair_name, procedure, r, classes, codes[events], answer, dict(warned))
            scores.append(score)
            accuracy[row, column] = score.accuracy
            balanced[row, column] = score.balanced_accuracy
    if np.isnan(accuracy).all():
        raise ValueError("no pair can be used: " + "; ".join(refused.values()))
    return PairScores(names, accuracy, balanced, refused, tuple(warning_remarks(scores)))
