"""Approximate search: the nearest training samples from an inverted file of faiss.

The index proposes a few samples for each row. They are measured as in an exact search, and the same
rules apply to this list alone; its recall, the share of the true list in it, is measured too.
Sparse rows enter the index by a random projection to a few columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import map_threads
from viewhop.neighbours._cells import Cells
from viewhop.neighbours._exact import exact_lists
from viewhop.neighbours._lists import Neighbourhood, PartialLists, join_lists, rank_pairs
from viewhop.neighbours._points import Points, pair_distances

__all__ = ["Index", "has_faiss", "measure_recall", "query_index", "tune_index"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Mean number of training samples in an inverted list; on 50,000 to 10⁶ samples, 4√n lists cost as
#: much to search and ten times as much to build.
LIST = 200
#: Approximate number of columns an exact search multiplies while faiss measures one sample.
COST = 8
#: Number of neighbours requested beyond k + 1, so that one or two ties at the radius are kept.
SPARE = 2
#: Rows sent to faiss at a time, and measured at a time.
BATCH, PART = 16384, 2048
#: Share of the true neighbours to reach by searching enough lists.
ENOUGH = 0.97
#: Rows farther out than this many times the farthest training sample are searched exactly:
#: single precision does not resolve their distances.
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
    """Training samples in inverted lists, each around one of the samples.

    The lists are built on first use and not pickled: the index keeps what is needed to build the
    same lists again.

    Parameters
    ----------
    points : Points
    centres : (c,) index array
        The samples at the centres of the lists.
    n_probe : int
        Number of lists searched for a row.

    Attributes
    ----------
    points, centres, n_probe
    """

    def __init__(self, points: Points, centres: Indices, n_probe: int = 1) -> None:
        if points.norm != "euclidean":
            raise ValueError(
                f"an index has Euclidean distances only, not {points.norm} ones; use search='exact'"
            )
        self.points = points
        self.centres = centres
        self.n_probe = n_probe
        # A power of two near the length of the longest row: scaling by it is exact.
        self._unit = float(np.ldexp(1.0, -int(np.frexp(np.sqrt(points.norms.max()))[1])))
        self._built: Any = None

    @classmethod
    def draw(cls, points: Points, generator: np.random.Generator) -> Index:
        """An index with randomly drawn centres."""
        n_lists = max(1, len(points) // LIST)
        return cls(points, np.sort(generator.choice(len(points), n_lists, replace=False)))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_built": None}

    @property
    def max_probe(self) -> int:
        """Number of lists beyond which exact search is faster."""
        return max(1, self.centres.size // COST)

    def outside(self, queries: Points) -> NDArray[np.bool_]:
        """Mask of the rows that are too far out for single precision, (q,)."""
        return np.asarray(np.sqrt(queries.norms) * self._unit > OUTSIDE)

    def nearest(self, queries: Points, block: slice, count: int, n_jobs: int) -> NDArray[np.intp]:
        """Approximately the `count` nearest training samples of each row of a block, (q, count).

        Entries are −1 if the searched lists have fewer samples.
        """
        built = self._lists(n_jobs)
        with _threads(n_jobs):
            return np.asarray(built.search(self._rows(queries, block), count)[1], dtype=np.intp)

    def _rows(self, points: Points, block: slice) -> NDArray[np.float32]:
        rows = self.points.index_rows(points, block) * self._unit
        return np.minimum(np.maximum(rows, -OUTSIDE), OUTSIDE).astype(np.float32)

    def _lists(self, n_jobs: int) -> Any:
        faiss = _faiss()
        with _building:
            if self._built is None:
                width = self.points.index_width
                # A graph finds the lists of a row; built by one thread, it is reproducible.
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
    """A context in which faiss uses `n_jobs` threads."""
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n_jobs)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


class Ranks(NamedTuple):
    """Numbers of neighbours that set the radius, the local scale and the inner radius."""

    k: int
    k_scale: int
    k_inner: int


def query_index(
    queries: Points,
    index: Index,
    cells: Callable[[], Cells],
    *,
    k: int,
    k_scale: int,
    k_inner: int | None = None,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allow: Callable[[int], None] = lambda pairs: None,
) -> Neighbourhood:
    """Neighbours from the lists that an index returns; radius and scale come from these alone.

    Rows with short lists, far outside, or with copies as k+1 nearest samples are searched exactly.

    Parameters
    ----------
    queries : Points
    index : Index
    cells : callable
        Returns the cells of the training samples, for exact searches.
    k, k_scale, k_inner, n_jobs, done, allow
        As in `viewhop.neighbours.find_neighbourhoods`.
    """
    n = len(index.points)
    k, k_scale = min(k, n - 1), min(k_scale, n - 1)
    ranks = Ranks(k, k_scale, k if k_inner is None else min(k_inner, k))
    count = min(max(k, k_scale) + 1 + SPARE, n)
    outside = index.outside(queries)
    parts: list[PartialLists] = []
    short_rows: list[Indices] = []
    pairs = 0

    def measure(block: slice) -> tuple[PartialLists, Indices]:
        members = np.arange(block.start, block.stop) + batch.start
        return _measure_lists(queries, index, members, proposed[block], outside[members], ranks)

    for start in range(0, len(queries), BATCH):
        batch = slice(start, min(start + BATCH, len(queries)))
        proposed = index.nearest(queries, batch, count, n_jobs)
        n_rows = len(proposed)
        blocks = [slice(a, min(a + PART, n_rows)) for a in range(0, n_rows, PART)]
        for lists, short in map_threads(measure, blocks, n_jobs, blas=False):
            parts.append(lists)
            short_rows.append(short)
            pairs += lists.columns.size
        allow(pairs)
        done(batch.stop, len(queries))
    if (rest := np.concatenate(short_rows)).size:
        exact = exact_lists(
            queries.like(queries.rows[rest], queries.slack[rest]),
            cells(),
            k=k,
            k_scale=k_scale,
            k_inner=ranks.k_inner,
            n_jobs=n_jobs,
            allow=lambda more: allow(pairs + more),
        )
        parts += [part._replace(members=rest[part.members]) for part in exact]
    return join_lists(parts, len(queries), n)


def _measure_lists(
    queries: Points,
    index: Index,
    members: NDArray[np.intp],
    columns: NDArray[np.intp],
    outside: NDArray[np.bool_],
    ranks: Ranks,
) -> tuple[PartialLists, Indices]:
    """Lists of some rows, and the rows that need an exact search.

    Parameters
    ----------
    queries : Points
    index : Index
    members : (m,) index array
        The rows of `queries`.
    columns : (m, count) index array
        Proposed training samples; overwritten.
    outside : (m,) bool array
        Rows that are too far out.
    ranks : Ranks
    """
    if queries is index.points:
        # A row belongs to its own list, even if copies of it crowd it out.
        absent = ~(columns == members[:, None]).any(axis=1)
        columns[absent, -1] = members[absent]
    i = np.repeat(np.arange(members.size), columns.shape[1])
    distances = pair_distances(queries, members[i], index.points, columns.ravel())
    table = distances.reshape(columns.shape)
    short = (columns < 0).any(axis=1) | outside
    short |= np.count_nonzero(table == 0, axis=1) > ranks.k
    kept = ~short[i]
    rows = np.cumsum(~short) - 1
    lists = rank_pairs(
        members[~short],
        rows[i[kept]],
        columns.ravel()[kept],
        distances[kept],
        **ranks._asdict(),
        slack=queries.slack[members[~short]],
    )
    return lists, members[short]


def tune_index(
    index: Index,
    rows: Indices,
    truth: Neighbourhood,
    *,
    k: int,
    n_jobs: int,
) -> bool:
    """Whether the index reaches the required recall without searching too many lists.

    Sets `n_probe` of the index to the smallest power of 2 that suffices, or to the maximum.

    Parameters
    ----------
    index : Index
    rows : (q,) index array
        Training samples to query.
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


def measure_recall(neighbours: Neighbourhood, rows: Indices, truth: Neighbourhood) -> float:
    """Share of the true neighbours of some training samples that a search returned.

    Parameters
    ----------
    neighbours : Neighbourhood
        The result of the search, for all training samples.
    rows : (q,) index array
        The samples.
    truth : Neighbourhood
        Their exact lists.
    """
    starts = np.searchsorted(neighbours.rows, rows)
    ends = np.searchsorted(neighbours.rows, rows, side="right")
    hits = sum(
        np.count_nonzero(neighbours.distances[start:end] <= radius)
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
