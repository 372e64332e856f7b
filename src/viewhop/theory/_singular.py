"""The eigenpairs of a two-view walk from one singular value decomposition: Theorem 3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from viewhop.theory._source import MAX_NODES, Source, require_cross_walk

__all__ = ["singular_eigenpairs"]

Floats = NDArray[np.float64]


def singular_eigenpairs(source: Source) -> tuple[Floats, Floats]:
    """All eigenpairs of a two-view walk from the singular triplets of its normalised cross kernel.

    Parameters
    ----------
    source : fitted estimator or Walk
        Two views with η = 0, of at most 2,000 samples: every triplet is computed.

    Returns
    -------
    eigenvalues : (2M,) array
        Σ in descending order, starting with the trivial 1, and then −Σ in the same order.
    eigenvectors : (2M, 2M) array
        ψ_k in columns, right eigenvectors of P̂, scaled as in a `Spectrum`.

    Notes
    -----
    Eq. (28) with the SVD of K̄^z = D_rows^{-1/2} K^z D_cols^{-1/2} (erratum 2): with that of
    K^z, as printed, the columns are not eigenvectors of P̂. `solvers.solve` with solver="svd"
    computes the leading pairs without forming K̄^z.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop import theory
    >>> X = np.random.default_rng(0).standard_normal((30, 3))
    >>> est = vh.MultiViewDiffusionMaps.paper_settings(2).fit([X, X**3])
    >>> values, psi = theory.singular_eigenpairs(est)
    >>> stepped = (est.walk_ @ psi) / est.walk_.degrees[:, None]
    >>> bool(np.abs(stepped - psi * values).max() < 1e-12)
    True
    """
    walk, cross = require_cross_walk(source)
    if walk.n_nodes > MAX_NODES:
        raise ValueError(
            "singular_eigenpairs computes all triplets, and there are "
            f"{walk.n_samples:,} samples; take at most {MAX_NODES // 2:,}, or use solvers.solve "
            "for the leading ones"
        )
    V, values, rows = svd(cross.forward(np.eye(walk.n_samples)))
    U = rows.T
    unit = np.block([[V, V], [U, -U]]) / np.sqrt(2.0)
    psi = unit / np.sqrt(walk.stationary)[:, None]
    return np.concatenate([values, -values]), psi * np.where(psi[0] < 0, -1.0, 1.0)
