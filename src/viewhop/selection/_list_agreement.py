"""Neighbour lists of a view, and how far those of two views agree beyond chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import map_threads
from viewhop.neighbours import (
    FeatureRows,
    SparseFeatures,
    block_distances,
    make_points,
    manhattan_block,
    products,
)

__all__ = [
    "NEIGHBOURS",
    "agreement_table",
    "list_agreement",
    "most_similar_lists",
    "nearest_lists",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Number of neighbours in a list.
NEIGHBOURS = 10
#: Distances that differ by less, relatively, count as equal.
TIE = 1e-6
#: Rows with more features than this are multiplied in single precision.
WIDE = 256
#: Rows whose neighbours are ranked at a time.
PART = 256


def nearest_lists(
    rows: FeatureRows,
    *,
    k: int = NEIGHBOURS,
    norm: str = "euclidean",
    seed: Sequence[int] = (0,),
    n_jobs: int = 1,
) -> Indices:
    """The k nearest other rows of each row, in no particular order, (n, k).

    Parameters
    ----------
    rows : (n, d) array or SparseFeatures
    k : int
    norm : {"euclidean", "manhattan"}
        The norm of the difference of two rows that is their distance.
    seed : sequence of int
        Breaks ties at random. Broken by index instead, ties would put the same samples into the
        lists of any two views.
    n_jobs : int
        Threads.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.selection import nearest_lists
    >>> nearest_lists(np.array([[0.0], [1.0], [3.0], [7.0]]), k=1).ravel().tolist()
    [1, 0, 1, 2]
    """
    if isinstance(rows, SparseFeatures):
        return _nearest_sparse_lists(rows, k, norm, seed, n_jobs)
    centred = rows - np.median(rows, axis=0)
    size = float(np.abs(centred).max(initial=0.0))
    centred /= size if size > 0 else 1.0
    if norm == "manhattan":
        typical = float(np.abs(centred).sum(axis=1).mean())
        return _smallest(
            lambda block: manhattan_block(centred[block], centred),
            len(rows),
            typical,
            k,
            seed,
            n_jobs,
        )
    centred = centred.astype(np.float32 if rows.shape[1] > WIDE else np.float64)
    norms = np.square(centred).sum(axis=1)

    def squares(block: slice) -> NDArray[np.floating]:
        values = products(centred[block], norms[block], centred, norms)
        return np.maximum(values, 0.0, out=values)

    return _smallest(squares, len(rows), float(norms.mean()), k, seed, n_jobs)


def _nearest_sparse_lists(
    rows: SparseFeatures, k: int, norm: str, seed: Sequence[int], n_jobs: int
) -> Indices:
    """The same for sparse rows, whose squared distances come from products of their entries."""
    points = make_points(rows, norm=norm)

    def values(block: slice) -> Floats:
        distances = block_distances(points, block, points)
        return np.asarray(distances if norm == "manhattan" else np.square(distances))

    some = values(slice(0, min(PART, len(rows))))
    return _smallest(values, len(rows), float(some.mean()), k, seed, n_jobs)


def most_similar_lists(
    values: NDArray[np.floating],
    *,
    k: int = NEIGHBOURS,
    seed: Sequence[int] = (0,),
    n_jobs: int = 1,
) -> Indices:
    """The k other samples with the largest kernel values for each sample, (n, k).

    Parameters
    ----------
    values : (n, n) array
        A precomputed kernel.
    k, seed, n_jobs
        As in `nearest_lists`.
    """
    largest = float(values.max())
    return _smallest(lambda block: largest - values[block], len(values), largest, k, seed, n_jobs)


def _smallest(
    values: Callable[[slice], NDArray[np.floating]],
    n: int,
    typical: float,
    k: int,
    seed: Sequence[int],
    n_jobs: int,
) -> Indices:
    """Columns of the k smallest values of each row, apart from the diagonal."""
    lists = np.empty((n, k), dtype=np.intp)

    def fill(block: slice) -> None:
        part = values(block)
        noise = np.random.default_rng((*seed, block.start)).random(part.shape, dtype=np.float32)
        keys = part + TIE * noise * (part + 1e-6 * typical)
        rows = np.arange(block.stop - block.start)
        keys[rows, rows + block.start] = np.inf
        lists[block] = np.argpartition(keys, k - 1, axis=1)[:, :k]

    starts = range(0, n, PART)
    map_threads(fill, [slice(start, min(start + PART, n)) for start in starts], n_jobs)
    return lists


def list_agreement(first: Indices, second: Indices) -> float:
    """How far two sets of neighbour lists agree: 1 if equal, 0 if no more than by chance.

    Parameters
    ----------
    first, second : (n, k) index arrays
        The neighbours of each sample, without the sample itself.

    Notes
    -----
    (o − e)/(1 − e), where o is the share of common neighbours, and e the share that lists with
    the same in-degrees would have in common: samples that are near to many appear in many lists.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.selection import list_agreement
    >>> lists = (np.arange(100)[:, None] + np.arange(1, 11)) % 100
    >>> list_agreement(lists, lists)
    1.0
    """
    return float(agreement_table([first], [second])[0, 0])


def agreement_table(first: list[Indices], second: list[Indices]) -> Floats:
    """The agreement of each of some lists with each of others, (p, q).

    Parameters
    ----------
    first, second : lists of (n, k) index arrays
        Neighbour lists of the same samples.
    """
    n, k = first[0].shape
    rows = np.arange(n)[:, None]
    shares = [
        [np.bincount(lists.ravel(), minlength=n) / (n * k) for lists in side]
        for side in (first, second)
    ]
    table = np.empty((len(first), len(second)))
    for p, lists in enumerate(first):
        is_near = np.zeros((n, n), dtype=bool)
        is_near[rows, lists] = True
        for q, others in enumerate(second):
            observed = is_near[rows, others].mean()
            expected = k * n / (n - 1) * float(shares[0][p] @ shares[1][q])
            table[p, q] = (observed - expected) / (1 - expected) if expected < 1 else 0.0
    return table
