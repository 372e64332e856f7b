"""The concatenation: all views side by side, with one Gaussian kernel for all of them.

The paper's experiments call this the kernel product. The element-wise product of the kernels is
`viewhop.affinity.KernelProduct`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import Any

import numpy as np

from viewhop._storage.codec import Shelf
from viewhop.affinity._affinity import Affinity
from viewhop.affinity._affinity_reader import ROUNDING
from viewhop.affinity._common_kernel import common_gaussian
from viewhop.affinity._joint_view import (
    JointView,
    Measured,
    join_views,
    joint_name,
    measured_affinities,
)
from viewhop.affinity._side_by_side import SideBySide
from viewhop.errors import ModelFileError
from viewhop.kernels import Gaussian, Kernel
from viewhop.views import RowMap, ViewRows

__all__ = ["build_concatenation", "concat_kernel", "restore_concatenation"]


def concat_kernel(kernels: Sequence[Kernel], scale: float = 1.0) -> Gaussian:
    """The kernel of views side by side; ValueError unless all are Gaussians with equal parameters.

    Metrics and fixed scales may differ between views. Every metric must be a Euclidean distance of
    some features, so "manhattan" is refused, and scales must be local in all views or in none.

    Parameters
    ----------
    kernels : sequence of Kernel
        One per view.
    scale : float
        The scale of the result, with the factor already applied; ignored if scales are local.

    Examples
    --------
    >>> from viewhop.affinity import concat_kernel
    >>> from viewhop.kernels import Gaussian
    >>> concat_kernel([Gaussian(3.0, alpha=1.0), Gaussian("max-min", alpha=1.0)], 5.0)
    Gaussian(alpha=1.0, bandwidth=5.0)
    """
    kernel = common_gaussian(kernels, scale)
    names = sorted({type(kernel).__name__ for kernel in kernels if type(kernel) is not Gaussian})
    if names:
        raise ValueError(
            f'fusion="concat" needs the kernel Gaussian for every view, not {", ".join(names)}: it '
            "takes one Gaussian of all features side by side; pass Gaussian(metric=...) for "
            'another distance, or use fusion="product", "sum" or "hop" for other kernels'
        )
    if any(isinstance(kernel, Gaussian) and not kernel.is_euclidean for kernel in kernels):
        raise ValueError(
            'fusion="concat" takes Euclidean distances between all features side by side, so no '
            'view can have metric="manhattan"; pass another metric, or use fusion="product", "sum" '
            'or "hop"'
        )
    if kernel is None:
        raise ValueError(
            'fusion="concat" takes one Gaussian of all features side by side, so n_neighbors, '
            "alpha, factor, search, scale_neighbors and taper must be equal for every view, and "
            "scales must be local for all views or for none; pass one kernel for all views, or "
            'use fusion="product", "sum" or "hop"'
        )
    return kernel


def build_concatenation(affinities: Sequence[Affinity], view: ViewRows | None = None) -> JointView:
    """All views side by side with their common kernel; ValueError if they have none.

    With one scale σ_l per view, the rows of features are joined as they are, and σ² = Σ σ_l². With
    local scales, the rows of each view are first divided by their spread (the root mean square
    distance from their mean); neighbours, scales and densities are then those of the joined rows.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples.
    view : ViewRows or None
        The joined view without its rows: its name and resources; None takes defaults.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.affinity import build_affinity, build_concatenation
    >>> from viewhop.kernels import Gaussian
    >>> X = np.arange(8.0).reshape(4, 2)
    >>> K = [build_affinity("x", Gaussian(3.0), X), build_affinity("y", Gaussian(4.0), X)]
    >>> build_concatenation(K).affinity.scale
    5.0
    """
    measured, kernel = _concat(affinities)
    factors = {
        K.name: 1.0 / K.points.spread() if kernel.bandwidth == "local" else 1.0 for K in measured
    }
    if view is None:
        name = joint_name([K.name for K in measured])
        view = ViewRows(name, np.empty((0, 0), dtype=measured[0].dtype))
    rows = RowMap.whole(len(measured), measured[0].n_samples)
    side_by_side = SideBySide(factors)
    rounding = _rounding(measured, side_by_side)
    return join_views(measured, rows, side_by_side, kernel, view, rounding=rounding)


def restore_concatenation(
    affinities: Sequence[Affinity], rows: RowMap, data: Any, shelf: Shelf, *, n_jobs: int
) -> JointView:
    """The concatenation from plain data; invalid data raise ModelFileError.

    Parameters
    ----------
    affinities : sequence of Affinity
        Of the views.
    rows : RowMap
        Which samples the rows of the views belong to.
    data : object
        As `JointView.state` wrote it.
    shelf : Shelf
        Provides the arrays.
    n_jobs : int
        Threads.
    """
    try:
        measured, kernel = _concat(affinities)
    except ValueError as error:
        raise ModelFileError(f"the walk: {error}") from error
    joint = JointView.restore(affinities, rows, data, shelf, n_jobs=n_jobs)
    is_local = kernel.bandwidth == "local"
    if joint.affinity.kernel.get_params() != kernel.get_params() or not (
        is_local or joint.affinity.scale == kernel.bandwidth
    ):
        raise ModelFileError("the joint view: its kernel is not that of the views side by side")
    for K, factor in zip(measured, joint.side_by_side.factors.values(), strict=True):
        expected = 1.0 / K.points.spread() if is_local else 1.0
        if not abs(factor - expected) <= ROUNDING * expected * is_local:
            raise ModelFileError(f"the joint view: the factor of view {K.name!r} is not its own")
    joint.affinity.points.rounding = _rounding(measured, joint.side_by_side)
    return joint


def _concat(affinities: Sequence[Affinity]) -> tuple[list[Measured], Gaussian]:
    """The affinities to join, and the kernel of the joined rows."""
    kernels = [K.kernel for K in affinities]
    if concat_kernel(kernels).bandwidth == "local":
        return measured_affinities(affinities), concat_kernel(kernels)
    # hypot: the squares of extreme scales would overflow.
    scale = hypot(*(float(np.max(K.scale)) for K in affinities))
    return measured_affinities(affinities), concat_kernel(kernels, scale)


def _rounding(affinities: Sequence[Measured], side_by_side: SideBySide) -> float:
    """The distance that rounding leaves between joined rows that are equal in every view."""
    return hypot(*(side_by_side.factors[K.name] * K.points.rounding for K in affinities))
