"""Theorem 7: the operator that the walk of two views tends to."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop import theory

M = 400
GRID = 2 * np.pi * np.arange(M) / M
EPSILONS = np.array([0.02, 0.01, 0.005, 0.0025])


def stretched(x):
    return x + 0.3 * np.sin(x)


def function(x, y):
    return np.concatenate([np.sin(x) + 0.3 * np.cos(2 * x), np.cos(y) + 0.2 * np.sin(2 * y)])


def errors(x, y, expansion):
    """Largest error in each view, (2, len(EPSILONS))."""
    h = function(x, y)
    differences = [
        np.abs(theory.walk_step(theory.circle_walk(x, y, epsilon=e), h) - expansion(y, h, e))
        for e in EPSILONS
    ]
    return np.array(differences).reshape(len(EPSILONS), 2, M).max(axis=2).T


def slopes(sizes):
    return np.polyfit(np.log(EPSILONS), np.log(sizes).T, 1)[0]


def corrected(y, h, epsilon):
    return theory.generator_expansion(y, h, epsilon=epsilon)


def derivative(u):
    return np.gradient(np.tile(u, 3), GRID[1])[M : 2 * M]


def printed(y, h, epsilon):
    """g + ε Δγ/α and f + ε Δη/α, each Laplacian in the view of its function; α∘β = 1/β′."""
    f, g = np.split(h, 2)
    speed = 1 + derivative(y - GRID)
    alpha, d = 1 / speed, derivative
    return np.concatenate(
        [
            g + epsilon * d(d(g * alpha) / speed) / speed / alpha,
            f + epsilon * d(d(f * alpha)) / alpha,
        ]
    )


def test_the_corrected_expansion_leaves_an_error_of_second_order():
    assert slopes(errors(GRID, stretched(GRID), corrected)).min() > 1.8


def test_the_printed_expansion_leaves_one_of_first_order():
    rates = slopes(errors(GRID, stretched(GRID), printed))
    assert_allclose(rates, 1.0, atol=0.15)


def test_for_an_isometry_both_are_the_same():
    y = GRID + 0.7
    h = function(GRID, y)
    assert_allclose(corrected(y, h, 0.01), printed(y, h, 0.01), atol=1e-4)
    assert slopes(errors(GRID, y, corrected)).min() > 1.8


def test_samples_that_are_not_uniform_break_the_theorem():
    x = GRID + 0.3 * np.cos(GRID)
    assert slopes(errors(x, stretched(x), corrected)).max() < 1.5


def test_the_expansion_agrees_with_derivatives_by_hand():
    y, epsilon = stretched(GRID), 0.01
    f, g = np.split(function(GRID, y), 2)
    b, b1 = 1 + 0.3 * np.cos(GRID), -0.3 * np.sin(GRID)  # β′ and β″
    fx = np.cos(GRID) - 0.6 * np.sin(2 * GRID)
    fxx = -np.sin(GRID) - 1.2 * np.cos(2 * GRID)
    gy = -np.sin(y) + 0.4 * np.cos(2 * y)
    gyy = -np.cos(y) - 0.8 * np.sin(2 * y)
    a_y, f_y = -b1 / b**3, fx / b  # α = 1/β′ as a function of y, and f∘β⁻¹
    f_yy = fxx / b**2 - fx * b1 / b**3
    # The product rule cancels Δα: α g″ + 2 α′ g′ in y, and the same along x.
    gx, gxx = gy * b, gyy * b**2 + gy * b1
    a_x = -b1 / b**2
    first = g + epsilon / 2 * b * (gyy / b + 2 * a_y * gy + gxx / b + 2 * a_x * gx)
    second = f + epsilon / 2 * (fxx + f_yy + 2 * a_y * f_y * b)
    assert_allclose(
        theory.generator_expansion(y, np.concatenate([f, g]), epsilon=epsilon),
        np.concatenate([first, second]),
        atol=1e-11,
    )


@pytest.mark.parametrize("size", [63, 64])
def test_grids_of_odd_and_even_size_agree_with_a_fine_one(size):
    def at(n):
        x = 2 * np.pi * np.arange(n) / n
        return theory.generator_expansion(
            stretched(x), function(x, stretched(x)), epsilon=0.01
        ).reshape(2, n)[:, 0]

    assert_allclose(at(size), at(800), atol=1e-9)


def test_the_walk_on_circles_is_that_of_wrapped_gaussians():
    x = np.array([0.0, 1.0, 3.0, 6.0])
    walk = theory.circle_walk(x, x + 2 * np.pi, epsilon=0.5)
    expected = sum(
        np.exp(-((x[:, None] - x + 2 * np.pi * k) ** 2) / (2 * 0.5)) for k in range(-9, 10)
    )
    for K in walk.affinities:
        assert_allclose(K @ np.eye(4), expected, rtol=1e-12)


def test_what_is_no_circle_is_refused():
    h = np.ones(2 * M)
    with pytest.raises(ValueError, match="must increase around the circle"):
        theory.generator_expansion(-GRID, h, epsilon=0.1)
    with pytest.raises(ValueError, match="expected 800 values"):
        theory.generator_expansion(GRID, h[:-1], epsilon=0.1)
    with pytest.raises(ValueError, match="differ in length: 400 and 399"):
        theory.circle_walk(GRID, GRID[1:], epsilon=0.1)
    with pytest.raises(ValueError, match="epsilon must be a positive number, got 0"):
        theory.circle_walk(GRID, GRID, epsilon=0)
    with pytest.raises(ValueError, match="first view must be at least three finite angles"):
        theory.circle_walk([np.nan] * 5, np.arange(5), epsilon=1)
    with pytest.raises(ValueError, match="must have 800 entries, one per node"):
        theory.walk_step(theory.circle_walk(GRID, GRID, epsilon=0.1), np.ones(3))
