"""Every affinity of viewhop passes the contract."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.contracts.affinity import AffinityContract
from tests.support import cases, oracles
from viewhop.affinity import build_affinity
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

pytestmark = pytest.mark.usefixtures("small_tiles")


class KernelContract(AffinityContract):
    """The hooks for a kernel of viewhop: the dense oracle of the tests knows its values."""

    kernel = Gaussian()
    data = "generic"

    @classmethod
    @cache
    def _case(cls):
        (X,) = cases.views(cls.data, 1, cls.kernel)
        scale = build_affinity("v", cls.kernel, X).scale
        return X, oracles.View(cls.kernel, X, scale)

    def affinity(self):
        return build_affinity("v", self.kernel, self._case()[0])

    def matrix(self):
        return self._case()[1].K.copy()

    def training_rows(self):
        return self._case()[0]

    def new(self):
        X, view = self._case()
        new = 0.7 * X[:6] + 0.3 * X[6:12]
        return new, view.rows(new)


class TestDense(KernelContract):
    pass


class TestDenseNormalisedByDensity(KernelContract):
    kernel = Gaussian("local", alpha=1.0)


class TestDenseTied(KernelContract):
    kernel = Laplacian(factor=2.0)
    data = "tied"


class TestDenseGiven(KernelContract):
    kernel = Precomputed(alpha=0.5)


class TestNeighbours(KernelContract):
    kernel = Gaussian("local", n_neighbors=4)


class TestNeighboursNormalisedByDensity(KernelContract):
    kernel = Correlation(n_neighbors=5, alpha=1.0)


class TestNeighboursTwice(KernelContract):
    kernel = Gaussian(n_neighbors=4)
    data = "doubled"


class TestNeighboursGiven(KernelContract):
    kernel = Precomputed(n_neighbors=4)


class TestPieces(KernelContract):
    """Two groups of samples that do not see each other."""

    kernel = Precomputed()

    @classmethod
    @cache
    def _case(cls):
        (X,) = cases.views("generic", 1, cls.kernel)
        group = np.arange(cases.N) % 2
        X = np.where(group[:, None] == group, X, 0.0)
        return X, oracles.View(cls.kernel, X, float("nan"))

    def new(self):
        X, view = self._case()
        return X[:3], view.rows(X[:3])
