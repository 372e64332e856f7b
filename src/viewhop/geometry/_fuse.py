"""Fusing the kernels of the views into one walk: weights, and the joint view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from viewhop._runtime.progress import Progress
from viewhop.affinity import (
    Affinity,
    build_joint_view,
    joint_kernel,
    joint_name,
    lowest_precision,
)
from viewhop.geometry._leading import leading_eigenvalues
from viewhop.geometry._recipe import Recipe
from viewhop.kernels import Kernel
from viewhop.selection import Selection
from viewhop.views import ViewRows, Views
from viewhop.walks import Walk, build_weighted_walk

__all__ = ["fuse_kernels", "has_joint_view", "walk_weights"]


def fuse_kernels(
    recipe: Recipe,
    affinities: Sequence[Affinity],
    views: Views,
    selection: Selection | None,
    *,
    generator: np.random.Generator,
    n_jobs: int,
    progress: Progress,
    allowed: int | None,
) -> tuple[Walk, dict[str, float]]:
    """The walk over the kernels of all views, and how willingly it goes to each.

    Parameters
    ----------
    recipe : Recipe
    affinities : sequence of Affinity
        One per view.
    views : Views
    selection : Selection or None
        Weights by agreement, if the recipe asks for them.
    generator : Generator
    n_jobs : int
        Threads.
    progress : callable
    allowed : int or None
        Bytes; None is no limit.
    """
    precision = lowest_precision([views.precision(name) for name in views.names])
    if not recipe.is_weighted:
        name, values = joint_name(views.names), np.empty((0, 0), dtype=views.dtype)
        view = ViewRows(name, values, generator, n_jobs, progress, allowed, came_as=precision)
        walk = recipe.walk.fuse(affinities, views.nodes, hops=recipe.hops, joint=view)
        walk = walk.tuned(partial(leading_eigenvalues, progress=progress, allowed=allowed))
        return walk, walk_weights(walk, views.names)
    if isinstance(recipe.weights, Mapping):
        weights = dict(recipe.weights)
    else:
        assert selection is not None
        weights = selection.weights
    joint = None
    if has_joint_view(recipe, {K.name: K.kernel for K in affinities}, views):
        joint = build_joint_view(
            affinities,
            views.nodes,
            weights,
            generator=generator,
            n_jobs=n_jobs,
            progress=progress,
            allowed=allowed,
            precision=precision,
        )
    walk = build_weighted_walk(affinities, views.nodes, weights, joint=joint)
    largest = max(weights.values())
    return walk, {name: weights[name] / largest for name in views.names}


def walk_weights(walk: Walk, names: Sequence[str]) -> dict[str, float]:
    """How willingly a walk without view weights goes to each view, by name, the largest 1.

    Parameters
    ----------
    walk : Walk
    names : sequence of str
        Names of the views.
    """
    sizes = np.ones(len(names)) if walk.hops is None else walk.hops.sum(axis=0)
    return {name: float(size) for name, size in zip(names, sizes / sizes.max(), strict=True)}


def has_joint_view(recipe: Recipe, kernels: Mapping[str, Kernel], views: Views) -> bool:
    """Whether the walk gets a joint view; ValueError if it was asked for and cannot have one.

    Parameters
    ----------
    recipe : Recipe
    kernels : dict of Kernel by view name
    views : Views
    """
    if recipe.joint_view is False or not recipe.is_weighted:
        return False
    n_complete = int(views.observed.all(axis=1).sum())
    if views.n_views < 2 or joint_kernel([kernels[name] for name in views.names]) is None:
        why = "at least two views with the same Gaussian kernel on neighbours with local scales"
    elif n_complete < 3:
        why = "samples that every view observed"
    elif recipe.joint_view is True:
        return True
    else:
        return 2 * n_complete > len(views)
    if recipe.joint_view is True:
        raise ValueError(f"joint_view=True needs {why}; pass joint_view=False or 'auto'")
    return False
