"""The choice of a metric per view: the one on which the views agree best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.selection._metric_names import CANDIDATES
from viewhop.views import Rows, SparseRows

__all__ = ["choose_metrics", "is_angular", "plain_metric"]

Floats = NDArray[np.float64]
#: Agreement of the candidates of two views, (p, q), by the indices of the views, the lower first.
Tables = Mapping[tuple[int, int], Floats]

#: How much more the first candidate, Euclidean, counts than was measured: others must be clearly
#: better, because an angle folds a spiral.
FAVOUR = 1.1
#: Fewest features of a view whose directions are compared.
FEATURES = 5
#: Share of zeros from which non-negative features count as sparse.
SPARSE = 0.5


def is_angular(name: str) -> bool:
    """Whether a metric compares directions only."""
    return CANDIDATES[name][0] != "euclidean"


def plain_metric(X: Rows) -> str:
    """The metric of a view that no other view can be compared with.

    Cosine for non-negative features of which at least half are zeros, as in counts of words, if
    there are at least five; otherwise Euclidean.

    Parameters
    ----------
    X : (n, d) array or SparseRows

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.selection import plain_metric
    >>> plain_metric(np.eye(6)), plain_metric(np.ones((6, 6)))
    ('cosine', 'euclidean')
    """
    values = X.matrix.data if isinstance(X, SparseRows) else X
    if X.shape[1] < FEATURES or values.min(initial=0.0) < 0:
        return "euclidean"
    share = 1.0 - np.count_nonzero(values) / (len(X) * X.shape[1])
    return "cosine" if share >= SPARSE else "euclidean"


def choose_metrics(names: Sequence[Sequence[str]], tables: Tables) -> list[int]:
    """The candidate of each view with which the views agree best.

    Parameters
    ----------
    names : sequence of sequences of str
        Names of the candidates of each view.
    tables : dict of (p, q) arrays by pair of views
        Agreement of the candidates; a pair that is missing carries no evidence.

    Returns
    -------
    choice : list of int
        Index of the chosen candidate of each view.

    Notes
    -----
    The sum of agreements over all pairs of views is maximised one view at a time, with each
    candidate in turn as the start of all views. Ties go to the earlier candidate.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.selection import choose_metrics
    >>> names = [["euclidean", "cosine"]] * 2
    >>> choose_metrics(names, {(0, 1): np.array([[0.5, 0.1], [0.1, 0.54]])})
    [0, 0]
    >>> choose_metrics(names, {(0, 1): np.array([[0.5, 0.1], [0.1, 0.62]])})
    [1, 1]
    """
    credits = {pair: _credits(table, *(names[l] for l in pair)) for pair, table in tables.items()}

    def credit(view: int, choice: Sequence[int]) -> Floats:
        """What each candidate of a view earns, given the choices of the others."""
        total = np.zeros(len(names[view]))
        for (l, m), table in credits.items():
            if l == view:
                total += table[:, choice[m]]
            elif m == view:
                total += table[choice[l]]
        return total

    best: tuple[float, list[int]] = (-np.inf, [0] * len(names))
    for start in CANDIDATES:
        choice = [list(own).index(start) if start in own else 0 for own in names]
        for _ in range(20 * len(names)):
            before = list(choice)
            for view in range(len(names)):
                choice[view] = int(np.argmax(credit(view, choice)))
            if choice == before:
                break
        total = sum(float(table[choice[l], choice[m]]) for (l, m), table in credits.items())
        if total > best[0] + 1e-12:
            best = total, choice
    return best[1]


def _credits(table: Floats, first: Sequence[str], second: Sequence[str]) -> Floats:
    """Agreements with the favour for Euclidean distances."""
    favour = [
        np.where(np.array(names) == "euclidean", FAVOUR if len(names) > 1 else 1.0, 1.0)
        for names in (first, second)
    ]
    return np.where(table > 0, table * np.outer(*favour), table)
