"""Two parts of a map: whether one is a point, and whether they are connected.

A part is a point if it is at most a tenth as wide as the whole map, and two parts are unconnected
if no sample of one is nearer to the other part than a tenth of that width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

__all__ = ["Parts", "measure_parts"]

#: A tenth of the width of a map.
_SMALL = 0.1


class Parts(NamedTuple):
    """Sizes of the two parts of a map, as shares of the width of the whole map.

    Attributes
    ----------
    widths : pair of float
        Largest distance within the part before and the part after the jump of b.
    apart : float
        Smallest distance between a sample of one part and one of the other.
    """

    widths: tuple[float, float]
    apart: float

    @property
    def are_bow_and_point(self) -> bool:
        """Whether one part is a point and the other one is not."""
        return min(self.widths) <= _SMALL < max(self.widths)

    @property
    def are_unconnected(self) -> bool:
        """Whether there is a clear gap between the parts."""
        return self.apart >= _SMALL


def measure_parts(embedding: NDArray[np.floating], is_later: NDArray[np.bool_]) -> Parts:
    """Sizes of the two parts of a map.

    Parameters
    ----------
    embedding : (n_samples, 2) array
    is_later : (n_samples,) bool array
        The samples of the second part.
    """
    before, later = embedding[~is_later], embedding[is_later]
    whole = float(pdist(embedding).max())
    widths = float(pdist(before).max()) / whole, float(pdist(later).max()) / whole
    return Parts(widths, float(cdist(before, later).min()) / whole)
