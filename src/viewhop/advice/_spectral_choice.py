"""The number of coordinates and the diffusion time that a spectrum suggests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.advice._finding import Finding
from viewhop.geometry import Geometry
from viewhop.solvers import eigengap, truncation

__all__ = [
    "ACCURACY",
    "RankChoice",
    "choose_rank_by_spectrum",
    "entropy_knee",
    "small_cluster_findings",
]

#: δ of r(δ, t).
ACCURACY = 0.1
#: Eigenvalues among which the gap is looked for.
GAPS = 20
#: The largest gap over another one up to which both are comparable. With too few coordinates
#: structure is lost; a few too many cost little.
COMPARABLE = 1.5
#: The longest time at which the entropy is computed.
LONGEST = 100


@dataclass(frozen=True)
class RankChoice:
    """Numbers of coordinates by several rules.

    Attributes
    ----------
    r : int
        The recommended one: `by_last_gap` or `by_accuracy`, whichever is smaller.
    by_gap : int
        Coordinates before the largest gap: one less than the number of clusters.
    by_last_gap : int
        Coordinates before the last gap that is comparable with the largest: at least two thirds
        of it.
    by_accuracy : int
        r(0.1, 1): coordinates that give the diffusion distance to that accuracy.
    gap : float
        The largest gap.
    clarity : float
        The largest gap over the next one; infinite if there is one gap only.
    """

    r: int
    by_gap: int
    by_last_gap: int
    by_accuracy: int
    gap: float
    clarity: float

    @property
    def is_clear(self) -> bool:
        """Whether no other gap is comparable with the largest."""
        return self.clarity > COMPARABLE


def choose_rank_by_spectrum(eigenvalues: ArrayLike) -> RankChoice:
    """The number of coordinates by gaps between eigenvalues and by accuracy.

    Parameters
    ----------
    eigenvalues : (m,) array
        λ_1, λ_2, …, positive, largest first, without the trivial λ_0 = 1.
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    leading = values[:GAPS]
    by_gap = eigengap(leading) - 1
    gaps = leading[:-1] - leading[1:]
    gap = float(gaps.max(initial=0.0))
    comparable = np.flatnonzero((gaps > 0) & (COMPARABLE * gaps >= gap))
    by_last_gap = int(comparable[-1]) + 1 if comparable.size else by_gap
    next_gap = float(np.sort(gaps)[-2]) if gaps.size > 1 else 0.0
    clarity = gap / next_gap if next_gap > 0 else np.inf
    by_accuracy = truncation(values, accuracy=ACCURACY)
    r = max(1, min(by_last_gap, by_accuracy))
    return RankChoice(r, by_gap, by_last_gap, by_accuracy, gap, clarity)


def small_cluster_findings(geometry: Geometry, n_samples: int) -> list[Finding]:
    """A finding if the clusters that a clear gap suggests are smaller than neighbourhoods.

    Parameters
    ----------
    geometry : Geometry
    n_samples : int
        Of all samples, of which the geometry may have fewer.
    """
    rank = choose_rank_by_spectrum(geometry.spectrum.eigenvalues)
    counts = [K.kernel.n_neighbors for K in geometry.walk.affinities]
    k = max((count for count in counts if count is not None), default=0)
    n_clusters = rank.by_gap + 1
    size = n_samples / n_clusters
    if not rank.is_clear or size > k:
        return []
    text = (
        f"A clear gap suggests {n_clusters} clusters, of {size:.0f} samples on average, not more "
        f"than n_neighbors ({k}): neighbourhoods reach into other clusters. With fewer neighbours "
        "the clusters would separate further."
    )
    return [Finding("few samples", None, size, text, "warning")]


def entropy_knee(eigenvalues: ArrayLike) -> int:
    """The diffusion time from which the spectral entropy falls more slowly.

    Parameters
    ----------
    eigenvalues : (m,) array
        λ_1, λ_2, …, positive, largest first, without the trivial λ_0 = 1.

    Notes
    -----
    The entropy of λ_k^t / Σ_k λ_k^t, for t = 1, 2, …, 100, drops fast while small eigenvalues
    vanish, and slowly afterwards. The knee is the point farthest below the chord from the first to
    the last time. It depends on how many eigenvalues are given.

    Examples
    --------
    >>> from viewhop.advice import entropy_knee
    >>> entropy_knee([1.0, 1.0, 0.5, 0.5, 0.5, 0.5])
    10
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    entropies = np.array([_entropy(values, t) for t in range(1, LONGEST + 1)])
    drop = entropies[0] - entropies[-1]
    if values.size < 2 or drop < 1e-9:
        return 1
    chord = np.linspace(entropies[0], entropies[-1], LONGEST)
    return 1 + int(np.argmax(chord - entropies))


def _entropy(values: NDArray[np.float64], t: float) -> float:
    powers = (values / values[0]) ** t
    share = powers / powers.sum()
    return float(-(share * np.log(np.where(share > 0, share, 1.0))).sum())
