"""Conditions under which two views have the same embedding: Theorem 4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viewhop.theory._source import Source, require_walk

__all__ = ["CrossViewSymmetry", "cross_view_symmetry"]


@dataclass(frozen=True)
class CrossViewSymmetry:
    """The conditions under which the cross-view distance of two views is 0.

    Attributes
    ----------
    kernel_difference : float
        Relative difference of the two kernels; 0 for views that differ by a rotation.
    alike : bool
        Whether the hop matrix treats both views in the same way.
    within, between : float
        H_ll and H_lm.
    rounding : float
        Largest `kernel_difference` that counts as 0.
    """

    kernel_difference: float
    alike: bool
    within: float
    between: float
    rounding: float

    @property
    def holds(self) -> bool:
        """Whether every coordinate is the same in both views."""
        same = self.kernel_difference <= self.rounding
        return same and self.alike and self.within <= self.between


def cross_view_symmetry(source: Source, first: str, second: str) -> CrossViewSymmetry:
    """The conditions under which the cross-view distance of two views must be 0, each checked.

    Parameters
    ----------
    source : fitted estimator or Walk
        Must have a hop walk.
    first, second : str
        Names of the views.

    Notes
    -----
    Theorem 4 is about Eq. (30): a rotation between two views leaves their kernels equal. That is
    enough if H_ll ≤ H_lm (η ≤ 1/2) and H treats both views alike: K̂ then maps (v, −v) to
    (H_ll − H_lm)(K²v, −K²v), so that no such vector has a positive eigenvalue and none is a
    coordinate (erratum 5). With H_ll > H_lm some coordinates distinguish the views.

    Kernels are compared by their products with eight random vectors, drawn with a fixed seed.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop import theory
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 3))
    >>> R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    >>> est = vh.MultiViewDiffusionMaps.paper_settings(2).fit({"x": X, "turned": X @ R})
    >>> theory.cross_view_symmetry(est, "x", "turned").holds
    True
    >>> est.cross_view_distance("x", "turned") < 1e-10
    True
    """
    walk = require_walk(source)
    H = walk.hops
    if H is None:
        raise ValueError(
            "Theorem 4 is about the hop walk; a fusion with a single geometry does not have two "
            "embeddings to compare"
        )
    for name in (first, second):
        if name not in walk.names:
            raise ValueError(f"no view named {name!r}; there are {', '.join(walk.names)}")
    if first == second:
        raise ValueError(f"expected two different views, got {first!r} twice")
    l, m = walk.names.index(first), walk.names.index(second)
    others = [k for k in range(walk.n_blocks) if k not in (l, m)]
    V = np.random.default_rng(0).standard_normal((walk.n_samples, 8))
    one, other = walk.affinities[l] @ V, walk.affinities[m] @ V
    return CrossViewSymmetry(
        kernel_difference=float(np.linalg.norm(one - other) / np.linalg.norm(one)),
        alike=bool(H[l, l] == H[m, m] and (H[l, others] == H[m, others]).all()),
        within=float(H[l, l]),
        between=float(H[l, m]),
        rounding=float(np.sqrt(np.finfo(walk.dtype).eps)),
    )
