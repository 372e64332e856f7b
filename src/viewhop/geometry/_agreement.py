"""Agreement: where views disagree about samples, how alike they are, and what each changes.

Coordinates of different views are compared on one scale: each is centred and divided by its root
mean square over the samples that the view observed, then multiplied by λ^t.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from viewhop.errors import GapWarning
from viewhop.solvers import _multilevel as coarse
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap
from viewhop.walks import HopWalk
from viewhop.walks._extension import HopExtension

if TYPE_CHECKING:
    from viewhop.estimators import MultiViewDiffusionMaps

__all__ = [
    "Scaling",
    "disagreement",
    "mean_over_views",
    "scaling",
    "view_influence",
    "view_similarity",
]

Floats = NDArray[np.float64]
#: Centre and spread of each coordinate of a view.
Scaling = tuple[Floats, Floats]

#: Gap between eigenvalues, relative to them, below which the space up to there is not certain.
CLOSE = 1e-2


def scaling(block: Floats, dtype: np.dtype[np.floating]) -> Scaling:
    """Centre and spread of each coordinate over the samples that a view saw, (r,) both.

    The spread of a coordinate that is constant there is infinite: it says nothing in that view.

    Parameters
    ----------
    block : (n_samples, r) array
        P̂ψ of a view, NaN where it saw nothing.
    dtype : dtype of the kernels
    """
    seen = block[np.isfinite(block[:, 0])]
    centre, spread = seen.mean(axis=0), seen.std(axis=0)
    rounding = 1e3 * np.finfo(dtype).eps
    return centre, np.where(spread > rounding * np.abs(centre), spread, np.inf)


def mean_over_views(
    stepped: list[Floats], scales: list[Scaling], seen: NDArray[np.bool_] | None = None
) -> Floats:
    """The mean of scaled coordinates over the views that saw a sample, (n, r).

    Parameters
    ----------
    stepped : list of (n, r) arrays
        P̂ψ in each view.
    scales : list of Scaling
    seen : (n, n_views) bool array or None
        Which views saw a sample; None is where they have coordinates. A sample that no view saw
        has the mean over all.
    """
    scaled = [
        (block - centre) / spread for block, (centre, spread) in zip(stepped, scales, strict=True)
    ]
    if seen is None:
        seen = np.isfinite(np.stack([block[:, 0] for block in stepped], axis=1))
    if seen.all():
        return np.asarray(np.mean(scaled, axis=0))
    kept = seen | ~seen.any(axis=1, keepdims=True)
    total = np.sum([np.where(kept[:, l, None], z, 0.0) for l, z in enumerate(scaled)], axis=0)
    return np.asarray(total / kept.sum(axis=1)[:, None])


def disagreement(est: MultiViewDiffusionMaps) -> Floats:
    """How far each view puts a sample from where the others put it, (n_samples, n_views).

    Parameters
    ----------
    est : fitted MultiViewDiffusionMaps

    Returns
    -------
    distances : (n_samples, n_views) array
        Distance from the mean over the other views that observed the sample, over the median of
        the view: 1 is usual. NaN where the view, or every other view, did not observe the sample.
    """
    Z = _scaled(est)
    seen = np.isfinite(Z[:, :, 0])
    held = np.where(seen[:, :, None], Z, 0.0)
    total, count = held.sum(axis=0), seen.sum(axis=0)
    found = np.full(seen.T.shape, np.nan)
    rounding = 1e3 * float(np.finfo(est.walk_.dtype).eps) * float(np.abs(held).max())
    for l in range(len(Z)):
        others = count - seen[l]
        known = seen[l] & (others > 0)
        mean = (total - held[l])[known] / others[known, None]
        distance = np.linalg.norm(Z[l, known] - mean, axis=1)
        distance[distance <= rounding] = 0.0
        median = float(np.median(distance)) if distance.size else 0.0
        found[known, l] = distance / median if median > 0 else distance
    return found


def view_similarity(est: MultiViewDiffusionMaps) -> Floats:
    """How alike two views place the samples that both observed, (n_views, n_views).

    Parameters
    ----------
    est : fitted MultiViewDiffusionMaps

    Returns
    -------
    similarity : (n_views, n_views) array
        1 where two views place every sample alike, 0 where their coordinates have nothing to do
        with each other, less where they are opposed; NaN where no sample is common.

    Notes
    -----
    1 − D²_CV(l, m) / Σ_i (‖Z_l(i)‖² + ‖Z_m(i)‖²), with the cross-view distance of Eq. (30).
    """
    Z = _scaled(est)
    seen = np.isfinite(Z[:, :, 0])
    found = np.full((len(Z), len(Z)), np.nan)
    for l, m in np.ndindex(found.shape):
        both = seen[l] & seen[m]
        first, second = Z[l, both], Z[m, both]
        size = float(np.square(first).sum() + np.square(second).sum())
        if size > 0:
            found[l, m] = 1.0 - float(np.square(first - second).sum()) / size
    return found


def view_influence(est: MultiViewDiffusionMaps) -> dict[str, float]:
    """How much the geometry changes without each view, by view name.

    Each view is left out in turn and the walk of the others solved, with the kernels of the fit.

    Parameters
    ----------
    est : fitted MultiViewDiffusionMaps

    Returns
    -------
    influence : dict of float by view name
        From 0, where nothing changes, to 1, where no direction of the embedding is left.

    Warns
    -----
    GapWarning
        If the last eigenvalue of a walk is close to the next one, so that another choice of
        `n_components` may give another answer.

    Notes
    -----
    ‖P − P'‖_F / √(2r), with P and P' the projectors on the centred means over views of the
    coordinates with and without the view, on the samples that the other views observed.
    """
    walk = _hop_walk(est)
    r = len(est.spectrum_)
    whole = _with_next(est, walk, known=est.spectrum_)
    _warn_of_gap(whole.eigenvalues, r, "")
    whole_mean = _means(walk, whole.first(r))
    found = {}
    for l, name in enumerate(est.view_names_):
        rest = _without(walk, l)
        spectrum = _with_next(est, rest)
        _warn_of_gap(spectrum.eigenvalues, r, f" without {name!r}")
        mean = _means(rest, spectrum.first(r))
        both = np.isfinite(mean[:, 0])
        found[name] = _apart(whole_mean[both], mean[both], r)
    return found


def _hop_walk(est: MultiViewDiffusionMaps) -> HopWalk:
    """The walk between views, or ValueError for an estimator that has none."""
    check_is_fitted(est)
    walk = est.walk_
    if not isinstance(walk, HopWalk) or walk.n_blocks < 2:
        raise ValueError(
            'views are compared where each has coordinates of its own: fusion="hop" and at least '
            "two views"
        )
    return walk


def _scaled(est: MultiViewDiffusionMaps) -> Floats:
    """Coordinates on one scale, (n_views, n_samples, r), NaN where a view saw nothing."""
    _hop_walk(est)
    outputs = est._outputs
    return np.stack(
        [
            (block - centre) / spread * est.eigenvalues_**est.n_steps_
            for block, (centre, spread) in zip(outputs.stepped, outputs.scaling, strict=True)
        ]
    )


def _without(walk: HopWalk, view: int) -> HopWalk:
    """The walk over all views but one."""
    kept = [l for l in range(walk.n_blocks) if l != view]
    hops = walk.hops[np.ix_(kept, kept)]
    if len(kept) == 1:
        hops = np.ones((1, 1))
    alone = [walk.names[l] for l, row in zip(kept, hops, strict=True) if not row.any()]
    if alone:
        raise ValueError(
            f"without view {walk.names[view]!r} the walker could not leave view {alone[0]!r}; "
            "give it another hop"
        )
    rows = RowMap(
        [walk.rows.sizes[l] for l in kept],
        [None if walk.rows.is_whole else walk.rows.samples(l) for l in kept],
        walk.n_samples,
    )
    return HopWalk([walk.affinities[l] for l in kept], hops, rows)


def _with_next(
    est: MultiViewDiffusionMaps, walk: HopWalk, known: Spectrum | None = None
) -> Spectrum:
    """As many pairs as the estimator has, and one more where there is one."""
    r = min(len(est.spectrum_) + 1, walk.max_coordinates)
    return coarse.solve_multilevel(
        walk, r, tol=est.tol, generator=np.random.default_rng(0), known=known
    )


def _warn_of_gap(values: Floats, r: int, told: str) -> None:
    if values.size > r and values[r - 1] - values[r] < CLOSE * abs(values[r - 1]):
        warnings.warn(
            GapWarning(
                f"eigenvalues {r} and {r + 1} of the walk{told} are close, {values[r - 1]:.4g} and "
                f"{values[r]:.4g}; the influence may be another with another n_components",
                float(values[r - 1] - values[r]),
            ),
            stacklevel=4,
        )


def _means(walk: HopWalk, spectrum: Spectrum) -> Floats:
    """The mean over views of the coordinates of each sample, NaN where no view saw it."""
    stepped = HopExtension(walk, spectrum).training()
    seen = np.isfinite(np.stack([block[:, 0] for block in stepped], axis=1))
    scales = [scaling(block, walk.dtype) for block in stepped]
    mean = mean_over_views(stepped, scales, seen)
    mean[~seen.any(axis=1)] = np.nan
    return mean


def _apart(first: Floats, second: Floats, r: int) -> float:
    """‖P − P'‖_F / √(2r) of the projectors on the centred columns of two matrices."""
    bases = [np.linalg.qr(X - X.mean(axis=0))[0] for X in (first, second)]
    common = float(np.square(bases[0].T @ bases[1]).sum())
    total = sum(basis.shape[1] for basis in bases)
    return float(np.sqrt(max(0.0, total - 2.0 * common) / (2.0 * r)))
