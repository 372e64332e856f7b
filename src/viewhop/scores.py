"""How well a result fits what is known: of clusters, and of angles."""

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


def matched_share(target: ArrayLike, clusters: ArrayLike) -> float:
    """Share of samples on the best one-to-one match of clusters and classes.

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
    """How well two lists of angles agree on the cyclic order of samples, from 0 to 1.

    Parameters
    ----------
    first, second : (n_samples,) arrays
        Angles in radians; whole turns do not count.

    Returns
    -------
    correlation : float
        1 if the order is the same up to a rotation and a reversal, near 0 for angles that have
        nothing to do with each other.

    Notes
    -----
    The circular rank correlation of Mardia (1975, Journal of the Royal Statistical Society B 37,
    349–393): with both lists replaced by evenly spaced angles α, β in their order, it is the
    larger of |Σ exp(i(α − β))|² and |Σ exp(i(α + β))|², over n².

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.scores import circular_rank_correlation
    >>> angle = np.linspace(0, 6, 50)
    >>> round(circular_rank_correlation(angle, 3 - angle), 12)
    1.0
    """
    turned, other = (_evenly(angles) for angles in (first, second))
    if turned.shape != other.shape:
        raise ValueError(f"two lists of as many angles, not {len(turned)} and {len(other)}")
    same, reverse = (abs(np.mean(turned * partner)) ** 2 for partner in (other.conj(), other))
    return float(max(same, reverse))


def _evenly(angles: ArrayLike) -> NDArray[np.complex128]:
    """Points on the unit circle, evenly spaced in the order of the angles."""
    given = np.asarray(angles, dtype=np.float64)
    if given.ndim != 1 or not given.size or not np.isfinite(given).all():
        raise ValueError(f"expected a list of finite angles, got an array of shape {given.shape}")
    places = rankdata(np.mod(given, 2 * np.pi)) / given.size
    return np.asarray(np.exp(2j * np.pi * places))
