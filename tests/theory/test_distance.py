"""Theorem 1: the diffusion distance by transitions and by all eigenpairs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.support import cases, oracles
from tests.theory.walks import MatrixWalk, fitted
from viewhop import theory
from viewhop.kernels import Gaussian

I, J = np.array([0, 3, 5, 7]), np.array([1, 2, 9, 7])
pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")


@pytest.mark.parametrize("t", [0, 1, 3])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("eta", cases.ETAS)
@pytest.mark.parametrize("n_views", [1, 2, 3])
def test_both_sides_agree_with_each_other_and_with_powers(n_views, eta, holding, t):
    est = fitted(n_views, eta, Gaussian(n_neighbors=cases.HOLDINGS[holding]))
    left, right = theory.distance_sides(est, I, J, n_steps=t)
    chain = oracles.Chain(est.walk_ @ np.eye(est.walk_.n_nodes))
    expected = [chain.distance(i, j, t) for i, j in zip(I, J, strict=True)]
    assert_allclose(left, expected, atol=1e-9)
    assert_allclose(right, expected, atol=1e-7)


def test_the_positive_eigenvalues_alone_do_not_make_the_distance():
    est = fitted(2, 0.0, Gaussian(factor=0.1))
    left, _ = theory.distance_sides(est, I[:3], J[:3])
    chain = oracles.Chain(est.walk_ @ np.eye(est.walk_.n_nodes))
    kept = np.maximum(chain.eigenvalues, 0.0) ** 2
    half = np.sqrt((kept * (chain.psi[I[:3]] - chain.psi[J[:3]]) ** 2).sum(axis=1))
    assert_allclose(left, np.sqrt(2) * half, rtol=1e-8)


def test_a_kernel_that_is_not_symmetric_breaks_the_theorem():
    K = np.random.default_rng(0).uniform(0.1, 1.0, (20, 20))
    left, right = theory.distance_sides(MatrixWalk(K), 0, 1, n_steps=2)
    assert abs(left[0] / right[0] - 1) > 0.05
    left, right = theory.distance_sides(MatrixWalk(K + K.T), 0, 1, n_steps=2)
    assert_allclose(left, right, rtol=1e-10)


def test_what_has_no_distance_is_refused():
    est = fitted(2)
    with pytest.raises(ValueError, match=r"whole number of steps of at least 0, not 0\.5"):
        theory.distance_sides(est, 0, 1, n_steps=0.5)
    with pytest.raises(ValueError, match="numbered 0 to 47, got 48 to 48"):
        theory.distance_sides(est, 0, 48)
    with pytest.raises(ValueError, match="numbered 0 to 47, got -1 to 3"):
        theory.distance_sides(est, [3, -1], 0)
    with pytest.raises(ValueError, match="by their whole numbers"):
        theory.distance_sides(est, 0.5, 1)
    with pytest.raises(TypeError, match=r"got MultiViewDiffusionMaps; call fit"):
        theory.distance_sides(type(est)(), 0, 1)
    with pytest.raises(ValueError, match="4,001 nodes; take at most 4,000"):
        theory.distance_sides(MatrixWalk(np.empty((4001, 0))), 0, 1)
