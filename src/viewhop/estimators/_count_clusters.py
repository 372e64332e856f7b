"""Counting the clusters of a geometry without labels."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from viewhop.estimators._cluster_count import EVEN, ClusterCount
from viewhop.estimators._clusters import columns_for, leading_coordinates
from viewhop.estimators._coarse_walk import coarsen_walk
from viewhop.estimators._spectrum_shape import describe_shape
from viewhop.geometry import Geometry, ways_to_join
from viewhop.solvers import eigengap, log_gap

__all__ = ["count_clusters"]

Floats = NDArray[np.float64]

#: A gap is clear if it is this many times as large as every other.
CLEAR = 3.0
#: Below this confidence a walker leaves its cluster twice as fast as it mixes within it, so the
#: clusters are sections of something longer.
SECTIONS = 1 / 3
#: K-means runs for every number of clusters that is tried.
N_STARTS = 2


def count_clusters(
    geometry: Geometry,
    *,
    max_clusters: int = 20,
    n_components: int | None = None,
    normalize: bool = False,
    seed: int | None = None,
) -> ClusterCount:
    """The number of clusters of the training samples, without labels.

    Parameters
    ----------
    geometry : Geometry
        With at least `max_clusters` coordinates, or as many as its walk has.
    max_clusters : int
        The largest number to consider. At most half the number of samples are considered.
    n_components : int or None
        Coordinates per view that K-means uses; None takes k − 1 for k clusters, and k if the first
        is no more than the leading eigenvector of a fusion that is no random walk.
    normalize : bool
        Whether K-means uses the direction of a sample's coordinates only.
    seed : int or None
        Seed of K-means.

    Returns
    -------
    ClusterCount

    Raises
    ------
    ValueError
        If the walk falls into more pieces than `max_clusters`.

    Notes
    -----
    The first of these that applies decides:

    1. "gap": one gap of the eigenvalues is at least three times every other, and that of their
       logarithms as well. See `eigengap` and `log_gap`.
    2. "separation": the largest k with a confidence above 1/2, unless the k with the largest
       modularity is larger and still has a confidence of 1/3. Modularity misses small clusters if
       there are many, and cuts curves into sections.
    3. "modularity": the k with the largest modularity (Newman and Girvan 2004), for the partition
       by K-means. It decides where clusters overlap, tends to be off by a few, and depends on
       the seed where the modularity hardly changes with k.

    The rate of an eigenvalue λ is −log λ. If the walk falls into p pieces, at least p clusters are
    counted. There is always a number, so look at its confidence and its `reason`: samples along a
    curve have no number of clusters, and a gap of their eigenvalues counts nothing.

    Eigenvalues of a fusion that is no random walk are divided by the first of them, which then
    takes the place of the trivial 1.

    The result also has `log_gap`, the number that the paper's Fig. 5 shows: it is the better guide
    for wide dense kernels, such as those of the paper.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.estimators import count_clusters
    >>> mixtures = vh.datasets.make_mixtures(300, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(20, random_state=0).fit(mixtures.views)
    >>> count = count_clusters(est.geometry_, seed=0)
    >>> count.n_clusters, count.is_sure, count.log_gap
    (6, True, 6)
    >>> count.reason
    'the clusters are apart and compact'
    """
    eigenvalues, first = _known_eigenvalues(geometry, max_clusters)
    rounding = float(np.finfo(geometry.walk.dtype).eps)
    numbers: list[int] = []
    confidences: list[float] = []
    modularities: list[float] = []
    for k in _candidates(geometry, len(eigenvalues), max_clusters):
        labels = _find_labels(geometry, k, n_components, normalize, seed)
        if numbers and len(np.unique(labels)) < k:
            break  # fewer than k samples are distinct
        coarse = coarsen_walk(geometry.walk, labels, k)
        numbers.append(k)
        between = coarse.eigenvalues[k - 1] / first
        confidences.append(_compare_rates(between, eigenvalues[k - 1], rounding))
        modularities.append(coarse.modularity)
    considered = eigenvalues[: numbers[-1]]
    chosen, method = _choose(considered, numbers, confidences, modularities)
    is_sure = confidences[numbers.index(chosen)] > EVEN
    return ClusterCount(
        chosen,
        method,
        tuple(numbers),
        tuple(confidences),
        tuple(modularities),
        log_gap=log_gap(considered),
        shape=describe_shape(considered, chosen, is_sure=is_sure),
    )


def _known_eigenvalues(geometry: Geometry, max_clusters: int) -> tuple[Floats, float]:
    """λ_1, λ_2, … relative to λ_0, at most `max_clusters`, and λ_0, which is 1 for a Markov chain.

    A walk without that many continues with 0.
    """
    values, first = geometry.eigenvalues[:max_clusters], 1.0
    if not geometry.walk.is_markov:
        first = float(geometry.eigenvalues[0])
        values = geometry.eigenvalues[1 : max_clusters + 1] / first
    if len(values) < max(2, min(max_clusters, geometry.n_samples - 2)):
        values = np.append(values, 0.0)  # the next eigenvalue is not positive beyond rounding
    return values, first


def _candidates(geometry: Geometry, n_eigenvalues: int, max_clusters: int) -> range:
    """The numbers of clusters to try: at least the pieces of the walk, and at least 2."""
    n_pieces = geometry.record.n_pieces
    if n_pieces > max_clusters:
        raise ValueError(
            f"the walk falls into {n_pieces} pieces, more than max_clusters={max_clusters}; to "
            f"join them, {', or '.join(ways_to_join(geometry.walk))}; or raise max_clusters"
        )
    least = min(max(2, n_pieces), n_eigenvalues)
    most = min(n_eigenvalues, geometry.n_samples // 2)
    return range(least, max(least, most) + 1)


def _find_labels(
    geometry: Geometry, k: int, n_components: int | None, normalize: bool, seed: int | None
) -> NDArray[np.int32]:
    """The cluster of each sample among k, by K-means, (n_samples,)."""
    r = geometry.n_components
    used = min(columns_for(geometry.walk, k), r) if n_components is None else n_components
    coordinates = leading_coordinates(geometry.embedding(), r, used, normalize)
    kmeans = KMeans(k, n_init=N_STARTS, random_state=seed)
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # about samples that coincide
        return np.asarray(kmeans.fit_predict(coordinates))


def _compare_rates(between: float, within: float, rounding: float) -> float:
    """r_w / (r_w + r_b) from the eigenvalue between clusters and the first that they leave out."""
    r_b, r_w = -np.log(np.clip([between, within], rounding, 1.0))
    return float(r_w / (r_w + r_b)) if r_w + r_b > 0 else EVEN


def _choose(
    eigenvalues: Floats, numbers: list[int], confidences: list[float], modularities: list[float]
) -> tuple[int, str]:
    """The number of clusters, and the method that decided."""
    clear = _find_clear_gap(eigenvalues)
    if clear in numbers:
        return clear, "gap"
    best = int(np.argmax(modularities))
    separate = [k for k, c in zip(numbers, confidences, strict=True) if c > EVEN]
    if separate and (separate[-1] >= numbers[best] or confidences[best] < SECTIONS):
        return separate[-1], "separation"
    return numbers[best], "modularity"


def _find_clear_gap(eigenvalues: Floats) -> int:
    """The number of clusters if one gap stands out on both scales, otherwise 0."""
    if len(eigenvalues) < 3:
        return 0
    k = eigengap(eigenvalues)
    if log_gap(eigenvalues) != k:
        return 0
    logarithms = np.log(np.maximum(eigenvalues, np.finfo(np.float64).eps))
    for values in (eigenvalues, logarithms):
        gaps = values[:-1] - values[1:]
        if gaps[k - 2] < CLEAR * np.delete(gaps, k - 2).max():
            return 0
    return k
