"""K-means, as all experiments run it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

__all__ = ["clustered"]


def clustered(
    embedding: NDArray[np.floating], n_clusters: int, *, seed: int, n_init: int = 10
) -> NDArray[np.int32]:
    """Clusters of samples, (n_samples,): the best of `n_init` starts.

    Parameters
    ----------
    embedding : (n_samples, r) array
    n_clusters : int
    seed : int
    n_init : int
        1 gives the scatter of single runs.
    """
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=seed)
    # Threads of K-means only wait for each other on data this small.
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(kmeans.fit_predict(embedding))
