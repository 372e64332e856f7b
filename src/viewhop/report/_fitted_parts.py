"""What a report shows of a fit: its geometry, and what an estimator adds to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.geometry import Geometry, require_geometry

__all__ = ["FittedParts", "fitted_parts"]

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class FittedParts:
    """What a report shows of a fit.

    Attributes
    ----------
    geometry : Geometry
    kind : str
        Name of the class of the estimator.
    parameters : dict by name
        Those of the estimator.
    chosen : int
        Coordinates in use; a clustering may use fewer than there are.
    clusters : (n_samples,) int array or None
    """

    geometry: Geometry
    kind: str
    parameters: dict[str, Any]
    chosen: int
    clusters: ArrayLike | None

    @property
    def has_one_panel(self) -> bool:
        """Whether several views have one common set of coordinates."""
        return self.geometry.walk.is_fused and len(self.geometry.schema.names) > 1

    @property
    def blocks(self) -> dict[str, Floats]:
        """Coordinates without λ^t by panel, a row for each row of the view.

        Not those of the embedding over λ^t, which is 0 over 0 for long times.
        """
        geometry = self.geometry
        if not geometry.is_timed:
            return dict(geometry.view_embeddings)
        names = ("all views",) if self.has_one_panel else geometry.schema.names
        return dict(zip(names, geometry.by_row(0.0), strict=True))


def fitted_parts(source: Any) -> FittedParts:
    """What a report shows of a fitted estimator or of a geometry.

    Parameters
    ----------
    source : fitted estimator with a geometry, or Geometry

    Raises
    ------
    TypeError
        If it has no geometry.
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    """
    geometry = require_geometry(source)
    if source is geometry:
        return FittedParts(geometry, "Geometry", {}, geometry.n_components, None)
    return FittedParts(
        geometry,
        type(source).__name__,
        source.get_params(deep=False),
        int(source.n_components_),
        getattr(source, "labels_", None),
    )
