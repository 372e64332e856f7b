"""Walks to ask theorems about: of small views, and of any matrix, also one that breaks a rule."""

from __future__ import annotations

import numpy as np

import viewhop as vh
from tests.support import cases
from viewhop.views import RowMap
from viewhop.walks import Walk


def fitted(n_views, eta=0.0, kernel=None, r=3, fusion="hop"):
    kernel = vh.kernels.Gaussian() if kernel is None else kernel
    stay = eta if fusion == "hop" else None
    est = vh.MultiViewDiffusionMaps(r, kernel=kernel, fusion=fusion, within_view_weight=stay)
    return est.fit(cases.views("generic", n_views, kernel))


class MatrixWalk(Walk):
    """The walk of a matrix, as it is."""

    affinities = ()
    n_blocks = 1
    max_coordinates = 1
    dtype = np.dtype(float)

    def __init__(self, K):
        self.K = K
        self.rows = RowMap.whole(1, len(K))

    def __matmul__(self, V):
        return self.K @ V

    def pieces(self):
        return np.zeros(len(self.K), dtype=int)

    def against(self, new):
        raise NotImplementedError

    def extension(self, spectrum):
        raise NotImplementedError

    @classmethod
    def build(cls, affinities, rows, *, hops, n_jobs):
        raise NotImplementedError
