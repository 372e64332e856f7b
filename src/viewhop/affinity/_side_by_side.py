"""Feature rows of several views side by side, as the rows of one view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from viewhop.neighbours import FeatureRows, SparseFeatures, join_sparse

__all__ = ["SideBySide"]

DOUBLE = np.dtype(np.float64)


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

    def join(
        self,
        features: Mapping[str, FeatureRows],
        dtype: np.dtype[np.floating] = DOUBLE,
    ) -> Any:
        """Rows of the same samples, joined, (n, sum of the widths).

        Parameters
        ----------
        features : dict of (n, d) arrays or SparseFeatures by view name
            Feature rows, see `viewhop.neighbours.FeatureMap`.
        dtype : dtype of the result

        Returns
        -------
        joined : (n, d) array, or SparseFeatures if some view is sparse
            The columns of full rows then come last.
        """
        if any(isinstance(rows, SparseFeatures) for rows in features.values()):
            return join_sparse({n: (features[n], f) for n, f in self.factors.items()}, dtype)
        full = {name: np.asarray(rows) for name, rows in features.items()}
        widths = [full[name].shape[1] for name in self.factors]
        joined = np.empty((len(next(iter(full.values()))), sum(widths)), dtype=dtype)
        start = 0
        for (name, factor), width in zip(self.factors.items(), widths, strict=True):
            # Multiplied in double precision, one block at a time.
            joined[:, start : start + width] = full[name] * np.float64(factor)
            start += width
        return joined
