"""Sparse matrices of linear size with the connectivity of a full symmetric matrix.

Each connected component becomes a star: its members are joined to one of them, the centre.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._runtime.threads import BLOCK
from viewhop.affinity._tiles import Tiles

__all__ = ["connect_live_columns", "connect_samples"]


def connect_samples(tiles: Tiles, *, n_jobs: int) -> csr_array:
    """Stars over the samples that positive entries connect, (n, n); row and column k are one.

    Parameters
    ----------
    tiles : Tiles
    n_jobs : int
        Threads.
    """
    n = tiles.n
    centre = np.zeros(n, dtype=np.intp)
    if not all(tiles.each(lambda tile, *place: bool(tile.min() > 0), n_jobs=n_jobs)):
        centre[:] = -1
        step = max(1, BLOCK // n)
        for start in range(n):
            if centre[start] >= 0:
                continue
            front = np.array([start])
            centre[start] = start
            while front.size:
                reached = (tiles.rows(front[:step]) > 0).any(axis=0) & (centre < 0)
                centre[reached] = start
                front = np.concatenate([front[step:], np.flatnonzero(reached)])
    # Symmetric, like the kernel: every sample occurs as a row and as a column.
    star = csr_array((np.ones(n), (np.arange(n), centre)), shape=(n, n))
    return star + star.T


def connect_live_columns(tiles: Tiles, live: NDArray[np.bool_]) -> csr_array:
    """Stars over the rows and live columns that positive entries connect, (n, n).

    Rows and columns are two sets of nodes: row k and column k are not joined as such.

    Parameters
    ----------
    tiles : Tiles
    live : (n,) bool array
        Columns to include.
    """
    n = tiles.n
    ends: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    left = np.flatnonzero(live)
    seen = np.zeros(n, dtype=bool)  # rows that already belong to a star
    step = max(1, BLOCK // n)
    while left.size:
        centre, front = left[0], left[:1]
        open_columns = np.zeros(n, dtype=bool)
        open_columns[left] = True
        open_columns[centre] = False
        while front.size:
            # The matrix is symmetric, so the rows that a column reaches are those of its row.
            fresh = (tiles.rows(front[:step]) > 0).any(axis=0) & ~seen
            seen |= fresh
            ends.append((np.flatnonzero(fresh), np.full(fresh.sum(), centre)))
            more: list[NDArray[np.intp]] = []
            for rows in np.array_split(np.flatnonzero(fresh), fresh.sum() // step + 1):
                if rows.size and open_columns.any():
                    new = (tiles.rows(rows) > 0).any(axis=0) & open_columns
                    open_columns &= ~new
                    # Any row of the star can join the new columns to it; the first one does.
                    ends.append((np.full(new.sum(), rows[0]), np.flatnonzero(new)))
                    more.append(np.flatnonzero(new))
            front = np.concatenate([front[step:], *more])
        left = np.flatnonzero(open_columns)
    i = np.concatenate([np.empty(0, dtype=np.intp), *(rows for rows, _ in ends)])
    j = np.concatenate([np.empty(0, dtype=np.intp), *(columns for _, columns in ends)])
    return csr_array((np.ones(i.size), (i, j)), shape=(n, n))
