"""The graph of nearest cells in the fused embedding, with distances and connectivities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from viewhop._runtime.threads import thread_count
from viewhop.neighbours import Neighbourhood, Points, search_neighbours

__all__ = ["CellGraph", "build_graph", "fuzzy_weights", "nearest_others"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Halvings of the interval that holds a width: enough for the last bit.
HALVINGS = 64
#: Smallest width, as a share of the mean distance to the neighbours.
SMALLEST_WIDTH = 1e-3


@dataclass(frozen=True)
class CellGraph:
    """A graph of nearest cells.

    Attributes
    ----------
    distances : (n_cells, n_cells) csr_matrix
        Of every cell to its ``n_neighbors - 1`` nearest others; a distance of 0 is stored.
    connectivities : (n_cells, n_cells) csr_matrix
        Symmetric, from 0 to 1, nothing on the diagonal; single precision.
    recall : float
        Measured share of the true neighbours; 1 after an exact search.
    """

    distances: Any
    connectivities: Any
    recall: float


def build_graph(
    embedding: NDArray[np.floating],
    n_neighbors: int,
    *,
    generator: np.random.Generator,
    n_jobs: int | None = None,
) -> CellGraph:
    """The graph of nearest cells by Euclidean distance in an embedding.

    Parameters
    ----------
    embedding : (n_cells, n_coordinates) array
    n_neighbors : int
        Size of a neighbourhood, with the cell itself, as scanpy counts; from 2 to the number of
        cells.
    generator : Generator
        Draws what an approximate search of many cells is tuned and measured with.
    n_jobs : int or None
    """
    found = search_neighbours(
        Points(embedding),
        search="auto",
        k=n_neighbors - 1,
        k_scale=1,
        generator=generator,
        n_jobs=thread_count(n_jobs),
    )
    columns, distances = nearest_others(found.neighbourhood, n_neighbors - 1)
    n = len(embedding)
    starts = np.arange(0, columns.size + 1, n_neighbors - 1)
    shape = (n, n)
    near = csr_matrix((distances.ravel(), columns.ravel(), starts), shape=shape)
    weights = fuzzy_weights(distances)
    one_way = csr_matrix((weights.ravel(), columns.ravel(), starts), shape=shape)
    return CellGraph(near, _unite(one_way).astype(np.float32), found.recall)


def nearest_others(neighbourhood: Neighbourhood, k: int) -> tuple[Indices, Floats]:
    """The k nearest other cells of each, and their distances, nearest first, (n, k) both.

    Parameters
    ----------
    neighbourhood : Neighbourhood
        Of all cells among themselves, with at least k others in every list.
    k : int
        Among cells at equal distances, those with smaller indices count as nearer.
    """
    others = neighbourhood.rows != neighbourhood.columns
    rows, columns = neighbourhood.rows[others], neighbourhood.columns[others]
    distances = neighbourhood.distances[others]
    order = np.lexsort((distances, rows))  # keeps the order of columns among equals
    n = neighbourhood.radius.size
    starts = np.searchsorted(rows, np.arange(n))  # rows are sorted, and stay so
    kept = order[starts[:, None] + np.arange(k)]
    return columns[kept].astype(np.intp), distances[kept]


def fuzzy_weights(distances: Floats) -> Floats:
    """The weights of neighbours by UMAP's rule, from 0 to 1, (n, k).

    Parameters
    ----------
    distances : (n, k) array
        Of each cell to its neighbours, nearest first.

    Notes
    -----
    The weight is 1 up to the smallest positive distance ρ of a cell, and exp(−(d − ρ)/σ) beyond,
    with the σ at which the weights of the cell sum to log₂(k + 1) (McInnes, Healy and Melville,
    2018). A σ below a thousandth of the mean distance is replaced by that.
    """
    n, k = distances.shape
    positive = np.where(distances > 0, distances, np.inf)
    nearest = positive.min(axis=1, keepdims=True)
    is_apart = np.isfinite(nearest)
    gaps = np.maximum(distances - np.where(is_apart, nearest, 0.0), 0.0)
    # Widths are searched in units of the largest gap of the cell.
    unit = gaps.max(axis=1, keepdims=True)
    unit[unit == 0] = 1.0
    width = unit * _solve_widths(gaps / unit, np.log2(k + 1))
    # The cell itself counts, at distance 0.
    means = np.where(is_apart, distances.sum(axis=1, keepdims=True), distances.sum() / n) / (k + 1)
    width = np.maximum(width, SMALLEST_WIDTH * means)
    width[width == 0] = 1.0
    return np.asarray(np.exp(-gaps / width))


def _solve_widths(gaps: Floats, total: float) -> Floats:
    """The width σ of each row at which its exp(−gap/σ) sum to a total, (n, 1).

    Where even the smallest width gives a larger sum, it is 0 up to rounding.
    """
    low = np.zeros((len(gaps), 1))
    high = np.full((len(gaps), 1), np.inf)
    width = np.ones((len(gaps), 1))
    for _ in range(HALVINGS):
        is_wide = np.exp(-gaps / width).sum(axis=1, keepdims=True) > total
        high, low = np.where(is_wide, width, high), np.where(is_wide, low, width)
        width = np.where(np.isfinite(high), (low + high) / 2, 2 * low)
    return width


def _unite(one_way: Any) -> Any:
    """The weight of either direction or both: a + b − ab, symmetric to the last bit."""
    other_way = one_way.T.tocsr()
    both = one_way + other_way - one_way.multiply(other_way)
    both.data = np.minimum(both.data, 1.0)
    both.eliminate_zeros()
    both.sort_indices()
    return both.tocsr()
