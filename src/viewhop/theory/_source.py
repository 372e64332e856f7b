"""The walk of a fitted estimator, checked for the conditions of a theorem."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.geometry import require_geometry
from viewhop.walks import CrossKernel, Walk, check_markov

__all__ = ["Source", "check_nodes", "kernel_matrix", "require_cross_walk", "require_walk"]

#: A walk, a geometry or a fitted estimator; scikit-learn estimators have no static type.
Source: TypeAlias = Any

Floats = NDArray[np.float64]

#: Largest number of nodes for which a function that needs all eigenpairs forms the kernel.
MAX_NODES = 4000


def require_walk(source: Source, *, incomplete: bool = False) -> Walk:
    """The walk of a fitted estimator or of a geometry, or the walk itself.

    Parameters
    ----------
    source : fitted estimator, Geometry or Walk
    incomplete : bool
        Whether views may lack samples; the paper's theorems assume complete views.
    """
    # Theorems also apply to walks built without an estimator.
    walk = source if isinstance(source, Walk) else require_geometry(source).walk
    check_markov(walk, "place in these theorems")
    if not (incomplete or walk.rows.is_whole):
        raise ValueError("this theorem is about views that observed every sample")
    return walk


def require_cross_walk(source: Source) -> tuple[Walk, CrossKernel]:
    """The walk of two views that changes view at every step, and its kernel between the views."""
    walk = require_walk(source)
    cross = walk.reduced
    if walk.hops is None or cross is None:
        raise ValueError(
            "this theorem is about the hop walk of two views that never stays in a view: "
            'fusion="hop", two views and within_view_weight=0'
        )
    return walk, cross


def check_nodes(walk: Walk, numbers: ArrayLike) -> NDArray[np.intp]:
    """Node indices, (p,); ValueError if one is out of range."""
    nodes = np.atleast_1d(numbers)
    if nodes.ndim > 1 or nodes.dtype.kind not in "iu":
        raise ValueError(f"nodes must be given by their whole numbers, not {numbers!r}")
    if nodes.min() < 0 or nodes.max() >= walk.n_nodes:
        raise ValueError(
            f"nodes are numbered 0 to {walk.n_nodes - 1}, got {nodes.min()} to {nodes.max()}"
        )
    return nodes.astype(np.intp)


def kernel_matrix(walk: Walk) -> Floats:
    """The walk's kernel as a matrix, (n_nodes, n_nodes); ValueError if it is too large."""
    if walk.n_nodes > MAX_NODES:
        raise ValueError(
            f"this computation needs all eigenpairs, and the walk has {walk.n_nodes:,} nodes; take "
            f"at most {MAX_NODES:,}, for example a subset of the rows"
        )
    return np.asarray(walk @ np.eye(walk.n_nodes))
