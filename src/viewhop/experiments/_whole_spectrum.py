"""All eigenvalues of a walk, for the study of their decay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh

from viewhop.theory import kernel_matrix
from viewhop.walks import Walk

__all__ = ["all_eigenvalues"]


def all_eigenvalues(walk: Walk) -> NDArray[np.float64]:
    """Eigenvalues of the transition matrix, (n_nodes,), largest first, the trivial 1 included.

    Parameters
    ----------
    walk : Walk

    Examples
    --------
    The walk alternates between two views, so each eigenvalue occurs with both signs:

    >>> import viewhop as vh
    >>> from viewhop.experiments._whole_spectrum import all_eigenvalues
    >>> X = [[0.0], [1.0], [3.0]]
    >>> fitted = vh.MultiViewDiffusionMaps.paper_settings(1).fit([X, X])
    >>> all_eigenvalues(fitted.walk_).round(3).tolist()
    [1.0, 0.111, 0.001, -0.001, -0.111, -1.0]
    """
    root = np.sqrt(walk.degrees)
    return np.asarray(eigvalsh(kernel_matrix(walk) / np.outer(root, root))[::-1])
