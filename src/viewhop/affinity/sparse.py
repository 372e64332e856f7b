"""A view's kernel held on neighbouring pairs only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop import memory
from viewhop.affinity.base import Affinity, Floats, check_not_identity
from viewhop.affinity.rows import KernelRows
from viewhop.bandwidth.one_view import sample_rows, scale
from viewhop.distances import Points
from viewhop.features import FeatureMap
from viewhop.kernels import DistanceKernel, Precomputed
from viewhop.neighbours import Indices, neighbourhoods, within

#: Bytes that a found pair takes while the list is sorted and made symmetric.
PAIR_BYTES = 100

__all__ = ["SparseAffinity", "SparsePrecomputed", "distance_affinity", "precomputed_affinity"]


class _Sparse(Affinity):
    """Multiplication and connectivity of a symmetric matrix of stored pairs.

    Attributes
    ----------
    values : (n, n) csr_array
        The kernel, normalised by density where alpha says so.
    density : (n,) array
        Row sums before that normalisation.
    """

    def __init__(self, name: str, values: csr_array, alpha: float) -> None:
        self.name = name
        self.dtype = values.dtype
        self.alpha = alpha
        self.density: Floats = np.asarray(values.sum(axis=1, dtype=np.float64))
        if alpha:
            power = self.density**alpha
            pairs = np.repeat(power, np.diff(values.indptr)) * power[values.indices]
            values = csr_array(
                ((values.data / pairs).astype(self.dtype), values.indices, values.indptr),
                shape=values.shape,
            )
        self.values = values

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return int(self.values.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.values.data.nbytes + self.values.indices.nbytes + self.values.indptr.nbytes

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel times a vector (n,) or block (n, b), summed in the precision of `V`."""
        return np.asarray(self.values @ V)

    def pattern(self) -> csr_array:
        """The stored positive entries."""
        positive = self.values.copy()
        positive.eliminate_zeros()
        return positive

    def _rows(self, logs: Floats, rows: Indices, columns: Indices, n_rows: int) -> KernelRows:
        indptr = np.searchsorted(rows, np.arange(n_rows + 1))
        stored = csr_array((logs, columns, indptr), shape=(n_rows, self.n_samples))
        return KernelRows.normalised(stored, self.density, self.alpha)


class SparseAffinity(_Sparse):
    """A kernel of distances between neighbouring samples of a view.

    A pair is stored where its distance is within the radius of one of the two; new samples are
    held to the same rule.

    Attributes
    ----------
    kernel : DistanceKernel
    features : FeatureMap
    points : Points
        The training samples in the kernel's feature space.
    radius : (n,) array
        Distance of each sample to its (k+1)-th nearest, itself included.
    """

    def __init__(
        self,
        name: str,
        kernel: DistanceKernel,
        features: FeatureMap,
        points: Points,
        sigma: float | Floats,
        radius: Floats,
        values: csr_array,
    ) -> None:
        super().__init__(name, values, kernel.alpha)
        self.kernel = kernel
        self.features = features
        self.points = points
        self.scale = sigma
        self.radius = radius

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return super().nbytes + self.points.nbytes + self.radius.nbytes

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples (q, d) against the n training samples."""
        assert self.kernel.n_neighbors is not None
        queries = self.points.like(self.features(X, self.name))
        found = neighbourhoods(
            queries,
            self.points,
            k=self.kernel.n_neighbors,
            k_scale=self.kernel.scale_neighbors,
            reach=self.radius,
        )
        own: float | Floats = self.scale
        if isinstance(self.scale, np.ndarray):
            own = np.sqrt(self.kernel.factor) * found.scale
        scales = _pair_scale(own, self.scale, found.rows, found.columns)
        logs = -self.kernel.exponent(found.distances / scales)
        return self._rows(logs, found.rows, found.columns, len(queries))


class SparsePrecomputed(_Sparse):
    """The larger entries of a kernel matrix that the caller computed.

    Attributes
    ----------
    kernel : Precomputed
    threshold : (n,) array
        The (k+1)-th largest value of each row.
    """

    scale = float("nan")

    def __init__(
        self, name: str, kernel: Precomputed, threshold: Floats, values: csr_array
    ) -> None:
        super().__init__(name, values, kernel.alpha)
        self.kernel = kernel
        self.threshold = threshold

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples, given as their (q, n) kernel values."""
        assert self.kernel.n_neighbors is not None
        own = _largest(X, self.kernel.n_neighbors)
        rows, columns = np.nonzero((np.minimum(own[:, None], self.threshold) <= X) & (X > 0))
        logs = np.log(X[rows, columns].astype(np.float64))
        return self._rows(logs, rows, columns, X.shape[0])


