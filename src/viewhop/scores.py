"""Scores of a result against known classes or angles."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

__all__ = ["Agreement", "agreement", "circular_rank_correlation", "matched_share"]


class Agreement(NamedTuple):
    """Agreement of clusters with labels.

    Attributes
    ----------
    nmi, ami : float
        Normalised mutual information, and mutual information adjusted for chance.
    accuracy : float
        See `matched_share`.
    n_samples : int
        Number of samples with a label.
    """

    nmi: float
    ami: float
    accuracy: float
    n_samples: int


def agreement(labels: NDArray[Any], clusters: NDArray[np.integer]) -> Agreement | None:
    """Agreement of clusters with labels; None if the labels are not classes.

    Parameters
    ----------
    labels : (n_samples,) array
        Integers, or text with None where a label is missing. Other labels, such as floats, need
        not repeat and are not taken for classes.
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
    is_labelled = np.array([label is not None for label in labels.tolist()])
    if not is_labelled.any():
        return None
    _, target = np.unique(labels[is_labelled].astype(str), return_inverse=True)
    assigned = clusters[is_labelled]
    return Agreement(
        float(normalized_mutual_info_score(target, assigned)),
        float(adjusted_mutual_info_score(target, assigned)),
        matched_share(target, assigned),
        int(is_labelled.sum()),
    )


def matched_share(target: ArrayLike, clusters: ArrayLike) -> float:
    """Share of samples in matching pairs, for the best one-to-one match of clusters to classes.

    Parameters
    ----------
    target, clusters : (n_samples,) arrays

    Examples
    --------
    >>> from viewhop.scores import matched_share
    >>> matched_share([0, 0, 1, 1], [5, 5, 5, 3])
    0.75
    """
    counts = contingency_matrix(target, clusters)
    matched = linear_sum_assignment(counts, maximize=True)
    return float(counts[matched].sum() / counts.sum())


def circular_rank_correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Agreement of two lists of angles on the cyclic order of the samples, from 0 to 1.

    Parameters
    ----------
    first, second : (n_samples,) arrays
        Angles in radians, modulo 2π.

    Returns
    -------
    correlation : float
        1 if the orders are equal up to rotation and reversal, near 0 for unrelated angles.

    Notes
    -----
    The circular rank correlation of Mardia (1975, Journal of the Royal Statistical Society B 37,
    349–393): with both lists replaced by evenly spaced angles α and β in the same order, it is
    the larger of |Σ exp(i(α − β))|² and |Σ exp(i(α + β))|², divided by n².

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.scores import circular_rank_correlation
    >>> angle = np.linspace(0, 6, 50)
    >>> round(circular_rank_correlation(angle, 3 - angle), 12)
    1.0
    """
    points, others = (_evenly_spaced(angles) for angles in (first, second))
    if points.shape != others.shape:
        raise ValueError(
            f"expected two lists of the same length, got {len(points)} and {len(others)} angles"
        )
    same, reverse = (abs(np.mean(points * partners)) ** 2 for partners in (others.conj(), others))
    return float(max(same, reverse))


def _evenly_spaced(angles: ArrayLike) -> NDArray[np.complex128]:
    """Points on the unit circle, evenly spaced in the order of the angles."""
    array = np.asarray(angles, dtype=np.float64)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ValueError(f"expected a list of finite angles, got an array of shape {array.shape}")
    ranks = rankdata(np.mod(array, 2 * np.pi)) / array.size
    return np.asarray(np.exp(2j * np.pi * ranks))
