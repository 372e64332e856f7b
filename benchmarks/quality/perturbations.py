"""What is done to the views of a set before a method sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop import Views

__all__ = ["CLEAN", "MISSING", "PERTURBATIONS", "observed_pairs", "perturb"]

CLEAN = "clean"
#: Share of the (sample, view) pairs that are drawn to be missing.
MISSING = {"30 % missing": 0.3, "50 % missing": 0.5}
PERTURBATIONS = ("noise view", "shuffled view", *MISSING)
#: Features of the view of noise.
WIDTH = 30


def perturb(views: Views, name: str, seed: int) -> Views:
    """The views, perturbed: one of `PERTURBATIONS`, or `CLEAN`."""
    if name == CLEAN:
        return views
    rng = np.random.default_rng([seed, len(views)])
    arrays = dict(zip(views.names, views.arrays, strict=True))
    if name == "noise view":
        return Views({**arrays, "noise": rng.standard_normal((len(views), WIDTH))})
    if name == "shuffled view":
        last = views.names[-1]
        return Views({**arrays, last: arrays[last][rng.permutation(len(views))]})
    return Views(arrays, observed=observed_pairs(len(views), len(arrays), MISSING[name], rng))


def observed_pairs(
    n_samples: int, n_views: int, share: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Which views observe which samples, (n_samples, n_views).

    Every pair is missing with probability `share`; a sample that lost all its views gets one of
    them back, so with few views somewhat less is missing.
    """
    observed = rng.random((n_samples, n_views)) >= share
    kept = rng.integers(n_views, size=n_samples)
    lost = np.flatnonzero(~observed.any(axis=1))
    observed[lost, kept[lost]] = True
    return observed
