"""Distances between all pairs of samples in tiles, and the ranks that local scales come from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import map_threads
from viewhop.affinity._affinity import Floats
from viewhop.affinity._tiles import Tiles
from viewhop.neighbours import Points, block_distances

__all__ = ["distance_tiles", "pair_scale", "ranked", "ranked_rows"]


def distance_tiles(
    points: Points,
    dtype: np.dtype[np.floating],
    n_jobs: int,
    done: Callable[[int, int], None],
) -> tuple[Tiles, Floats]:
    """Distances between all pairs, and the smallest positive one of each sample, (n,), or 0."""
    n = len(points)
    least: dict[tuple[int, int], NDArray[np.floating]] = {}

    def measure(rows: slice, columns: slice) -> NDArray[np.floating]:
        distances = block_distances(points, rows, points, columns, dtype=dtype)
        if rows == columns:
            distances = np.minimum(distances, distances.T)
        least[rows.start, columns.start] = _least_positive(distances, axis=1)
        least[columns.start, rows.start] = _least_positive(distances, axis=0)
        return distances

    tiles = Tiles(n, dtype, measure, n_jobs=n_jobs, done=done)
    nearest = np.full(n, np.inf)
    for (start, _), values in least.items():
        part = slice(start, start + values.size)
        nearest[part] = np.minimum(nearest[part], values)
    return tiles, np.where(np.isfinite(nearest), nearest, 0.0)


def _least_positive(distances: NDArray[np.floating], axis: int) -> NDArray[np.floating]:
    """The smallest positive entry along an axis; infinite if there is none."""
    least = distances.min(axis=axis)
    if least.min() > 0:
        return np.asarray(least)
    return np.asarray(distances.min(axis=axis, where=distances > 0, initial=np.inf))


def ranked_rows(tiles: Tiles, k: int, n_jobs: int) -> Floats:
    """The (k+1)-th smallest distance of each sample, (n,)."""
    parts = map_threads(
        lambda block: ranked(tiles.panel(block), k), range(len(tiles.blocks)), n_jobs
    )
    return np.concatenate(parts)


def ranked(distances: NDArray[np.floating], k: int) -> Floats:
    """The (k+1)-th smallest distance of each row, (n,); if 0, the smallest positive one."""
    k = min(k, distances.shape[1] - 1)
    ranked = np.partition(distances, k, axis=1)[:, k].astype(np.float64)
    copies = ranked == 0
    if copies.any():
        least = _least_positive(distances[copies], axis=1)
        ranked[copies] = np.where(np.isfinite(least), least, 0.0)
    return ranked


def pair_scale(own: float | Floats, scale: float | Floats) -> Floats:
    """√(σ_i σ_j) of each pair: (n, m) for local scales, otherwise 0-d."""
    if isinstance(own, np.ndarray):
        return np.sqrt(own)[:, None] * np.sqrt(scale)
    return np.asarray(scale)
