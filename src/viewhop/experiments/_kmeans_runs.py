"""Repeated runs of K-means from single starts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from viewhop.scores import matched_share

__all__ = ["run_kmeans"]


@dataclass(frozen=True)
class Runs:
    """Clusters of several runs of K-means.

    Attributes
    ----------
    clusters : (n_runs, n_samples) array
    inertia : (n_runs,) array
        Sum of squared distances to the centres, which K-means minimises.
    """

    clusters: NDArray[np.int32]
    inertia: NDArray[np.float64]

    @property
    def tightest(self) -> int:
        """Index of the run with the least inertia, the choice without labels."""
        return int(np.argmin(self.inertia))

    def nmi(self, target: ArrayLike) -> NDArray[np.float64]:
        """Normalised mutual information of each run with known classes, (n_runs,)."""
        return np.array([normalized_mutual_info_score(target, each) for each in self.clusters])

    def accuracy(self, target: ArrayLike) -> NDArray[np.float64]:
        """Share of samples on the best matching of clusters and classes, (n_runs,)."""
        return np.array([matched_share(target, each) for each in self.clusters])


def run_kmeans(embedding: NDArray[np.floating], n_clusters: int, *, seeds: Sequence[int]) -> Runs:
    """Runs of K-means, one from a single start per seed.

    Parameters
    ----------
    embedding : (n_samples, r) array
    n_clusters : int
    seeds : list of int
    """
    fits = []
    # On data this small, threads of K-means mostly wait for each other.
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        # Samples of a disconnected walk may coincide and give fewer clusters than requested. The
        # scores show it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for seed in seeds:
            fits.append(KMeans(n_clusters, n_init=1, random_state=seed).fit(embedding))
    return Runs(
        clusters=np.array([each.labels_ for each in fits]),
        inertia=np.array([each.inertia_ for each in fits]),
    )
