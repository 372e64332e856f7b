"""Eqs. (47) and (48): the window estimate, its variance, and its scale."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop import theory


def bent(x):
    return x + 0.1 * np.sin(2 * np.pi * x)


def variance(draw, n_draws, dimension, epsilon):
    """Variance over draws of the estimate in the middle of the domain."""
    rng = np.random.default_rng(0)
    middle = [[0.5] * dimension]
    values = []
    for _ in range(n_draws):
        x = draw(rng)
        values.append(theory.parzen_density(x, bent(x), middle, epsilon=epsilon)[0])
    return np.var(values)


@pytest.mark.parametrize("d", [1, 2])
def test_the_estimate_is_its_double_sum(d):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(2, 15, d))
    points = rng.uniform(size=(4, d))
    epsilon = 0.05

    def window(z):
        return (2 * np.pi) ** (-d / 2) * np.exp(-0.5 * (z**2).sum() / epsilon)

    expected = [
        sum(window(p - x) * window(y - w) for x, y in zip(X, Y, strict=True) for w in Y)
        / (15**2 * epsilon**d)
        for p in points
    ]
    density = theory.parzen_density(X, Y, points, epsilon=epsilon)
    assert_allclose(density, expected, rtol=1e-12)


def test_the_estimate_tends_to_the_density_of_the_second_view():
    x = (np.arange(4000)[:, None] + 0.5) / 4000
    points = np.array([[0.3], [0.5], [0.7]])
    density = theory.parzen_density(x, bent(x), points, epsilon=1e-4)
    slope = 1 + 0.2 * np.pi * np.cos(2 * np.pi * points[:, 0])
    assert_allclose(density, 1 / slope, rtol=0.03)


@pytest.mark.parametrize("epsilon", [0.01, 0.05])
@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("d", [1, 2])
def test_the_variance_stays_below_the_bound(d, n, epsilon):
    measured = variance(lambda rng: rng.uniform(size=(n, d)), 200, d, epsilon)
    densest = (1 / (1 - 0.2 * np.pi)) ** d
    bound = theory.variance_bound(n, d, epsilon=epsilon, density_bound=densest)
    assert 0 < measured < bound


def test_the_variance_shrinks_as_the_bound_does_with_more_samples():
    few, many = (
        variance(lambda rng, n=n: rng.uniform(size=(n, 1)), 400, 1, 0.05) for n in (25, 200)
    )
    bounds = [theory.variance_bound(n, 1, epsilon=0.05) for n in (25, 200)]
    assert_allclose(few / many, bounds[0] / bounds[1], rtol=0.4)


def test_samples_that_are_not_independent_break_the_bound():
    copied = variance(lambda rng: np.repeat(rng.uniform(size=(1, 1)), 200, axis=0), 200, 1, 0.01)
    densest = 1 / (1 - 0.2 * np.pi)
    assert copied > 2 * theory.variance_bound(200, 1, epsilon=0.01, density_bound=densest)


def test_the_bound_has_its_constants():
    assert_allclose(
        theory.variance_bound(50, 2, epsilon=0.1, density_bound=3.0),
        8 / (4 * np.pi) / (2 * np.pi) ** 2 * 4 / (50 * 0.1**3),
        rtol=1e-12,
    )


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_suggested_scale_balances_bias_and_variance_at_every_size(d):
    n = np.array([100, 10_000])
    epsilon = np.array([theory.suggested_epsilon(int(m), d, scale=3.0) for m in n])
    bounds = [theory.variance_bound(int(m), d, epsilon=e) for m, e in zip(n, epsilon, strict=True)]
    assert_allclose(bounds[0] / bounds[1], (epsilon[0] / epsilon[1]) ** 2, rtol=1e-10)
    assert_allclose(epsilon, 9 * theory.suggested_epsilon(1, d) * n ** (-2 / (4 + 3 * d)))


def test_numbers_without_meaning_are_refused():
    x = np.zeros((3, 1))
    with pytest.raises(ValueError, match="epsilon must be a positive number, got -1"):
        theory.parzen_density(x, x, x, epsilon=-1)
    with pytest.raises(ValueError, match="3 and 2 samples"):
        theory.parzen_density(x, x[:2], x, epsilon=1)
    with pytest.raises(ValueError, match="points have 2 columns, but the first view 1"):
        theory.parzen_density(x, x, np.zeros((1, 2)), epsilon=1)
    with pytest.raises(ValueError, match="second must be a finite"):
        theory.parzen_density(x, x[:, 0], x, epsilon=1)
    with pytest.raises(
        ValueError, match=r"n_samples must be a whole number of at least 1, got 2\.5"
    ):
        theory.variance_bound(2.5, 1, epsilon=1)
    with pytest.raises(ValueError, match="dimension must be a whole number of at least 1, got 0"):
        theory.suggested_epsilon(10, 0)
    with pytest.raises(ValueError, match="scale must be a positive number"):
        theory.suggested_epsilon(10, 1, scale=np.nan)
