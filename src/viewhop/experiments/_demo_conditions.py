"""The conditions in which the demonstration shows the digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop.views import Views

__all__ = ["NOISY", "make_conditions", "remove_pairs"]

#: The view that is replaced by noise.
NOISY = "pix"


#: Draws of the pairs that are missing: scores differ by 0.02 from draw to draw.
_DRAWS = 5


def make_conditions(views: Views, *, random_state: int) -> dict[str, list[Views]]:
    """The same samples in three conditions, by name, each in one or several draws.

    They are complete; half of all (sample, view) pairs are missing; one view is noise.

    Parameters
    ----------
    views : Views
        Complete, with a view named `NOISY`.
    random_state : int
        Seed of the pairs that are removed and of the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop import Views
    >>> from viewhop.experiments._demo_conditions import make_conditions
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> conditions = make_conditions(Views({"kar": X, "pix": X}), random_state=0)
    >>> list(conditions)
    ['complete', 'half missing', 'pix is noise']
    >>> [int(draw.observed.sum()) for draw in conditions["half missing"]]
    [6, 6, 6, 6, 6]
    """
    generator = np.random.default_rng((random_state, 1))
    masks = [remove_pairs(len(views), views.n_views, 0.5, generator) for _ in range(_DRAWS)]
    arrays = dict(views.items())
    arrays[NOISY] = generator.standard_normal(arrays[NOISY].shape)
    return {
        "complete": [views],
        "half missing": [Views(views, observed=seen) for seen in masks],
        f"{NOISY} is noise": [Views(arrays)],
    }


def remove_pairs(
    n_samples: int, n_views: int, share: float, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Which pairs are left when a share of all (sample, view) pairs is removed at random.

    Every sample keeps one view; the share is exact, if that leaves enough pairs to remove.

    Parameters
    ----------
    n_samples, n_views : int
    share : float
        From 0 to 1.
    generator : Generator

    Returns
    -------
    observed : (n_samples, n_views) bool array
    """
    seen = np.ones((n_samples, n_views), dtype=bool)
    left = np.full(n_samples, n_views)
    wanted = round(share * seen.size)
    for place in generator.permutation(seen.size):
        sample, view = divmod(int(place), n_views)
        if wanted and left[sample] > 1:
            seen[sample, view] = False
            left[sample] -= 1
            wanted -= 1
    return seen
