"""Writing the feature map of a kernel to model files, and reading it back."""

from __future__ import annotations

from viewhop._storage.codec import Shelf
from viewhop.errors import ModelFileError
from viewhop.kernels import Correlation, DistanceKernel
from viewhop.neighbours import FeatureMap

__all__ = ["read_features", "write_features"]


def write_features(features: FeatureMap, shelf: Shelf) -> None:
    """Put the arrays of a feature map on the shelf; the kernel says the rest.

    Parameters
    ----------
    features : FeatureMap
    shelf : Shelf
    """
    if features.deviation is not None:
        shelf.put("deviation", features.deviation)
    if features.centre is not None:
        shelf.put("centre", features.centre)


def read_features(kernel: DistanceKernel, width: int, shelf: Shelf, where: str) -> FeatureMap:
    """The feature map of a kernel; invalid data raise ModelFileError.

    Parameters
    ----------
    kernel : DistanceKernel
    width : int
        Features of the view.
    shelf : Shelf
        Provides the arrays.
    where : str
        Name of the kernel in error messages.
    """
    if kernel.metric == "auto":
        raise ModelFileError(f"{where}: the metric of a fitted kernel cannot be auto")
    deviation = centre = None
    if kernel.standardize:
        deviation = shelf.numbers("deviation", (width,), above=0.0)  # any positive size
    if kernel.metric == "centered-cosine":
        centre = shelf.numbers("centre", (width,))
    return FeatureMap(kernel.metric, deviation, centre, isinstance(kernel, Correlation))
