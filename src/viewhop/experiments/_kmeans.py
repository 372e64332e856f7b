"""K-means with the settings shared by the experiments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

__all__ = ["find_clusters"]


def find_clusters(
    embedding: NDArray[np.floating], n_clusters: int, *, seed: int, n_init: int = 10
) -> NDArray[np.int32]:
    """Clusters of samples, (n_samples,): the best of `n_init` starts.

    Parameters
    ----------
    embedding : (n_samples, r) array
    n_clusters : int
    seed : int
    n_init : int
        1 shows the scatter of single runs.
    """
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=seed)
    # On data this small, threads of K-means mostly wait for each other.
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(kmeans.fit_predict(embedding))
