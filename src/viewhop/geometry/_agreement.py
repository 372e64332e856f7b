"""Agreement between views: disagreement per sample, similarity and influence per view.

Coordinates of different views are compared on a common scale: each is centred, divided by its
standard deviation over the samples that the view observed, and multiplied by λ^t.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import GapWarning
from viewhop.geometry._coordinates import fit_scaling, mean_over_views
from viewhop.geometry._geometry import Geometry
from viewhop.geometry._require import Source, require_geometry
from viewhop.solvers import solve_multilevel
from viewhop.spectrum import Spectrum
from viewhop.walks import Walk

__all__ = ["disagreement", "view_influence", "view_similarity"]

Floats = NDArray[np.float64]

#: Relative gap between eigenvalues below which the eigenspace up to there is ill-determined.
CLOSE = 1e-2


def disagreement(source: Source) -> Floats:
    """How far each view places a sample from where the others do, (n_samples, n_views).

    Parameters
    ----------
    source : fitted estimator or Geometry

    Returns
    -------
    distances : (n_samples, n_views) array
        Distance from the mean over the other views that observed the sample, divided by the
        median for the view, so that 1 is typical. NaN if the view did not observe the sample, or
        no other view did.
    """
    geometry = require_geometry(source)
    Z = _scaled_coordinates(geometry)
    observed = np.isfinite(Z[:, :, 0])
    filled = np.where(observed[:, :, None], Z, 0.0)
    total, count = filled.sum(axis=0), observed.sum(axis=0)
    distances = np.full(observed.T.shape, np.nan)
    rounding = 1e3 * float(np.finfo(geometry.walk.dtype).eps) * float(np.abs(filled).max())
    for l in range(len(Z)):
        others = count - observed[l]
        compared = observed[l] & (others > 0)
        mean = (total - filled[l])[compared] / others[compared, None]
        distance = np.linalg.norm(Z[l, compared] - mean, axis=1)
        distance[distance <= rounding] = 0.0
        median = float(np.median(distance)) if distance.size else 0.0
        distances[compared, l] = distance / median if median > 0 else distance
    return distances


def view_similarity(source: Source) -> Floats:
    """How similarly two views place the samples that both observed, (n_views, n_views).

    Parameters
    ----------
    source : fitted estimator or Geometry

    Returns
    -------
    similarity : (n_views, n_views) array
        1 if two views place every sample identically, 0 if their coordinates are unrelated,
        negative if they are opposed; NaN if they share no sample.

    Notes
    -----
    1 − D²_CV(l, m) / Σ_i (‖Z_l(i)‖² + ‖Z_m(i)‖²), with the cross-view distance of Eq. (30).
    """
    Z = _scaled_coordinates(require_geometry(source))
    observed = np.isfinite(Z[:, :, 0])
    similarity = np.full((len(Z), len(Z)), np.nan)
    for l, m in np.ndindex(similarity.shape):
        both = observed[l] & observed[m]
        first, second = Z[l, both], Z[m, both]
        size = float(np.square(first).sum() + np.square(second).sum())
        if size > 0:
            similarity[l, m] = 1.0 - float(np.square(first - second).sum()) / size
    return similarity


def view_influence(
    source: Source, *, tol: float | None = None, stacklevel: int = 1
) -> dict[str, float]:
    """How much the geometry changes without each view, by view name.

    Each view is left out in turn, and the walk over the others is solved with the fitted kernels.

    Parameters
    ----------
    source : fitted estimator or Geometry
    tol : float or None
        Residual at which an eigenpair is accepted, as in the fit.
    stacklevel : int
        Frame that a warning points to, as in `warnings.warn`; 1 is the caller.

    Returns
    -------
    influence : dict of float by view name
        From 0, if nothing changes, to 1, if no direction of the embedding remains.

    Warns
    -----
    GapWarning
        If the last eigenvalue of a walk is close to the next one, so that a different
        `n_components` may give a different influence.

    Notes
    -----
    ‖P − P'‖_F / √(2r), where P and P' project onto the centred coordinates, averaged over views,
    with and without the view, on the samples that the other views observed.
    """
    geometry = require_geometry(source)
    # A joint view is made of all views: without one of them it would be another one.
    walk, r = _require_view_coordinates(geometry).without_joint(), geometry.n_components
    known = geometry.spectrum if geometry.walk.joint is None else None
    whole = _solve_with_next(walk, r, tol, known=known)
    _warn_of_gap(whole.eigenvalues, r, "", stacklevel=stacklevel + 1)
    whole_mean = _mean_coordinates(walk, whole.first(r))
    influence = {}
    for l, name in enumerate(geometry.schema.names):
        rest = walk.leave_out(l)
        spectrum = _solve_with_next(rest, r, tol)
        _warn_of_gap(spectrum.eigenvalues, r, f" without {name!r}", stacklevel=stacklevel + 1)
        mean = _mean_coordinates(rest, spectrum.first(r))
        both = np.isfinite(mean[:, 0])
        influence[name] = _projector_distance(whole_mean[both], mean[both], r)
    return influence


def _require_view_coordinates(geometry: Geometry) -> Walk:
    """The walk of a geometry; ValueError unless each view has its own coordinates."""
    walk = geometry.walk
    if walk.is_fused or len(walk.affinities) < 2:
        raise ValueError(
            'comparing views needs separate coordinates for each: use fusion="hop" and at least '
            "two views"
        )
    return walk


def _scaled_coordinates(geometry: Geometry) -> Floats:
    """Coordinates on a common scale, (n_views, n_samples, r); NaN where not observed."""
    n_views = len(_require_view_coordinates(geometry).affinities)
    both = zip(geometry.stepped[:n_views], geometry.scaling[:n_views], strict=True)
    return np.stack(
        [
            (block - centre) / spread * geometry.eigenvalues**geometry.n_steps
            for block, (centre, spread) in both
        ]
    )


def _solve_with_next(
    walk: Walk, r: int, tol: float | None, known: Spectrum | None = None
) -> Spectrum:
    """The first r eigenpairs, and one more if it exists."""
    return solve_multilevel(
        walk,
        min(r + 1, walk.max_coordinates),
        tol=tol,
        generator=np.random.default_rng(0),
        known=known,
    )


def _warn_of_gap(values: Floats, r: int, which: str, *, stacklevel: int) -> None:
    if values.size > r and values[r - 1] - values[r] < CLOSE * abs(values[r - 1]):
        warnings.warn(
            GapWarning(
                f"eigenvalues {r} and {r + 1} of the walk{which} are close, {values[r - 1]:.4g} "
                f"and {values[r]:.4g}; a different n_components may give a different influence",
                float(values[r - 1] - values[r]),
            ),
            stacklevel=stacklevel + 1,
        )


def _mean_coordinates(walk: Walk, spectrum: Spectrum) -> Floats:
    """The mean over views of the coordinates of each sample, (n_samples, r); NaN if unobserved."""
    stepped = walk.extension(spectrum).training()
    observed = np.isfinite(np.stack([block[:, 0] for block in stepped], axis=1))
    scales = [fit_scaling(block, walk.dtype) for block in stepped]
    mean = mean_over_views(stepped, scales, observed)
    mean[~observed.any(axis=1)] = np.nan
    return mean


def _projector_distance(first: Floats, second: Floats, r: int) -> float:
    """‖P − P'‖_F / √(2r) for the projectors onto the centred columns of two matrices."""
    bases = [np.linalg.qr(X - X.mean(axis=0))[0] for X in (first, second)]
    common = float(np.square(bases[0].T @ bases[1]).sum())
    total = sum(basis.shape[1] for basis in bases)
    return float(np.sqrt(max(0.0, total - 2.0 * common) / (2.0 * r)))
