"""Curves: how the sum of a view's kernel grows with its scale, and where the scale in use lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.affinity import Affinity
from viewhop.kernels import DistanceKernel

__all__ = ["scale_curves"]

Floats = NDArray[np.float64]

#: Samples on the two sides of the distances that the sums are estimated from.
ROWS, COLUMNS = 512, 2048
#: Scales of a curve, and bins of log distance that represent the distances.
SCALES, BINS = 80, 2048


def scale_curves(affinities: Sequence[Affinity]) -> list[dict[str, Any]]:
    """Log S(σ) over log σ by view, S the sum of the kernel over all pairs, and the scale in use.

    Parameters
    ----------
    affinities : list of Affinity
        One for each view.

    Returns
    -------
    curves : list of dict
        A view without distances, such as a precomputed kernel, has a name and no curve.
    """
    return [_curve(K) for K in affinities]


def _curve(K: Affinity) -> dict[str, Any]:
    """The curve of an affinity that has distances."""
    kernel, distances = K.kernel, _sample_distances(K)
    if distances is None or not isinstance(kernel, DistanceKernel):
        return {"name": K.name, "precomputed": True}
    scales = np.asarray(K.scale, dtype=np.float64)
    positive = scales[scales > 0]
    low, middle, high = (float(q) for q in np.quantile(positive, (0.05, 0.5, 0.95)))
    curve: dict[str, Any] = {
        "name": K.name,
        "precomputed": False,
        "local": bool(scales.ndim),
        "rule": str(kernel.bandwidth),
        "kernel": type(kernel).__name__,
        "factor": float(kernel.factor),
        "metric": kernel.metric,
        "scale": [low, middle, high],
    }
    positive = distances[distances > 0]
    if not positive.size:
        return curve | {"logs": [], "sums": [], "slopes": []}
    grid = np.geomspace(
        min(positive.min() / 3.0, low / 2.0), max(positive.max() * 6.0, high * 2.0), SCALES
    )
    sums, slopes = _sums(kernel, K.n_samples, distances, grid)
    return curve | {
        "logs": np.log10(grid).round(5).tolist(),
        "sums": np.log10(sums).round(5).tolist(),
        "slopes": slopes.round(5).tolist(),
    }


def _sample_distances(K: Affinity) -> Floats | None:
    """Distances between different samples, of up to `ROWS` rows to up to `COLUMNS` columns."""
    n = K.n_samples
    generator = np.random.default_rng(0)
    columns = np.sort(generator.choice(n, min(n, COLUMNS), replace=False))
    rows = np.sort(generator.choice(columns, min(columns.size, ROWS), replace=False))
    distances = K.distances(rows, columns)
    if distances is None:
        return None
    return np.asarray(distances[rows[:, None] != columns], dtype=np.float64)


def _sums(kernel: DistanceKernel, n: int, distances: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """S and d log S / d log σ at each scale: n for the samples with themselves, and all pairs."""
    positive = distances[distances > 0]
    counts, edges = np.histogram(np.log(positive), bins=BINS)
    middles = np.append(np.exp(0.5 * (edges[:-1] + edges[1:])), 0.0)
    counts = np.append(counts, distances.size - positive.size)
    u = middles / grid[:, None]
    values = counts * np.exp(-kernel.exponent(u))
    pairs = n * (n - 1) / distances.size
    sums = n + pairs * values.sum(axis=1)
    return sums, pairs * (kernel.slope(u) * values).sum(axis=1) / sums
