"""Agreement of what a method found with known classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.apart import apart

__all__ = ["describe_score", "score_file", "score_result"]


def score_result(result: Mapping[str, np.ndarray], target: np.ndarray) -> float:
    """Adjusted mutual information of labels, K-means of an embedding, or clusters of a graph.

    Parameters
    ----------
    result : dict of array
        "labels"; or "embedding"; or "values", "columns" and "starts" of a sparse matrix.
    target : (n_samples,) array
        The classes; as many clusters are looked for.
    """
    from scipy.sparse import csr_array
    from sklearn.cluster import KMeans, spectral_clustering
    from sklearn.metrics import adjusted_mutual_info_score

    n_clusters = len(np.unique(target))
    if "labels" in result:
        labels = result["labels"]
    elif "embedding" in result:
        labels = KMeans(n_clusters, n_init=10, random_state=0).fit_predict(result["embedding"])
    else:
        shape = (target.size, target.size)
        places = (result[name].astype(np.int32) for name in ("columns", "starts"))
        graph = csr_array((result["values"], *places), shape=shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a graph in several pieces
            labels = spectral_clustering(
                (graph + graph.T) / 2, n_clusters=n_clusters, random_state=0
            )
    return float(adjusted_mutual_info_score(target, labels))


def score_file(out: str, target: str) -> dict[str, Any]:
    """The score of the arrays that a peer wrote."""
    with np.load(out, allow_pickle=False) as stored:
        return {"score": score_result(dict(stored), np.load(target))}


def describe_score(out: str, target: str) -> str:
    """The score of the arrays that a peer wrote, for a row."""
    return f" (AMI {apart(score_file, {'out': out, 'target': target})['score']:.3f})"
