"""The walk between clusters: what is left of a walk on samples when only clusters are seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewhop.walks import Walk

__all__ = ["CoarseWalk", "coarsen_walk"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CoarseWalk:
    """How often a walker in equilibrium steps from one cluster to another.

    Attributes
    ----------
    flows : (k, k) array
        Probability of a step from cluster a to cluster b; symmetric, and all sum to 1. For a fusion
        that is no random walk, the kernel between two clusters as a share of its total.
    matrix : (k, k) array
        What remains of D^{-1/2} K D^{-1/2} on vectors that are constant on clusters.
    """

    flows: Floats
    matrix: Floats

    @property
    def modularity(self) -> float:
        """The share of steps within clusters, minus that of independent draws of both ends."""
        masses = self.flows.sum(axis=1)
        return float(np.trace(self.flows) - masses @ masses)

    @property
    def eigenvalues(self) -> Floats:
        """Eigenvalues of the walk between clusters, largest first, (k,).

        Each is at most the eigenvalue of the same rank of the walk on samples; the first is 1 for a
        Markov chain.
        """
        return np.asarray(np.linalg.eigvalsh(self.matrix)[::-1], dtype=np.float64)


def coarsen_walk(walk: Walk, labels: NDArray[np.integer], n_clusters: int) -> CoarseWalk:
    """The walk between clusters of samples.

    Parameters
    ----------
    walk : Walk
    labels : (n_samples,) int array
        The cluster of each sample, from 0. All nodes of a sample belong to its cluster.
    n_clusters : int
    """
    nodes = labels[walk.node_samples]
    indicators = np.eye(n_clusters, dtype=walk.dtype)[nodes]
    sums = np.asarray(walk @ indicators, dtype=np.float64)
    flows = np.stack([sums[nodes == k].sum(axis=0) for k in range(n_clusters)])
    flows = (flows + flows.T) / 2  # symmetric but for rounding
    total = flows.sum()
    flows = flows / total
    if walk.is_markov:
        masses, scale = flows.sum(axis=1), 1.0
    else:
        masses, scale = np.bincount(nodes, minlength=n_clusters) / nodes.size, total / nodes.size
    roots = np.sqrt(np.where(masses > 0, masses, np.inf))
    return CoarseWalk(flows, scale * flows / np.outer(roots, roots))
