"""Feature rows of several views side by side, as the rows of one view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["SideBySide"]


@dataclass(frozen=True)
class SideBySide:
    """The map that joins the feature rows of views, each multiplied by its factor.

    Attributes
    ----------
    factors : dict of float by view name
        In the order of the views.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.affinity import SideBySide
    >>> side_by_side = SideBySide({"x": 1.0, "y": 2.0})
    >>> side_by_side.join({"y": np.array([[3.0]]), "x": np.array([[1.0, 2.0]])})
    array([[1., 2., 6.]])
    """

    factors: dict[str, float]

    def join(self, features: Mapping[str, NDArray[np.floating]]) -> NDArray[np.floating]:
        """Rows of the same samples, joined, (n, sum of the widths).

        Parameters
        ----------
        features : dict of (n, d) arrays by view name
            Feature rows, see `viewhop.neighbours.FeatureMap`.
        """
        return np.hstack([features[name] * np.float64(c) for name, c in self.factors.items()])
