"""Linear ranges of Algorithm 1: both rules against brute force, and what they promise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support import cases
from viewhop.bandwidth import joint
from viewhop.bandwidth._linear_range import find_linear_ranges
from viewhop.errors import ScaleWarning
from viewhop.kernels import Gaussian

LOG2 = np.log(2.0)
#: Step of the brute force in log σ.
STEP = LOG2 / 60


def minimal_by_brute_force(logs, slope):
    """Ends of the minimal range on a fine grid, by trying every start and every end.

    The fine grid has the given one in it, so what is linear on it is linear in between.
    """
    at = np.union1d(np.arange(logs[0], logs[-1], STEP), logs)
    s = np.interp(at, logs, slope)
    best = (np.nan, np.nan)
    for i in range(at.size):
        least = most = s[i]
        j = i
        while j < at.size:
            low, high = min(least, s[j]), max(most, s[j])
            if low < 0.3 or high - low > 0.1 * high:
                break
            least, most, j = low, high, j + 1
        if j == i:
            continue
        if at[j - 1] - at[i] >= LOG2 - 1e-9:
            return at[i], at[j - 1]
        if not at[j - 1] - at[i] <= best[1] - best[0] + 1e-9:
            best = at[i], at[j - 1]
    return best


@st.composite
def slices(draw):
    """A smooth slope with one or two peaks, as in a slice of log S, on a grid of any step."""
    n = draw(st.integers(10, 60))
    logs = np.cumsum([0.0, *draw(st.lists(st.floats(0.05, 0.6), min_size=n - 1, max_size=n - 1))])
    slope = np.zeros(n)
    for _ in range(draw(st.integers(1, 2))):
        centre = draw(st.floats(0, float(logs[-1])))
        width = draw(st.floats(0.15, 3.0))
        slope += draw(st.floats(0.1, 9.0)) * np.exp(-(((logs - centre) / width) ** 2))
    return logs, slope


@settings(deadline=None, max_examples=150)
@given(slices())
def test_the_minimal_range_is_that_of_brute_force(case):
    logs, slope = case
    [(low, high)] = find_linear_ranges(logs, slope[None], "minimal")
    expected = minimal_by_brute_force(logs, slope)
    if np.isnan(low):
        assert slope.max() < 0.3
        assert np.isnan(expected[0])
        return
    # It is a linear range,
    inside = np.union1d([low, high], logs[(logs > low) & (logs < high)])
    s = np.interp(inside, logs, slope)
    assert s.min() >= 0.3 * (1 - 1e-9)
    assert s.max() - s.min() <= 0.1 * s.max() * (1 + 1e-9)
    if high - low >= LOG2 * (1 - 1e-9):
        # the first one, and it ends where it must;
        assert not low > expected[0] + 1e-9
        beyond = np.interp(high + 1e-3, logs, slope)
        is_last = high == logs[-1]
        assert is_last or min(s.min(), beyond) < max(0.3, 0.9 * max(s.max(), beyond))
    else:
        # and the widest if none is wide enough.
        width = expected[1] - expected[0]
        assert width - 1e-9 <= high - low <= width + 2 * STEP


@settings(deadline=None, max_examples=150)
@given(slices(), st.floats(-50, 50))
def test_ranges_move_with_the_grid(case, shift):
    logs, slope = case
    for rule in ("minimal", "steepest"):
        plain = find_linear_ranges(logs, slope[None], rule)
        moved = find_linear_ranges(logs + shift, slope[None], rule)
        # Two widest ranges of the same width may change places by rounding.
        if not np.isnan(plain).any() and plain[0, 1] - plain[0, 0] >= LOG2:
            assert_allclose(moved, plain + shift, atol=1e-6)


def test_a_plateau_begins_where_the_ramp_reaches_nine_tenths():
    # Up from 0 to 2 over [0, 1], flat until 5, down to 0 at 6.
    logs = np.arange(7.0)
    slope = np.array([0.0, 2, 2, 2, 2, 2, 0])
    assert_allclose(find_linear_ranges(logs, slope[None], "minimal"), [[0.9, 5.1]], rtol=1e-12)
    assert_allclose(find_linear_ranges(logs, slope[None], "steepest"), [[0.95, 5.05]], rtol=1e-12)


def test_the_first_of_two_plateaus_counts_and_the_steepest_by_the_other_rule():
    logs = np.arange(12.0)
    slope = np.array([0.0, 1, 1, 1, 0.5, 0, 0, 3, 3, 3, 3, 0])
    assert_allclose(find_linear_ranges(logs, slope[None], "minimal"), [[0.9, 3.2]], rtol=1e-12)
    low, high = find_linear_ranges(logs, slope[None], "steepest")[0]
    assert_allclose([low, high], [6.95, 10.05], rtol=1e-12)


def test_a_plateau_below_the_least_slope_does_not_count():
    logs = np.arange(12.0)
    slope = np.array([0.0, 0.29, 0.29, 0.29, 0, 0, 0, 3, 3, 3, 3, 0])
    assert_allclose(find_linear_ranges(logs, slope[None], "minimal")[0, 0], 6.9, rtol=1e-12)


def test_a_plateau_that_is_too_narrow_gives_way_to_a_later_one_or_wins_as_the_widest():
    logs = np.array([0, 1, 1.5, 2.5, 3.5, 4.5, 5.5])
    narrow = np.array([0.0, 2, 2, 0, 0, 0, 0])
    assert_allclose(find_linear_ranges(logs, narrow[None], "minimal"), [[0.9, 1.6]], rtol=1e-12)
    narrower = np.array([0.0, 200, 200, 0, 0, 1e-6, 0])
    logs = np.array([0, 1, 1.05, 2.05, 3, 4, 5])
    assert_allclose(find_linear_ranges(logs, narrower[None], "minimal"), [[0.9, 1.15]], rtol=1e-9)
    later = np.array([0.0, 2, 2, 0, 1, 1, 0])
    assert_allclose(find_linear_ranges(logs, later[None], "minimal"), [[2.905, 4.1]], rtol=1e-12)


def test_slices_without_a_slope_have_no_range():
    logs, flat = np.arange(12.0), np.full(12, 0.1)
    ranges = find_linear_ranges(logs, np.array([flat, 10 * flat]), "minimal")
    assert np.isnan(ranges[0]).all()
    assert_array_equal(ranges[1], [0.0, 11.0])


@pytest.mark.parametrize("rule", ["minimal", "steepest"])
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.filterwarnings("ignore::viewhop.errors.ScaleWarning")
def test_a_scale_follows_its_view_and_no_other(data, rule):
    X = cases.views(data, 3, Gaussian())
    plain = joint(X, 40, rule=rule).scales
    scaled = joint([X[0] * 1024.0, X[1], X[2] / 64.0], 40, rule=rule).scales
    for name, factor in zip(plain, (1024.0, 1.0, 1 / 64.0), strict=True):
        assert_allclose(scaled[name], factor * plain[name], rtol=1e-8)


@pytest.mark.parametrize("rule", ["minimal", "steepest"])
def test_ranges_are_those_of_the_slices_and_scales_their_largest_lower_ends(rule):
    rolls = vh.datasets.make_swiss_rolls(300, noise=0.1, random_state=0).views
    result = joint(rolls, 40, rule=rule)
    assert result.rule == rule
    for (l, m), ends in result.ranges.items():
        grid, slopes = result.surfaces[l, m].scales, result.slopes[l, m]
        expected = find_linear_ranges(np.log(grid), slopes.T, rule)
        assert_allclose(np.log(ends), expected, atol=1e-12)
        assert_allclose(result.scales[l], ends[:, 0].max(), rtol=1e-12)


def steepest_before(logs, slope):
    """The range of the rule as it was before the other came, to the letter."""
    peak = int(np.argmax(slope))
    level = 0.95 * slope[peak]
    below = np.flatnonzero(slope < level)
    before = below[below < peak]
    if not before.size:
        return float(logs[0])
    k = before[-1]
    return float(np.interp(level, slope[k : k + 2], logs[k : k + 2]))


@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.filterwarnings("ignore::viewhop.errors.ScaleWarning")
def test_the_steepest_rule_is_the_earlier_one_to_the_last_bit(data):
    result = joint(cases.views(data, 3, Gaussian()), rule="steepest")
    for name, scale in result.scales.items():
        ends = [
            steepest_before(np.log(result.surfaces[pair].scales), column)
            for pair, slope in result.slopes.items()
            if pair[0] == name
            for column in slope.T
        ]
        assert scale == float(np.exp(max(ends)))


def test_circles_of_little_noise_have_two_ranges_and_the_minimal_scale_is_the_smaller():
    circles = vh.datasets.make_circles(600, noise=0.03, random_state=0)
    minimal, steepest = (joint(circles.views, rule=rule).scales for rule in ("minimal", "steepest"))
    # The circles are 2 apart, and samples of one circle 0.02 on average.
    assert max(minimal.values()) < 0.2
    assert min(steepest.values()) > 0.5


@pytest.mark.parametrize("kind", ["A", "B"])
def test_helices_close_a_whole_turn_with_the_minimal_scale(kind):
    helices = vh.datasets.make_helices(kind, n_samples=600)
    scales = joint(helices.views).scales
    kernels = {name: Gaussian(scale) for name, scale in scales.items()}
    est = vh.MultiViewDiffusionMaps.paper_settings(2, kernel=kernels, random_state=0)
    est.fit(helices.views)
    for embedding in est.view_embeddings_.values():
        angles = np.sort(np.arctan2(*(embedding - embedding.mean(axis=0)).T))
        gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
        assert np.degrees(gaps.max()) < 10


def test_a_view_of_copies_falls_back_to_the_steepest_point_and_says_so():
    X = np.zeros((400, 1))
    X[:3, 0] = 1.0, 2.0, 4.0
    Y = np.random.default_rng(0).standard_normal((400, 2))
    with pytest.warns(ScaleWarning, match="no slope of at least 0.3 over the scale of view 'x'"):
        result = joint({"x": X, "y": Y})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)
        assert result.scales["x"] == joint({"x": X, "y": Y}, rule="steepest").scales["x"]
    assert np.isfinite(result.ranges["x", "y"]).all()


def test_an_unknown_rule_is_refused():
    X = cases.views("generic", 2, Gaussian())
    with pytest.raises(ValueError, match='rule must be "minimal" or "steepest", got \'flat\''):
        joint(X, rule="flat")
