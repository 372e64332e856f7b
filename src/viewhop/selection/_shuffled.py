"""Agreement by chance: what neighbour lists have in common once the rows of a view are shuffled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop.kernels import Kernel
from viewhop.selection._list_agreement import agreement_table
from viewhop.selection._select import SEED, Evidence
from viewhop.views import Views

__all__ = ["shuffled_agreement"]

Floats = NDArray[np.float64]

#: Times that the rows of a view are shuffled.
SHUFFLES = 10
#: Standard deviations above the mean that shuffled rows are not expected to reach.
BOUND = 4.0


def shuffled_agreement(
    kernels: Mapping[str, Kernel],
    views: Views,
    *,
    n_jobs: int = 1,
    progress: Progress = no_progress,
) -> Floats:
    """The agreement that two views would hardly exceed if their rows were unrelated, (L, L).

    Parameters
    ----------
    kernels : dict of Kernel by view name
        With their metrics decided, as `select` returns them.
    views : Views
    n_jobs : int
        Threads.
    progress : callable

    Returns
    -------
    bound : (L, L) array
        Mean plus four standard deviations over ten shuffles; NaN on the diagonal and where two
        views have too few samples in common.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.kernels import Gaussian
    >>> from viewhop.selection import shuffled_agreement
    >>> rolls = vh.datasets.make_gapped_rolls(300, random_state=0).views
    >>> bool(shuffled_agreement({"x": Gaussian(), "y": Gaussian()}, rolls)[0, 1] < 0.05)
    True
    """
    candidates = {name: {"chosen": kernels[name]} for name in views.names}
    evidence = Evidence(views, candidates, n_jobs, progress)
    bound = np.full((views.n_views, views.n_views), np.nan)
    lists = evidence.lists()
    rng = np.random.default_rng(SEED)
    for l, m in evidence.common:
        first, second = lists[l, m][0], lists[m, l][0]
        shuffled = []
        for _ in range(SHUFFLES):
            order = rng.permutation(len(second))
            moved = np.empty_like(second)
            moved[order] = order[second]
            shuffled.append(moved)
        values = agreement_table([first], shuffled)
        bound[l, m] = bound[m, l] = values.mean() + BOUND * values.std()
    return bound
