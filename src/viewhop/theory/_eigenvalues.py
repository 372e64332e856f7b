"""The extreme eigenvalues of a walk: Theorem 5."""

from __future__ import annotations

from viewhop.solvers import extreme_eigenvalue
from viewhop.theory._source import Source, require_walk

__all__ = ["eigenvalue_range"]


def eigenvalue_range(source: Source) -> tuple[float, float]:
    """The smallest and largest eigenvalue of a walk, including the trivial 1.

    Parameters
    ----------
    source : fitted estimator or Walk

    Notes
    -----
    Theorem 5: both lie in [−1, 1] for any walk with a non-negative kernel; the largest is 1. The
    smallest is −1 if the hop graph is bipartite without loops, as for two views with η = 0
    (erratum 4).

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop import theory
    >>> X = np.random.default_rng(0).standard_normal((30, 3))
    >>> for count in (2, 3):
    ...     est = vh.MultiViewDiffusionMaps.paper_settings(2).fit([X, X**3, X**2][:count])
    ...     low, high = theory.eigenvalue_range(est)
    ...     f"{low:.3f} {high:.3f}"
    '-1.000 1.000'
    '-0.572 1.000'
    """
    walk = require_walk(source, incomplete=True)
    low, high = (extreme_eigenvalue(walk, end=end).value for end in ("smallest", "largest"))
    return low, high
