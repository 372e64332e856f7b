"""Connecting a walk: more neighbours, until it is in one piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from viewhop._runtime.progress import Progress
from viewhop.errors import MemoryBudgetError
from viewhop.geometry._connectivity import (
    can_add_neighbours,
    count_parts,
    lost_samples,
    separate_views,
)
from viewhop.kernels import DistanceKernel, Kernel
from viewhop.walks import Walk

__all__ = ["BuiltWalk", "add_neighbours", "build_connected"]

Kernels = Mapping[str, Kernel]
Build = Callable[[Kernels, np.random.Generator], tuple[Walk, dict[str, float]]]


class BuiltWalk(NamedTuple):
    """A walk, and what is known from building it.

    Attributes
    ----------
    walk : Walk
    weights : dict of float by view name
        How willingly the walker goes to each view.
    kernels : dict of Kernel by view name
        The kernels that it was built from.
    generator : Generator
        As the last build left it.
    """

    walk: Walk
    weights: dict[str, float]
    kernels: Kernels
    generator: np.random.Generator


def build_connected(
    kernels: Kernels,
    sizes: Mapping[str, int],
    *,
    build: Build,
    reserve: Callable[[Kernels], object],
    generator: np.random.Generator,
    progress: Progress,
    connect: bool = True,
) -> BuiltWalk:
    """The walk with the fewest neighbours, of k, 2k, 4k, …, that make it one piece.

    If none does, or nothing can, it is the last walk that was built. Kernel values that are
    negligible connect nothing: see `viewhop.geometry._connectivity.NEGLIGIBLE`.

    Parameters
    ----------
    kernels : dict of Kernel by view name
        With the number of neighbours to begin with.
    sizes : dict of int by view name
        Number of rows of each view.
    build : callable
        Builds the walk over kernels, and the weights of its views.
    reserve : callable
        Raises MemoryBudgetError if a fit with kernels exceeds the budget.
    generator : Generator
        Every build begins in the same state, so the result is that of a fit with the last kernels.
    progress : callable
    connect : bool
        False builds the walk over the kernels as they are.

    Notes
    -----
    The neighbour that sets a local scale moves out in proportion to k, because the scale of a
    group makes the kernel at new neighbours in other groups negligible. Where the groups are near
    enough for the scales as they were, these are kept: they show what is inside a group.
    """
    n_doublings = _count_doublings(kernels, sizes) if connect else 0
    untouched = deepcopy(generator) if n_doublings else generator
    built = _build(kernels, 0, build, reserve, generator)
    doublings = n_parts = 0
    while doublings < n_doublings and (open_parts := _count_open(built.walk)) > 1:
        doublings, n_parts = doublings + 1, open_parts
        progress("connecting", doublings, n_doublings)
        del built  # the next one takes its place in memory
        larger = _double(kernels, sizes, doublings)
        built = _build(larger, n_parts, build, reserve, deepcopy(untouched))
    if not doublings:
        return built
    wide, near = (_double(kernels, sizes, doublings, keep_scale=keep) for keep in (False, True))
    if _count_open(built.walk) == 1 and any(
        near[name].get_params() != wide[name].get_params() for name in kernels
    ):
        del built
        built = _build(near, n_parts, build, reserve, deepcopy(untouched))
        if _count_open(built.walk) > 1:
            del built
            built = _build(wide, n_parts, build, reserve, deepcopy(untouched))
    progress("connecting", n_doublings, n_doublings)
    return built


def _count_open(walk: Walk) -> int:
    """The number of parts that more neighbours may join; 1 if there is nothing to join."""
    if len(separate_views(walk)) > 1:
        return 1
    return count_parts(walk) + bool(lost_samples(walk).size)


def _build(
    kernels: Kernels,
    n_parts: int,
    build: Build,
    reserve: Callable[[Kernels], object],
    generator: np.random.Generator,
) -> BuiltWalk:
    """The walk over kernels with more neighbours, if fewer left so many parts."""
    try:
        reserve(kernels)
        return BuiltWalk(*build(kernels, generator), kernels, generator)
    except MemoryBudgetError as error:
        if not n_parts:
            raise
        counts = sorted({k for kernel in kernels.values() if (k := kernel.n_neighbors) is not None})
        raise MemoryBudgetError(
            f"connect=True tried n_neighbors={', '.join(map(str, counts))}, because the walk falls "
            f"into {n_parts} pieces with fewer: {error}; without connect, "
            "viewhop.geometry.piece_coordinates shows a piece at a time",
            error.needed,
            error.budget,
        ) from None


def _double(
    kernels: Kernels, sizes: Mapping[str, int], doublings: int, *, keep_scale: bool = False
) -> dict[str, Kernel]:
    """The kernels with their neighbours doubled so often, up to the rows of the largest view.

    The limit is the same for all views, so that kernels which are alike remain so; a view with
    fewer rows uses all of them.
    """
    most = max(sizes.values()) - 1
    return {
        name: add_neighbours(kernel, 2**doublings, most, keep_scale=keep_scale)
        for name, kernel in kernels.items()
    }


def add_neighbours(kernel: Kernel, times: int, most: int, *, keep_scale: bool = False) -> Kernel:
    """The kernel with several times as many neighbours; unchanged if it keeps all pairs.

    Parameters
    ----------
    kernel : Kernel
    times : int
    most : int
        The largest number of neighbours.
    keep_scale : bool
        Whether the neighbour that sets a local scale stays; otherwise it moves out in proportion.

    Examples
    --------
    >>> from viewhop.geometry import add_neighbours
    >>> from viewhop.kernels import Gaussian
    >>> kernel = Gaussian(bandwidth="local", n_neighbors=10, scale_neighbors=7)
    >>> add_neighbours(kernel, 4, 1000)
    Gaussian(bandwidth='local', n_neighbors=40, scale_neighbors=28)
    >>> add_neighbours(kernel, 4, 1000, keep_scale=True)
    Gaussian(bandwidth='local', n_neighbors=40, scale_neighbors=7)
    """
    if not can_add_neighbours(kernel, most + 1):
        return kernel
    k = int(kernel.n_neighbors or 0)
    larger = min(k * times, most)
    changed: dict[str, int] = {"n_neighbors": larger}
    if isinstance(kernel, DistanceKernel) and kernel.bandwidth == "local":
        rank = kernel.scale_rank
        wide = min(max(1, round(rank * larger / k)), most)
        changed["scale_neighbors"] = rank if keep_scale else wide
    copy: Kernel = clone(kernel).set_params(**changed)
    return copy


def _count_doublings(kernels: Kernels, sizes: Mapping[str, int]) -> int:
    """How often neighbours can be doubled until every view uses all of its rows."""
    shares = [
        (sizes[name] - 1) / int(kernel.n_neighbors or 1)
        for name, kernel in kernels.items()
        if can_add_neighbours(kernel, sizes[name])
    ]
    return int(np.ceil(np.log2(max(shares, default=1.0))))