def distance_affinity(
    name: str,
    kernel: DistanceKernel,
    X: NDArray[np.floating],
    *,
    generator: np.random.Generator,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allowed: int | None = None,
) -> SparseAffinity:
    """The kernel of neighbouring rows of `X`."""
    features = FeatureMap.of(kernel, X)
    points = Points(features(X, name), rounding=features.rounding)
    return points_affinity(
        name,
        kernel,
        features,
        points,
        X.dtype,
        generator=generator,
        n_jobs=n_jobs,
        done=done,
        allowed=allowed,
    )


def points_affinity(
    name: str,
    kernel: DistanceKernel,
    features: FeatureMap,
    points: Points,
    dtype: np.dtype[np.floating],
    *,
    generator: np.random.Generator,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allowed: int | None = None,
) -> SparseAffinity:
    """The kernel of neighbouring points."""
    assert kernel.n_neighbors is not None

    def allow(pairs: int) -> None:
        memory.require(
            pairs * PAIR_BYTES,
            allowed,
            what=f"{pairs:,} pairs of neighbours in view {name!r}, with more to come,",
            instead="equal distances are all kept: drop repeated rows, or raise max_memory",
        )

    found = neighbourhoods(
        points,
        points,
        k=kernel.n_neighbors,
        k_scale=kernel.scale_neighbors,
        n_jobs=n_jobs,
        done=done,
        allow=allow,
    )
    sigma = scale(kernel, name, found.nearest, found.scale, lambda: sample_rows(points, generator))
    i, j, distances = within(found)
    logs = -kernel.exponent(distances / _pair_scale(sigma, sigma, i, j))
    values = np.exp(logs).astype(dtype)
    largest = float(values.max(where=distances > 0, initial=0.0))
    check_not_identity(name, largest, values.dtype, sigma, found.nearest)
    n = len(points)
    held = csr_array((values, j, np.searchsorted(i, np.arange(n + 1))), shape=(n, n))
    return SparseAffinity(name, kernel, features, points, sigma, found.radius, held)


def precomputed_affinity(
    name: str, kernel: Precomputed, values: NDArray[np.floating]
) -> SparsePrecomputed:
    """The entries of a given kernel matrix that reach the threshold of their row or column."""
    assert kernel.n_neighbors is not None
    threshold = _largest(values, kernel.n_neighbors)
    kept = (values >= np.minimum(threshold[:, None], threshold)) & (values > 0)
    held = csr_array(np.where(kept, values, values.dtype.type(0)))
    return SparsePrecomputed(name, kernel, threshold, held)


def _largest(values: NDArray[np.floating], k: int) -> Floats:
    """The (k+1)-th largest value of each row, (n,)."""
    n = values.shape[1]
    place = n - 1 - min(k, n - 1)
    return np.partition(values, place, axis=1)[:, place].astype(np.float64)


def _pair_scale(
    own: float | Floats, scale: float | Floats, rows: Indices, columns: Indices
) -> float | Floats:
    """√(σ_i σ_j) of each stored pair, (p,) for local scales, else one number."""
    if isinstance(own, np.ndarray) and isinstance(scale, np.ndarray):
        return np.sqrt(own)[rows] * np.sqrt(scale)[columns]
    return scale
