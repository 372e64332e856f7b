"""Whether a coordinate would come back: the fit repeated on subsamples, and aligned."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from viewhop._runtime.progress import Progress, no_progress
from viewhop.advice._placed_samples import pairwise_views, place, read_views
from viewhop.views import Views

__all__ = ["SIMILAR", "USUALLY", "Stability", "stability"]

Floats = NDArray[np.float64]

#: A coordinate came back if its correlation with the original, up to sign, is at least this.
SIMILAR = 0.9
#: It is stable if it came back in this share of the repetitions.
USUALLY = 0.9
#: Fewest samples of a subsample.
FEWEST = 10


@dataclass(frozen=True, eq=False)
class Stability:
    """How well the coordinates of a fit come back on subsamples.

    Attributes
    ----------
    similarity : (n_repeats, r) array
        Correlation of each coordinate with the one that corresponds to it, without its sign.
    groups : list of (first, last, kind)
        Coordinates, counted from 0, by what becomes of them: "stable", "mixed" (they turn into
        each other, but what they span comes back) or "unstable".
    low, high : (n_samples, n_columns) arrays
        The interval of each sample and column of the embedding over the repetitions.
    level : float
        Share of the repetitions in the intervals.
    embedding : (n_samples, n_columns) array
    names : list of str
        Columns of the embedding.
    """

    similarity: Floats = field(repr=False)
    groups: list[tuple[int, int, str]]
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    level: float
    embedding: Floats = field(repr=False)
    names: list[str] = field(repr=False)

    @property
    def verdict(self) -> str:
        """What becomes of the coordinates, in a sentence for each group."""
        sentences = []
        for first, last, kind in _joined(self.groups):
            several = last > first
            which = f"{first + 1}–{last + 1}" if several else f"{first + 1}"
            subject = f"coordinates {which} are" if several else f"coordinate {which} is"
            if kind == "mixed":
                sentences.append(f"coordinates {which} mix, but what they span is stable")
            else:
                sentences.append(f"{subject} {'stable' if kind == 'stable' else 'not stable'}")
        return "; ".join(sentences)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per coordinate: its similarity over the repetitions, and what becomes of it."""
        kinds = [kind for first, last, kind in self.groups for _ in range(first, last + 1)]
        return pd.DataFrame(
            {
                "coordinate": np.arange(1, self.similarity.shape[1] + 1),
                "median_similarity": np.median(self.similarity, axis=0),
                "least_similarity": self.similarity.min(axis=0),
                "came_back": (self.similarity >= SIMILAR).mean(axis=0),
                "kind": kinds,
            }
        )

    def __str__(self) -> str:
        """The verdict."""
        return self.verdict


