"""Repeated runs of K-means from single starts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

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
        _, classes = np.unique(np.asarray(target), return_inverse=True)
        return np.array([_mutual_information(classes, each) for each in self.clusters])

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
    with _threads().limit(limits=1, user_api="openmp"), warnings.catch_warnings():
        # Samples of a disconnected walk may coincide and give fewer clusters than requested. The
        # scores show it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for seed in seeds:
            fits.append(KMeans(n_clusters, n_init=1, random_state=seed).fit(embedding))
    return Runs(
        clusters=np.array([each.labels_ for each in fits]),
        inertia=np.array([each.inertia_ for each in fits]),
    )


@cache
def _threads() -> ThreadpoolController:
    """Controller of the thread pools; looking for them takes longer than a run of K-means."""
    return ThreadpoolController()


def _mutual_information(classes: NDArray[np.integer], clusters: NDArray[np.integer]) -> float:
    """Normalised mutual information of two sets of labels that count from 0.

    scikit-learn spends most of its time on checks, which shows over thousands of runs.
    """
    n_classes, n_clusters = int(classes.max()) + 1, int(clusters.max()) + 1
    pairs = np.bincount(classes * n_clusters + clusters, minlength=n_classes * n_clusters)
    joint = pairs.reshape(n_classes, n_clusters) / len(classes)
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    mean_entropy = (_entropy(rows) + _entropy(columns)) / 2
    if mean_entropy == 0:
        return 1.0
    return float(max(0.0, 2 - _entropy(joint.ravel()) / mean_entropy))


def _entropy(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())
