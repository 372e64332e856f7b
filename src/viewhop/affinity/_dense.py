"""A view's kernel stored as a full matrix."""

from __future__ import annotations

from threading import Lock
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._storage.codec import Shelf
from viewhop.affinity._affinity import (
    Affinity,
    Floats,
    check_not_identity,
    check_reach,
)
from viewhop.affinity._distance_tiles import (
    distance_tiles,
    pair_scale,
    ranked,
    ranked_rows,
)
from viewhop.affinity._kernel_rows import KernelRows
from viewhop.affinity._kernel_values import check_kernel_values, density_power
from viewhop.affinity._stars import connect_live_columns, connect_samples
from viewhop.affinity._state import base_state, distance_block, measured_state
from viewhop.affinity._tiles import Tiles
from viewhop.bandwidth import Histogram, choose_scale
from viewhop.kernels import DistanceKernel, Precomputed
from viewhop.neighbours import FeatureMap, Points, block_distances, scaled_squares
from viewhop.views import Describe, ViewRows, row_number

__all__ = [
    "DenseAffinity",
    "DensePrecomputed",
    "build_dense",
    "build_dense_points",
    "build_dense_precomputed",
]


class _Dense(Affinity):
    """Products, connectivity and subsets of a full symmetric matrix.

    Attributes
    ----------
    tiles : Tiles
        The kernel, normalised by density if alpha is positive.
    """

    coarsening: ClassVar[Literal["subset", "merge"] | None] = "subset"

    def __init__(
        self,
        name: str,
        tiles: Tiles,
        alpha: float,
        *,
        n_jobs: int = 1,
        density: Floats | None = None,
    ) -> None:
        self.name = name
        self.dtype = tiles.dtype
        self.alpha = alpha
        self.tiles = tiles
        self.n_jobs = n_jobs
        self._density: Floats = tiles.sums(n_jobs=n_jobs) if density is None else density
        self._typical = float(np.median(self._density))
        if alpha and density is None:
            power = density_power(name, self._density, alpha, self.dtype)

            def divide(tile: NDArray[np.floating], rows: slice, columns: slice) -> None:
                tile /= power[rows, None] * power[columns]

            tiles.each(divide, n_jobs=n_jobs)

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return self.tiles.n

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self.tiles.nbytes

    @property
    def degrees(self) -> Floats:
        """Row sums of the kernel, (n,), in float64."""
        return super().degrees if self.alpha else self._density

    @property
    def density(self) -> Floats:
        """Row sums before density normalisation, (n,)."""
        return self._density

    @property
    def is_dense(self) -> bool:
        """A product reads all pairs."""
        return True

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel times a vector (n,) or block (n, b), summed in the precision of `V`."""
        return self.tiles.product(V, n_jobs=self.n_jobs)

    def subset(self, chosen: NDArray[np.intp]) -> DensePrecomputed:
        """The kernel on p sorted chosen samples that represent all n.

        Each represents n/p samples, but the diagonal counts one of them: it is scaled by p/n.
        """
        values = self.tiles.part(chosen)
        values[np.diag_indices(chosen.size)] *= chosen.size / self.n_samples
        tiles = Tiles.of(values, n_jobs=self.n_jobs)
        return DensePrecomputed(self.name, Precomputed(), tiles, n_jobs=self.n_jobs)

    @property
    def n_row_blocks(self) -> int:
        """Number of row blocks of the tiles."""
        return len(self.tiles.blocks)

    def subset_rows(self, block: int, chosen: NDArray[np.intp]) -> KernelRows:
        """Kernel rows of the samples in one row block against sorted chosen samples."""
        values = self.tiles.columns(block, chosen)
        largest = values.max(axis=1)
        seen = largest > 0
        peaks = np.full(seen.size, -np.inf)
        peaks[seen] = np.log(largest[seen])
        values /= np.where(seen, largest, 1)[:, None]
        return KernelRows(values, peaks, np.ones(seen.size))

    def logs(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Logarithms of the plain kernel between new samples and the n training samples, (q, n)."""
        raise TypeError(f"{type(self).__name__} cannot be compared with new samples")

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples against the n training samples."""
        return KernelRows.normalised(self.logs(X), self._density, self.alpha, self._typical)

    def full(self, dtype: np.dtype[np.floating] | None = None) -> NDArray[np.floating]:
        """The full (n, n) matrix, a copy, in the given precision."""
        return self.tiles.full(dtype)

    def pattern(self, live: NDArray[np.bool_] | None = None) -> csr_array:
        """A sparse matrix with one star of entries for each connected component."""
        if live is None:
            return connect_samples(self.tiles, n_jobs=self.n_jobs)
        return connect_live_columns(self.tiles, live)


class DenseAffinity(_Dense):
    """A kernel of distances between all pairs of samples of a view.

    Attributes
    ----------
    kernel : DistanceKernel
    features : FeatureMap
    points : Points
        The training samples in the kernel's feature space.
    """

    kernel: DistanceKernel

    def __init__(
        self,
        name: str,
        kernel: DistanceKernel,
        features: FeatureMap,
        points: Points,
        sigma: float | Floats,
        tiles: Tiles,
        *,
        n_jobs: int = 1,
        density: Floats | None = None,
    ) -> None:
        super().__init__(name, tiles, kernel.alpha, n_jobs=n_jobs, density=density)
        self.kernel = kernel
        self.features = features
        self.points = points
        self.scale = sigma

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return super().nbytes + self.points.nbytes

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The affinity as plain data."""
        shelf.put("triangle", self.tiles.packed())
        return measured_state(self, self.features, self.points, shelf)

    def check_new(self, X: NDArray[np.floating], describe: Describe = row_number) -> None:
        """Raise ValueError for a row that the feature map is not defined on."""
        self.features.check(X, self.name, describe)

    def distances(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.floating]:
        """Distances between training samples, (p, q)."""
        return distance_block(self.points, rows, columns)

    def logs(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Logarithms of the plain kernel between new samples (q, d) and the n training samples."""
        queries = self._queries(X)
        found = self._exponents(queries)
        return self._logs_of_distances(queries) if found is None else np.negative(found[0])

    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples against the n training samples."""
        if self.alpha:
            return super().against(X)
        queries = self._queries(X)
        found = self._exponents(queries)
        if found is not None:
            return KernelRows.of_exponents(*found, self._typical)
        logs = self._logs_of_distances(queries)
        return KernelRows.normalised(logs, self._density, self.alpha, self._typical)

    def _queries(self, X: NDArray[np.floating]) -> Points:
        """New samples in the feature space of the kernel."""
        return self.points.like(self.features(X, self.name))

    def _exponents(
        self, queries: Points
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]] | None:
        """−log of the plain kernel, (q, n), and the least of each row, from products alone.

        None for other norms, local scales, or rows so far away that only distances can rank the
        training samples.
        """
        if self.points.norm != "euclidean" or isinstance(self.scale, np.ndarray):
            return None
        found = scaled_squares(queries, self.points, self.scale, dtype=self.dtype)
        if found is None:
            return None
        squares, least = found
        return self.kernel.exponent_of_square(squares), self.kernel.exponent_of_square(least)

    def _logs_of_distances(self, queries: Points) -> NDArray[np.floating]:
        """Logarithms of the plain kernel from distances, (q, n)."""
        distances = block_distances(queries, slice(0, len(queries)), self.points, dtype=self.dtype)
        own: float | Floats = self.scale
        if isinstance(self.scale, np.ndarray):
            own = np.sqrt(self.kernel.factor) * ranked(distances, self.kernel.scale_rank)
        distances /= pair_scale(own, self.scale).astype(self.dtype)
        return np.asarray(-self.kernel.exponent(distances))


