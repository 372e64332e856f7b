"""The choice of the neighbour search: the faster one, or the one that the caller asks for.

Exact search is faster than quadratic if it can skip cells, which depends on the data: its cost is
estimated from a few cells. In a sparse view it multiplies entries that two rows share, which are
few, while an index of projected rows loses neighbours: there, an index is only built on request.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from viewhop.errors import SlowSearchWarning
from viewhop.neighbours import _exact as exact
from viewhop.neighbours import _faiss as approximate
from viewhop.neighbours._cells import Cells
from viewhop.neighbours._lists import Neighbourhood
from viewhop.neighbours._points import Points

__all__ = ["Search", "search_neighbours"]

#: Up to this many samples, exact search takes seconds for any data: 5 s on two cores if no cell
#: can be skipped, against 2 s with faiss.
EXACT_UP_TO = 50_000
#: Exact search is not slower than faiss up to this many columns multiplied per row. On random
#: cosine maps of a 3-dimensional cube it multiplies 3,000 for any number of samples, of an
#: 8-dimensional one nearly all.
FEW_COLUMNS = 8_000
#: Number of samples with exact lists that measure the recall; as many others tune the index.
MEASURED = 500


@dataclass(frozen=True)
class Search:
    """Result of a search: the neighbours of the training samples, and its recall.

    Attributes
    ----------
    neighbourhood : Neighbourhood
    recall : float
        Share of the true neighbours in the result, 1 after an exact search.
    index : Index or None
        The index for new samples; None after an exact search.
    """

    neighbourhood: Neighbourhood
    recall: float
    index: approximate.Index | None


def search_neighbours(
    points: Points,
    *,
    search: str,
    k: int,
    k_scale: int,
    k_inner: int | None = None,
    generator: np.random.Generator,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allow: Callable[[int], None] = lambda pairs: None,
) -> Search:
    """Neighbours of the training samples, from an exact or approximate search.

    Parameters
    ----------
    points : Points
    search : {"auto", "exact", "faiss"}
    k, k_scale, k_inner, n_jobs, done, allow
        As in `viewhop.neighbours.find_neighbourhoods`.
    generator : Generator
        Draws the samples that an approximate index is built on and measured with.
    """
    cells = Cells.of(points, n_jobs)
    index = None
    n = len(points)
    if search == "faiss" or (search == "auto" and n > EXACT_UP_TO):
        index = _index(points, cells, search, k, generator, n_jobs)
    if index is None:
        neighbours = exact.find_neighbourhoods(
            points,
            points,
            k=k,
            k_scale=k_scale,
            k_inner=k_inner,
            n_jobs=n_jobs,
            done=done,
            allow=allow,
            cells=cells,
        )
        return Search(neighbours, 1.0, None)
    neighbours = approximate.query_index(
        points,
        index,
        lambda: cells,
        k=k,
        k_scale=k_scale,
        k_inner=k_inner,
        n_jobs=n_jobs,
        done=done,
        allow=allow,
    )
    rows, truth = _truth(points, cells, k, generator, n_jobs)
    return Search(neighbours, approximate.measure_recall(neighbours, rows, truth), index)


def _index(
    points: Points,
    cells: Cells,
    search: str,
    k: int,
    generator: np.random.Generator,
    n_jobs: int,
) -> approximate.Index | None:
    """An index, if it was asked for or saves time; otherwise None."""
    columns = float(len(points))
    if search == "auto" and points.is_sparse:
        return None
    if search == "auto":
        columns = exact.columns_per_row(cells, k=k, generator=generator)
        if columns <= FEW_COLUMNS:
            return None
        faster = _missing_index(points)
        if faster is not None:
            warnings.warn(
                SlowSearchWarning(
                    f"exact neighbour search of {len(points):,} samples compares each with "
                    f"{columns:,.0f} others; an approximate search would be faster: "
                    f'{faster}, or pass search="exact" to silence this warning',
                    len(points),
                ),
                stacklevel=3,
            )
            return None
    index = approximate.Index.draw(points, generator)
    rows, truth = _truth(points, cells, k, generator, n_jobs)
    enough = approximate.tune_index(index, rows, truth, k=k, n_jobs=n_jobs)
    samples = index.n_probe * len(points) / index.centres.size
    if search == "auto" and not (enough and approximate.COST * samples < columns):
        return None
    return index


def _missing_index(points: Points) -> str | None:
    """What makes an index possible, if none can be built on these points."""
    if points.norm == "manhattan":
        return 'use metric="euclidean", since the index has no Manhattan distances'
    return None if approximate.has_faiss() else 'pip install "viewhop[ann]"'


def _truth(
    points: Points, cells: Cells, k: int, generator: np.random.Generator, n_jobs: int
) -> tuple[exact.Indices, Neighbourhood]:
    """Randomly drawn training samples, and their exact lists."""
    n = len(points)
    rows = np.sort(generator.choice(n, min(MEASURED, n), replace=False))
    queries = points.like(points.rows[rows], points.slack[rows])
    return rows, exact.find_neighbourhoods(
        queries, points, k=k, k_scale=k, n_jobs=n_jobs, cells=cells
    )
