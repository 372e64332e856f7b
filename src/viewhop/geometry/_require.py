"""Getting the geometry from a fitted estimator."""

from __future__ import annotations

from typing import Any, TypeAlias

from sklearn.utils.validation import check_is_fitted

from viewhop.geometry._geometry import Geometry

__all__ = ["Source", "require_geometry"]

#: A geometry, or a fitted estimator with the attribute ``geometry_``; scikit-learn has no types.
Source: TypeAlias = Any


def require_geometry(source: Source) -> Geometry:
    """The geometry of a fitted estimator, or the geometry itself.

    Parameters
    ----------
    source : fitted estimator or Geometry

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If the source has no geometry.
    """
    if isinstance(source, Geometry):
        return source
    if hasattr(source, "fit"):
        check_is_fitted(source)
    geometry = getattr(source, "geometry_", None)
    if not isinstance(geometry, Geometry):
        raise TypeError(
            f"expected a Geometry or a fitted estimator that has one, got {type(source).__name__}"
        )
    return geometry
