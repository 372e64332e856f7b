"""Every walk of viewhop passes the contract."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.contracts.walk import WalkContract
from tests.support import cases, oracles
from viewhop._storage.codec import Shelf
from viewhop.affinity import build_affinity
from viewhop.errors import ModelFileError
from viewhop.kernels import Gaussian
from viewhop.views import Views
from viewhop.walks import (
    AlternatingWalk,
    CompositeWalk,
    ConcatWalk,
    HopWalk,
    IntegratedWalk,
    ProductWalk,
    SumWalk,
    hop_matrix,
    walk_state,
)

pytestmark = pytest.mark.usefixtures("small_tiles")


class FusionContract(WalkContract):
    """The hooks for walks over complete views with Gaussian kernels."""

    n_views = 3
    gaussian = Gaussian(factor=0.5)

    def views(self):
        arrays = cases.views("generic", self.n_views, self.gaussian)
        return {f"view{k}": X for k, X in enumerate(arrays, start=1)}

    def affinities(self):
        return [build_affinity(name, self.gaussian, X) for name, X in self.views().items()]

    def matrices(self):
        return [
            oracles.View(self.gaussian, X, K.scale).K
            for X, K in zip(self.views().values(), self.affinities(), strict=True)
        ]


class TestHop(FusionContract):
    hops = hop_matrix(3)

    def walk(self):
        return HopWalk(self.affinities(), self.hops)

    def kernel(self):
        return oracles.hop_kernel(self.matrices(), self.hops)


class TestHopThatStays(TestHop):
    hops = np.array([[0.3, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.1]])
    gaussian = Gaussian("local", n_neighbors=6)


class TestHopBetweenGroups(TestHop):
    """H of rank two: views 1 and 3 are one group, and view 2 another."""

    hops = np.array([[1.0, 0.3, 1.0], [0.3, 2.0, 0.3], [1.0, 0.3, 1.0]])

    def test_its_factor_gives_the_matrix(self):
        walk = self.walk()
        factor = walk.factored
        n_rows, n_columns = factor.shape
        assert n_columns < n_rows
        C = factor.forward(np.eye(n_columns))
        assert_allclose(factor.backward(np.eye(n_rows)), C.T, rtol=0, atol=1e-12)
        assert_allclose(C @ C.T, walk.normalized(np.eye(n_rows)), rtol=0, atol=1e-12)
        v = np.random.default_rng(0).standard_normal(n_columns)
        assert_allclose(factor.forward(v), C @ v, rtol=0, atol=1e-12)


class TestHopOfTwo(TestHop):
    n_views = 2
    hops = hop_matrix(2)


class TestHopOfOne(TestHop):
    n_views = 1
    hops = hop_matrix(1)


class TestHopOfRankOne(TestHop):
    hops = np.outer([1.0, 0.4, 0.02], [1.0, 0.4, 0.02])
    gaussian = Gaussian("local", n_neighbors=6, alpha=1.0, scale_neighbors=6, taper=0.3)


class TestHub(TestHopOfRankOne):
    """The walk between samples."""

    def walk(self):
        return super().walk().hub

    def kernel(self):
        """diag(g) T diag(g), with K̂ = B Bᵀ, T = Bᵀ D̂⁻¹ B and g = Bᵀ 1."""
        weights = np.sqrt(np.diagonal(self.hops))
        B = np.vstack([w * K for w, K in zip(weights, self.matrices(), strict=True)])
        g = B.sum(axis=0)
        T = B.T @ (B / (B @ g)[:, None])
        return g[:, None] * T * g

    def test_plain_data_give_it_back(self):
        with pytest.raises(ModelFileError, match="not built into viewhop"):
            walk_state(self.walk(), Shelf())


class TestSum(FusionContract):
    def walk(self):
        return SumWalk(self.affinities())

    def kernel(self):
        return np.sum(self.matrices(), axis=0)


class TestSumOfNeighbours(TestSum):
    gaussian = Gaussian("local", n_neighbors=6)


class TestProduct(FusionContract):
    def walk(self):
        return ProductWalk(self.affinities())

    def kernel(self):
        return np.prod(self.matrices(), axis=0)


class TestConcat(FusionContract):
    def walk(self):
        return ConcatWalk(self.affinities())

    def kernel(self):
        return oracles.SideBySide([self.gaussian] * self.n_views, [*self.views().values()]).K


class TestConcatOfNeighbours(TestConcat):
    gaussian = Gaussian(n_neighbors=6, factor=2.0, alpha=0.5)


class TestConcatOfLocalScales(TestConcat):
    gaussian = Gaussian("local", n_neighbors=6, alpha=1.0, scale_neighbors=4, taper=0.3)


class TestConcatOfOne(TestConcat):
    n_views = 1


class TestAlternating(FusionContract):
    def walk(self):
        return AlternatingWalk(self.affinities())

    def kernel(self):
        P = np.linalg.multi_dot([K / K.sum(axis=1, keepdims=True) for K in self.matrices()])
        n, zero = len(P), np.zeros_like(P)
        return np.block([[zero, P], [P.T, zero]]) / n


class TestIntegrated(FusionContract):
    steps = (2, 1, 3)

    def walk(self):
        return IntegratedWalk(self.affinities(), self.steps)

    def kernel(self):
        P = oracles.integrated(self.matrices(), self.steps)
        n, zero = len(P), np.zeros_like(P)
        return np.block([[zero, P], [P.T, zero]]) / n


class TestIntegratedOfNeighbours(TestIntegrated):
    gaussian = Gaussian("local", n_neighbors=6)


class TestIntegratedOfOne(TestIntegrated):
    n_views = 1
    steps = (4,)


class TestComposite(FusionContract):
    n_views = 2

    def walk(self):
        return CompositeWalk(self.affinities())

    def kernel(self):
        return oracles.composite(*self.matrices())


class TestCompositeOfNeighbours(TestComposite):
    gaussian = Gaussian("local", n_neighbors=6, alpha=1.0, scale_neighbors=6, taper=0.3)


class Gapped(FusionContract):
    """Views that missed some samples."""

    def gaps(self):
        rng = np.random.default_rng(3)
        arrays = {name: X.copy() for name, X in super().views().items()}
        for k, X in enumerate(arrays.values()):
            X[rng.permutation(cases.N)[: 3 * k]] = np.nan
        return Views(arrays)

    def views(self):
        gaps = self.gaps()
        return {name: gaps.rows(name) for name in gaps.names}

    def scatters(self):
        gaps = self.gaps()
        return [np.eye(cases.N)[:, gaps.samples(name)] for name in gaps.names]


class TestHopWithGaps(Gapped):
    hops = hop_matrix(3, within_view_weight=0.2)

    def walk(self):
        return HopWalk(self.affinities(), self.hops, self.gaps().nodes)

    def kernel(self):
        ends = [K @ S.T for K, S in zip(self.matrices(), self.scatters(), strict=True)]
        return np.block(
            [[self.hops[l, m] * A @ B.T for m, B in enumerate(ends)] for l, A in enumerate(ends)]
        )


class TestSumWithGaps(Gapped):
    def walk(self):
        return SumWalk(self.affinities(), self.gaps().nodes)

    def kernel(self):
        both = zip(self.matrices(), self.scatters(), strict=True)
        return np.sum([S @ K @ S.T for K, S in both], axis=0)