class DensePrecomputed(_Dense):
    """A full kernel matrix computed by the caller."""

    def __init__(
        self,
        name: str,
        kernel: Precomputed,
        tiles: Tiles,
        *,
        n_jobs: int = 1,
        density: Floats | None = None,
    ) -> None:
        super().__init__(name, tiles, kernel.alpha, n_jobs=n_jobs, density=density)
        self.kernel = kernel

    def check_new(self, X: NDArray[np.floating], describe: Describe = row_number) -> None:
        """Raise ValueError for a negative kernel value."""
        check_kernel_values(self.name, X, describe)

    def select_columns(
        self, X: NDArray[np.floating], samples: NDArray[np.intp]
    ) -> NDArray[np.floating]:
        """The columns of the samples that the view observed."""
        return X[:, samples]

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The affinity as plain data."""
        shelf.put("triangle", self.tiles.packed())
        return base_state(self, shelf)

    def logs(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Logarithms of the given kernel values, (q, n)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(X.astype(np.float64)))


def build_dense(rows: ViewRows, kernel: DistanceKernel) -> DenseAffinity:
    """The kernel of all pairs of rows."""
    features = FeatureMap.of(kernel, rows.values, rows.name)
    points = features.points(features(rows.values, rows.name, rows.describe), n_jobs=rows.n_jobs)
    return build_dense_points(rows, kernel, features, points)


def build_dense_points(
    rows: ViewRows, kernel: DistanceKernel, features: FeatureMap, points: Points
) -> DenseAffinity:
    """The kernel of all pairs of points; `rows.values` only determines the precision.

    The tiles first store the distances that the scale is chosen from, and then the kernel.
    """
    name, n_jobs, dtype = rows.name, rows.n_jobs, rows.values.dtype

    def done(count: int, total: int) -> None:
        rows.progress(f"kernel of {name}", count, total)

    tiles, nearest = distance_tiles(points, dtype, n_jobs, done)
    ranked = nearest
    if kernel.bandwidth == "local":
        ranked = ranked_rows(tiles, kernel.scale_rank, n_jobs)
    sigma = choose_scale(
        kernel, name, nearest, ranked, lambda unit: _count_tiles(tiles, unit, n_jobs)
    )
    check_reach(name, dtype, sigma, nearest)

    def exponentiate(distances: NDArray[np.floating], first: slice, second: slice) -> float:
        if not isinstance(sigma, np.ndarray):
            distances *= distances.dtype.type(1.0 / sigma)
            with np.errstate(over="ignore"):
                exponents = kernel.exponent_of_square(np.square(distances, out=distances))
            np.exp(np.negative(exponents, out=exponents), out=distances)
            return 0.0
        distinct = distances > 0
        distances /= pair_scale(sigma[first], sigma[second]).astype(distances.dtype)
        np.exp(-kernel.exponent(distances), out=distances)
        return float(distances.max(where=distinct, initial=0.0))

    largest = max(tiles.each(exponentiate, n_jobs=n_jobs))
    if not isinstance(sigma, np.ndarray):
        largest = float(np.exp(-kernel.exponent(nearest[nearest > 0].min() / sigma)))
    check_not_identity(name, largest, tiles.dtype, sigma, nearest)
    return DenseAffinity(name, kernel, features, points, sigma, tiles, n_jobs=n_jobs)


def _count_tiles(tiles: Tiles, unit: float, n_jobs: int) -> Histogram:
    """Histogram of the distances between all pairs of samples."""
    histogram, lock = Histogram(tiles.dtype, unit), Lock()

    def count(distances: NDArray[np.floating], first: slice, second: slice) -> None:
        counted = histogram.count(distances)
        with lock:
            histogram.add(counted, times=1 if first == second else 2)

    tiles.each(count, n_jobs=n_jobs)
    return histogram


def build_dense_precomputed(rows: ViewRows, kernel: Precomputed) -> DensePrecomputed:
    """The affinity of a precomputed kernel matrix, symmetrised by averaging its triangles."""
    values = np.asarray(rows.values)

    def average(first: slice, second: slice) -> NDArray[np.floating]:
        return np.asarray(0.5 * (values[first, second] + values[second, first].T))

    tiles = Tiles(len(values), values.dtype, average, n_jobs=rows.n_jobs)
    return DensePrecomputed(rows.name, kernel, tiles, n_jobs=rows.n_jobs)
