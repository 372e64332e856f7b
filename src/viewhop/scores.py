"""Scores: how well clusters agree with labels that are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

__all__ = ["Agreement", "agreement", "matched_share"]


class Agreement(NamedTuple):
    """How well clusters agree with labels.

    Attributes
    ----------
    nmi, ami : float
        Mutual information, normalised, and adjusted for chance.
    accuracy : float
        See `matched_share`.
    n_samples : int
        Samples that have a label.
    """

    nmi: float
    ami: float
    accuracy: float
    n_samples: int


def agreement(labels: NDArray[Any], clusters: NDArray[np.integer]) -> Agreement | None:
    """How well clusters agree with labels; None if these are no classes.

    Parameters
    ----------
    labels : (n_samples,) array
        Of whole numbers, or of text with None where there is none. Of anything else, numbers with
        decimals for instance, no two need be equal: they are no classes.
    clusters : (n_samples,) int array

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.scores import agreement
    >>> agreement(np.array(["a", "a", "b", None], dtype=object), np.array([1, 1, 0, 0])).accuracy
    1.0
    """
    if labels.dtype.kind not in "iuO":
        return None
    known = np.array([label is not None for label in labels.tolist()])
    if not known.any():
        return None
    _, target = np.unique(labels[known].astype(str), return_inverse=True)
    found = clusters[known]
    return Agreement(
        float(normalized_mutual_info_score(target, found)),
        float(adjusted_mutual_info_score(target, found)),
        matched_share(target, found),
        int(known.sum()),
    )


def matched_share(labels: NDArray[np.integer], clusters: NDArray[np.integer]) -> float:
    """Share of samples on the best one-to-one match of clusters and labels.

    Parameters
    ----------
    labels, clusters : (n_samples,) int arrays
    """
    counts = contingency_matrix(labels, clusters)
    matched = linear_sum_assignment(counts, maximize=True)
    return float(counts[matched].sum() / len(labels))
