"""Diffusion: what a spectrum says about samples, as coordinates and as distances.

Distances carry the weight 1/π, so they do not shrink as samples are added; squared, they are the
paper's times trace D̂. Each is returned as a distance, not as its square.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from viewhop.solvers import truncation, truncation_interval
from viewhop.theory._source import whole_steps
from viewhop.walks import AlternatingWalk, Walk

if TYPE_CHECKING:
    from viewhop.estimators import MultiViewDiffusionMaps

__all__ = [
    "coordinates",
    "cross_view_distance",
    "inner_view_distance",
    "multi_view_distance",
    "single_view_distance",
    "transition_probabilities",
    "truncation",
    "truncation_bounds",
    "walk_distance",
]

Floats = NDArray[np.float64]


def coordinates(stepped: Floats, eigenvalues: Floats, n_steps: float) -> Floats:
    """Diffusion coordinates λ^t ψ after `n_steps` steps, (n, r).

    Parameters
    ----------
    stepped : (n, r) array
        P̂ψ, the eigenvectors after one step, as an extension gives them.
    eigenvalues : (r,) array
    n_steps : float
        t, any real number of at least 0.

    Notes
    -----
    Eqs. (2) and (21).
    """
    return stepped * eigenvalues ** (_time(n_steps) - 1.0)


def truncation_bounds(
    est: MultiViewDiffusionMaps,
    i: ArrayLike,
    j: ArrayLike,
    *,
    view: str | None = None,
    n_steps: float | None = None,
) -> tuple[Floats, Floats]:
    """Between which bounds the exact diffusion distance lies, from the fitted coordinates alone.

    Parameters
    ----------
    est : fitted MultiViewDiffusionMaps or DiffusionMaps
    i, j : int or (p,) arrays
        Samples.
    view : str or None
        The view that sees them; None is the first.
    n_steps : float or None
        t; None is that of the estimator.

    Returns
    -------
    low, high : float or (p,) arrays
        Numbers for one pair, arrays for several.

    Raises
    ------
    ConvergenceError
        If the other end of the spectrum is not found.

    Notes
    -----
    Lemma 3 in the form that holds (erratum 5); see `viewhop.theory.truncation_interval`. The lower
    bound is the distance in the embedding, times √2 for two views with η = 0. Otherwise one
    Lanczos run finds the smallest eigenvalue; it costs one call, however many pairs there are.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> est = vh.MultiViewDiffusionMaps(3, kernel="gaussian").fit([X, X + 0.1 * X**3])
    >>> low, high = vh.diffusion.truncation_bounds(est, 0, 1)
    >>> exact = vh.diffusion.inner_view_distance(est, "view1", 0, 1)[0]
    >>> f"{low:.4f} {exact:.4f} {high:.4f}"
    '0.0484 0.0487 0.6605'
    """
    check_is_fitted(est)
    t = _time(est.n_steps_ if n_steps is None else n_steps)
    name = est.view_names_[0] if view is None else view
    first, second = np.broadcast_arrays(*(_nodes(est, name, k) for k in (i, j)))
    low, high = truncation_interval(est.walk_, est.spectrum_, first, second, n_steps=t)
    shape = np.broadcast_shapes(np.shape(i), np.shape(j))
    return low.reshape(shape)[()], high.reshape(shape)[()]


def transition_probabilities(
    est: MultiViewDiffusionMaps, t: int, from_view: str, to_view: str, rows: ArrayLike
) -> Floats:
    """Probabilities of going from samples of one view to all samples of another, (p, n_samples).

    Parameters
    ----------
    est : fitted MultiViewDiffusionMaps or DiffusionMaps
    t : int
        Number of steps, of at least 0.
    from_view, to_view : str
        Views. A fusion with one geometry has the same nodes in each.
    rows : int or (p,) array
        Samples to start from.

    Notes
    -----
    Eq. (15), by t products for each row and without P̂^t: the row p of P̂^t becomes K̂ (p/D̂), K̂
    being symmetric. Over the views of a hop walk, a row's probabilities sum to 1. A step of the
    alternating walk is one in each view, P^1 P^2 … P^L.

    Examples
    --------
    With two views and η = 0 every step changes the view:

    >>> import numpy as np
    >>> import viewhop as vh
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> est = vh.MultiViewDiffusionMaps(2, kernel="gaussian").fit({"a": X, "b": X**3})
    >>> P = vh.diffusion.transition_probabilities(est, 1, "a", "b", [0, 7])
    >>> P.shape, P.sum(axis=1).round(12)
    ((2, 60), array([1., 1.]))
    """
    check_is_fitted(est)
    steps = whole_steps(t)
    walk = est.walk_
    nodes = _nodes(est, from_view, rows)
    V = np.zeros((walk.n_nodes, nodes.size))
    V[nodes, np.arange(nodes.size)] = 1.0
    for _ in range(steps):
        V = _mass_after_a_step(walk, V)
    if walk.is_fused:
        return np.ascontiguousarray(V[: walk.n_samples].T)
    place = _place(est, to_view)
    return np.ascontiguousarray(walk.rows.scattered(place, walk.blocks(V)[place]).T)


def walk_distance(walk: Walk, i: ArrayLike, j: ArrayLike, n_steps: float = 1) -> Floats:
    """Exact diffusion distances between pairs of nodes of a walk, by products alone.

    Parameters
    ----------
    walk : Walk
    i, j : int or (p,) arrays
        Nodes, counted through all views.
    n_steps : int
        t; a whole number.

    Returns
    -------
    distances : (p,) array

    Notes
    -----
    Eq. (17) as D_t = ‖A^t (e_i/√π_i − e_j/√π_j)‖ with A = D̂^{-1/2} K̂ D̂^{-1/2}; it equals Eq. (18)
    summed over all eigenpairs, negative ones included (erratum 3).
    """
    steps = whole_steps(n_steps)
    first, second = np.atleast_1d(i), np.atleast_1d(j)
    pair = np.arange(first.size)
    V = np.zeros((walk.n_nodes, first.size))
    V[first, pair] += 1.0 / np.sqrt(walk.stationary[first])
    V[second, pair] -= 1.0 / np.sqrt(walk.stationary[second])
    for _ in range(steps):
        V = walk.normalized(V).astype(np.float64, copy=False)
    return np.asarray(np.linalg.norm(V, axis=0))


def inner_view_distance(
    est: MultiViewDiffusionMaps,
    view: str,
    i: ArrayLike,
    j: ArrayLike,
    *,
    n_steps: int | None = None,
) -> Floats:
    """Exact diffusion distances between samples as one view sees them, (p,).

    Parameters
    ----------
    est : fitted MultiViewDiffusionMaps
    view : str
    i, j : int or (p,) arrays
        Samples.
    n_steps : int or None
        t; None is that of the estimator.

    Notes
    -----
    Eqs. (16)–(17). The embedding of that view gives a lower bound; with two views and η = 0 it
    gives D_t/√2 once it has all M − 1 coordinates.
    """
    check_is_fitted(est)
    first, second = (_nodes(est, view, k) for k in (i, j))
    return walk_distance(est.walk_, first, second, est.n_steps_ if n_steps is None else n_steps)


def multi_view_distance(est: MultiViewDiffusionMaps, i: ArrayLike, j: ArrayLike) -> Floats:
    """Distances between samples over the embeddings of all views, (p,).

    Parameters
    ----------
    est : fitted MultiViewDiffusionMaps
    i, j : int or (p,) arrays
        Samples.

    Notes
    -----
    The root of Eq. (22): Euclidean distances in the concatenation of Eq. (23).
    """
    check_is_fitted(est)
    n = est.walk_.n_samples
    first, second = _samples(i, n), _samples(j, n)
    if not est.walk_.rows.is_whole and not est.walk_.is_fused:
        raise ValueError(
            "a distance over the embeddings of all views needs views that observed every sample; "
            "use distances in embedding_"
        )
    blocks = [*est.view_embeddings_.values()]
    if est.walk_.is_fused:
        blocks = blocks[:1]
    squares = [np.square(Z[first] - Z[second]).sum(axis=1, dtype=np.float64) for Z in blocks]
    return np.asarray(np.sqrt(np.sum(squares, axis=0)))


def cross_view_distance(est: MultiViewDiffusionMaps, first: str, second: str) -> float:
    """How far apart two views put the same samples.

    Parameters
    ----------
    est : fitted MultiViewDiffusionMaps
    first, second : str
        Views.

    Notes
    -----
    The root of Eq. (30), over the samples that both observed. It is 0 where one view is a rotation
    of the other and η ≤ 1/2.
    """
    check_is_fitted(est)
    names = [est.view_names_[_place(est, name)] for name in (first, second)]
    both = [est.view_embeddings_[name] for name in names]
    if not (est.walk_.is_fused or est.walk_.rows.is_whole):
        blocks = est._outputs.by_sample(est.n_steps_)
        both = [blocks[_place(est, name)] for name in names]
    seen = np.isfinite(both[0][:, 0]) & np.isfinite(both[1][:, 0])
    if not seen.any():
        raise ValueError(f"views {first!r} and {second!r} observed no common sample")
    return single_view_distance(*(block[seen] for block in both))


def single_view_distance(first: ArrayLike, second: ArrayLike) -> float:
    """How far apart two embeddings put the same samples.

    Parameters
    ----------
    first, second : (n, r) arrays
        Embeddings of the same samples, of one view each.

    Notes
    -----
    The root of Eq. (55). Two embeddings that were computed apart may differ by the sign of a
    coordinate; the cross-view distance does not have that ambiguity.
    """
    X, Y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if X.shape != Y.shape:
        raise ValueError(f"the embeddings differ in shape: {X.shape} and {Y.shape}")
    return float(np.linalg.norm(X - Y))


def _mass_after_a_step(walk: Walk, V: Floats) -> Floats:
    """P̂ᵀV: where a walker is after one step, if V says where it is before."""
    if isinstance(walk, AlternatingWalk):
        return np.vstack([walk.backward(V[: walk.n_samples]), V[walk.n_samples :]])
    degrees = np.where(walk.degrees > 0, walk.degrees, np.inf)
    return np.asarray(walk @ (V / degrees[:, None]))


def _place(est: MultiViewDiffusionMaps, view: str) -> int:
    if view not in est.view_names_:
        raise ValueError(f"no view named {view!r}; there are {', '.join(est.view_names_)}")
    return est.view_names_.index(view)


def _nodes(est: MultiViewDiffusionMaps, view: str, samples: ArrayLike) -> NDArray[np.intp]:
    """The nodes of samples in a view; a fusion with one geometry has the same for each view."""
    place, walk = _place(est, view), est.walk_
    chosen = _samples(samples, walk.n_samples)
    if walk.is_fused:
        return chosen
    if walk.rows.is_whole:
        return place * walk.n_samples + chosen
    if walk.rows.is_repeated(place):
        raise ValueError(f"view {view!r} has several rows for some samples")
    node = np.full(walk.n_samples, -1, dtype=np.intp)
    rows = np.arange(walk.rows.sizes[place]) + walk.rows.starts[place]
    node[walk.rows.samples(place)] = np.where(walk.degrees[rows] > 0, rows, -1)
    missing = chosen[node[chosen] < 0]
    if missing.size:
        raise ValueError(f"view {view!r} did not observe sample {missing[0]}")
    return np.asarray(node[chosen])


def _time(n_steps: float) -> float:
    if not isinstance(n_steps, Real) or isinstance(n_steps, bool) or not 0 <= n_steps < np.inf:
        raise ValueError(f"n_steps is a number of at least 0, not {n_steps!r}")
    return float(n_steps)


def _samples(rows: ArrayLike, n: int) -> NDArray[np.intp]:
    given = np.atleast_1d(rows)
    if given.ndim > 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(f"samples are given by their whole numbers, not {rows!r}")
    found = given.astype(np.intp)
    if found.size and not (found.min() >= 0 and found.max() < n):
        raise ValueError(f"samples are numbered 0 to {n - 1}, got {found.min()} to {found.max()}")
    return found
