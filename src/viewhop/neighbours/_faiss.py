"""Approximate search: the nearest training samples by an inverted file of faiss.

The index proposes a few samples for each row. They are measured as in an exact search, and the
same rules hold on that list alone; how much of the true list it holds is measured too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import map_threads
from viewhop.neighbours._cells import Cells
from viewhop.neighbours._exact import exact_lists
from viewhop.neighbours._lists import Found, Neighbourhood, join_lists, rank_pairs
from viewhop.neighbours._points import Points, pair_distances

__all__ = ["Index", "has_faiss", "measure_recall", "query_index", "tune_index"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Training samples of one inverted list, on average: measured on 50,000 to 10⁶ samples, where
#: 4√n lists cost as much to search and ten times as much to build.
LIST = 200
#: Columns that an exact search multiplies while faiss measures one sample of a list, about.
COST = 8
#: Neighbours asked for beyond k + 1, so that a tie or two at the radius is kept.
SPARE = 2
#: Rows sent to faiss at once, and measured at once.
BATCH, PART = 16384, 2048
#: Share of the true neighbours for which enough lists are searched.
ENOUGH = 0.97
#: Rows farther out than this many times the farthest training sample are searched exactly:
#: single precision does not tell their distances apart.
OUTSIDE = 64.0

_building = Lock()


def has_faiss() -> bool:
    """Whether faiss is installed."""
    return find_spec("faiss") is not None


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ImportError(
            'search="faiss" needs faiss, which is not installed: pip install "viewhop[ann]", or '
            'pass search="exact"'
        ) from error
    return faiss


class Index:
    """Training samples in inverted lists, each around one of them.

    The lists are built when they are first asked, and not pickled: what they are built from is
    held, and gives the same lists again.

    Parameters
    ----------
    points : Points
    centres : (c,) index array
        The samples that lists are around.
    n_probe : int
        Lists that are searched for a row.

    Attributes
    ----------
    points, centres, n_probe
    """

    def __init__(self, points: Points, centres: Indices, n_probe: int = 1) -> None:
        self.points = points
        self.centres = centres
        self.n_probe = n_probe
        # A power of two near the length of the longest row: scaling by it rounds nothing.
        self._unit = float(np.ldexp(1.0, -int(np.frexp(np.sqrt(points.norms.max()))[1])))
        self._built: Any = None

    @classmethod
    def drawn(cls, points: Points, generator: np.random.Generator) -> Index:
        """Lists around samples that a generator draws."""
        n_lists = max(1, len(points) // LIST)
        return cls(points, np.sort(generator.choice(len(points), n_lists, replace=False)))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_built": None}

    @property
    def max_probe(self) -> int:
        """Lists beyond which exact search is faster."""
        return max(1, self.centres.size // COST)

    def outside(self, queries: Points) -> NDArray[np.bool_]:
        """Rows that are too far out for single precision, (q,)."""
        return np.asarray(np.sqrt(queries.norms) * self._unit > OUTSIDE)

    def nearest(self, queries: Points, block: slice, count: int, n_jobs: int) -> NDArray[np.intp]:
        """About the `count` nearest training samples of each row of a block, (q, count).

        −1 stands where the searched lists hold fewer.
        """
        built = self._lists(n_jobs)
        with _threads(n_jobs):
            return np.asarray(built.search(self._rows(queries, block), count)[1], dtype=np.intp)

    def _rows(self, points: Points, block: slice) -> NDArray[np.float32]:
        rows = points.centred(block) * self._unit
        return np.minimum(np.maximum(rows, -OUTSIDE), OUTSIDE).astype(np.float32)

    def _lists(self, n_jobs: int) -> Any:
        faiss = _faiss()
        with _building:
            if self._built is None:
                width = self.points.rows.shape[1]
                # A graph finds the lists of a row; made by one thread, it is always the same.
                graph = faiss.IndexHNSWFlat(width, 16)
                with _threads(1):
                    graph.add(
                        self._rows(self.points.like(self.points.rows[self.centres]), slice(None))
                    )
                built = faiss.IndexIVFFlat(graph, width, self.centres.size)
                built.is_trained = True
                with _threads(n_jobs):
                    for start in range(0, len(self.points), BATCH):
                        built.add(self._rows(self.points, slice(start, start + BATCH)))
                self._built = (graph, built)
            graph, built = self._built
            built.nprobe = self.n_probe
            graph.hnsw.efSearch = max(16, 2 * self.n_probe)
        return built


@contextmanager
def _threads(n_jobs: int) -> Iterator[None]:
    """A context in which faiss takes `n_jobs` threads."""
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n_jobs)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def query_index(
    queries: Points,
    index: Index,
    cells: Callable[[], Cells],
    *,
    k: int,
    k_scale: int,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allow: Callable[[int], None] = lambda pairs: None,
) -> Neighbourhood:
    """Neighbourhoods from the lists that an index returns, radius and scale from them alone.

    A row is searched exactly where its list is short, where the row lies far outside, and where
    its k+1 nearest are copies of it.

    Parameters
    ----------
    queries : Points
    index : Index
    cells : callable
        Gives the cells of the training samples, for exact searches.
    k, k_scale, n_jobs, done, allow
        As in `viewhop.neighbours.find_neighbourhoods`.
    """
    n = len(index.points)
    k, k_scale = min(k, n - 1), min(k_scale, n - 1)
    count = min(max(k, k_scale) + 1 + SPARE, n)
    outside = index.outside(queries)
    parts: list[Found] = []
    again: list[Indices] = []
    pairs = 0

    def measured(block: slice) -> tuple[Found, Indices]:
        """Lists of a few rows of the batch, and the rows that need an exact search."""
        columns = proposed[block]
        members = np.arange(block.start, block.stop) + batch.start
        if queries is index.points:
            # A row is in its own list, also where copies of it crowd it out.
            alone = ~(columns == members[:, None]).any(axis=1)
            columns[alone, -1] = members[alone]
        i = np.repeat(np.arange(members.size), count)
        distances = pair_distances(queries, members[i], index.points, columns.ravel())
        table = distances.reshape(columns.shape)
        short = (columns < 0).any(axis=1) | outside[members]
        short |= np.count_nonzero(table == 0, axis=1) > k
        kept = ~short[i]
        rows = np.cumsum(~short) - 1
        found = rank_pairs(
            members[~short],
            rows[i[kept]],
            columns.ravel()[kept],
            distances[kept],
            k=k,
            k_scale=k_scale,
        )
        return found, members[short]

    for start in range(0, len(queries), BATCH):
        batch = slice(start, min(start + BATCH, len(queries)))
        proposed = index.nearest(queries, batch, count, n_jobs)
        n_rows = batch.stop - batch.start
        blocks = [slice(a, min(a + PART, n_rows)) for a in range(0, n_rows, PART)]
        for found, short in map_threads(measured, blocks, n_jobs, blas=False):
            parts.append(found)
            again.append(short)
            pairs += found.columns.size
        allow(pairs)
        done(batch.stop, len(queries))
    rest = np.concatenate(again)
    if rest.size:
        exact = exact_lists(
            queries.like(queries.rows[rest]),
            cells(),
            k=k,
            k_scale=k_scale,
            n_jobs=n_jobs,
            allow=lambda more: allow(pairs + more),
        )
        parts += [part._replace(members=rest[part.members]) for part in exact]
    return join_lists(parts, len(queries), n)


def tune_index(
    index: Index,
    rows: Indices,
    truth: Neighbourhood,
    *,
    k: int,
    n_jobs: int,
) -> bool:
    """Whether enough of the true neighbours are found without searching too many lists.

    The index is left with the fewest lists, by doubling, that do, or with as many as it may.

    Parameters
    ----------
    index : Index
    rows : (q,) index array
        Training samples to ask for.
    truth : Neighbourhood
        Their exact lists.
    k, n_jobs : int
    """
    queries = index.points.like(index.points.rows[rows])
    count = min(k + 1 + SPARE, len(index.points))
    index.n_probe = 1
    while True:
        columns = index.nearest(queries, slice(0, rows.size), count, n_jobs)
        if _share(queries, index.points, columns, truth) >= ENOUGH:
            return True
        if index.n_probe == index.max_probe:
            return False
        index.n_probe = min(2 * index.n_probe, index.max_probe)


def measure_recall(found: Neighbourhood, rows: Indices, truth: Neighbourhood) -> float:
    """Share of the true neighbours of some training samples that were found.

    Parameters
    ----------
    found : Neighbourhood
        Of all training samples.
    rows : (q,) index array
        The samples.
    truth : Neighbourhood
        Their exact lists.
    """
    starts = np.searchsorted(found.rows, rows)
    ends = np.searchsorted(found.rows, rows, side="right")
    hits = sum(
        np.count_nonzero(found.distances[start:end] <= radius)
        for start, end, radius in zip(starts, ends, truth.radius, strict=True)
    )
    return float(hits / truth.rows.size)


def _share(
    queries: Points, points: Points, columns: NDArray[np.intp], truth: Neighbourhood
) -> float:
    """Share of the true neighbours among the returned ones."""
    i = np.repeat(np.arange(len(queries)), columns.shape[1])
    distances = pair_distances(queries, i, points, columns.ravel())
    hits = (distances <= truth.radius[i]) & (columns.ravel() >= 0)
    return float(hits.sum() / truth.rows.size)
