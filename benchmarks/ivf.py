"""The reference for sparse fits: a neighbour search with faiss IVF, tuned here."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAST_RECALL", "search_all", "tune_lists"]

LEAST_RECALL = 0.95
_PROBES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def tune_lists(
    X: NDArray[np.float32], k: int, n_lists: list[int], n_queries: int
) -> tuple[int, int]:
    """The numbers of lists and probes that minimise the time to search all rows.

    Each number of lists uses the fewest probes that reach the recall. The time is that of building
    the index plus that of searching a sample of the rows, scaled up.

    Parameters
    ----------
    X : (n, d) array
    k : int
        Neighbours.
    n_lists : list of int
        Values to try, in increasing order; stops once more lists take 1.5 times as long.
    n_queries : int
        Number of rows to time; a part of them is compared with the exact search.
    """
    rng = np.random.default_rng(1)
    rows = rng.choice(len(X), min(n_queries, len(X)), replace=False)
    checked = rows[:1000]
    true = exact(X, checked, k)
    best, choice = np.inf, (0, 0)
    for n in n_lists:
        start = perf_counter()
        index = build_index(X, n)
        seconds = perf_counter() - start
        for n_probes in _PROBES:
            index.nprobe = n_probes
            if recall(index, X, checked, k, true) >= LEAST_RECALL + 0.005:
                break
        else:
            continue
        start = perf_counter()
        index.search(X[rows], k + 1)
        seconds += (perf_counter() - start) * len(X) / len(rows)
        if seconds < best:
            best, choice = seconds, (n, n_probes)
        elif seconds > 1.5 * best:
            break
    if choice == (0, 0):
        raise ValueError(f"no number of lists reached a recall of {LEAST_RECALL}")
    return choice


def search_all(X: NDArray[np.float32], k: int, n_lists: int, n_probes: int) -> dict[str, Any]:
    """Seconds and recall of a search for the neighbours of all rows, the index built first."""
    start = perf_counter()
    index = build_index(X, n_lists)
    index.nprobe = n_probes
    index.search(X, k + 1)
    seconds = perf_counter() - start
    rows = np.random.default_rng(2).choice(len(X), min(1000, len(X)), replace=False)
    return {"seconds": seconds, "recall": recall(index, X, rows, k, exact(X, rows, k))}


def build_index(X: NDArray[np.float32], n_lists: int) -> Any:
    """An index of all rows; a short training on few rows is accurate enough."""
    import faiss

    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], n_lists)
    index.cp.niter = 5
    index.cp.max_points_per_centroid = 64
    index.train(X)
    index.add(X)
    return index


def exact(X: NDArray[np.float32], rows: NDArray[np.intp], k: int) -> NDArray[np.int64]:
    """The k + 1 nearest rows of some rows, including themselves."""
    import faiss

    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return np.asarray(index.search(X[rows], k + 1)[1])


def recall(
    index: Any,
    X: NDArray[np.float32],
    rows: NDArray[np.intp],
    k: int,
    true: NDArray[np.int64],
) -> float:
    """Share of the true neighbours in the result, not counting the row itself."""
    nearest = index.search(X[rows], k + 1)[1]
    hits = [np.intersect1d(a, b).size - 1 for a, b in zip(nearest, true, strict=True)]
    return float(np.mean(hits)) / k
