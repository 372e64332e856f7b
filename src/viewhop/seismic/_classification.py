"""Classification: the type of an event, or its quarry, from its neighbours in an embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, Stage, no_progress
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.kernels import Kernel, Precomputed, kernels_by_view
from viewhop.seismic._fewer_features import with_fewer_features
from viewhop.seismic._methods import least_events, one_class, some_of, too_few, usable_methods
from viewhop.seismic._nearest_labels import Told, refitted, transductive
from viewhop.seismic._outcomes import FUSIONS, Classification, PairScores, Score
from viewhop.seismic._remarks import (
    comparing,
    doubles,
    lone_classes,
    shared,
    told_by_missing,
    warnings_of,
)
from viewhop.views import Views

__all__ = ["Classification", "PairScores", "Score", "classify", "classify_pairs"]

Codes = NDArray[np.intp]

_PROCEDURES: dict[str, Callable[..., Told]] = {"transductive": transductive, "refitted": refitted}


def classify(
    views: Views,
    labels: Sequence[Any],
    *,
    n_components: int | Sequence[int] = 4,
    n_neighbors: int = 1,
    kernel: Any = "adaptive",
    fusions: Sequence[str] = ("sum", "product", "hop"),
    singles: bool = True,
    procedures: Sequence[str] = ("transductive", "refitted"),
    overlaps: Sequence[tuple[int, int]] = (),
    random_state: int = 0,
    progress: Progress = no_progress,
) -> Classification:
    """How well events are told apart by each view alone, and by all of them together.

    Every event is classified by its nearest neighbours among the other events, in a diffusion
    embedding, in two ways. *Transductive* is the paper's: one embedding of all events, in which the
    event in question is left out of the neighbours only. *Refitted* is what a new event would get:
    the embedding is fitted without the event, which `transform` then places.

    Parameters
    ----------
    views : Views, or what makes them
        Channels, of which some may have missed some events; see `seismic.events.event_views`.
    labels : sequence of n_events str or None
        None where it is not known: such an event is classified, but classifies no other.
    n_components : int or list of int
        r, coordinates per view; several are taken from the same fits.
    n_neighbors : int
        K; events as near as the K-th vote, too. Of classes with as many votes, the one with the
        nearest event, and of those the first by name.
    kernel : str, kernel object, list or dict
        As for `MultiViewDiffusionMaps`, but not precomputed.
    fusions : sequence of {"sum", "product", "alternating", "hop"}
        How all views are taken together; the coordinates of "hop" are those of all views side by
        side, Eq. (23).
    singles : bool
        Whether each view is taken alone, too: on the events that it saw.
    procedures : sequence of {"transductive", "refitted"}
    overlaps : list of (int, int)
        Numbers of two events that share part of their records, as `EventViews.overlaps` has them:
        neither judges the other, nor is in the fit that places it.
    random_state : int
    progress : callable

    Returns
    -------
    Classification

    Notes
    -----
    Fits on many subsets of the same events share their distances, which are turned into as few
    features as there are events first.

    What cannot be used is in `refused`, and the rest goes on: a view that saw too few labelled
    events for the coordinates, alone and in the fusions; alone, one that saw a single class, for
    any answer would be right; the kernel product and the alternating walk where an event is missing
    in a view; and a method whose fit fails. `remarks` says what to mind when scores are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic import classify
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat(["blast", "earthquake"], 15)
    >>> heard = [(kind == "blast")[:, None] + 0.2 * rng.normal(size=(30, 50)) for _ in range(2)]
    >>> found = classify(heard, kind, kernel="gaussian", n_components=2)
    >>> score = found.find("multi-view", procedure="refitted")
    >>> score.accuracy, score.confusion.tolist()
    (1.0, [[15, 0], [0, 15]])
    """
    given, codes, classes = _checked(views, labels)
    apart = _apart(overlaps, len(codes))
    wanted = _wanted(n_components)
    _check_choices(n_neighbors, fusions, procedures)
    kernels = _kernels(kernel, given.names)
    methods, refused = usable_methods(
        with_fewer_features(given, kernels),
        codes,
        classes,
        kernels=kernels,
        fusions=fusions,
        singles=singles,
        n_components=wanted[-1],
        n_neighbors=n_neighbors,
        least=least_events(wanted[-1], n_neighbors, procedures),
        random_state=random_state,
    )
    scores: list[Score] = []
    for procedure in procedures:
        for method in methods:
            try:
                answers, warned = _PROCEDURES[procedure](
                    method.estimator,
                    method.views,
                    codes[method.events],
                    columns=[method.columns(r, wanted[-1]) for r in wanted],
                    n_neighbors=n_neighbors,
                    apart=_among(apart, method.events),
                    progress=_within(f"{procedure}, {method.name}", progress),
                )
            except ValueError as error:
                # With few events in common the walker may not get from one view to another.
                told = f"{method.name}, {procedure}"
                refused[told] = f"{told}: {error}"
                continue
            for r, answer in zip(wanted, answers, strict=True):
                predicted = np.full(len(codes), -1, dtype=np.intp)
                predicted[method.events] = answer
                scores.append(
                    Score(method.name, procedure, r, classes, codes, predicted, dict(warned))
                )
    if not scores:
        raise ValueError("no method can be used: " + "; ".join(refused.values()))
    fused = [method for method in methods if method.name in FUSIONS.values()]
    remarks = (
        *shared(apart),
        *doubles(given),
        *(told_by_missing(fused[0].views, codes[fused[0].events]) if fused else ()),
        *lone_classes(codes, classes, apart),
        *warnings_of(scores),
        *comparing(scores),
    )
    return Classification(tuple(scores), refused, remarks)


def classify_pairs(
    views: Views,
    labels: Sequence[Any],
    *,
    n_components: int = 4,
    n_neighbors: int = 1,
    kernel: Any = "adaptive",
    procedure: str = "transductive",
    overlaps: Sequence[tuple[int, int]] = (),
    random_state: int = 0,
    progress: Progress = no_progress,
) -> PairScores:
    """How well each view tells events apart in the multi-view walk with each other view.

    Parameters
    ----------
    views, labels, n_neighbors, kernel, overlaps, random_state, progress
        As for `classify`.
    n_components : int
        r, coordinates of the first view of a pair.
    procedure : {"transductive", "refitted"}

    Returns
    -------
    PairScores

    Notes
    -----
    The paper's figure of all pairs. The coordinates of both views of a pair come from one walk, so
    the matrix is nearly symmetric, and not quite. A pair is refused, and NaN, if one of its views
    saw too few labelled events, if both saw one class only, or if its fit fails.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic import classify_pairs
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat(["blast", "earthquake"], 15)
    >>> heard = [(kind == "blast")[:, None] + 0.2 * rng.normal(size=(30, 50)) for _ in range(3)]
    >>> classify_pairs(heard, kind, kernel="gaussian", n_components=2).accuracy.tolist()
    [[nan, 1.0, 1.0], [1.0, nan, 1.0], [1.0, 1.0, nan]]
    """
    given, codes, classes = _checked(views, labels)
    apart = _apart(overlaps, len(codes))
    [r] = _wanted(n_components)
    _check_choices(n_neighbors, ("hop",), (procedure,))
    if given.n_views < 2:
        raise ValueError("pairs need at least two views, got one")
    kernels = _kernels(kernel, given.names)
    reduced = with_fewer_features(given, kernels)
    names = tuple(given.names)
    accuracy = np.full((len(names), len(names)), np.nan)
    balanced = accuracy.copy()
    few = too_few(given, codes, least_events(r, n_neighbors, (procedure,)))
    refused = {name: f"{name}, in every pair: {why}" for name, why in few.items()}
    scores: list[Score] = []
    pairs = list(combinations(range(len(names)), 2))
    for count, (l, m) in enumerate(pairs, start=1):
        pair = [names[l], names[m]]
        told = " and ".join(pair)
        progress("pairs", count, len(pairs))
        if any(name in few for name in pair):
            continue
        events = np.flatnonzero(reduced.observed[:, [l, m]].any(axis=1))
        if why := one_class(codes[events], classes):
            refused[told] = f"{told}: {why}"
            continue
        estimator = MultiViewDiffusionMaps(
            r,
            kernel={name: kernels[name] for name in pair},
            output="concat",
            random_state=random_state,
        )
        try:
            answers, warned = _PROCEDURES[procedure](
                estimator,
                some_of(reduced, pair, events),
                codes[events],
                columns=[np.arange(r), np.arange(r, 2 * r)],
                n_neighbors=n_neighbors,
                apart=_among(apart, events),
                progress=no_progress,
            )
        except ValueError as error:  # as in classify
            refused[told] = f"{told}: {error}"
            continue
        for (row, column), answer in zip(((l, m), (m, l)), answers, strict=True):
            score = Score(told, procedure, r, classes, codes[events], answer, dict(warned))
            scores.append(score)
            accuracy[row, column] = score.accuracy
            balanced[row, column] = score.balanced_accuracy
    if np.isnan(accuracy).all():
        raise ValueError("no pair can be used: " + "; ".join(refused.values()))
    return PairScores(names, accuracy, balanced, refused, tuple(warnings_of(scores)))


def _apart(overlaps: Sequence[tuple[int, int]], n_events: int) -> list[set[int]]:
    """For each event, those that it overlaps with."""
    found: list[set[int]] = [set() for _ in range(n_events)]
    for k, m in overlaps:
        if not (0 <= k < n_events and 0 <= m < n_events and k != m):
            raise ValueError(
                f"overlaps has numbers of two events, from 0 to {n_events - 1}, got {(k, m)}"
            )
        found[k].add(m)
        found[m].add(k)
    return found


def _among(apart: Sequence[set[int]], events: Codes) -> list[Codes]:
    """The same in the numbers that some of the events have among themselves."""
    places = {int(event): k for k, event in enumerate(events)}
    return [
        np.array(sorted(places[m] for m in apart[event] if m in places), dtype=np.intp)
        for event in places
    ]


def _within(name: str, progress: Progress) -> Progress:
    """The callback with the method in place of the stage."""
    return lambda stage, done, total: progress(Stage(name), done, total)


def _checked(views: Any, labels: Sequence[Any]) -> tuple[Views, Codes, tuple[str, ...]]:
    """The views, the number of each event's class, and the classes."""
    given = views if isinstance(views, Views) else Views(views)
    if any(given.nodes.is_repeated(l) for l in range(given.n_views)):
        raise ValueError("an event has several rows in a view; expected at most one")
    texts = [None if label is None else str(label) for label in labels]
    if len(texts) != len(given):
        raise ValueError(
            f"expected a label, or None, for each of {len(given)} events, got {len(texts)}"
        )
    classes = tuple(sorted({text for text in texts if text is not None}))
    if len(classes) < 2:
        raise ValueError(
            f"expected labels of at least two classes, got {', '.join(classes) or 'none'}"
        )
    places = {text: k for k, text in enumerate(classes)}
    codes = [-1 if text is None else places[text] for text in texts]
    return given, np.array(codes, dtype=np.intp), classes


def _wanted(n_components: int | Sequence[int]) -> list[int]:
    """Numbers of coordinates, the smallest first."""
    given: list[Any] = list(n_components) if isinstance(n_components, Sequence) else [n_components]
    if not given or not all(isinstance(r, Integral) and int(r) >= 1 for r in given):
        raise ValueError(f"n_components is a positive number, or several, not {n_components!r}")
    return sorted({int(r) for r in given})


def _kernels(kernel: Any, names: Sequence[str]) -> dict[str, Kernel]:
    found = kernels_by_view(kernel, names)
    if any(isinstance(each, Precomputed) for each in found.values()):
        raise ValueError(
            "expected features of events, for left-out events must be placed by them; a "
            "precomputed kernel has none"
        )
    return found


def _check_choices(n_neighbors: int, fusions: Sequence[str], procedures: Sequence[str]) -> None:
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors is a positive number, not {n_neighbors!r}")
    for what, chosen, known in (
        ("fusion", fusions, FUSIONS),
        ("procedure", procedures, _PROCEDURES),
    ):
        for each in chosen:
            if each not in known:
                raise ValueError(f"unknown {what} {each!r}; known are {', '.join(known)}")
