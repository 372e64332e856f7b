"""A random subset of the samples on which many views can be examined in seconds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from viewhop.kernels import Kernel
from viewhop.views import Views

__all__ = ["SAMPLES", "draw_subset"]

#: Most samples that are examined.
SAMPLES = 3000


def draw_subset(
    views: Views, kernels: Mapping[str, Kernel], generator: np.random.Generator
) -> Views:
    """The views of at most 3,000 samples, in their order, with every view represented.

    Parameters
    ----------
    views : Views
    kernels : dict of Kernel by view name
        The columns of a precomputed kernel are reduced, too.
    generator : Generator
    """
    n = len(views)
    if n <= SAMPLES:
        return views
    observed = views.observed
    shared = observed & (observed.sum(axis=1) > 1)[:, None] if views.n_views > 1 else observed
    order = generator.permutation(n)
    is_drawn = np.zeros(n, dtype=bool)
    # A view with few samples must keep some that another view has as well.
    share = SAMPLES // (2 * views.n_views)
    for seen in shared.T:
        is_drawn[order[seen[order]][:share]] = True
    rest = order[~is_drawn[order]]
    is_drawn[rest[: max(0, SAMPLES - int(is_drawn.sum()))]] = True
    chosen = np.flatnonzero(is_drawn)
    subset: Views = views[chosen]
    pairwise = [name for name in views.names if kernels[name].is_pairwise]
    if not pairwise:
        return subset
    return subset.with_features({name: chosen.tolist() for name in pairwise})
