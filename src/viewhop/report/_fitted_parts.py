"""The parts of a fitted estimator that a report shows; nothing else here reads an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from viewhop.estimators import (
    DeSaEmbedding,
    DiffusionMaps,
    MultiViewDiffusionMaps,
    MultiViewSpectralClustering,
)
from viewhop.spectrum import Spectrum
from viewhop.walks import Walk

__all__ = ["FittedParts", "fitted_parts"]

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class FittedParts:
    """What a report shows of a fitted estimator.

    Attributes
    ----------
    kind : str
        Name of the class.
    parameters : dict by name
    view_names : tuple of str
    n_samples, n_components, n_pieces : int
    chosen : int
        Coordinates in use; a clustering may use fewer than there are.
    fusion, solver : str
    n_steps : float
    walk : Walk
    spectrum : Spectrum
    blocks : dict of (n_rows, n_components) arrays by name
        Coordinates without λ^t, a row for each row of the view.
    is_timed : bool
        Whether λ^t multiplies the coordinates.
    degrees : dict of (n_rows,) arrays by view name
    recall : dict of float by view name
    observed : (n_samples, n_views) bool array
    timings : dict of float by stage
    clusters : (n_samples,) int array or None
    disagreement, view_similarity : callable
        Those of the estimator, which may raise ValueError.
    """

    kind: str
    parameters: dict[str, Any]
    view_names: tuple[str, ...]
    n_samples: int
    n_components: int
    n_pieces: int
    chosen: int
    fusion: str
    solver: str
    n_steps: float
    walk: Walk
    spectrum: Spectrum
    blocks: dict[str, Floats]
    is_timed: bool
    degrees: dict[str, Floats]
    recall: dict[str, float]
    observed: NDArray[np.bool_]
    timings: dict[str, float]
    clusters: ArrayLike | None
    disagreement: Callable[[], Floats]
    view_similarity: Callable[[], Floats]

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.view_names)

    @property
    def has_one_panel(self) -> bool:
        """Whether several views have one common set of coordinates."""
        return self.walk.is_fused and self.n_views > 1


def fitted_parts(estimator: Any) -> FittedParts:
    """The parts of an estimator that a report shows.

    Parameters
    ----------
    estimator : fitted MultiViewDiffusionMaps, DiffusionMaps, DeSaEmbedding or \
MultiViewSpectralClustering

    Raises
    ------
    TypeError
        If it is of another class.
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    """
    est = getattr(estimator, "embedder_", estimator)
    if not hasattr(est, "walk_"):
        raise _unsuitable(estimator)
    is_timed = hasattr(est, "coordinates")  # de Sa's rows have no diffusion time
    return FittedParts(
        kind=type(estimator).__name__,
        parameters=estimator.get_params(deep=False),
        view_names=tuple(est.view_names_),
        n_samples=len(est.embedding_),
        n_components=int(est.n_components_),
        n_pieces=int(est.n_pieces_),
        chosen=int(estimator.n_components_),
        fusion=getattr(est, "fusion", "hop"),
        solver=est.solver_,
        n_steps=float(est.n_steps_),
        walk=est.walk_,
        spectrum=est.spectrum_,
        blocks=_timeless_blocks(est) if is_timed else dict(est.view_embeddings_),
        is_timed=is_timed,
        degrees=est.degrees_,
        recall=est.recall_,
        observed=est.observed_,
        timings=getattr(est, "timings_", {}),
        clusters=getattr(estimator, "labels_", None),
        disagreement=est.disagreement,
        view_similarity=est.view_similarity,
    )


def _timeless_blocks(est: Any) -> dict[str, Floats]:
    """Coordinates at time 0 by panel, a row for each row of the view.

    Not `view_embeddings_` over λ^t, which is 0 over 0 for long times, and not `coordinates(0)`,
    which may be a mean over the views: no public attribute has them yet.
    """
    blocks = est._outputs.by_row(0.0)
    is_one = est.walk_.is_fused and est.n_views_ > 1
    return dict(zip(("all views",) if is_one else est.view_names_, blocks, strict=True))


def _unsuitable(estimator: Any) -> Exception:
    """The error for an estimator without a walk: of another class, or not fitted."""
    classes = (
        MultiViewDiffusionMaps,
        DiffusionMaps,
        DeSaEmbedding,
        MultiViewSpectralClustering,
    )
    if isinstance(estimator, classes):
        check_is_fitted(estimator)
    return TypeError(
        "a report is of a fitted MultiViewDiffusionMaps, DiffusionMaps, DeSaEmbedding or "
        f"MultiViewSpectralClustering, not of {type(estimator).__name__}"
    )
