"""A view's kernel held as a full matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop.affinity.base import Affinity, Floats, check_not_identity
from viewhop.affinity.rows import KernelRows
from viewhop.bandwidth.one_view import sample_rows, scale
from viewhop.blocks import each, row_blocks
from viewhop.distances import Points, block_distances, matrix
from viewhop.features import FeatureMap
from viewhop.kernels import DistanceKernel, Precomputed

__all__ = ["DenseAffinity", "DensePrecomputed", "distance_affinity", "precomputed_affinity"]


class _Dense(Affinity):
    """Multiplication and connectivity of a full symmetric matrix.

    Attributes
    ----------
    values : (n, n) array
        The kernel, normalised by density where alpha says so.
    density : (n,) array
        Row sums before that normalisation.
    """

    def __init__(self, name: str, values: NDArray[np.floating], alpha: float) -> None:
        self.name = name
        self.dtype = values.dtype
        self.alpha = alpha
        self.values = values
        self.density: Floats = values.sum(axis=1, dtype=np.float64)
        if alpha:
            power = self.density**alpha
            for block in row_blocks(*values.shape):
                values[block] /= power[block, None] * power

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return int(self.values.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.values.nbytes

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel times a vector (n,) or block (n, b), summed in the precision of `V`."""
        out = np.empty(V.shape, dtype=V.dtype)
        # Block by block, so that a product can be interrupted and no float64 copy of it is made.
        for block in row_blocks(*self.values.shape):
            np.matmul(self.values[block].astype(V.dtype, copy=False), V, out=out[block])
        return out

    def pattern(self) -> csr_array:
        """Stars over the connected parts of the positive entries."""
        n = self.n_samples
        centre = np.zeros(n, dtype=np.intp)
        if not (self.values > 0).all():
            centre[:] = -1
            for start in range(n):
                if centre[start] >= 0:
                    continue
                front = np.array([start])
                centre[start] = start
                while front.size:
                    step = max(1, 2**22 // n)
                    reached = (self.values[front[:step]] > 0).any(axis=0) & (centre < 0)
                    centre[reached] = start
                    front = np.concatenate([front[step:], np.flatnonzero(reached)])
        # Both ways, as the kernel is: each sample as a row and as a column.
        star = csr_array((np.ones(n), (np.arange(n), centre)), shape=(n, n))
        return star + star.T


class DenseAffinity(_Dense):
    """A kernel of distances between all pairs of samples of a view.

    Attributes
    ----------
    kernel : DistanceKernel
    features : FeatureMap
    points : Points
        The training samples in the kernel's feature space.
    """

    def __init__(
        self,
        name: str,
        kernel: DistanceKernel,
        features: FeatureMap,
        points: Points,
        sigma: float | Floats,
        values: NDArray[np.floating],
    ) -> None:
        super().__init__(name, values, kernel.alpha)
        self.kernel = kernel
        self.features = features
        self.points = points
        self.scale = sigma

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.values.nbytes + self.points.nbytes

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples (q, d) against the n training samples."""
        queries = self.points.like(self.features(X, self.name))
        distances = block_distances(queries, slice(0, len(queries)), self.points)
        own: float | Floats = self.scale
        if isinstance(self.scale, np.ndarray):
            ranked = _ranked(distances, self.kernel.scale_neighbors)[1]
            own = np.sqrt(self.kernel.factor) * ranked
        logs = -self.kernel.exponent(distances / _pair_scale(own, self.scale))
        return KernelRows.normalised(logs, self.density, self.alpha)


class DensePrecomputed(_Dense):
    """A full kernel matrix that the caller computed."""

    scale = float("nan")

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples, given as their (q, n) kernel values."""
        with np.errstate(divide="ignore"):
            logs = np.log(X.astype(np.float64))
        return KernelRows.normalised(logs, self.density, self.alpha)


def distance_affinity(
    name: str,
    kernel: DistanceKernel,
    X: NDArray[np.floating],
    *,
    generator: np.random.Generator,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
) -> DenseAffinity:
    """The kernel of all pairs of rows of `X`.

    One buffer holds the distances first and the kernel after.
    """
    features = FeatureMap.of(kernel, X)
    points = Points(features(X, name), rounding=features.rounding)
    n = len(points)
    values = matrix(points, X.dtype, n_jobs=n_jobs, done=done)
    blocks = [*row_blocks(n, n)]
    ranks = each(
        lambda block: _ranked(values[block], kernel.scale_neighbors), blocks, n_jobs, lambda k: None
    )
    nearest, ranked = (np.concatenate(column) for column in zip(*ranks, strict=True))
    sigma = scale(kernel, name, nearest, ranked, lambda: sample_rows(points, generator))

    def exponentiate(block: slice) -> float:
        distances = values[block]
        distinct = distances > 0
        own = sigma[block] if isinstance(sigma, np.ndarray) else sigma
        distances /= _pair_scale(own, sigma).astype(values.dtype)
        np.exp(-kernel.exponent(distances), out=distances)
        return float(distances.max(where=distinct, initial=0.0))

    largest = max(each(exponentiate, blocks, n_jobs, lambda k: None))
    check_not_identity(name, largest, values.dtype, sigma, nearest)
    return DenseAffinity(name, kernel, features, points, sigma, values)


def precomputed_affinity(
    name: str, kernel: Precomputed, values: NDArray[np.floating]
) -> DensePrecomputed:
    """The given kernel matrix, checked and owned, as an affinity."""
    return DensePrecomputed(name, values, kernel.alpha)


def _ranked(distances: NDArray[np.floating], k: int) -> tuple[Floats, Floats]:
    """Smallest positive and (k+1)-th smallest distance of each row, both (n,)."""
    nearest = distances.min(axis=1, where=distances > 0, initial=np.inf)
    nearest = np.where(np.isfinite(nearest), nearest, 0.0)
    k = min(k, distances.shape[1] - 1)
    ranked = np.partition(distances, k, axis=1)[:, k]
    ranked = np.where(ranked > 0, ranked, nearest)
    return nearest.astype(np.float64), ranked.astype(np.float64)


def _pair_scale(own: float | Floats, scale: float | Floats) -> Floats:
    """√(σ_i σ_j) of each pair: (n, m) for local scales, else one number."""
    if isinstance(own, np.ndarray):
        return np.sqrt(own)[:, None] * np.sqrt(scale)
    return np.asarray(scale)
