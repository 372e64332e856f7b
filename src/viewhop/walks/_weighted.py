"""The hop walk with view weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from viewhop.affinity import Affinity, JointView
from viewhop.views import RowMap
from viewhop.walks._hop import HopWalk

__all__ = ["build_weighted_walk"]


def build_weighted_walk(
    affinities: Sequence[Affinity],
    rows: RowMap,
    weights: Mapping[str, float],
    *,
    joint: JointView | None = None,
) -> HopWalk:
    """The walk with the hop matrix w wᵀ over kernels that are divided by their mean degrees.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view.
    rows : RowMap
        Which samples their rows belong to.
    weights : dict of float by view name
        w, positive.
    joint : JointView or None
        Its weight is that of the view with the largest.
    """
    kernels = [*affinities] if joint is None else [*affinities, joint.affinity]
    own = [weights[K.name] for K in affinities]
    # A kernel times a number is the same as its weight times that number.
    means = [float(K.degrees.mean()) for K in kernels]
    w = np.array([*own, *[max(own)] * (joint is not None)]) / means
    return HopWalk.build(affinities, rows, hops=np.outer(w, w), n_jobs=1, joint=joint)
