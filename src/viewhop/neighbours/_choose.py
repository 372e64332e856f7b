"""Which search finds the neighbours of the training samples: the faster one, or the one asked for.

Exact search gets faster than quadratic where cells can be passed over, and that depends on the
data: what it would cost is counted on a few cells.
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

#: Up to this many samples exact search takes seconds whatever the data: 5 s on two cores where
#: no cell is passed over, 2 s by faiss.
EXACT_UP_TO = 50_000
#: Columns multiplied for each row up to which exact search is not slower than faiss. On random
#: cosine maps of a cube of 3 dimensions it multiplies 3,000 for any number of samples, of 8
#: dimensions nearly all.
FEW_COLUMNS = 8_000
#: Samples whose exact lists tell the recall; as many others tell how many lists are enough.
MEASURED = 500


@dataclass(frozen=True)
class Search:
    """Neighbours of the training samples, and how they were found.

    Attributes
    ----------
    found : Neighbourhood
    recall : float
        Share of the true neighbours, 1 after an exact search.
    index : Index or None
        What finds neighbours of new samples; None after an exact search.
    """

    found: Neighbourhood
    recall: float
    index: approximate.Index | None


def search_neighbours(
    points: Points,
    *,
    search: str,
    k: int,
    k_scale: int,
    generator: np.random.Generator,
    n_jobs: int = 1,
    done: Callable[[int, int], None] = lambda done, total: None,
    allow: Callable[[int], None] = lambda pairs: None,
) -> Search:
    """Neighbours of the training samples, by the search that is asked for.

    Parameters
    ----------
    points : Points
    search : {"auto", "exact", "faiss"}
    k, k_scale, n_jobs, done, allow
        As in `viewhop.neighbours.find_neighbourhoods`.
    generator : Generator
        Draws what an approximate search is built on and measured by.
    """
    cells = Cells.of(points, n_jobs)
    index = None
    n = len(points)
    if search == "faiss" or (search == "auto" and n > EXACT_UP_TO):
        index = _index(points, cells, search, k, generator, n_jobs)
    if index is None:
        found = exact.find_neighbourhoods(
            points,
            points,
            k=k,
            k_scale=k_scale,
            n_jobs=n_jobs,
            done=done,
            allow=allow,
            cells=cells,
        )
        return Search(found, 1.0, None)
    found = approximate.query_index(
        points,
        index,
        lambda: cells,
        k=k,
        k_scale=k_scale,
        n_jobs=n_jobs,
        done=done,
        allow=allow,
    )
    rows, truth = _truth(points, cells, k, generator, n_jobs)
    return Search(found, approximate.measure_recall(found, rows, truth), index)


def _index(
    points: Points,
    cells: Cells,
    search: str,
    k: int,
    generator: np.random.Generator,
    n_jobs: int,
) -> approximate.Index | None:
    """An index that is worth its cost or was asked for, else None."""
    columns = float(len(points))
    if search == "auto":
        columns = exact.columns_per_row(cells, k=k, generator=generator)
        if columns <= FEW_COLUMNS:
            return None
        if not approximate.has_faiss():
            warnings.warn(
                SlowSearchWarning(
                    f"the neighbours of {len(points):,} samples are searched exactly, each among "
                    f"{columns:,.0f} others; approximate search would be faster: "
                    'pip install "viewhop[ann]", or pass search="exact" to keep it as it is',
                    len(points),
                ),
                stacklevel=3,
            )
            return None
    index = approximate.Index.drawn(points, generator)
    rows, truth = _truth(points, cells, k, generator, n_jobs)
    enough = approximate.tune_index(index, rows, truth, k=k, n_jobs=n_jobs)
    samples = index.n_probe * len(points) / index.centres.size
    if search == "auto" and not (enough and approximate.COST * samples < columns):
        return None
    return index


def _truth(
    points: Points, cells: Cells, k: int, generator: np.random.Generator, n_jobs: int
) -> tuple[exact.Indices, Neighbourhood]:
    """Some training samples that a generator draws, and their exact lists."""
    n = len(points)
    rows = np.sort(generator.choice(n, min(MEASURED, n), replace=False))
    queries = points.like(points.rows[rows])
    return rows, exact.find_neighbourhoods(
        queries, points, k=k, k_scale=k, n_jobs=n_jobs, cells=cells
    )
