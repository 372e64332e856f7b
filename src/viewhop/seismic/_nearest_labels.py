"""Labels of events, each told by its nearest neighbours among the others in an embedding."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import clone

from viewhop._runtime.progress import Progress
from viewhop.views import Views

__all__ = ["Told", "refitted", "transductive", "voted"]

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]

#: For each choice of columns the code of every event; and how often each kind of warning came.
Told = tuple[list[Codes], Counter[str]]


def transductive(
    estimator: Any,
    views: Views,
    codes: Codes,
    *,
    columns: Sequence[Codes],
    n_neighbors: int,
    apart: Sequence[Codes],
    progress: Progress,
) -> Told:
    """Labels in one embedding of all events, the one in question among them: the paper's way.

    Parameters
    ----------
    estimator : estimator
        Not fitted; it is not changed.
    views : Views
    codes : (n_events,) int array
        Number of each event's class, -1 where it is not known.
    columns : list of int arrays
        Columns of the embedding in which neighbours are looked for, one entry per answer.
    n_neighbors : int
    apart : list of int arrays
        For each event, those that share part of its record: they do not judge it.
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
        answers.append(voted(distances, codes, n_neighbors))
    progress("embedding", 1, 1)
    return answers, _kinds(caught)


def refitted(
    estimator: Any,
    views: Views,
    codes: Codes,
    *,
    columns: Sequence[Codes],
    n_neighbors: int,
    apart: Sequence[Codes],
    progress: Progress,
) -> Told:
    """Labels from fits that have not seen the event in question: `transform` places it.

    Parameters
    ----------
    estimator, views, codes, columns, n_neighbors, apart, progress
        As for `transductive`. Events without a class are never fitted, only placed; nor are those
        apart from the event in question. Where they leave too few to fit, the answer is -1.
    """
    known = np.flatnonzero(codes >= 0)
    fitted = [
        known[(known != event) & ~np.isin(known, apart[event])] for event in range(len(views))
    ]
    answers = [np.full(len(views), -1, dtype=np.intp) for _ in columns]
    est, counts = clone(estimator), Counter[str]()
    has_all = False
    # Events that the fit on all that have a class may place come last: one fit serves them all.
    order = sorted(range(len(views)), key=lambda event: len(fitted[event]) == len(known))
    for count, event in enumerate(order, start=1):
        others = fitted[event]
        progress("left out", count, len(views))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if not has_all:
                try:
                    embedding = est.fit(views[others]).embedding_
                except ValueError:
                    if not len(apart[event]):
                        raise
                    continue  # so many are apart from it that too few are left
                has_all = len(others) == len(known)
            placed = est.transform(views[[event]])
        counts += _kinds(caught)
        for answer, chosen in zip(answers, columns, strict=True):
            distances = cdist(placed[:, chosen], embedding[:, chosen])
            answer[event] = voted(distances, codes[others], n_neighbors)[0]
    return answers, counts


def voted(distances: Floats, codes: Codes, n_neighbors: int) -> Codes:
    """The class that most of the nearest neighbours have.

    Those as near as the last of them vote, too, so that the order of events does not matter. Of
    classes with as many votes, it is the one that comes nearest, and of those the first.

    Parameters
    ----------
    distances : (n_asked, n_known) array
        Infinite for those that must not vote.
    codes : (n_known,) int array
        -1 where there is no class; such an event does not vote.
    n_neighbors : int

    Returns
    -------
    (n_asked,) int array
        -1 where none may vote.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic._nearest_labels import voted
    >>> voted(np.array([[1.0, 1.0, 1.0, 2.0]]), np.array([0, 1, 1, 0]), 1).tolist()
    [1]
    """
    reach = np.where(codes >= 0, distances, np.inf)
    # What rounding leaves between two that are equally far.
    slack = 1e-12 * np.max(reach, axis=1, where=np.isfinite(reach), initial=0.0, keepdims=True)
    place = min(n_neighbors, reach.shape[1]) - 1
    last = np.partition(reach, place, axis=1)[:, place : place + 1]
    is_near = (reach <= last * (1 + 1e-9) + slack) & np.isfinite(reach)
    members = [codes == code for code in range(int(codes.max(initial=0)) + 1)]
    votes = np.stack([is_near[:, own].sum(axis=1) for own in members], axis=1)
    nearest = np.stack([reach[:, own].min(axis=1, initial=np.inf) for own in members], axis=1)
    # The most votes; among these the nearest, up to what rounding leaves; among these the first.
    nearest[votes < votes.max(axis=1, keepdims=True)] = np.inf
    first = nearest.min(axis=1, keepdims=True)
    winners = np.argmax(nearest <= first * (1 + 1e-9) + slack, axis=1)
    return np.where(is_near.any(axis=1), winners, -1)


def _kinds(caught: Sequence[warnings.WarningMessage]) -> Counter[str]:
    return Counter(each.category.__name__ for each in caught)
