"""The result of a clustering: centres, and the rule that assigns samples to them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from viewhop._runtime.threads import row_blocks
from viewhop.estimators._cluster_count import ClusterCount
from viewhop.estimators._multi_view import MultiViewDiffusionMaps
from viewhop.geometry import Geometry
from viewhop.walks import Walk

__all__ = ["Clusters", "columns_for", "find_centers", "leading_coordinates"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Cluster centres in the coordinates of a geometry.

    Attributes
    ----------
    geometry : Geometry
        The geometry of the embedding.
    embedder : MultiViewDiffusionMaps
        The fitted embedding.
    centers : (n_clusters, n_coordinates) array
    n_components : int
        Number of coordinates per view that are used.
    normalize : bool
        Whether only the direction of a sample's coordinates counts.
    count : ClusterCount or None
        How their number was found; None if it was passed.
    labels : (n_samples,) int array
        The cluster of each training sample.
    """

    geometry: Geometry
    embedder: MultiViewDiffusionMaps
    centers: Floats
    n_components: int
    normalize: bool
    count: ClusterCount | None = None
    labels: Labels = field(init=False)

    def __post_init__(self) -> None:
        """Assign the training samples now: nothing done to an array later changes their labels."""
        object.__setattr__(self, "labels", self.assign(self.geometry.embedding()))

    def assign(self, embedding: NDArray[np.floating]) -> Labels:
        """The cluster of each embedded sample, (n,).

        Parameters
        ----------
        embedding : (n, n_features_out) array
            As returned by the embedder.
        """
        coordinates = leading_coordinates(
            embedding, self.geometry.n_components, self.n_components, self.normalize
        )
        return _nearest_centers(coordinates, self.centers, embedding.dtype)


def columns_for(walk: Walk | type[Walk], n_clusters: int) -> int:
    """Coordinates that tell so many clusters apart, at least 1.

    One fewer than there are clusters, because the trivial one is left out; of a fusion that is no
    random walk, as many: its leading eigenvector is the first coordinate.

    Parameters
    ----------
    walk : Walk or type of Walk
    n_clusters : int
    """
    return max(1, n_clusters - walk.is_markov)


def leading_coordinates(
    embedding: NDArray[np.floating], r: int, n_components: int, normalize: bool
) -> Floats:
    """The first `n_components` of the r coordinates of each block, side by side, in float64.

    Parameters
    ----------
    embedding : (n, n_blocks * r) array
    r : int
        Coordinates per block.
    n_components : int
    normalize : bool
        Whether rows are scaled to unit length.
    """
    n = len(embedding)
    blocks = embedding.reshape(n, -1, r)[:, :, :n_components]
    coordinates = blocks.reshape(n, -1).astype(np.float64)
    if normalize:
        length = np.linalg.norm(coordinates, axis=1, keepdims=True)
        coordinates /= np.where(length > 0, length, 1.0)
    return coordinates


def find_centers(coordinates: Floats, n_clusters: int, *, n_init: int, seed: int | None) -> Floats:
    """Cluster centres by K-means, (n_clusters, n_coordinates).

    Runs on one thread: with only a few coordinates, threads mostly wait for each other, above all
    on a busy machine.
    """
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=seed)
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(kmeans.fit(coordinates).cluster_centers_)


def _nearest_centers(coordinates: Floats, centers: Floats, dtype: np.dtype[np.floating]) -> Labels:
    """The index of the nearest centre of each row, (n,).

    Ties go to the first centre. The tolerance covers the difference between a training sample's
    coordinates in fit and in transform, so that rounding does not change a label. It is relative
    to the distance and to the coordinates: two centres may be in the same place.
    """
    slack = 1e-3 if dtype == np.float32 else 1e-6
    rounding = slack * np.abs(centers).max()
    labels = np.empty(len(coordinates), dtype=np.int32)
    for block in row_blocks(len(coordinates), centers.size):
        gaps = coordinates[block, None] - centers
        distances = np.sqrt(np.square(gaps).sum(axis=2))
        limit = (1 + slack) * distances.min(axis=1, keepdims=True) + rounding
        labels[block] = np.argmax(distances <= limit, axis=1)
    return labels
