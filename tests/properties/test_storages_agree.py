"""One kernel stored in several ways gives one embedding."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import viewhop as vh
from tests.support import cases
from viewhop.affinity import Affinity, KernelRows
from viewhop.kernels import Gaussian, Kernel, Precomputed

SIGMA = 4.0
R = 4


class OnTheFly(Kernel):
    """The Gaussian kernel, computed anew for every product and never stored."""

    n_neighbors, alpha = None, 0.0

    def build(self, rows):
        return GaussianProducts(rows.values)


class GaussianProducts(Affinity):
    def __init__(self, X):
        self.X, self.dtype, self.scale = X, X.dtype, SIGMA

    n_samples = property(lambda self: len(self.X))
    nbytes = property(lambda self: self.X.nbytes)

    def logs(self, X):
        return -np.square(X[:, None] - self.X).sum(axis=-1) / (2 * SIGMA**2)

    def __matmul__(self, V):
        return np.stack([np.exp(self.logs(x[None])[0]) @ V for x in self.X])

    def against(self, X):
        return KernelRows.normalised(self.logs(X), self.degrees, alpha=0.0)

    def pattern(self, live=None):
        return csr_array(np.ones((self.n_samples,) * 2) * (1 if live is None else live))


def gram(X):
    return np.exp(-np.square(X[:, None] - X).sum(axis=-1) / (2 * SIGMA**2))


#: A kernel and the form of its views, by storage. The last neighbour of each sample is the
#: farthest: all pairs are stored one by one.
STORAGES = {
    "dense": (Gaussian(SIGMA), None),
    "matrix-free": (OnTheFly(), None),
    "neighbours, k = M - 1": (Gaussian(SIGMA, n_neighbors=cases.N - 1), None),
    "neighbours, k = M": (Gaussian(SIGMA, n_neighbors=cases.N), None),
    "precomputed": (Precomputed(), gram),
    "precomputed, k = M": (Precomputed(n_neighbors=cases.N), gram),
}
WALKS = {
    "default": {"output": "concat"},
    "paper": {"within_view_weight": 0.0},
    "staying": {"within_view_weight": 0.3},
    "sum": {"fusion": "sum"},
    "alternating": {"fusion": "alternating"},
    "integrated": {"fusion": "integrated"},
    "composite": {"fusion": "composite"},
}


@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov"])
@pytest.mark.parametrize("storage", [name for name in STORAGES if name != "dense"])
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_every_storage_gives_the_embedding_of_the_dense_one(walk, storage, solver):
    if walk.get("fusion") in ("alternating", "integrated"):
        solver = "auto"
    X = cases.views("generic", 2 if walk.get("fusion") == "composite" else 3, Gaussian())
    new = [x[:5] + 0.3 for x in X]
    dense = vh.MultiViewDiffusionMaps(R, kernel=Gaussian(SIGMA), solver="auto", **walk).fit(X)
    kernel, form = STORAGES[storage]
    est = vh.MultiViewDiffusionMaps(R, kernel=kernel, solver=solver, random_state=0, **walk)
    est.fit(X if form is None else [form(x) for x in X])
    assert_allclose(est.eigenvalues_, dense.eigenvalues_, atol=1e-8, rtol=0)
    assert_allclose(signed(est.embedding_), signed(dense.embedding_), atol=1e-8, rtol=0)
    if form is None:
        placed = est.transform(new) * signs(est.embedding_)
        assert_allclose(placed, dense.transform(new) * signs(dense.embedding_), atol=1e-8, rtol=0)


def signs(Z):
    """The sign of the largest entry of each of the R columns, the same in every block."""
    first = Z[:, :R]
    return np.tile(np.sign(first[np.abs(first).argmax(axis=0), range(R)]), Z.shape[1] // R)


def signed(Z):
    return Z * signs(Z)
