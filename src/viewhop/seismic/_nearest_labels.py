"""Labels predicted from an event's nearest neighbours among the others in an embedding."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import clone

from viewhop._runtime.progress import Progress
from viewhop.views import Views

__all__ = ["PROCEDURES", "vote"]

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]

#: Predicted code of every event for each choice of columns, and the count of warnings by kind.
Predictions = tuple[list[Codes], Counter[str]]


def predict_transductive(
    estimator: Any,
    views: Views,
    codes: Codes,
    *,
    columns: Sequence[Codes],
    n_neighbors: int,
    apart: Sequence[Codes],
    left_out: Codes | None,
    progress: Progress,
) -> Predictions:
    """Predictions in one embedding of all events, as in the paper.

    Parameters
    ----------
    estimator : estimator
        Unfitted; it is cloned, not changed.
    views : Views
    codes : (n_events,) int array
        Index of each event's class, -1 where it is unknown.
    columns : list of int arrays
        Columns of the embedding in which neighbours are sought, one entry per prediction.
    n_neighbors : int
    apart : list of int arrays
        For each event, those that share part of its record: they do not vote on it.
    left_out : int array or None
        Not used: one embedding serves all events.
    progress : callable
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        embedding = clone(estimator).fit(views).embedding_
    answers = []
    for chosen in columns:
        distances = cdist(embedding[:, chosen], embedding[:, chosen])
        np.fill_diagonal(distances, np.inf)
        for event, others in enumerate(apart):
            distances[event, others] = np.inf
        answers.append(vote(distances, codes, n_neighbors))
    progress("embedding", 1, 1)
    return answers, _count_kinds(caught)


def predict_refitted(
    estimator: Any,
    views: Views,
    codes: Codes,
    *,
    columns: Sequence[Codes],
    n_neighbors: int,
    apart: Sequence[Codes],
    left_out: Codes | None,
    progress: Progress,
) -> Predictions:
    """Predictions from fits without the event, which `transform` then places.

    Parameters
    ----------
    estimator, views, codes, columns, n_neighbors, apart, progress
        As for `predict_transductive`. Events without a class are never fitted, only placed. The
        fit also leaves out the events in `apart`; where too few remain, the prediction is -1.
    left_out : int array or None
        Events to predict; the others get -1. None predicts all.
    """
    wanted = range(len(views)) if left_out is None else left_out.tolist()
    labelled = np.flatnonzero(codes >= 0)
    fitted = [
        labelled[(labelled != event) & ~np.isin(labelled, apart[event])]
        for event in range(len(views))
    ]
    answers = [np.full(len(views), -1, dtype=np.intp) for _ in columns]
    est, counts = clone(estimator), Counter[str]()
    has_all = False
    # Events that can be placed by a fit on all labelled events come last and share that fit.
    order = sorted(wanted, key=lambda event: len(fitted[event]) == len(labelled))
    for count, event in enumerate(order, start=1):
        others = fitted[event]
        progress("left out", count, len(order))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if not has_all:
                try:
                    embedding = est.fit(views[others]).embedding_
                except ValueError:
                    if not len(apart[event]):
                        raise
                    continue  # too few events remain without those apart from it
                has_all = len(others) == len(labelled)
            placed = est.transform(views[[event]])
        counts += _count_kinds(caught)
        for answer, chosen in zip(answers, columns, strict=True):
            distances = cdist(placed[:, chosen], embedding[:, chosen])
            answer[event] = vote(distances, codes[others], n_neighbors)[0]
    return answers, counts


def vote(distances: Floats, codes: Codes, n_neighbors: int) -> Codes:
    """Majority class of the nearest neighbours, (n_asked,).

    Neighbours at the same distance as the last one also vote, so that the order of events does
    not matter. Ties go to the class with the nearest event, then to the first class.

    Parameters
    ----------
    distances : (n_asked, n_known) array
        Infinite for events that must not vote.
    codes : (n_known,) int array
        -1 for an unlabelled event, which does not vote.
    n_neighbors : int

    Returns
    -------
    (n_asked,) int array
        -1 where no event may vote.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic._nearest_labels import vote
    >>> vote(np.array([[1.0, 1.0, 1.0, 2.0]]), np.array([0, 1, 1, 0]), 1).tolist()
    [1]
    """
    reach = np.where(codes >= 0, distances, np.inf)
    # Rounding error between two equal distances.
    slack = 1e-12 * np.max(reach, axis=1, where=np.isfinite(reach), initial=0.0, keepdims=True)
    place = min(n_neighbors, reach.shape[1]) - 1
    last = np.partition(reach, place, axis=1)[:, place : place + 1]
    is_near = (reach <= last * (1 + 1e-9) + slack) & np.isfinite(reach)
    members = [codes == code for code in range(int(codes.max(initial=0)) + 1)]
    votes = np.stack([is_near[:, own].sum(axis=1) for own in members], axis=1)
    nearest = np.stack([reach[:, own].min(axis=1, initial=np.inf) for own in members], axis=1)
    # Most votes first, then the nearest up to rounding, then the first class.
    nearest[votes < votes.max(axis=1, keepdims=True)] = np.inf
    first = nearest.min(axis=1, keepdims=True)
    winners = np.argmax(nearest <= first * (1 + 1e-9) + slack, axis=1)
    return np.where(is_near.any(axis=1), winners, -1)


def _count_kinds(caught: Sequence[warnings.WarningMessage]) -> Counter[str]:
    return Counter(each.category.__name__ for each in caught)


#: Prediction function by name of the procedure.
PROCEDURES: dict[str, Callable[..., Predictions]] = {
    "transductive": predict_transductive,
    "refitted": predict_refitted,
}
