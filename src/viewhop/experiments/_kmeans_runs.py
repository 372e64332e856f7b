"""K-means run again and again from single starts."""

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

__all__ = ["Runs", "runs"]


@dataclass(frozen=True)
class Runs:
    """Clusters of several runs.

    Attributes
    ----------
    clusters : (n_runs, n_samples) array
    inertia : (n_runs,) array
        What K-means makes small: the sum of squared distances to the centres.
    """

    clusters: NDArray[np.int32]
    inertia: NDArray[np.float64]

    @property
    def tightest(self) -> int:
        """The run of least inertia: what is taken where no labels are known."""
        return int(np.argmin(self.inertia))

    def nmi(self, target: ArrayLike) -> NDArray[np.float64]:
        """Normalised mutual information of each run with known classes, (n_runs,)."""
        return np.array([normalized_mutual_info_score(target, each) for each in self.clusters])

    def accuracy(self, target: ArrayLike) -> NDArray[np.float64]:
        """Share of samples on the best match of clusters and classes, for each run, (n_runs,)."""
        return np.array([matched_share(target, each) for each in self.clusters])


def runs(embedding: NDArray[np.floating], n_clusters: int, *, seeds: Sequence[int]) -> Runs:
    """One run of K-means from one start per seed.

    Parameters
    ----------
    embedding : (n_samples, r) array
    n_clusters : int
    seeds : list of int
    """
    found = []
    # Threads of K-means only wait for each other on data this small.
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        # Where a walk falls into pieces samples may coincide, and there are fewer clusters than
        # asked for. The scores show it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for seed in seeds:
            found.append(KMeans(n_clusters, n_init=1, random_state=seed).fit(embedding))
    return Runs(
        clusters=np.array([each.labels_ for each in found]),
        inertia=np.array([each.inertia_ for each in found]),
    )
