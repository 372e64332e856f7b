"""The leading eigenvalues of the walk on one view, which may shape the walk on all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop.affinity import Affinity
from viewhop.solvers import solve_multilevel
from viewhop.walks import LEADING, SumWalk

__all__ = ["leading_eigenvalues"]

Floats = NDArray[np.float64]

#: Residual of the eigenpairs, relative to the eigenvalue; the error of an eigenvalue is its square.
TOLERANCE = 1e-4


def leading_eigenvalues(
    K: Affinity, *, progress: Progress = no_progress, allowed: int | None = None
) -> Floats:
    """The leading eigenvalues of the walk on one kernel, the trivial 1 first, (m,).

    Parameters
    ----------
    K : Affinity
    progress : callable
    allowed : int or None
        Bytes that the dense solver may allocate; None means no limit.

    Returns
    -------
    eigenvalues : (m,) array
        The first 50, or all if there are fewer samples. Start vectors are drawn with a fixed seed,
        so that they do not depend on what else is drawn in a fit.
    """
    spectrum = solve_multilevel(
        SumWalk([K]),
        min(LEADING, K.n_samples) - 1,
        tol=TOLERANCE,
        generator=np.random.default_rng(0),
        progress=progress,
        allowed=allowed,
    )
    return np.append(1.0, spectrum.eigenvalues)
