"""Lemma 1: the numerical rank grows as a power of log(1/δ), and the power is d/2."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from viewhop import theory
from viewhop.dimension import numerical_rank


def heat_eigenvalues(d, scale, modes=26):
    """exp(−c(k_1² + … + k_d²)) over all integers k: a Gaussian on a flat torus of dimension d."""
    k = np.arange(-modes, modes + 1)
    square = np.zeros(1)
    for _ in range(d):
        square = (square[:, None] + scale * k**2).ravel()
    return np.exp(-square)


@pytest.mark.parametrize(("d", "scale"), [(1, 0.036), (2, 0.036), (3, 0.04)])
def test_a_torus_has_half_its_dimension_as_exponent_and_not_the_printed_one(d, scale):
    exponent = theory.rank_growth(heat_eigenvalues(d, scale)).exponent
    assert abs(exponent - d / 2) < 0.03 * d
    assert abs(exponent - d) > 0.4 * d  # Lemma 1 as printed


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_normal_distribution_has_the_printed_exponent(d):
    """Mehler: the eigenvalues are B^(k_1 + … + k_d), geometric in each dimension."""
    ladder = [sum(k) for k in product(range(130 if d < 3 else 60), repeat=d)]
    growth = theory.rank_growth(0.7 ** np.array(ladder, float), deltas=np.logspace(-4, -9, 11))
    assert abs(growth.exponent - d) < 0.11 * d


@pytest.mark.parametrize(("d", "n_samples", "sigma"), [(1, 600, 0.02), (2, 1200, 0.08)])
def test_samples_of_a_cube_have_half_its_dimension(d, n_samples, sigma):
    X = np.random.default_rng(d).uniform(size=(n_samples, d))
    growth = theory.rank_growth(theory.gaussian_eigenvalues(X, sigma=sigma))
    assert abs(growth.exponent - d / 2) < 0.1 * d
    assert abs(growth.exponent - d) > 0.35 * d


def test_counts_are_numerical_ranks():
    X = np.random.default_rng(0).uniform(size=(120, 2))
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * 0.2**2))
    growth = theory.rank_growth(theory.gaussian_eigenvalues(X, sigma=0.2), deltas=[1e-6, 0.5, 1e-3])
    assert_allclose(growth.deltas, [0.5, 1e-3, 1e-6], rtol=1e-15)
    assert_array_equal(growth.counts, [numerical_rank(K, delta) for delta in growth.deltas])
    slope = np.polyfit(np.log(np.log(1 / growth.deltas)), np.log(growth.counts), 1)[0]
    assert_allclose(growth.exponent, slope, rtol=1e-12)


def test_neither_order_nor_size_of_the_eigenvalues_matters():
    values = heat_eigenvalues(2, 0.05, modes=25)
    shuffled = 7.0 * np.random.default_rng(0).permutation(values)
    first, second = theory.rank_growth(values), theory.rank_growth(shuffled)
    assert_array_equal(first.counts, second.counts)
    assert first.exponent == second.exponent


def test_gaussian_eigenvalues_are_those_of_the_dense_kernel():
    X = np.random.default_rng(1).standard_normal((40, 3))
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * 1.3**2))
    found = theory.gaussian_eigenvalues(X, sigma=1.3)
    assert_allclose(found, np.linalg.eigvalsh(K)[::-1], atol=1e-12)
    assert_allclose(found.sum(), 40, rtol=1e-12)


@pytest.mark.parametrize(
    ("eigenvalues", "deltas", "message"),
    [
        ([], None, "1-D array of finite numbers"),
        ([[1.0]], None, "1-D array of finite numbers"),
        ([1.0, np.nan], None, "1-D array of finite numbers"),
        ([-1.0, 0.0], None, "the largest positive"),
        ([1.0, 0.5], [0.1], "two different thresholds"),
        ([1.0, 0.5], [0.1, 0.1], "two different thresholds"),
        ([1.0, 0.5], [[0.1, 0.2]], "two different thresholds"),
        ([1.0, 0.5], [0.1, 1.0], "between 0 and 1"),
        ([1.0, 0.5], [0.0, 0.1], "between 0 and 1"),
        ([1.0, 0.5], [0.1, 1e-17], "below the rounding of 2 eigenvalues"),
    ],
    ids=str,
)
def test_what_is_no_spectrum_or_threshold_is_refused(eigenvalues, deltas, message):
    with pytest.raises(ValueError, match=message):
        theory.rank_growth(eigenvalues, deltas=deltas)


@pytest.mark.parametrize(
    ("X", "sigma", "message"),
    [
        (np.ones(3), 1.0, r"got shape \(3,\)"),
        ([[np.nan]], 1.0, "finite"),
        (np.ones((4001, 1)), 1.0, "at most 4,000"),
        ([[1.0], [2.0]], 0.0, "sigma must be positive"),
        ([[1.0], [2.0]], np.inf, "sigma must be positive"),
    ],
    ids=["row", "nan", "large", "zero", "infinite"],
)
def test_samples_and_scale_are_checked(X, sigma, message):
    with pytest.raises(ValueError, match=message):
        theory.gaussian_eigenvalues(X, sigma=sigma)
