"""Theorem 2: the objective of coupled maps, and what minimises it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.theory.walks import fitted
from viewhop import theory


def printed_sum(est, rho):
    """The sum of Eq. (25), pair by pair over K^x K^y."""
    n = est.walk_.n_samples
    Kx, Ky = (K @ np.eye(n) for K in est.walk_.affinities)
    x, y = rho[:n], rho[n:]
    return sum((x[i] - y[j]) ** 2 * (Kx @ Ky)[i, j] for i in range(n) for j in range(n))


def test_the_objective_is_the_printed_sum():
    est = fitted(2)
    rho = np.random.default_rng(0).standard_normal((est.walk_.n_nodes, 2))
    expected = [printed_sum(est, column) for column in rho.T]
    assert_allclose(theory.objective(est, rho), expected, rtol=1e-10)
    assert_allclose(theory.objective(est.walk_, rho[:, 0]), expected[0], rtol=1e-10)


def test_a_walk_that_stays_in_a_view_has_another_objective_than_the_printed_sum():
    est = fitted(2, 0.3)
    rho = np.repeat([1.0, -1.0], est.walk_.n_samples)
    K = est.walk_ @ np.eye(est.walk_.n_nodes)
    expected = 0.5 * ((rho[:, None] - rho) ** 2 * K).sum()
    assert_allclose(theory.objective(est, rho), expected, rtol=1e-10)
    assert_allclose(printed_sum(est, rho), expected / 0.7, rtol=1e-10)


@pytest.mark.parametrize("n_views", [2, 3])
def test_the_unnormalised_laplacian_minimises_under_the_printed_constraints(n_views):
    est = fitted(n_views)
    n = est.walk_.n_nodes
    value, rho = theory.objective_minimum(est)
    K = est.walk_ @ np.eye(n)
    expected = np.linalg.eigvalsh(np.diag(K.sum(axis=1)) - K)
    assert_allclose(value, expected[1], rtol=1e-9)
    assert_allclose(theory.objective(est, rho), value, rtol=1e-9)
    assert_allclose([rho @ rho, rho.sum()], [1, 0], atol=1e-10)
    others = np.random.default_rng(0).standard_normal((n, 200)) * 0.01 + rho[:, None]
    others -= others.mean(axis=0)
    others /= np.linalg.norm(others, axis=0)
    assert (theory.objective(est, others) > value).all()


@pytest.mark.parametrize("n_views", [2, 3])
def test_the_first_coordinate_minimises_under_the_weighted_constraints(n_views):
    est = fitted(n_views)
    d = est.walk_.degrees
    value, rho = theory.objective_minimum(est, weighted=True)
    assert_allclose(value, 1 - est.eigenvalues_[0], rtol=1e-10)
    assert_allclose(theory.objective(est, rho), value, rtol=1e-9)
    assert_allclose([rho @ (d * rho), rho @ d], [1, 0], atol=1e-10)
    psi = est.spectrum_.eigenvectors[:, 0]
    assert_allclose(np.abs(psi @ (d * rho)) / np.sqrt(psi @ (d * psi)), 1, rtol=1e-10)
    others = np.random.default_rng(0).standard_normal((d.size, 200)) * 0.01 + rho[:, None]
    others -= d @ others / d.sum()
    others /= np.sqrt((d[:, None] * others**2).sum(axis=0))
    assert (theory.objective(est, others) > value).all()


def test_the_first_coordinate_minimises_the_printed_objective_only_if_degrees_are_equal():
    def printed_value(walk):
        psi = theory.objective_minimum(walk, weighted=True).mapping
        psi = psi - psi.mean()
        return theory.objective(walk, psi / np.linalg.norm(psi)), theory.objective_minimum(walk)

    of_psi, least = printed_value(fitted(2).walk_)
    assert of_psi > 1.05 * least.value
    x = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    of_psi, least = printed_value(theory.circle_walk(x, x + 1.0, epsilon=0.1))
    assert_allclose(of_psi, least.value, rtol=1e-8)


def test_a_map_has_one_entry_per_node():
    est = fitted(2)
    with pytest.raises(ValueError, match=r"one entry per node, \(48,\) or \(48, b\), got \(24,\)"):
        theory.objective(est, np.ones(24))
