"""Features along one coordinate: rank correlation, profile, strength and shape."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from viewhop.views import Rows, SparseRows

__all__ = ["FEWEST", "N_BINS", "SHAPES", "Profiles", "profile_features"]

Floats = NDArray[np.float64]

#: Groups of samples along a coordinate, with as many samples in each.
N_BINS = 10
#: Fewer samples than this have no profile.
FEWEST = 5 * N_BINS
#: What the profile of a feature looks like.
SHAPES = ("none", "rises", "falls", "peaks", "dips", "waves")
#: Standard deviations by which a strength must exceed that of an unrelated feature.
CLEAR = 4.0
#: Share of the variance along a coordinate that a line, or a parabola, must explain.
MOST = 0.8
#: Largest distance from the middle, 1 at the ends, at which a parabola turns.
INSIDE = 0.8
#: Numbers of a block of features that are ranked at a time.
BLOCK = 2**22


class Profiles(NamedTuple):
    """Features along one coordinate.

    Attributes
    ----------
    correlation : (d,) array
        Spearman's rank correlation; NaN for a constant feature or coordinate.
    strength : (d,) array
        From 0 to 1: the root of the share of the variance of the ranks that lies between the bins,
        less what unrelated features have by chance. NaN where the correlation is.
    shape : (d,) str array
        One of `SHAPES`.
    means : (d, N_BINS) array
        Mean rank of the feature in each bin, from 0 to 1.
    """

    correlation: Floats
    strength: Floats
    shape: NDArray[np.str_]
    means: Floats


def profile_features(X: Rows, coordinates: Floats) -> list[Profiles]:
    """The features along each coordinate.

    Parameters
    ----------
    X : (n, d) array or SparseRows
        Features of at least `FEWEST` samples.
    coordinates : (n, r) array
    """
    n, d = X.shape
    step = max(1, BLOCK // n)
    blocks = (X[:, start : start + step] for start in range(0, d, step))
    parts = [
        _profile_block(
            block.matrix.toarray() if isinstance(block, SparseRows) else block, coordinates
        )
        for block in blocks
    ]
    return [
        Profiles(*(np.concatenate(each) for each in zip(*blocks, strict=True)))
        for blocks in zip(*parts, strict=True)
    ]


def _profile_block(X: NDArray[np.floating], coordinates: Floats) -> list[Profiles]:
    n = len(X)
    ranks = _centred_ranks(X)
    sizes = np.square(ranks).sum(axis=0)
    edges = np.arange(N_BINS) * n // N_BINS
    counts = np.diff(np.append(edges, n))
    found = []
    for z in coordinates.T:
        own = _centred_ranks(z[:, None])[:, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = own @ ranks / np.sqrt(sizes * np.square(own).sum())
        # Ties in the coordinate fall into bins by chance of their order; few coordinates have any.
        sums = np.add.reduceat(ranks[np.argsort(z, kind="stable")], edges, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            between = (np.square(sums) / counts[:, None]).sum(axis=0) / sizes
        excess = 1.0 - (1.0 - between) * (n - 1) / (n - N_BINS)
        strength = np.sqrt(np.maximum(excess, 0.0))
        strength[~np.isfinite(correlation)] = np.nan
        means = (sums / counts[:, None]).T
        shape = _shapes(means, correlation, excess, n)
        found.append(Profiles(correlation, strength, shape, (means + (n - 1) / 2) / (n - 1)))
    return found


def _centred_ranks(X: NDArray[np.floating]) -> Floats:
    """Ranks within each column, ties sharing their mean, around 0; all 0 in a constant column."""
    return np.asarray(rankdata(X, axis=0)) - (len(X) + 1) / 2


def _shapes(means: Floats, correlation: Floats, excess: Floats, n: int) -> NDArray[np.str_]:
    """The shape of each profile."""
    shape = np.full(len(means), "waves", dtype=f"<U{max(map(len, SHAPES))}")
    u = np.linspace(-1.0, 1.0, N_BINS)
    terms = np.stack([np.ones(N_BINS), u, u**2], axis=1)
    coefficients = means @ np.linalg.pinv(terms).T
    fitted = coefficients @ terms.T
    variance = np.square(means - means.mean(axis=1, keepdims=True)).sum(axis=1)
    is_parabola = np.square(means - fitted).sum(axis=1) <= (1.0 - MOST) * variance
    _, slope, bend = coefficients.T
    # Where it turns near an end, or beyond, it rises or falls.
    turns = np.abs(slope) < 2.0 * INSIDE * np.abs(bend)
    shape[is_parabola & turns & (bend > 0)] = "dips"
    shape[is_parabola & turns & (bend < 0)] = "peaks"
    shape[is_parabola & ~turns & (slope > 0)] = "rises"
    shape[is_parabola & ~turns & (slope < 0)] = "falls"
    with np.errstate(invalid="ignore"):
        straight = np.square(correlation) >= MOST * excess
        shape[straight & (correlation > 0)] = "rises"
        shape[straight & (correlation < 0)] = "falls"
        chance = CLEAR * np.sqrt(2.0 * (N_BINS - 1)) / n
        shape[~(excess > chance)] = "none"
    return shape