def stability(
    estimator: Any,
    views: Any,
    *,
    n_samples: int | float = 0.8,
    n_repeats: int = 20,
    level: float = 0.9,
    random_state: int | np.random.Generator | None = 0,
    progress: Progress = no_progress,
) -> Stability:
    """How well the coordinates of a fitted estimator come back if it is fitted to subsamples.

    Parameters
    ----------
    estimator : fitted estimator
    views : list, dict or Views
        The training samples.
    n_samples : int or float
        Number of samples of each subsample, or its share of all.
    n_repeats : int
        Number of subsamples.
    level : float
        Share of the repetitions that an interval covers.
    random_state : int, Generator or None
        Draws the subsamples.
    progress : callable
        ``progress(stage, done, total)``.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If a view is a precomputed kernel, or a number is out of range.

    Notes
    -----
    Each repetition fits a clone of the estimator to a subsample, drawn without replacement, and
    places all samples. Its coordinates are matched with the original ones by the assignment with
    the largest sum of |correlation|, over all blocks of the embedding together, and brought to
    their sign, mean and spread. A coordinate is stable if its correlation is at least 0.9 in 90 %
    of the repetitions. Coordinates whose eigenvalues are close turn into each other from fit to
    fit: if what they span comes back, they are "mixed", and only together have a meaning.

    Subsamples share most of their samples, so the intervals are narrower than those of independent
    data would be: they tell coordinates that depend on which samples are there from those that do
    not, and are no confidence intervals.

    Examples
    --------
    On a circle the first two coordinates are determined up to a rotation only:

    >>> import numpy as np
    >>> import viewhop as vh
    >>> angle = np.linspace(0, 2 * np.pi, 150, endpoint=False)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> est = vh.DiffusionMaps(2, kernel=vh.kernels.Gaussian(factor=30)).fit(X)
    >>> print(vh.stability(est, [X], n_samples=0.5))
    coordinates 1–2 mix, but what they span is stable
    """
    views = read_views(estimator, views)
    size = _subsample_size(n_samples, len(views))
    if not isinstance(n_repeats, Integral) or n_repeats < 2:
        raise ValueError(f"n_repeats must be an integer of at least 2, got {n_repeats!r}")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    pairwise = pairwise_views(estimator)
    if pairwise:
        raise ValueError(
            f"view {min(pairwise)!r} is a precomputed kernel: a subsample would need the matching "
            "columns; pass features"
        )
    embedding, names = place(estimator, views)
    r = int(getattr(estimator, "n_components_", embedding.shape[1]))
    generator = np.random.default_rng(random_state)
    original = _standardised(embedding, r)
    similarity = np.empty((n_repeats, r))
    aligned = np.empty((n_repeats, *embedding.shape))
    spans = []
    for k in range(n_repeats):
        chosen = np.sort(generator.choice(len(views), size, replace=False))
        repeated = _standardised(_repeat(estimator, views, chosen, r), r)
        correlation = _correlation(original, repeated)
        _, match = linear_sum_assignment(-np.abs(correlation))
        matched = correlation[np.arange(r), match]
        similarity[k] = np.abs(matched)
        turned = repeated[:, :, match] * np.where(matched < 0, -1.0, 1.0)
        aligned[k] = turned.reshape(embedding.shape)
        spans.append(turned)
        progress("stability", k + 1, n_repeats)
    centre, spread = embedding.mean(axis=0), embedding.std(axis=0)
    low, high = np.quantile(aligned, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Stability(
        similarity,
        _find_groups(similarity, original, spans),
        low * spread + centre,
        high * spread + centre,
        level,
        embedding,
        names,
    )


def _subsample_size(n_samples: Any, n: int) -> int:
    if isinstance(n_samples, bool) or not isinstance(n_samples, (int, float, np.number)):
        raise ValueError(f"n_samples must be a number of samples or a share, got {n_samples!r}")
    is_count = isinstance(n_samples, Integral)
    size = int(n_samples) if is_count else round(float(n_samples) * n) if n_samples < 1 else n + 1
    if not FEWEST <= size < n:
        raise ValueError(
            f"n_samples must be a share below 1, or a number from {FEWEST} to {n - 1}, for {n} "
            f"samples, got {n_samples!r}"
        )
    return size


def _repeat(estimator: Any, views: Views, chosen: NDArray[np.intp], r: int) -> Floats:
    """The embedding of all samples by a fit to some of them."""
    again = clone(estimator)
    fixed = {"n_components": r, "verbose": 0, "views": None}
    again.set_params(**{name: fixed[name] for name in fixed if name in again.get_params()})
    with warnings.catch_warnings():
        # What can be said about a fit was said about that to all samples.
        warnings.simplefilter("ignore")
        return place(again.fit(views[chosen]), views)[0]


def _standardised(embedding: Floats, r: int) -> Floats:
    """Columns with mean 0 and variance 1, (n_samples, n_blocks, r); constant ones are 0."""
    spread = embedding.std(axis=0)
    Z = (embedding - embedding.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(Z.reshape(len(Z), -1, r))


def _correlation(first: Floats, second: Floats) -> Floats:
    """Correlation of every two coordinates, over all blocks together, (r, r)."""
    r = first.shape[2]
    a, b = first.reshape(-1, r), second.reshape(-1, r)
    return np.asarray(a.T @ b / len(a))


def _find_groups(
    similarity: Floats, original: Floats, repeated: list[Floats]
) -> list[tuple[int, int, str]]:
    """Stable coordinates, runs that span the same, and the others, in order."""
    r = similarity.shape[1]
    is_stable = (similarity >= SIMILAR).mean(axis=0) >= USUALLY
    groups: list[tuple[int, int, str]] = []
    k = 0
    while k < r:
        last, kind = k, "stable" if is_stable[k] else "unstable"
        if not is_stable[k]:
            for end in range(k + 1, r):
                if is_stable[end]:
                    break
                shared = [_shared(original, other, k, end) for other in repeated]
                if np.mean(np.array(shared) >= SIMILAR**2) >= USUALLY:
                    last, kind = end, "mixed"
                    break
        groups.append((k, last, kind))
        k = last + 1
    return groups


def _shared(first: Floats, second: Floats, start: int, end: int) -> float:
    """Share of what the coordinates from `start` to `end` span in both, from 0 to 1."""
    width = end - start + 1
    a, b = (Z[:, :, start : end + 1].reshape(-1, width) for Z in (first, second))
    bases = [np.linalg.qr(block)[0] for block in (a, b)]
    return float(np.square(bases[0].T @ bases[1]).sum() / width)


def _joined(groups: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Groups with neighbours of the same kind joined, but for mixed ones."""
    joined: list[tuple[int, int, str]] = []
    for first, last, kind in groups:
        if joined and kind == joined[-1][2] != "mixed":
            joined[-1] = (joined[-1][0], last, kind)
        else:
            joined.append((first, last, kind))
    return joined
