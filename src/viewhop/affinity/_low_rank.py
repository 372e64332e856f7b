"""Incomplete Cholesky: one view's kernel from few of its columns, K ≈ G Gᵀ.

Each step takes the sample that is represented worst so far as a pivot and adds its kernel column.
Only these columns are computed, so the kernel matrix need not fit in memory. The same triangle
gives the rows of G for training samples and for new ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import row_blocks
from viewhop.affinity._dense import build_dense_precomputed
from viewhop.affinity._kernel_values import check_kernel_matrix, check_kernel_values
from viewhop.bandwidth import choose_scale, sample_rows
from viewhop.kernels import DistanceKernel, Kernel, Precomputed
from viewhop.neighbours import FeatureMap, Points, find_neighbourhoods, pair_distances
from viewhop.views import ViewRows

__all__ = ["Factor", "LowRank", "Pivots", "factorise_kernel", "incomplete_cholesky"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Done = Callable[[int, int], None]

#: A sample is far if its largest kernel value at the pivots is below this share of theirs.
FAR = 1e-8


class Factor(NamedTuple):
    """The incomplete Cholesky factor of a positive semi-definite matrix.

    Attributes
    ----------
    rows : (n, k) array
        G; its rows at the pivots, in their order, are lower triangular.
    pivots : (k,) index array
    remainder : (n,) array
        Diagonal of K − G Gᵀ.
    """

    rows: Floats
    pivots: Indices
    remainder: Floats


def incomplete_cholesky(
    diagonal: Floats,
    column: Callable[[int], Floats],
    *,
    rank: int,
    tol: float = 0.0,
    done: Done = lambda done, total: None,
) -> Factor:
    """The factor G with K ≈ G Gᵀ, from the diagonal and at most `rank` columns of K.

    Parameters
    ----------
    diagonal : (n,) array
        Diagonal of K.
    column : callable
        Returns a column of K, (n,), by its index.
    rank : int
        Largest number of columns, from 1 to n.
    tol : float
        Stop if the largest remaining diagonal entry is at most this share of the largest one of
        K; in any case stop at rounding error, n times the unit.
    done : callable
        Called with the number of finished columns and the total.

    Raises
    ------
    ValueError
        If the matrix proves not to be positive semi-definite.

    Notes
    -----
    The pivot is the largest remaining diagonal entry, the first of equal ones, as in LAPACK's
    ``pstrf``.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.affinity._low_rank import incomplete_cholesky
    >>> K = np.array([[1.0, 0.0, 1.0], [0.0, 4.0, 2.0], [1.0, 2.0, 2.0]])
    >>> factor = incomplete_cholesky(K.diagonal(), lambda j: K[:, j], rank=3)
    >>> factor.pivots.tolist()
    [1, 0]
    >>> bool(np.abs(factor.rows @ factor.rows.T - K).max() < 1e-12)
    True
    """
    n = diagonal.size
    remainder = diagonal.astype(np.float64)
    size = float(remainder.max())
    unit = float(np.finfo(np.float64).eps)
    rows = np.empty((rank, n))
    pivots: list[int] = []
    while len(pivots) < rank:
        k, pivot = len(pivots), int(np.argmax(remainder))
        if remainder[pivot] <= max(tol, n * unit) * size:
            break
        root = np.sqrt(remainder[pivot])
        rows[k] = (column(pivot) - rows[:k, pivot] @ rows[:k]) / root
        rows[k, pivots] = 0.0
        rows[k, pivot] = root
        remainder -= np.square(rows[k])
        pivots.append(pivot)
        remainder[pivots] = 0.0
        if remainder.min() < -100 * n * unit * size:
            raise ValueError(
                f"it is not positive semi-definite: after {k + 1} pivots, {remainder.min():.3g} is "
                f"left on the diagonal for sample {int(np.argmin(remainder))}"
            )
        done(len(pivots), rank)
    return Factor(rows[: len(pivots)].T.copy(), np.array(pivots, dtype=np.intp), remainder)


class Pivots(ABC):
    """The samples that represent all others: they give any sample its row in a low-rank kernel.

    Attributes
    ----------
    name : str
        The view.
    triangle : (k, k) array
        Factor rows of the pivots, lower triangular.
    scale : float
        The kernel's scale; NaN if it has none.
    """

    name: str
    triangle: Floats
    scale: float

    @abstractmethod
    def values(self, X: NDArray[np.floating]) -> Floats:
        """Kernel values of samples (q, d) at the pivots, (q, k)."""

    def against(self, X: NDArray[np.floating]) -> tuple[Floats, NDArray[np.bool_]]:
        """Factor rows of samples (q, d), new or not, and which of them are far from all pivots.

        Returns
        -------
        rows : (q, k) array
        far : (q,) bool array
        """
        values = self.values(X)
        rows = solve_triangular(self.triangle, values.T, lower=True).T
        return rows, values.max(axis=1) < self.least

    @property
    def least(self) -> float:
        """The kernel value below which a sample is far from a pivot."""
        return float(FAR * np.square(self.triangle[0, 0]))


class DistancePivots(Pivots):
    """Pivots of a distance kernel.

    Attributes
    ----------
    kernel : DistanceKernel
    features : FeatureMap
    points : Points
        The pivots in the kernel's feature space.
    """

    def __init__(
        self,
        name: str,
        kernel: DistanceKernel,
        features: FeatureMap,
        points: Points,
        sigma: float,
        triangle: Floats,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.features = features
        self.points = points
        self.scale = sigma
        self.triangle = triangle

    def values(self, X: NDArray[np.floating]) -> Floats:
        """Kernel values of samples (q, d) at the pivots, (q, k)."""
        queries = self.points.like(self.features(X, self.name))
        k = len(self.points)
        values = np.empty((len(queries), k))
        for block in row_blocks(len(queries), k):
            i = np.arange(block.start, block.stop)
            # From differences of rows: the same bits as in the column of a training sample.
            distances = pair_distances(
                queries, np.repeat(i, k), self.points, np.tile(np.arange(k), i.size)
            ).reshape(-1, k)
            values[block] = np.exp(-self.kernel.exponent(distances / self.scale))
        return values


class GivenPivots(Pivots):
    """Pivots of a precomputed kernel.

    Attributes
    ----------
    columns : (k,) index array
        Indices of the pivots among the training samples.
    """

    scale = float("nan")

    def __init__(self, name: str, columns: Indices, triangle: Floats) -> None:
        self.name = name
        self.columns = columns
        self.triangle = triangle

    def values(self, X: NDArray[np.floating]) -> Floats:
        """Kernel values of samples, given as (q, n), at the pivots, (q, k)."""
        check_kernel_values(self.name, X)
        return np.asarray(X[:, self.columns], dtype=np.float64)


class LowRank(NamedTuple):
    """One view's kernel as G Gᵀ.

    Attributes
    ----------
    rows : (n, k) array
        G, of the training samples.
    pivots : Pivots
        The pivots, which give the row of any sample.
    left_out : float
        Share of the kernel's trace that G Gᵀ lacks.
    far : (n,) bool array
        Training samples that are far from all pivots.
    """

    rows: Floats
    pivots: Pivots
    left_out: float
    far: NDArray[np.bool_]


def factorise_kernel(
    name: str,
    kernel: Kernel,
    X: NDArray[np.floating],
    *,
    rank: int,
    tol: float = 0.0,
    generator: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = no_progress,
) -> LowRank:
    """The kernel of one view on its training samples as G Gᵀ.

    Parameters
    ----------
    name : str
        Name of the view, for errors and progress.
    kernel : Kernel
        Positive semi-definite: neither restricted to neighbours nor with local scales.
    X : (n_samples, n_features) array
        For `Precomputed`, the (n_samples, n_samples) kernel.
    rank, tol
        As in `incomplete_cholesky`.
    generator : Generator
        Draws the rows from which a scale is estimated, if there are many.
    n_jobs : int
        Number of threads of the neighbour search, if the rule for the scale needs one.
    progress : callable
    """
    _check_semidefinite(name, kernel)

    def done(count: int, total: int) -> None:
        progress(f"kernel of {name}", count, total)

    nearest = np.zeros(len(X))

    def factorised(diagonal: Floats, column: Callable[[int], Floats]) -> Factor:
        def watched(j: int) -> Floats:
            values = column(j)
            np.maximum(nearest, values, out=nearest)
            return values

        try:
            return incomplete_cholesky(diagonal, watched, rank=rank, tol=tol, done=done)
        except ValueError as error:
            raise ValueError(f"the kernel of view {name!r}: {error}") from error

    def whole(factor: Factor, pivots: Pivots) -> LowRank:
        trace = np.square(factor.rows).sum() + factor.remainder.sum()
        far = nearest < pivots.least
        return LowRank(factor.rows, pivots, float(factor.remainder.sum() / trace), far)

    if isinstance(kernel, Precomputed):
        check_kernel_matrix(name, X)
        full = build_dense_precomputed(ViewRows(name, X), kernel).full()
        matrix = np.asarray(full, dtype=np.float64)
        factor = factorised(matrix.diagonal(), lambda j: matrix[:, j])
        return whole(factor, GivenPivots(name, factor.pivots, factor.rows[factor.pivots]))

    assert isinstance(kernel, DistanceKernel)
    features = FeatureMap.of(kernel, X)
    points = Points(features(X, name), rounding=features.rounding)
    n = len(points)
    every = np.arange(n)
    sigma = _scale(name, kernel, points, generator, n_jobs)

    reach = [0.0]

    def column(j: int) -> Floats:
        distances = pair_distances(points, every, points, np.full(n, j))
        values = np.asarray(np.exp(-kernel.exponent(distances / sigma)))
        reach.append(float(values.max(where=distances > 0, initial=0.0)))
        return values

    factor = factorised(np.ones(n), column)
    if max(reach) <= np.finfo(np.float64).eps:
        raise ValueError(
            f"the kernel of view {name!r} underflows to the identity: at a scale of {sigma:.3g} "
            f"none of {factor.pivots.size} samples sees another; use a larger bandwidth or factor"
        )
    chosen = points.like(points.rows[factor.pivots])
    triangle = factor.rows[factor.pivots]
    return whole(factor, DistancePivots(name, kernel, features, chosen, sigma, triangle))


def _check_semidefinite(name: str, kernel: Kernel) -> None:
    """Raise ValueError, naming the view, for a kernel that has no Cholesky factor."""
    where = f"the kernel of view {name!r}"
    instead = "use a dense Gaussian with one scale, such as Gaussian(bandwidth='max-min')"
    if kernel.n_neighbors is not None:
        raise ValueError(
            f"{where} keeps {kernel.n_neighbors} neighbours, so it is not positive semi-definite "
            f"and has no Cholesky factor; {instead} (n_neighbors=None)"
        )
    if getattr(kernel, "bandwidth", None) == "local":
        raise ValueError(
            f"{where} has a scale per sample, so it is not positive semi-definite and has no "
            f"Cholesky factor; {instead}"
        )
    if kernel.alpha:
        raise ValueError(
            f"{where} divides by densities (alpha={kernel.alpha!r}), which are sums over all "
            "samples, but an incomplete Cholesky factor uses only a few of them; use alpha=0"
        )


def _scale(
    name: str,
    kernel: DistanceKernel,
    points: Points,
    generator: np.random.Generator,
    n_jobs: int,
) -> float:
    """The kernel's scale; neighbours are searched only if its rule needs them."""
    if isinstance(kernel.bandwidth, str):
        neighbours = find_neighbourhoods(points, points, k=1, k_scale=1, n_jobs=n_jobs)
        nearest, ranked = neighbours.nearest, neighbours.scale
    else:
        first = np.zeros(len(points), dtype=np.intp)
        nearest = ranked = pair_distances(points, np.arange(len(points)), points, first)
    return float(
        np.asarray(
            choose_scale(kernel, name, nearest, ranked, lambda: sample_rows(points, generator))
        )
    )
