"""Scales: definitions, copies of rows, and the log-log peak."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests import cases, oracles
from viewhop import bandwidth
from viewhop.bandwidth import local, log_log, max_min
from viewhop.kernels import Gaussian


@pytest.mark.parametrize("data", cases.DATA)
def test_max_min_is_the_largest_nearest_distinct_distance(data):
    (X,) = cases.views(data, 1, Gaussian())
    D = oracles.distances(X, X)
    expected = max(row[row > 0].min() for row in D)
    assert_allclose(max_min(X), expected, rtol=1e-12)
    assert_allclose(max_min(X, 2.25), 1.5 * expected, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 100])
@pytest.mark.parametrize("data", cases.DATA)
def test_local_scales_are_ranked_distances(data, k):
    (X,) = cases.views(data, 1, Gaussian())
    expected = [oracles.rank(row, k) for row in oracles.distances(X, X)]
    assert_allclose(local(X, k), expected, rtol=1e-12)
    assert_allclose(local(X, k, factor=4.0), 2 * np.array(expected), rtol=1e-12)


def slope(D, sigma):
    """d log S / d log σ by central differences of the definition."""
    h = 1e-4
    S = [np.exp(-(D**2) / (2 * (sigma * np.exp(s)) ** 2)).sum() for s in (-h, h)]
    return (np.log(S[1]) - np.log(S[0])) / (2 * h)


@pytest.mark.parametrize("data", cases.DATA)
def test_log_log_is_where_the_sum_rises_most_steeply(data):
    (X,) = cases.views(data, 1, Gaussian())
    D = oracles.distances(X, X)
    sigma = log_log(X)
    best = slope(D, sigma)
    for other in sigma * np.geomspace(1e-3, 1e3, 400):
        assert slope(D, other) <= best + 1e-5


def test_log_log_slope_estimates_the_dimension():
    # On a d-dimensional set the slope at its peak is about d.
    rng = np.random.default_rng(0)
    for d in (1, 2):
        X = rng.uniform(0, 1, (600, d))
        assert abs(slope(oracles.distances(X, X), log_log(X)) - d) < 0.35 * d


def test_log_log_of_a_sample_of_rows_is_close(monkeypatch):
    X = np.random.default_rng(0).standard_normal((900, 2))
    whole = log_log(X)
    monkeypatch.setattr(bandwidth, "ALL_ROWS", 500)
    sampled = log_log(X, random_state=1)
    assert sampled == log_log(X, random_state=1)
    assert_allclose(sampled, whole, rtol=0.1)
    assert sampled != whole


@pytest.mark.parametrize("rule", [max_min, local, log_log])
def test_a_constant_view_has_no_scale(rule):
    with pytest.raises(ValueError, match="is constant: all 5 samples are equal"):
        rule(np.ones((5, 2)))
