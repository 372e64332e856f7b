"""The diffusion distance from its definition and from the spectrum: Theorem 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.geometry import whole_steps
from viewhop.theory._source import Source, check_nodes, kernel_matrix, require_walk

__all__ = ["distance_sides"]

Floats = NDArray[np.float64]


def distance_sides(
    source: Source, i: ArrayLike, j: ArrayLike, *, n_steps: int = 1
) -> tuple[Floats, Floats]:
    """Diffusion distances between nodes from transition rows and from all eigenpairs, (p,) each.

    Parameters
    ----------
    source : fitted estimator or Walk
        At most 4,000 nodes: every eigenpair is computed.
    i, j : int or (p,) arrays
        Nodes, numbered consecutively through all views.
    n_steps : int
        t, an integer.

    Returns
    -------
    by_transitions, by_spectrum : (p,) arrays

    Notes
    -----
    Eqs. (17) and (18), with the weight 1/π. The sum runs over all n_nodes − 1 eigenvalues, the
    negative ones included (erratum 3); a sum over the positive ones is smaller. The theorem needs
    a symmetric kernel.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop import theory
    >>> X = np.random.default_rng(0).standard_normal((30, 3))
    >>> est = vh.MultiViewDiffusionMaps.paper_settings(2).fit([X, X**3])
    >>> left, right = theory.distance_sides(est, [0, 1], [2, 3], n_steps=2)
    >>> bool(np.abs(left - right).max() < 1e-12)
    True
    """
    steps = whole_steps(n_steps)
    walk = require_walk(source)
    K = kernel_matrix(walk)
    first, second = check_nodes(walk, i), check_nodes(walk, j)
    degrees, stationary = walk.degrees, walk.stationary
    rows = np.linalg.matrix_power(K / degrees[:, None], steps)
    by_transitions = np.sqrt((np.square(rows[first] - rows[second]) / stationary).sum(axis=1))
    root = np.sqrt(degrees)
    A = K / np.outer(root, root)
    values, vectors = np.linalg.eigh(0.5 * (A + A.T))
    psi = vectors / np.sqrt(stationary)[:, None]
    squares = np.square(psi[first] - psi[second])
    return by_transitions, np.sqrt((values ** (2 * steps) * squares).sum(axis=1))
