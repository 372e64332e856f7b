"""Theorem 7 and Section 5.7: orders in ε and in M."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.experiments.runs import check_pictures, quick, table
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS
from viewhop.experiments._power_law import exponent
from viewhop.experiments._theorem7 import (
    _find_order,
    _find_variance,
    density,
    expansion_errors,
    printed_expansion,
)
from viewhop.theory import generator_expansion


def test_the_exponent_of_a_power_is_found():
    at = np.array([0.1, 0.5, 2.0])
    assert_allclose(exponent(at, 7 * at**-1.5), -1.5, rtol=1e-12)


def test_the_printed_expansion_has_the_derivatives_it_says():
    x = 2 * np.pi * np.arange(64) / 64
    speed = 1 + 0.3 * np.cos(x)
    # f = β′ sin x makes fα = sin x, whose second derivative is −sin x.
    f, g = speed * np.sin(x), np.zeros(64)
    found = printed_expansion(x, np.concatenate([f, g]), 0.1)
    assert_allclose(found[:64], 0, atol=1e-12)
    assert_allclose(found[64:], f - 0.1 * np.sin(x) * speed, atol=1e-12)


def test_both_expansions_keep_constants_apart():
    """P̂1 = 1 exactly; the corrected ε-term vanishes there, the printed one does not."""
    x = 2 * np.pi * np.arange(64) / 64
    ones = np.ones(128)
    assert_allclose(generator_expansion(x + 0.3 * np.sin(x), ones, epsilon=0.1), 1, atol=1e-10)
    assert np.abs(printed_expansion(x, ones, 0.1) - 1).max() > 0.01


def test_only_the_corrected_term_raises_the_order():
    orders = {
        term: [exponent((0.02, 0.01, 0.005, 0.0025), side) for side in found]
        for term, found in expansion_errors(200).items()
    }
    assert min(orders["ε-term corrected"]) > 1.8
    assert max(orders["ε-term as printed"]) < 1.4
    assert max(orders["without the ε-term"]) < 1.2


def test_the_mean_estimate_is_the_integral_of_both_windows():
    M, epsilon = 150, 0.01
    generator = np.random.default_rng(0)
    # The point is 0.6, where the density of the second view is 1/1.1.
    found = [density(M, epsilon, generator) for _ in range(400)]
    u = (np.arange(1000) + 0.5) / 1000
    beta = (u + u**2) / 2

    def window(apart):
        return np.exp(-(apart**2) / (2 * epsilon)) / np.sqrt(2 * np.pi * epsilon)

    others = window(beta[:, None] - beta).mean(axis=1) * (M - 1) / M
    expected = np.mean(window(0.6 - u) * (others + window(0.0) / M))
    assert abs(np.mean(found) - expected) < 4 * np.std(found) / np.sqrt(len(found))


def test_variances_stay_below_their_bound_and_fall_with_the_samples():
    result = quick("generator")
    for row in table(result, "Variance"):
        assert 0 < row["measured"] < row["bound"]
    laws = {row["law"]: row for row in table(result, "Exponents")}
    over_samples = laws["variance over M"]
    error = over_samples["measured"] - over_samples["of the bound"]
    assert abs(error) < 4 * over_samples["standard error"] < 1
    over_scales = laws["variance over ε"]
    assert over_scales["of the bound"] < over_scales["measured"] < -0.2


def test_pictures_have_labels():
    check_pictures("generator", quick("generator"))


def test_order_below_the_claimed_one_needs_the_correction():
    terms = ("without the ε-term", "ε-term as printed", "ε-term corrected")

    def verdict(*slopes):
        return _find_order(dict(zip(terms, slopes, strict=True))).verdict

    assert verdict([1, 1], [1.6, 1.5], [2, 2]) == HOLDS
    assert verdict([1, 1], [1.6, 1.4], [2, 2]) == CONDITIONAL
    assert verdict([1, 1], [1.6, 1.4], [1.4, 2]) == FAILS


@pytest.mark.parametrize(
    ("slope", "share", "verdict"), [(-1.05, 0.5, HOLDS), (-1.3, 0.5, FAILS), (-1.0, 1.1, FAILS)]
)
def test_variance_must_keep_its_bound_and_its_exponent(slope, share, verdict):
    law = ("variance over M", slope, 0.05, -1.0)
    assert _find_variance(law, np.array([0.1, share])).verdict == verdict
