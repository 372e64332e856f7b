"""Classification: the type of an event, or its quarry, from its neighbours in an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, Stage, no_progress
from viewhop.seismic._classification_input import (
    check_choices,
    check_walk,
    overlapping_events,
    read_input,
    read_kernels,
    read_left_out,
    read_ranks,
    renumber,
)
from viewhop.seismic._fewer_features import with_fewer_features
from viewhop.seismic._methods import Method, choose_methods, min_events
from viewhop.seismic._nearest_labels import PROCEDURES
from viewhop.seismic._outcomes import FUSIONS, Classification, Score
from viewhop.seismic._remarks import (
    comparison_remarks,
    duplicate_remarks,
    lone_class_remarks,
    missingness_remarks,
    overlap_remarks,
    warning_remarks,
)
from viewhop.views import Views

__all__ = ["classify"]

Codes = NDArray[np.intp]


def classify(
    views: Views,
    labels: Sequence[Any],
    *,
    n_components: int | Sequence[int] = 4,
    n_steps: float = 1,
    within_view_weight: float = 0.0,
    n_neighbors: int = 1,
    kernel: Any = None,
    fusions: Sequence[str] = ("sum", "product", "hop"),
    singles: bool = True,
    procedures: Sequence[str] = ("transductive", "refitted"),
    left_out: Sequence[int] | None = None,
    overlaps: Sequence[tuple[int, int]] = (),
    random_state: int = 0,
    progress: Progress = no_progress,
) -> Classification:
    """Scores of classification by each view alone and by fusions of all views.

    Every event is classified by its nearest neighbours among the other events in a diffusion
    embedding, by two procedures. *Transductive*, as in the paper, uses one embedding of all events
    and excludes the event only from its own neighbours. *Refitted* treats the event as new: the
    embedding is fitted without it, and `transform` places it.

    Parameters
    ----------
    views : Views, or data that Views accepts
        Channels; events may be missing in some of them. See `seismic.events.event_views`.
    labels : sequence of n_events str or None
        None where unknown: such an event is classified but does not classify others.
    n_components : int or list of int
        r, number of coordinates per view; several values share the same fits.
    n_steps : float
        t, diffusion time of every method: coordinates are λ^t ψ.
    within_view_weight : float
        η of Eq. (49), from 0 to 1, in the multi-view walk; 0 is the paper's.
    n_neighbors : int
        K; events at the same distance as the K-th also vote. Ties go to the class with the nearest
        event, then to the first class by name.
    kernel : str, kernel object, list, dict or None
        As for `MultiViewDiffusionMaps`, but not precomputed. None is a Gaussian on 10 neighbours
        with local scales and Euclidean distances.
    fusions : sequence of {"sum", "product", "concat", "alternating", "hop"}
        Ways of combining all views; "hop" is the paper's walk, Eq. (13), with the coordinates of
        all views side by side, Eq. (23); "product" is the element-wise product of the kernels,
        "concat" the paper's, one Gaussian of all views side by side.
    singles : bool
        Whether each view is also used alone, on the events that it recorded.
    procedures : sequence of {"transductive", "refitted"}
    left_out : list of int or None
        Indices of the events that the refitted procedure predicts, one fit each; None predicts
        all. The fits still use all other events.
    overlaps : list of (int, int)
        Indices of pairs of events that share part of their records, as in `EventViews.overlaps`:
        neither votes on the other nor enters the fit that places it.
    random_state : int
    progress : callable

    Returns
    -------
    Classification

    Notes
    -----
    Fits on many subsets of the same events share their distances, so rows are first rotated into
    as few features as there are events.

    Methods that cannot be used are listed in `refused`, and the others are scored: a view with too
    few labelled events for the number of coordinates is refused alone and in the fusions; a view
    that recorded a single class is refused alone, since any prediction would be correct; the
    kernel products and the alternating walk are refused if an event is missing in a view; and so
    is a method with a failing fit. `remarks` holds caveats for comparing scores.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic import classify
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat(["blast", "earthquake"], 15)
    >>> views = [(kind == "blast")[:, None] + 0.2 * rng.normal(size=(30, 50)) for _ in range(2)]
    >>> classification = classify(views, kind, kernel="gaussian", n_components=2)
    >>> score = classification.find("multi-view", procedure="refitted")
    >>> score.accuracy, score.confusion.tolist()
    (1.0, [[15, 0], [0, 15]])
    """
    views, codes, classes = read_input(views, labels)
    apart = overlapping_events(overlaps, len(codes))
    wanted = read_left_out(left_out, len(codes))
    ranks = read_ranks(n_components)
    check_choices(n_neighbors, fusions, procedures)
    check_walk(n_steps, within_view_weight)
    kernels = read_kernels(kernel, views.names)
    methods, refused = choose_methods(
        with_fewer_features(views, kernels),
        codes,
        classes,
        kernels=kernels,
        fusions=fusions,
        singles=singles,
        n_components=ranks[-1],
        n_steps=n_steps,
        within_view_weight=within_view_weight,
        n_neighbors=n_neighbors,
        least=min_events(ranks[-1], n_neighbors, procedures),
        random_state=random_state,
    )
    scores: list[Score] = []
    for procedure in procedures:
        for method in methods:
            try:
                scores += _score_method(
                    method,
                    procedure,
                    codes,
                    classes,
                    ranks=ranks,
                    n_neighbors=n_neighbors,
                    apart=apart,
                    wanted=wanted,
                    progress=progress,
                )
            except ValueError as error:
                # With few events in common the walker may not get from one view to another.
                name = f"{method.name}, {procedure}"
                refused[name] = f"{name}: {error}"
    if not scores:
        raise ValueError("no method can be used: " + "; ".join(refused.values()))
    remarks = _collect_remarks(scores, views, codes, classes, methods, apart)
    return Classification(tuple(scores), refused, remarks)


def _score_method(
    method: Method,
    procedure: str,
    codes: Codes,
    classes: tuple[str, ...],
    *,
    ranks: Sequence[int],
    n_neighbors: int,
    apart: Sequence[set[int]],
    wanted: Codes | None,
    progress: Progress,
) -> list[Score]:
    """Score of one method under one procedure for each number of coordinates."""
    answers, warned = PROCEDURES[procedure](
        method.estimator,
        method.views,
        codes[method.events],
        columns=[method.columns(r, ranks[-1]) for r in ranks],
        n_neighbors=n_neighbors,
        apart=renumber(apart, method.events),
        left_out=None if wanted is None else np.flatnonzero(np.isin(method.events, wanted)),
        progress=_progress_of(f"{procedure}, {method.name}", progress),
    )
    scores = []
    for r, answer in zip(ranks, answers, strict=True):
        predicted = np.full(len(codes), -1, dtype=np.intp)
        predicted[method.events] = answer
        scores.append(Score(method.name, procedure, r, classes, codes, predicted, dict(warned)))
    return scores


def _progress_of(name: str, progress: Progress) -> Progress:
    """Progress callback that reports the method as its stage."""
    return lambda stage, done, total: progress(Stage(name), done, total)


def _collect_remarks(
    scores: Sequence[Score],
    views: Views,
    codes: Codes,
    classes: Sequence[str],
    methods: Sequence[Method],
    apart: Sequence[set[int]],
) -> tuple[str, ...]:
    """Caveats for comparing the scores."""
    fused = [method for method in methods if method.name in FUSIONS.values()]
    return (
        *overlap_remarks(apart),
        *duplicate_remarks(views),
        *(missingness_remarks(fused[0].views, codes[fused[0].events]) if fused else ()),
        *lone_class_remarks(codes, classes, apart),
        *warning_remarks(scores),
        *comparison_remarks(scores),
    )
