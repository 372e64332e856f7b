"""Growth of the numerical rank of a kernel as the threshold falls: Lemma 1."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigvalsh
from scipy.spatial.distance import pdist, squareform

__all__ = ["DELTAS", "RankGrowth", "gaussian_eigenvalues", "rank_growth"]

Floats = NDArray[np.float64]

#: Thresholds if none are passed: well above the rounding of a kernel of 4,000 samples.
DELTAS = tuple(float(f"{10.0**-power:.6g}") for power in np.arange(1.0, 10.5, 0.5))

#: Largest number of samples for which the kernel is formed.
MAX_SAMPLES = 4000


class RankGrowth(NamedTuple):
    """The number of eigenvalues above each threshold δ, and how fast it grows with log(1/δ).

    Attributes
    ----------
    deltas : (n,) array
        Thresholds δ, descending.
    counts : (n,) int array
        Number of eigenvalues above δ times the largest.
    exponent : float
        p in counts ≈ c · log(1/δ)^p, by least squares on a log-log scale.
    """

    deltas: Floats
    counts: NDArray[np.intp]
    exponent: float


def rank_growth(eigenvalues: ArrayLike, *, deltas: ArrayLike | None = None) -> RankGrowth:
    """The number of eigenvalues above each threshold δ, and the power of log(1/δ) that fits it.

    Parameters
    ----------
    eigenvalues : (r,) array
        Eigenvalues of a kernel, in any order: from `gaussian_eigenvalues`, or of a kernel of your
        own. Those below the smallest threshold may be missing.
    deltas : (n,) array or None
        At least two different thresholds, as fractions of the largest eigenvalue; None takes half
        powers of ten from 0.1 to 1e-10. A threshold below the rounding error of the eigenvalues
        is refused.

    Returns
    -------
    RankGrowth

    Notes
    -----
    Lemma 1, corrected (erratum 14): the exponent is d/2, not d, if the samples fill a compact
    manifold of dimension d and the scale σ is small compared with its diameter. The eigenvalues of
    a Gaussian kernel are then close to exp(−σ²μ_k/2), up to a common factor, where μ_k are those of
    the Laplacian, and μ_k grows as k^{2/d} by Weyl's law. The printed exponent d holds for a normal
    distribution in R^d, where the eigenvalues decay geometrically in each dimension.

    Small counts bias the fit: choose a scale with at least ten eigenvalues above the largest
    threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop import theory
    >>> segment = np.exp(-0.01 * np.arange(100.0) ** 2)  # e^{−ck²}, k = 0, 1, …: d = 1
    >>> growth = theory.rank_growth(segment)
    >>> growth.counts[[0, -1]], round(growth.exponent, 2)
    (array([16, 48]), 0.49)
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or values.max() <= 0:
        raise ValueError(
            "eigenvalues must be a 1-D array of finite numbers, the largest positive, got shape "
            f"{values.shape}"
        )
    thresholds = _check_deltas(DELTAS if deltas is None else deltas)
    shares = np.sort(values / values.max())
    rounding = values.size * float(np.finfo(np.float64).eps)
    if thresholds[-1] < rounding:
        raise ValueError(
            f"δ = {thresholds[-1]:.2g} is below the rounding of {values.size} eigenvalues, "
            f"{rounding:.2g}; take larger thresholds"
        )
    counts = values.size - np.searchsorted(shares, thresholds, side="right")
    slope = np.polyfit(np.log(np.log(1 / thresholds)), np.log(counts), 1)[0]
    return RankGrowth(thresholds, counts, float(slope))


def gaussian_eigenvalues(X: ArrayLike, *, sigma: float) -> Floats:
    """All eigenvalues of the Gaussian kernel on the samples, (n_samples,), largest first.

    Parameters
    ----------
    X : (n_samples, n_features) array
        At most 4,000 samples, because the whole kernel matrix is formed.
    sigma : float
        Scale σ of exp(−d²/(2σ²)).

    Notes
    -----
    The kernel is not normalised, so the eigenvalues sum to the number of samples. For the
    element-wise product K° of two Gaussians, Eq. (6), divide each view by its scale and pass both
    side by side with σ = 1; for the kernel product of the paper's experiments, pass the views side
    by side as they are, with σ² = σ_x² + σ_y².

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop import theory
    >>> X = np.linspace(0, 1, 400)[:, None]
    >>> growth = theory.rank_growth(theory.gaussian_eigenvalues(X, sigma=0.02))
    >>> round(growth.exponent, 1)  # a segment: d/2 with d = 1
    0.5
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all():
        raise ValueError(f"X must be (n_samples, n_features) and finite, got shape {rows.shape}")
    if len(rows) > MAX_SAMPLES:
        raise ValueError(
            f"gaussian_eigenvalues computes all eigenvalues, and X has {len(rows):,} samples; take "
            f"at most {MAX_SAMPLES:,}, or dimension.numerical_rank for a few thresholds"
        )
    if not 0 < sigma < inf:
        raise ValueError(f"sigma must be positive and finite, got {sigma!r}")
    squares = squareform(pdist(rows, "sqeuclidean"))
    values = eigvalsh(np.exp(-squares / (2 * sigma**2)), overwrite_a=True, check_finite=False)
    return np.asarray(values[::-1])


def _check_deltas(deltas: ArrayLike) -> Floats:
    """Different thresholds, (n,), descending."""
    thresholds = np.unique(np.asarray(deltas, dtype=np.float64))[::-1]
    if np.ndim(deltas) != 1 or len(thresholds) < 2:
        raise ValueError(f"deltas must be at least two different thresholds, got {deltas!r}")
    if not (thresholds[-1] > 0 and thresholds[0] < 1):
        raise ValueError(
            f"deltas are shares of the largest eigenvalue, between 0 and 1, got {deltas!r}"
        )
    return thresholds
