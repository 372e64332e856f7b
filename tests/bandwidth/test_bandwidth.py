"""Scales: definitions, copies of rows, and the log-log peak."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

import viewhop as vh
from tests.support import cases, oracles
from tests.walks.test_walks import affinities
from viewhop.bandwidth import Histogram, connected, joint, local, log_log, max_min
from viewhop.bandwidth import _degree_tables as degree_tables
from viewhop.bandwidth import _one_view as one_view
from viewhop.bandwidth._all_views import RULE_OF_KERNELS
from viewhop.errors import ScaleWarning
from viewhop.kernels import Gaussian, Laplacian


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


@pytest.mark.parametrize("d", [5, 20])
def test_log_log_of_a_sample_of_rows_is_within_a_hundredth(d, monkeypatch):
    X = np.random.default_rng(0).standard_normal((2000, d))
    whole, exact = log_log(X, return_error=True)
    assert exact == 0
    monkeypatch.setattr(one_view, "ALL_PAIRS", 1400)
    sampled, error = log_log(X, random_state=1, return_error=True)
    assert sampled == log_log(X, random_state=1)
    assert sampled != whole
    assert_allclose(sampled, whole, rtol=0.01)
    assert 0 < error < 0.02 * whole
    assert abs(sampled - whole) < 4 * error


def test_log_log_of_a_sample_says_where_the_peak_is_flat(monkeypatch):
    X = np.random.default_rng(0).random((1500, 1))  # on a curve, the slope is 1 almost everywhere
    monkeypatch.setattr(one_view, "ALL_PAIRS", 300)
    with pytest.warns(ScaleWarning, match="log-log scale of view 'X', .*, is uncertain by"):
        log_log(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [Gaussian("log-log"), Laplacian("log-log")], ids=["l2", "l1"])
def test_log_log_of_a_dense_kernel_counts_all_pairs(kernel, dtype, monkeypatch):
    monkeypatch.setattr(one_view, "ALL_PAIRS", 10)
    X = np.random.default_rng(0).standard_normal((900, 3)).astype(dtype)  # two rows of tiles
    (found,) = affinities(kernel, [X])
    D = oracles.distances(X.astype(np.float64), X.astype(np.float64))

    def rise(log_scale):
        u = D / np.exp(log_scale)
        values = np.exp(-kernel.exponent(u))
        return -(kernel.slope(u) * values).sum() / values.sum()

    center = np.log(found.scale)
    best = minimize_scalar(rise, bounds=(center - 0.1, center + 0.1), options={"xatol": 1e-9})
    assert_allclose(found.scale, np.exp(best.x), rtol=2e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_histogram_keeps_distances_to_a_fraction_of_a_bin(dtype):
    d = np.geomspace(1e-30, 1e30, 1001).astype(dtype)
    histogram = Histogram(np.dtype(dtype), 2.0, 2)
    histogram.add(histogram.count(d), group=1, times=2)
    histogram.add(histogram.count(np.zeros(3, dtype=dtype)))
    assert_array_equal(histogram.counts.sum(axis=1), [3, 2002])
    assert histogram.middles[0] == 0
    assert_allclose(2 * histogram.middles[1:], d, rtol=1 / 500)


@pytest.mark.parametrize("rule", [max_min, local, log_log])
def test_a_constant_view_has_no_scale(rule):
    with pytest.raises(ValueError, match="is constant: all 5 samples are equal"):
        rule(np.ones((5, 2)))


def joint_by_brute_force(X, grids):
    """log S and its slope along the first scale, from kernel products."""
    D = [oracles.distances(x, x) for x in X]
    K = [[np.exp(-(d**2) / (2 * s**2)) for s in grid] for d, grid in zip(D, grids, strict=True)]
    S = np.array([[(k @ m).sum() for m in K[1]] for k in K[0]])
    h = 1e-5
    up, down = (
        np.array(
            [
                [(np.exp(-(D[0] ** 2) / (2 * (s * np.exp(step)) ** 2)) @ m).sum() for m in K[1]]
                for s in grids[0]
            ]
        )
        for step in (h, -h)
    )
    return np.log(S), (np.log(up) - np.log(down)) / (2 * h)


@pytest.mark.parametrize("data", cases.DATA)
def test_joint_surfaces_and_slopes_equal_kernel_products(data):
    X = cases.views(data, 2, Gaussian())
    result = joint(X, 12)
    surface = result.surfaces["view1", "view2"]
    values, slope_values = joint_by_brute_force(X, (surface.scales, surface.other_scales))
    assert_allclose(surface.values, values, atol=1e-10)
    assert_allclose(result.slopes["view1", "view2"], slope_values, atol=1e-6)
    mirror = result.surfaces["view2", "view1"]
    assert_allclose(mirror.values, surface.values.T, atol=1e-12)


@pytest.mark.parametrize("data", cases.DATA)
def test_joint_surfaces_reach_both_asymptotes(data):
    X = cases.views(data, 3, Gaussian())
    result = joint(X)
    copies = [(oracles.distances(x, x) == 0).sum(axis=1) for x in X]
    for (l, m), surface in result.surfaces.items():
        a, b = (copies[int(name[-1]) - 1] for name in (l, m))
        assert_allclose(surface.values[0, 0], np.log((a * b).sum()), atol=1e-6)
        assert_allclose(surface.values[-1, -1], 3 * np.log(cases.N), atol=5e-3)
        for grid, x in ((surface.scales, X[int(l[-1]) - 1]),):
            D = oracles.distances(x, x)
            assert grid[0] < 0.2 * np.median(D[D > 0]) < 20 * np.median(D) < 40 * grid[-1]


def linear_start(logs, values):
    """Lower end of the run around the peak, by walking down from it."""
    k = int(np.argmax(values))
    level = 0.95 * values[k]
    while k > 0 and values[k - 1] >= level:
        k -= 1
    if k == 0:
        return logs[0]
    share = (level - values[k - 1]) / (values[k] - values[k - 1])
    return logs[k - 1] + share * (logs[k] - logs[k - 1])


@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.filterwarnings("ignore::viewhop.errors.ScaleWarning")
def test_the_joint_scale_is_the_largest_lower_end_of_the_linear_ranges(data):
    X = dict(zip("abc", cases.views(data, 3, Gaussian()), strict=True))
    result = joint(X, 40, rule="steepest")
    for name in X:
        ends = [
            linear_start(np.log(result.surfaces[pair].scales), column)
            for pair, slope in result.slopes.items()
            if pair[0] == name
            for column in slope.T
        ]
        assert_allclose(np.log(result.scales[name]), max(ends), atol=1e-12)


def test_the_joint_scale_lies_on_the_linear_part():
    rolls = [np.random.default_rng(k).uniform(0, 1, (300, 2)) for k in range(2)]
    result = joint(rolls)
    for (l, _), slopes in result.slopes.items():
        grid = result.surfaces[l, _].scales
        at = [np.interp(np.log(result.scales[l]), np.log(grid), column) for column in slopes.T]
        assert (np.array(at) >= 0.9 * slopes.max(axis=0)).all()


def test_a_joint_scale_beyond_a_linear_range_warns():
    # Half the samples are tight in one view and wide in the other: the slices disagree.
    rng = np.random.default_rng(1)
    half = rng.permutation(np.repeat([False, True], 20))
    x, y = (
        np.where(side, rng.normal(0, 1e3, 40), rng.normal(0, 1e-3, 40))[:, None]
        for side in (half, ~half)
    )
    with pytest.warns(ScaleWarning, match="beyond the linear range"):
        joint({"x": x, "y": y})


def test_a_joint_scale_of_a_sample_of_rows_is_close(monkeypatch):
    X = [np.random.default_rng(k).standard_normal((900, 2)) for k in range(2)]
    whole = joint(X)
    monkeypatch.setattr(one_view, "ALL_ROWS", 600)
    sampled = joint(X, random_state=1)
    assert sampled.scales == joint(X, random_state=1).scales
    for name, sigma in whole.scales.items():
        assert_allclose(sampled.scales[name], sigma, rtol=0.25)
    pair = ("view1", "view2")
    assert_allclose(sampled.surfaces[pair].values[0, 0], np.log(900), atol=1e-6)
    assert_allclose(sampled.surfaces[pair].values[-1, -1], 3 * np.log(900), atol=5e-3)


def test_tiles_do_not_change_the_tables(monkeypatch):
    X = cases.views("tied", 2, Gaussian())
    whole = joint(X, 15)
    monkeypatch.setattr(degree_tables, "TILE", 7)
    tiled = joint(X, 15)
    for pair, surface in whole.surfaces.items():
        assert_allclose(tiled.surfaces[pair].values, surface.values, atol=1e-12)
        assert_allclose(tiled.slopes[pair], whole.slopes[pair], atol=1e-12)


@pytest.mark.parametrize("data", cases.DATA)
def test_connected_is_the_smallest_factor_that_leaves_nobody_alone(data):
    X = cases.views(data, 3, Gaussian())
    D = [oracles.distances(x, x) for x in X]
    largest = [max(row[row > 0].min() for row in d) for d in D]

    def all_connected(C):
        near = [
            ((d > 0) & (d <= np.sqrt(C) * m * (1 + 1e-12))).any(axis=1)
            for d, m in zip(D, largest, strict=True)
        ]
        return np.any(near, axis=0).all()

    scales = connected(X)
    roots = [scales[name] / m for name, m in zip(scales, largest, strict=True)]
    assert_allclose(roots, roots[0], rtol=1e-12)
    assert all_connected(roots[0] ** 2)
    assert not all_connected(0.999 * roots[0] ** 2)
    assert roots[0] <= 1 + 1e-12


@pytest.mark.parametrize("rule", ["joint", "connected"])
def test_rules_over_all_views_set_the_scale_of_each_kernel(rule):
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps(2, kernel=Gaussian(rule, factor=4.0)).fit(X)
    scales = joint(X, rule=RULE_OF_KERNELS).scales if rule == "joint" else connected(X)
    for name, sigma in scales.items():
        assert_allclose(est.bandwidths_[name], 2.0 * sigma, rtol=1e-12)
    fixed = {name: Gaussian(2.0 * sigma) for name, sigma in scales.items()}
    expected = vh.MultiViewDiffusionMaps(2, kernel=fixed).fit_transform(X)
    assert_allclose(est.embedding_, expected, atol=1e-12)
    assert_allclose(est.transform(X), est.embedding_, atol=1e-8)
    assert est.kernel.bandwidth == rule


def test_rules_over_all_views_look_at_those_that_ask():
    X = dict(zip("abc", cases.views("generic", 3, Gaussian()), strict=True))
    kernels = {"a": Gaussian("joint"), "b": Gaussian(1.5), "c": Gaussian("joint", standardize=True)}
    est = vh.MultiViewDiffusionMaps(2, kernel=kernels).fit(X)
    scales = joint({"a": X["a"], "c": X["c"] / X["c"].std(axis=0)}, rule=RULE_OF_KERNELS).scales
    assert_allclose(est.bandwidths_["a"], scales["a"], rtol=1e-10)
    assert_allclose(est.bandwidths_["c"], scales["c"], rtol=1e-10)
    assert est.bandwidths_["b"] == 1.5


def test_the_joint_rule_needs_two_views():
    X = cases.views("generic", 1, Gaussian())
    with pytest.raises(ValueError, match="at least two views"):
        joint(X)
    with pytest.raises(ValueError, match="at least two views"):
        vh.DiffusionMaps(2, kernel=Gaussian("joint")).fit(X[0])
    with pytest.raises(ValueError, match="n_scales must be at least 10"):
        joint(X * 2, 5)
    with pytest.raises(ValueError, match="view 'b' is constant"):
        joint({"a": X[0], "b": np.ones((cases.N, 2))})


def test_a_near_copy_hardly_moves_the_joint_scale():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((200, 2)) for _ in range(2)]
    plain = joint(X).scales
    near = [x.copy() for x in X]
    near[0][1] = near[0][0] + 1e-9
    moved = joint(near)
    for name, sigma in plain.items():
        assert_allclose(moved.scales[name], sigma, rtol=0.05)
    surface = moved.surfaces["view1", "view2"]
    assert_allclose(surface.values[0, 0], np.log(200), atol=1e-6)
