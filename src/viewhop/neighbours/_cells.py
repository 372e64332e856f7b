"""Cells: groups of nearby samples, each inside a ball."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import map_threads, row_blocks
from viewhop.neighbours._lists import index_type
from viewhop.neighbours._manhattan import manhattan_norms
from viewhop.neighbours._points import Points

__all__ = ["Cells"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

#: Largest number of samples in a cell: enough for a matrix product, few enough for a small ball.
CELL = 256
#: Number of rows that determine the direction of a split, and of power iterations for it.
SAMPLE, STEPS = 128, 3


@dataclass(frozen=True)
class Cells:
    """Samples in the order of their cells.

    Attributes
    ----------
    order : (n,) index array
        Original index of each sample.
    starts : (c + 1,) index array
        Start of each cell.
    points : Points
        The samples in this order.
    centres : (c, d) array
    radii : (c,) array
        Distance from the centre to the farthest sample of the cell, rounded up.
    """

    order: Indices
    starts: Indices
    points: Points
    centres: Floats
    radii: Floats

    @classmethod
    def of(cls, points: Points, n_jobs: int = 1) -> Cells:
        """Cells of the samples, split recursively across their widest direction.

        Parameters
        ----------
        points : Points
        n_jobs : int
            Number of threads that share the splits.
        """
        if points.is_sparse:
            return cls._consecutive(points)
        order, starts = _split_recursively(points, n_jobs)
        ordered = copy(points)
        ordered.rows, ordered.norms = points.rows[order], points.norms[order]
        ordered.slack = points.slack[order]
        centres = np.empty((starts.size - 1, points.rows.shape[1]))
        radii = np.empty(starts.size - 1)
        for cell, start in enumerate(starts[:-1]):
            rows = ordered.rows[start : starts[cell + 1]].astype(np.float64)
            centres[cell] = rows.mean(axis=0)
            rows -= centres[cell]
            if points.norm == "manhattan":
                radii[cell] = manhattan_norms(rows).max()
            else:
                radii[cell] = np.sqrt(np.square(rows).sum(axis=1).max())
        return cls(order, starts, ordered, centres, radii * (1 + 1e-9))

    @classmethod
    def _consecutive(cls, points: Points) -> Cells:
        """Cells of samples in their own order, without balls, for sparse rows."""
        n = len(points)
        starts = np.array([*range(0, n, CELL), n])
        size = starts.size - 1
        order = np.arange(n, dtype=index_type(n))
        return cls(order, starts, points, np.empty((size, 0)), np.full(size, np.inf))

    @property
    def blocks(self) -> list[slice]:
        """The range of each cell."""
        return [
            slice(int(a), int(b)) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)
        ]


def _split_recursively(points: Points, n_jobs: int) -> tuple[Indices, Indices]:
    """The order of the samples, and the starts of the cells in it."""
    order = np.arange(len(points), dtype=index_type(len(points)))
    starts = []

    def split(part: tuple[int, int]) -> list[tuple[int, int]]:
        start, stop = part
        n_cells = -(-(stop - start) // CELL)
        members = order[start:stop]
        left = (stop - start) * (n_cells // 2) // n_cells
        order[start:stop] = members[np.argpartition(_project(points, members), left)]
        return [(start, start + left), (start + left, stop)]

    parts = [(0, len(points))]
    while parts:
        starts += [start for start, stop in parts if stop - start <= CELL]
        halves = map_threads(split, [part for part in parts if part[1] - part[0] > CELL], n_jobs)
        parts = [half for both in halves for half in both]
    return order, np.array([*sorted(starts), len(points)])


def _project(points: Points, members: Indices) -> Floats:
    """Coordinates of the members along approximately their widest direction."""
    step = -(-members.size // SAMPLE)
    sample = points.rows[members[::step]].astype(np.float64)
    sample -= sample.mean(axis=0)
    size = np.abs(sample).max()
    if size == 0:
        return np.zeros(members.size)
    sample /= size
    direction = sample[np.square(sample).sum(axis=1).argmax()]
    for _ in range(STEPS):
        direction = (sample @ direction) @ sample
        direction /= np.abs(direction).max()
    direction /= np.sqrt(np.square(direction).sum())
    along = np.empty(members.size)
    for block in row_blocks(members.size, direction.size):
        along[block] = points.rows[members[block]] @ direction
    return along
