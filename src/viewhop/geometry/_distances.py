"""Diffusion distances and transition probabilities of a fitted geometry.

Distances are weighted by 1/π, so they do not shrink as samples are added; their squares are the
paper's times trace D̂. Functions return the distance, not its square.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.geometry._coordinates import check_growth, check_time, whole_steps
from viewhop.geometry._geometry import Geometry
from viewhop.geometry._many_steps import take_steps
from viewhop.geometry._require import Source, require_geometry
from viewhop.solvers import truncation_interval
from viewhop.walks import Walk, check_markov

__all__ = [
    "cross_view_distance",
    "inner_view_distance",
    "multi_view_distance",
    "single_view_distance",
    "transition_probabilities",
    "truncation_bounds",
    "walk_distance",
]

Floats = NDArray[np.float64]

#: Largest number of steps of an exact distance: with more, rounding would exceed 1e-9.
MOST_DISTANCE_STEPS = 10**6


def truncation_bounds(
    source: Source,
    i: ArrayLike,
    j: ArrayLike,
    *,
    view: str | None = None,
    n_steps: float | None = None,
) -> tuple[Floats, Floats]:
    """Lower and upper bounds of the exact diffusion distance, from the fitted eigenpairs.

    Parameters
    ----------
    source : fitted estimator or Geometry
    i, j : int or (p,) arrays
        Samples.
    view : str or None
        The view in which to compare them; None is the first.
    n_steps : float or None
        Diffusion time t; None takes that of the fit.

    Returns
    -------
    low, high : float or (p,) arrays
        Scalars for one pair, arrays for several.

    Raises
    ------
    ConvergenceError
        If the smallest eigenvalue does not converge.

    Notes
    -----
    Lemma 3, corrected (erratum 5); see `viewhop.theory.truncation_interval`. The lower
    bound is the distance in the embedding, times √2 for two views with η = 0. In all other cases,
    the smallest eigenvalue is computed by one Lanczos run per call, for any number of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> est = vh.MultiViewDiffusionMaps.paper_settings(3).fit([X, X + 0.1 * X**3])
    >>> low, high = vh.diffusion.truncation_bounds(est, 0, 1)
    >>> exact = vh.diffusion.inner_view_distance(est, "view1", 0, 1)[0]
    >>> f"{low:.4f} {exact:.4f} {high:.4f}"
    '0.0484 0.0487 0.6605'
    """
    geometry = require_geometry(source)
    t = check_time(geometry.n_steps if n_steps is None else n_steps)
    name = geometry.schema.names[0] if view is None else view
    first, second = np.broadcast_arrays(*(_nodes(geometry, name, k) for k in (i, j)))
    check_growth(geometry.walk.largest_possible, t)
    low, high = truncation_interval(geometry.walk, geometry.spectrum, first, second, n_steps=t)
    shape = np.broadcast_shapes(np.shape(i), np.shape(j))
    return low.reshape(shape)[()], high.reshape(shape)[()]


def transition_probabilities(
    source: Source, t: int, from_view: str, to_view: str, rows: ArrayLike
) -> Floats:
    """Probabilities of going from samples of one view to all samples of another, (p, n_samples).

    Parameters
    ----------
    source : fitted estimator or Geometry
    t : int
        Number of steps, at least 0. Beyond 1,000, powers of two of the whole matrix are used, for
        at most 5,000 nodes.
    from_view, to_view : str
        Views; the joint view of a walk that has one is called "joint". Fused walks have the same
        nodes in every view.
    rows : int or (p,) array
        Samples to start from.

    Notes
    -----
    Eq. (15), computed by t products per row rather than from P̂^t, up to 1,000 steps: since K̂ is
    symmetric, one more step takes a row p of P̂^t to K̂ (p/D̂). Summed over all views of a hop walk,
    the probabilities of a row are 1, the joint view included. One step of the alternating walk
    passes through every view, P^1 P^2 … P^L. The composite operator is no random walk and has no
    transition probabilities: ValueError.

    Examples
    --------
    With two views and η = 0 every step changes the view:

    >>> import numpy as np
    >>> import viewhop as vh
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> est = vh.MultiViewDiffusionMaps.paper_settings(2).fit({"a": X, "b": X**3})
    >>> P = vh.diffusion.transition_probabilities(est, 1, "a", "b", [0, 7])
    >>> P.shape, P.sum(axis=1).round(12)
    ((2, 60), array([1., 1.]))
    """
    geometry = require_geometry(source)
    steps = whole_steps(t)
    walk = geometry.walk
    check_markov(walk, "transition probabilities")
    nodes = _nodes(geometry, from_view, rows)
    V = np.zeros((walk.n_nodes, nodes.size))
    V[nodes, np.arange(nodes.size)] = 1.0
    V = take_steps(walk.mass_after_step, V, steps, keeps_mass=True)
    if walk.is_fused:
        return np.ascontiguousarray(V[: walk.n_samples].T)
    place = _block_index(geometry, to_view)
    return np.ascontiguousarray(walk.rows.scattered(place, walk.blocks(V)[place]).T)


def walk_distance(walk: Walk, i: ArrayLike, j: ArrayLike, n_steps: float = 1) -> Floats:
    """Exact diffusion distances between pairs of nodes of a walk, (p,), by matrix products.

    Parameters
    ----------
    walk : Walk
    i, j : int or (p,) arrays
        Nodes, numbered over all views.
    n_steps : int
        Diffusion time t, an integer of at most 10⁶.

    Returns
    -------
    distances : (p,) array

    Notes
    -----
    Eq. (17) as D_t = ‖A^t (e_i/√π_i − e_j/√π_j)‖ with A = D̂^{-1/2} K̂ D̂^{-1/2}; it equals Eq. (18)
    summed over all eigenpairs, negative ones included (erratum 3). For the composite operator S,
    which is no random walk, it is √M times the distance of two rows of S^t.
    """
    steps = whole_steps(n_steps, most=MOST_DISTANCE_STEPS)
    check_growth(walk.largest_possible, steps)
    first, second = np.atleast_1d(i), np.atleast_1d(j)
    pair = np.arange(first.size)
    V = np.zeros((walk.n_nodes, first.size))
    V[first, pair] += 1.0 / np.sqrt(walk.stationary[first])
    V[second, pair] -= 1.0 / np.sqrt(walk.stationary[second])
    V = take_steps(lambda W: walk.normalized(W).astype(np.float64, copy=False), V, steps)
    return np.asarray(np.linalg.norm(V, axis=0))


def inner_view_distance(
    source: Source,
    view: str,
    i: ArrayLike,
    j: ArrayLike,
    *,
    n_steps: int | None = None,
) -> Floats:
    """Exact diffusion distances between samples in one view, (p,).

    Parameters
    ----------
    source : fitted estimator or Geometry
    view : str
    i, j : int or (p,) arrays
        Samples.
    n_steps : int or None
        Diffusion time t; None takes that of the fit.

    Notes
    -----
    Eqs. (16)–(17). Distances in the embedding of the view are a lower bound. With two views and
    η = 0 they equal D_t/√2 once all M − 1 coordinates are kept.
    """
    geometry = require_geometry(source)
    first, second = (_nodes(geometry, view, k) for k in (i, j))
    t = geometry.n_steps if n_steps is None else n_steps
    return walk_distance(geometry.walk, first, second, t)


def multi_view_distance(source: Source, i: ArrayLike, j: ArrayLike) -> Floats:
    """Distances between samples in the concatenated embeddings of all views, (p,).

    Parameters
    ----------
    source : fitted estimator or Geometry
    i, j : int or (p,) arrays
        Samples.

    Notes
    -----
    The square root of Eq. (22): Euclidean distances in the concatenation of Eq. (23).
    """
    geometry = require_geometry(source)
    walk = geometry.walk
    first, second = (_check_samples(rows, walk.n_samples) for rows in (i, j))
    if not walk.rows.is_whole and not walk.is_fused:
        raise ValueError(
            "multi_view_distance needs views that observed every sample; use distances between "
            "rows of embedding_ instead"
        )
    blocks = [*geometry.view_embeddings.values()]
    if walk.is_fused:
        blocks = blocks[:1]
    squares = [np.square(Z[first] - Z[second]).sum(axis=1, dtype=np.float64) for Z in blocks]
    return np.asarray(np.sqrt(np.sum(squares, axis=0)))


def cross_view_distance(source: Source, first: str, second: str) -> float:
    """The distance between the embeddings of the same samples in two views.

    Parameters
    ----------
    source : fitted estimator or Geometry
    first, second : str
        Views.

    Notes
    -----
    The square root of Eq. (30), over the samples that both views observed. It is 0 if one view is a
    rotation of the other and η ≤ 1/2. A fused walk has one geometry and raises ValueError.
    """
    geometry = require_geometry(source)
    if geometry.walk.is_fused:
        raise ValueError(
            'the distance of two views needs coordinates in each: fusion="hop" and at least two '
            "views"
        )
    places = [_view_index(geometry, name) for name in (first, second)]
    if geometry.walk.rows.is_whole:
        both = [geometry.view_embeddings[geometry.schema.names[place]] for place in places]
    else:
        blocks = geometry.by_view()
        both = [blocks[place] for place in places]
    common = np.isfinite(both[0][:, 0]) & np.isfinite(both[1][:, 0])
    if not common.any():
        raise ValueError(f"views {first!r} and {second!r} have no sample in common")
    return single_view_distance(*(block[common] for block in both))


def single_view_distance(first: ArrayLike, second: ArrayLike) -> float:
    """The distance between two embeddings of the same samples.

    Parameters
    ----------
    first, second : (n, r) arrays
        Embeddings of the same samples, each from one view.

    Notes
    -----
    The square root of Eq. (55). Embeddings that were computed separately may differ in the sign of
    a coordinate; the cross-view distance does not have that ambiguity.
    """
    X, Y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if X.shape != Y.shape:
        raise ValueError(f"the embeddings differ in shape: {X.shape} and {Y.shape}")
    return float(np.linalg.norm(X - Y))


def _view_index(geometry: Geometry, view: str) -> int:
    names = geometry.schema.names
    if view not in names:
        raise ValueError(f"no view named {view!r}; there are {', '.join(names)}")
    return names.index(view)


def _block_index(geometry: Geometry, view: str) -> int:
    """The block of nodes of a view, or of the joint view."""
    joint = geometry.walk.joint
    if joint is not None and view == joint.name:
        return len(geometry.schema.names)
    return _view_index(geometry, view)


def _nodes(geometry: Geometry, view: str, samples: ArrayLike) -> NDArray[np.intp]:
    """The nodes of samples in a view, (p,)."""
    walk = geometry.walk
    return walk.nodes(_block_index(geometry, view), _check_samples(samples, walk.n_samples))


def _check_samples(rows: ArrayLike, n: int) -> NDArray[np.intp]:
    """Sample indices, (p,); ValueError if one is out of range."""
    numbers = np.atleast_1d(rows)
    if numbers.ndim > 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise ValueError(f"samples must be whole numbers, not {rows!r}")
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < n):
        raise ValueError(
            f"samples are numbered 0 to {n - 1}, got {numbers.min()} to {numbers.max()}"
        )
    return numbers.astype(np.intp)
