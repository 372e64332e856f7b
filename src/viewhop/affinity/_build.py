"""Building the affinity of each view from its kernel and its rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import BLOCK, map_threads
from viewhop.affinity._affinity import Affinity
from viewhop.affinity._dense import build_dense, build_dense_precomputed
from viewhop.affinity._kernel_values import check_kernel_matrix, sparse_kernel_error
from viewhop.affinity._sparse import build_sparse
from viewhop.affinity._sparse_precomputed import build_sparse_precomputed
from viewhop.affinity._tiles import GROUPS, SIDE, Tiles
from viewhop.errors import RecallWarning
from viewhop.kernels import DistanceKernel, Kernel, Precomputed
from viewhop.neighbours import SPARSE_PAIRS
from viewhop.selection import plain_metric, with_metric
from viewhop.views import Describe, Rows, SparseRows, ViewRows, Views, row_number

__all__ = [
    "AffinitySize",
    "build_affinities",
    "build_affinity",
    "search_bytes",
    "warn_of_recall",
]

#: Recall of a neighbour search below which a fit warns.
LEAST_RECALL = 0.95

#: Stored pairs per requested neighbour: more than 1, because neighbours are not always mutual.
BOTH_WAYS = 1.2
#: Bytes of a stored entry of sparse rows: a number and its column.
ENTRY_BYTES = 12
#: Numbers per pair while a block of a sparse search is compared.
PASSES = 6
#: Bytes that threads use for products and distances, whatever the size of the view.
FIXED_BYTES = 10_000_000


def build_affinity(
    name: str,
    kernel: Kernel,
    X: Rows,
    *,
    generator: np.random.Generator | None = None,
    n_jobs: int = 1,
    progress: Progress = no_progress,
    allowed: int | None = None,
    describe: Describe = row_number,
    came_as: np.dtype[np.floating] | None = None,
) -> Affinity:
    """The kernel of one view on its training samples, stored as a full matrix or on neighbours.

    If the kernel's own `Kernel.build` returns an affinity, that one is used.

    Parameters
    ----------
    name : str
        The view, for errors and progress.
    kernel : Kernel
        A metric "auto" is chosen by `viewhop.selection.plain_metric`.
    X : (n_samples, n_features) array or SparseRows
        For `Precomputed`, the (n_samples, n_samples) kernel.
    generator : Generator or None
        Draws the rows that a scale is estimated from; None means seed 0.
    n_jobs : int
        Threads.
    progress : callable
    allowed : int or None
        Bytes that pairs of neighbours may take, which ties can make many; None means no limit.
    describe : callable
        Names a row in a message.
    came_as : dtype or None
        The precision in which the rows were passed, if it is less than that of `X`.
    """
    generator = np.random.default_rng(0) if generator is None else generator
    if isinstance(kernel, DistanceKernel) and kernel.metric == "auto":
        kernel = with_metric(kernel, plain_metric(X))
    rows = ViewRows(name, X, generator, n_jobs, progress, allowed, describe, came_as)
    own = kernel.build(rows)
    if own is not None:
        if not isinstance(own, Affinity):
            raise TypeError(
                f"build of the kernel {type(kernel).__name__} (view {name!r}) must return an "
                f"Affinity or None, not {type(own).__name__}"
            )
        own.name, own.kernel = name, kernel
        return own
    if isinstance(kernel, Precomputed):
        if isinstance(X, SparseRows):
            raise sparse_kernel_error(name)
        check_kernel_matrix(name, X, describe)
        if kernel.n_neighbors is None:
            return build_dense_precomputed(rows, kernel)
        return build_sparse_precomputed(rows, kernel)
    if not isinstance(kernel, DistanceKernel):
        raise TypeError(
            f"{type(kernel).__name__} (view {name!r}) is not a DistanceKernel, and its build "
            "returns None; derive it from DistanceKernel, or return an Affinity from build"
        )
    return build_dense(rows, kernel) if kernel.n_neighbors is None else build_sparse(rows, kernel)


def build_affinities(
    views: Views,
    kernels: Mapping[str, Kernel],
    *,
    generator: np.random.Generator,
    n_jobs: int,
    progress: Progress,
    allowed: int | None,
    stacklevel: int,
) -> list[Affinity]:
    """One affinity per view; neighbour searches run in parallel, one view per thread group.

    Parameters
    ----------
    views : Views
    kernels : dict of Kernel by view name
    generator : Generator
    n_jobs : int
        Number of threads.
    progress : callable
    allowed : int or None
        Bytes; None is no limit.
    stacklevel : int
        Frame that a warning points to, as in `warnings.warn`; 1 is the caller.
    """
    rows = {name: _kernel_input(views, name, kernels[name]) for name in views.names}
    generators = dict(zip(views.names, generator.spawn(views.n_views), strict=True))
    are_near = all(kernel.n_neighbors is not None for kernel in kernels.values())
    at_once = min(n_jobs, views.n_views) if are_near else 1

    def build(name: str) -> Affinity:
        return build_affinity(
            name,
            kernels[name],
            rows[name],
            generator=generators[name],
            n_jobs=n_jobs // at_once,
            progress=progress,
            allowed=allowed,
            describe=partial(views.describe_row, name),
            came_as=views.precision(name),
        )

    affinities = map_threads(build, views.names, at_once)
    for K in affinities:
        K.n_jobs = n_jobs
    warn_of_recall(affinities, stacklevel=stacklevel + 1)
    return affinities


def warn_of_recall(affinities: Sequence[Affinity], *, stacklevel: int) -> None:
    """Warn about views in which the search missed many neighbours.

    Parameters
    ----------
    affinities : sequence of Affinity
    stacklevel : int
        As in `warnings.warn`, counted from the caller.
    """
    for K in affinities:
        if K.recall < LEAST_RECALL:
            warnings.warn(
                RecallWarning(
                    f"the search found only {K.recall:.1%} of the neighbours in view {K.name!r}; "
                    'pass search="exact" to its kernel to find all of them',
                    K.recall,
                ),
                stacklevel=stacklevel + 1,
            )


def _kernel_input(views: Views, name: str, kernel: Kernel) -> Rows:
    """The observed rows of a view, in the form that its kernel takes."""
    rows: Rows = views.rows(name)
    if kernel.is_pairwise and isinstance(rows, SparseRows):
        raise sparse_kernel_error(name)
    if kernel.is_pairwise:
        if views.is_complete:
            return rows
        # Its columns are samples too.
        samples = views.samples(name)
        if rows.shape[1] != len(views) or np.unique(samples).size < samples.size:
            raise ValueError(
                f"the precomputed kernel of view {name!r} needs a row and a column for each of the "
                f"{len(views)} samples"
            )
        return rows[:, samples]
    return rows


@dataclass(frozen=True)
class AffinitySize:
    """The quantities that determine how much memory one view's kernel takes.

    Attributes
    ----------
    kernel : Kernel
        A kernel that builds its own affinity counts as 0 bytes: its size is unknown.
    n, d : int
        Rows and features of the view.
    dtype : dtype of the kernel
    n_jobs : int
        Threads.
    n_entries : int or None
        Stored entries of sparse rows; None if the rows are full.
    """

    kernel: Kernel
    n: int
    d: int
    dtype: np.dtype[np.floating]
    n_jobs: int = 1
    n_entries: int | None = None

    @property
    def is_dense(self) -> bool:
        """Whether all pairs are stored."""
        return self.kernel.n_neighbors is None and not self.kernel.builds_itself

    @property
    def full_bytes(self) -> int:
        """Bytes of the full matrix; 0 if only neighbours are stored."""
        return self.matrix_bytes(self.n, self.dtype) if self.is_dense else 0

    @staticmethod
    def matrix_bytes(n: int, dtype: np.dtype[np.floating]) -> int:
        """Bytes of a full symmetric matrix of n samples."""
        return Tiles.bytes_of(n, dtype.itemsize)

    @property
    def n_pairs(self) -> float:
        """Expected number of stored pairs of a neighbour kernel."""
        k = self.kernel.n_neighbors
        return 0.0 if k is None else min(self.n * (k + 1) * BOTH_WAYS, self.n * self.n)

    @property
    def stored_bytes(self) -> float:
        """Bytes of the kernel and of the rows that new samples are compared with."""
        if self.kernel.builds_itself:
            return 0.0
        n, size = self.n, self.dtype.itemsize
        values = self.full_bytes if self.is_dense else self.n_pairs * (size + 4) + 4 * n
        if self.kernel.is_pairwise:
            return values
        # A dense kernel in single precision also stores the centred rows.
        copies = 2 if self.is_dense and size == 4 else 1
        return values + copies * self.row_bytes + 32 * n

    @property
    def row_bytes(self) -> int:
        """Bytes of the rows that new samples are compared with."""
        if self.n_entries is None:
            return self.n * self.d * self.dtype.itemsize
        # By row and by feature.
        return 2 * ENTRY_BYTES * self.n_entries + 8 * (self.n + self.d)

    @property
    def peak_bytes(self) -> float:
        """Peak bytes while the kernel is built, including the kernel."""
        kernel, n, size = self.kernel, self.n, self.dtype.itemsize
        if kernel.builds_itself:
            return 0.0
        if kernel.is_pairwise:
            return self.stored_bytes if self.is_dense else 3.0 * n * n * size
        if not self.is_dense:
            assert kernel.n_neighbors is not None
            if self.n_entries is None:
                search = search_bytes(n, self.d, kernel.n_neighbors + 1, self.dtype)
                return max(search - FIXED_BYTES, self.stored_bytes)
            # The rows again, as they were made.
            passes = self.n_jobs * 8 * PASSES * min(SPARSE_PAIRS, n * n)
            pairs = 60 * n * (min(kernel.n_neighbors + 1, n - 1) + 1)
            return max(2 * self.row_bytes + pairs, self.stored_bytes) + passes
        side = min(SIDE, n)
        # Two tiles, and the centred rows of the samples on both of their sides.
        is_manhattan = isinstance(kernel, DistanceKernel) and not kernel.is_euclidean
        two = side * (8 + size if is_manhattan else 2 * size)  # the former adds in double precision
        width = self.d if self.n_entries is None else self.n_entries // max(1, n)
        tiles = self.n_jobs * side * (two + 2 * width * 8)
        nearest = n * n / side * size
        is_local = isinstance(kernel, DistanceKernel) and kernel.bandwidth == "local"
        panels = 2 * self.n_jobs * side * n * size if is_local else 0
        return self.stored_bytes + tiles + max(nearest, panels)

    @property
    def product_groups(self) -> int:
        """Number of partial sums that threads keep during a product with a full matrix."""
        return GROUPS


def search_bytes(
    n: int, d: int, k: int, dtype: np.dtype[np.floating], *, approximate: bool = False
) -> int:
    """Peak bytes of building a neighbour kernel, without the rows of the caller.

    Parameters
    ----------
    n, d : int
        Samples and features.
    k : int
        Neighbours.
    dtype : dtype of the features
    approximate : bool
        Whether a faiss index is built, which copies the rows in single precision.

    Notes
    -----
    The feature rows are stored throughout. The search adds a copy of them in cells and two copies
    of the neighbour lists; after it, symmetrising needs the lists, their transpose and the union of
    both. The larger of the two counts. The index, which over-allocates its lists, and temporaries
    that the allocator retains are added. Ties are not counted here: the search checks their memory
    while it runs.
    """
    rows = n * d * dtype.itemsize
    pairs = n * (min(k, n - 1) + 1)
    kept = 15 * min(n * d, BLOCK) + FIXED_BYTES
    index = n * (8 * d + 16) if approximate else 0
    return rows + index + max(rows + 30 * pairs, 60 * pairs) + kept
