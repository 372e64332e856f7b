"""The result of a clustering: centres, and the rule that assigns samples to them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from viewhop._runtime.threads import row_blocks
from viewhop.estimators._cluster_count import ClusterCount
from viewhop.estimators._multi_view import MultiViewDiffusionMaps
from viewhop.geometry import Geometry

__all__ = ["Clusters", "eigengap", "find_centers", "leading_coordinates", "log_gap"]

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


def eigengap(eigenvalues: ArrayLike) -> int:
    """Number of clusters k ≥ 2 with the largest gap λ_{k−1} − λ_k.

    Parameters
    ----------
    eigenvalues : (r,) array
        λ_1 … λ_r of a walk, largest first, without the trivial λ_0 = 1.

    Returns
    -------
    n_clusters : int
        From 2 to r, the smallest k if gaps are equal; 2 for a single eigenvalue.

    Notes
    -----
    λ_0 is counted: with k clusters λ_0 … λ_{k−1} are near 1 and λ_k is not. A walk in k pieces
    has k eigenvalues of 1, and its gap is 1 − λ_k. The result is never 1, because no gap of a
    finite sample can show that there is a single cluster. Ng, Jordan and Weiss (2001)
    count the eigenvalues of 1; Polito and Perona (2001) look for the drop after them. The rule is
    for compact clusters: along a curve, as in the coupled circles, eigenvalues decay without a
    clear gap, and the largest gap does not tell the number of curves.

    Examples
    --------
    >>> from viewhop.estimators import eigengap
    >>> eigengap([0.99, 0.98, 0.5, 0.4])
    3
    """
    return _largest_gap(_check_eigenvalues(eigenvalues))


def log_gap(eigenvalues: ArrayLike) -> int:
    """Number of clusters k ≥ 2 with the largest gap log λ_{k−1} − log λ_k.

    Parameters
    ----------
    eigenvalues : (r,) array
        As for `eigengap`. What is not positive beyond rounding counts as the rounding.

    Returns
    -------
    n_clusters : int
        As for `eigengap`.

    Notes
    -----
    The gap does not depend on the diffusion time: λ^t has gaps t times as large. It suits wide
    kernels, whose eigenvalues are small even for separate clusters. Where eigenvalues go on
    decreasing to 0, the last gaps are the largest, and the result means nothing.

    Examples
    --------
    >>> from viewhop.estimators import eigengap, log_gap
    >>> eigenvalues = [0.4, 0.3, 0.07, 0.05, 0.001, 0.0008]
    >>> eigengap(eigenvalues), log_gap(eigenvalues)
    (3, 5)
    """
    values = _check_eigenvalues(eigenvalues)
    return _largest_gap(np.log(np.maximum(values, np.finfo(np.float64).eps)))


def _check_eigenvalues(eigenvalues: ArrayLike) -> Floats:
    """The eigenvalues as an array; ValueError if they cannot be those of a walk."""
    values = np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"eigenvalues must be a non-empty 1-D array, not of shape {values.shape}")
    if not np.isfinite(values).all() or (np.diff(values) > 0).any():
        raise ValueError("eigenvalues must be finite and sorted, largest first")
    return values


def _largest_gap(values: Floats) -> int:
    """The k with the largest difference from the (k − 1)-th value to the k-th."""
    return 2 + int(np.argmax(values[:-1] - values[1:])) if values.size > 1 else 2


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
    coordinates in fit and in transform, so that rounding does not change a label.
    """
    slack = 1e-3 if dtype == np.float32 else 1e-6
    labels = np.empty(len(coordinates), dtype=np.int32)
    for block in row_blocks(len(coordinates), centers.size):
        gaps = coordinates[block, None] - centers
        distances = np.sqrt(np.square(gaps).sum(axis=2))
        limit = (1 + slack) * distances.min(axis=1, keepdims=True)
        labels[block] = np.argmax(distances <= limit, axis=1)
    return labels
