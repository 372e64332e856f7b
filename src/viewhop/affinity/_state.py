"""The data that every affinity writes to a model file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._storage.codec import Shelf
from viewhop.affinity._affinity import Affinity
from viewhop.affinity._feature_codec import write_features
from viewhop.affinity._kernel_codec import encode_kernel
from viewhop.affinity._row_codec import write_rows
from viewhop.neighbours import FeatureMap, Points, block_distances

__all__ = ["base_state", "distance_block", "measured_state"]


def base_state(affinity: Affinity, shelf: Shelf) -> dict[str, Any]:
    """The kernel, density and recall of an affinity as plain data.

    Parameters
    ----------
    affinity : Affinity
    shelf : Shelf
        Receives the arrays.
    """
    shelf.put("density", affinity.density)
    return {
        "kernel": encode_kernel(affinity.kernel, f"the kernel of view {affinity.name!r}"),
        "scale": None,
        "recall": float(affinity.recall),
        "n_probe": None,
    }


def measured_state(
    affinity: Affinity, features: FeatureMap, points: Points, shelf: Shelf
) -> dict[str, Any]:
    """The kernel, density, recall, feature space and scale of a distance kernel as plain data.

    Parameters
    ----------
    affinity : Affinity
    features : FeatureMap
    points : Points
        The training samples in the feature space.
    shelf : Shelf
        Receives the arrays.
    """
    data = base_state(affinity, shelf)
    write_rows(points.rows, shelf)
    write_features(features, shelf)
    if isinstance(affinity.scale, np.ndarray):
        shelf.put("scale", affinity.scale)
    else:
        data["scale"] = float(affinity.scale)
    return data


def distance_block(
    points: Points, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.floating]:
    """Distances between chosen points, (p, q).

    Parameters
    ----------
    points : Points
    rows, columns : (p,), (q,) index arrays
    """
    first, second = points.like(points.rows[rows]), points.like(points.rows[columns])
    return block_distances(first, slice(0, rows.size), second)
