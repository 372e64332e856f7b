"""A low-rank approximation of one view's kernel, K ≈ G Gᵀ, from a few of its columns.

Each step chooses the sample that the current columns represent worst as a pivot, and adds its
kernel column. Only these columns are computed, so the kernel matrix need not fit in memory. The
same triangle gives the rows of G for training samples and for new ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop.affinity._cholesky import Factor, incomplete_cholesky
from viewhop.affinity._dense import build_dense_precomputed
from viewhop.affinity._kernel_values import check_kernel_matrix, sparse_kernel_error
from viewhop.affinity._pivots import DistancePivots, GivenPivots, Pivots
from viewhop.bandwidth import choose_scale, count_distances
from viewhop.kernels import DistanceKernel, Gaussian, Kernel, Precomputed
from viewhop.neighbours import FeatureMap, Points, find_neighbourhoods, pair_distances
from viewhop.views import SparseRows, ViewRows

__all__ = ["LowRank", "check_semidefinite", "factorise_kernel"]

Floats = NDArray[np.float64]
#: Returns a kernel column, (n,), by its index.
Column: TypeAlias = Callable[[int], Floats]
#: Returns the factor of a kernel from its diagonal and its columns.
Factorise: TypeAlias = Callable[[Floats, Column], Factor]


class LowRank(NamedTuple):
    """One view's kernel as G Gᵀ.

    Attributes
    ----------
    rows : (n, k) array
        G, one row per training sample.
    pivots : Pivots
        Compute the row of any sample.
    left_out : float
        Share of the kernel's trace that G Gᵀ does not reproduce.
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
    X: Any,
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
    X : (n_samples, n_features) array or SparseRows
        For `Precomputed`, the (n_samples, n_samples) kernel.
    rank, tol
        As in `viewhop.affinity._cholesky.incomplete_cholesky`.
    generator : Generator
        Draws the rows that the scale is estimated from, if there are many.
    n_jobs : int
        Threads of the neighbour search, for scale rules that need one.
    progress : callable
    """
    check_semidefinite(name, kernel)
    largest = np.zeros(len(X))  # kernel value of each sample at the pivot most similar to it

    def factorise(diagonal: Floats, column: Column) -> Factor:
        def watched(j: int) -> Floats:
            values = column(j)
            np.maximum(largest, values, out=largest)
            return values

        def done(count: int, total: int) -> None:
            progress(f"kernel of {name}", count, total)

        try:
            return incomplete_cholesky(diagonal, watched, rank=rank, tol=tol, done=done)
        except ValueError as error:
            raise ValueError(f"the kernel of view {name!r}: {error}") from error

    rows = ViewRows(name, X, generator, n_jobs)
    if isinstance(kernel, Precomputed):
        factor, pivots = _factorise_matrix(rows, kernel, factorise)
    else:
        assert isinstance(kernel, DistanceKernel)
        factor, pivots = _factorise_distances(rows, kernel, factorise)
    trace = np.square(factor.rows).sum() + factor.remainder.sum()
    left_out = float(factor.remainder.sum() / trace)
    return LowRank(factor.rows, pivots, left_out, largest < pivots.least)


def _factorise_matrix(
    rows: ViewRows, kernel: Precomputed, factorise: Factorise
) -> tuple[Factor, Pivots]:
    """The factor of a precomputed kernel, and its pivots."""
    if isinstance(rows.values, SparseRows):
        raise sparse_kernel_error(rows.name)
    check_kernel_matrix(rows.name, rows.values)
    full = build_dense_precomputed(ViewRows(rows.name, rows.values), kernel).full()
    matrix = np.asarray(full, dtype=np.float64)
    factor = factorise(matrix.diagonal(), lambda j: matrix[:, j])
    return factor, GivenPivots(rows.name, factor.pivots, factor.rows[factor.pivots])


def _factorise_distances(
    rows: ViewRows, kernel: DistanceKernel, factorise: Factorise
) -> tuple[Factor, Pivots]:
    """The factor of a distance kernel, and its pivots; ValueError if the kernel is the identity."""
    name = rows.name
    features = FeatureMap.of(kernel, rows.values, name)
    points = features.points(features(rows.values, name))
    n = len(points)
    every = np.arange(n)
    sigma = _scale(name, kernel, points, rows.generator, rows.n_jobs)
    reach = [0.0]

    def column(j: int) -> Floats:
        distances = pair_distances(points, every, points, np.full(n, j))
        with np.errstate(over="ignore"):  # the kernel is 0 there
            values = np.asarray(np.exp(-kernel.exponent(distances / sigma)))
        reach.append(float(values.max(where=distances > 0, initial=0.0)))
        return values

    factor = factorise(np.ones(n), column)
    if max(reach) <= np.finfo(np.float64).eps:
        raise ValueError(
            f"the kernel of view {name!r} underflows to the identity: at a scale of {sigma:.3g} "
            f"none of the {factor.pivots.size} pivots is similar to another sample; use a larger "
            "bandwidth or factor"
        )
    chosen = points.like(points.rows[factor.pivots])
    triangle = factor.rows[factor.pivots]
    pivots = DistancePivots(name, kernel, features, chosen, sigma, factor.pivots, triangle)
    return factor, pivots


def check_semidefinite(name: str, kernel: Kernel) -> None:
    """Raise ValueError, naming the view, for a kernel that has no Cholesky factor.

    Parameters
    ----------
    name : str
        The view.
    kernel : Kernel
    """
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
    if isinstance(kernel, Gaussian) and not kernel.is_euclidean:
        raise ValueError(
            f"{where} is a Gaussian of Manhattan distances, which is not positive semi-definite "
            f"and has no Cholesky factor; use Laplacian(metric={kernel.metric!r}), or a Euclidean "
            "metric"
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
    """The kernel's scale; neighbours are searched for only if its rule needs them."""
    if isinstance(kernel.bandwidth, str):
        neighbours = find_neighbourhoods(points, points, k=1, k_scale=1, n_jobs=n_jobs)
        nearest, ranked = neighbours.nearest, neighbours.scale
    else:
        first = np.zeros(len(points), dtype=np.intp)
        nearest = ranked = pair_distances(points, np.arange(len(points)), points, first)
    return float(
        np.asarray(
            choose_scale(
                kernel, name, nearest, ranked, lambda unit: count_distances(points, unit, generator)
            )
        )
    )
