"""The walk that a theorem is about, from a fitted estimator, checked for its conditions."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.walks import HopWalk, Walk

if TYPE_CHECKING:
    from viewhop.estimators import MultiViewDiffusionMaps

    Source: TypeAlias = MultiViewDiffusionMaps | Walk

__all__ = ["check_nodes", "kernel_matrix", "require_cross_walk", "require_walk"]

Floats = NDArray[np.float64]

#: Largest number of nodes for which a function that needs all eigenpairs forms the kernel.
MAX_NODES = 4000


def require_walk(source: Source, *, incomplete: bool = False) -> Walk:
    """The walk of a fitted estimator, or the walk itself.

    Parameters
    ----------
    source : fitted estimator or Walk
    incomplete : bool
        Whether views may lack samples; the paper's theorems are about complete views.
    """
    walk = source if isinstance(source, Walk) else getattr(source, "walk_", None)
    if not isinstance(walk, Walk):
        raise TypeError(
            f"expected a walk or a fitted estimator, got {type(source).__name__}; call fit first"
        )
    if not (incomplete or walk.rows.is_whole):
        raise ValueError("this theorem is about views that observed every sample")
    return walk


def require_cross_walk(source: Source) -> HopWalk:
    """The walk of two views that changes view at every step, or ValueError."""
    walk = require_walk(source)
    if not isinstance(walk, HopWalk) or not walk.is_cross:
        raise ValueError(
            "this theorem is about the hop walk of two views that never stays in a view: "
            'fusion="hop", two views and within_view_weight=0'
        )
    return walk


def check_nodes(walk: Walk, numbers: ArrayLike) -> NDArray[np.intp]:
    """Numbers of nodes, (p,), or ValueError for what is none."""
    given = np.atleast_1d(numbers)
    if given.ndim > 1 or given.dtype.kind not in "iu":
        raise ValueError(f"nodes are given by their whole numbers, not {numbers!r}")
    if given.min() < 0 or given.max() >= walk.n_nodes:
        raise ValueError(
            f"nodes are numbered 0 to {walk.n_nodes - 1}, got {given.min()} to {given.max()}"
        )
    return given.astype(np.intp)


def whole_steps(n_steps: object) -> int:
    """The number of steps as an int, or ValueError unless it is whole and at least 0."""
    if isinstance(n_steps, Real) and not isinstance(n_steps, bool):
        value = float(n_steps)
        if value >= 0 and value.is_integer():
            return int(value)
    raise ValueError(f"expected a whole number of steps of at least 0, not {n_steps!r}")


def kernel_matrix(walk: Walk) -> Floats:
    """The walk's kernel as a matrix, (n_nodes, n_nodes); ValueError if it is too large."""
    if walk.n_nodes > MAX_NODES:
        raise ValueError(
            f"this computation needs all eigenpairs, and the walk has {walk.n_nodes:,} nodes; take "
            f"at most {MAX_NODES:,}, for example a subset of the rows"
        )
    return np.asarray(walk @ np.eye(walk.n_nodes))
