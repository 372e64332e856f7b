"""Fig. 3: both asymptotes, the chosen scales and their slopes, and the claims about them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from tests.experiments.runs import check_pictures, quick, table
from viewhop import bandwidth
from viewhop.datasets import make_circles
from viewhop.experiments import Context
from viewhop.experiments._bandwidth_findings import (
    ScaleDraw,
    judge_asymptotes,
    judge_cost,
    judge_small,
)
from viewhop.experiments._bandwidth_surface import count_kernel_values
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS


def circles():
    return make_circles(300, noise=0.03, random_state=Context().integer(0, 2)).views


def test_the_surface_is_the_sum_of_the_kernel_product():
    numbers = quick("bandwidth-surface").numbers["shown"]["thin circles"]["minimal"]
    for k, m in ((5, 40), (30, 30), (59, 2)):
        scales = numbers["scales"][k], numbers["other_scales"][m]
        K, L = (
            np.exp(-cdist(rows, rows, "sqeuclidean") / (2 * sigma**2))
            for (_, rows), sigma in zip(circles().items(), scales, strict=True)
        )
        assert_allclose(numbers["values"][k][m], np.log((K @ L).sum()), rtol=1e-10)


@pytest.mark.parametrize("rule", ["minimal", "steepest"])
def test_the_picture_has_scales_and_ranges_by_either_rule(rule):
    numbers = quick("bandwidth-surface").numbers["shown"]["thin circles"][rule]
    expected = bandwidth.joint(circles(), rule=rule)
    assert_allclose([*numbers["chosen"].values()], [*expected.scales.values()], rtol=1e-12)
    assert_allclose(numbers["ranges"], expected.ranges["x", "y"], rtol=1e-12)


def test_the_ends_reach_the_asymptotes():
    for row in table(quick("bandwidth-surface"), "Both"):
        assert_allclose(row["log M"], np.log(row["M"]), rtol=1e-15)
        # Two equal samples of the corkscrew add 2/M to S.
        assert abs(row["smallest log S"] - row["log M"]) < 0.01
        assert abs(row["largest log S"] - row["3 log M"]) < 0.01
        assert abs(row["end of the slice"] - row["2 log M"]) < 0.01


def test_the_slope_on_rolls_and_circles_is_their_dimension():
    rows = {row["data"]: row for row in table(quick("bandwidth-surface"), "Scales")}
    for name in ("Swiss rolls", "thin circles"):
        slope = float(rows[name]["slope"].split(" ")[0])
        assert abs(slope - rows[name]["dimension"]) < 0.2


def test_findings_are_about_asymptotes_size_and_cost():
    findings = quick("bandwidth-surface").findings
    assert [each.claim for each in findings] == [
        "asymptotes",
        "algorithm-1-small",
        "algorithm-1-cost",
    ]
    assert findings[0].verdict == HOLDS
    assert findings[2].verdict == FAILS


LOG = np.log(100)
RULES = ("max-min", "log-log")


def draws(minimal, low=LOG, high=3 * LOG):
    """Ten draws with this scale by Algorithm 1, and 1.0 by the others."""
    noise = 0.001 * np.random.default_rng(0).standard_normal((10, 2))
    ends = (100, LOG, low, 3 * LOG, high, 2 * LOG, 2 * LOG)
    return [
        ScaleDraw(
            {"minimal": tuple(minimal + each), "max-min": (1.0, 1.0), "log-log": (1.0, 1.0)},
            ends,
            1.0,
            False,
        )
        for each in noise
    ]


def test_a_small_scale_must_be_smaller_in_both_views_on_all_data():
    def judge(**data):
        return judge_small({name: draws(scales) for name, scales in data.items()}, RULES)

    small, large = np.array([0.5, 0.5]), np.array([0.5, 1.5])
    assert judge(a=small, b=small).verdict == HOLDS
    some = judge(a=small, b=large)
    assert (some.verdict, some.condition) == (CONDITIONAL, "data: a")
    assert judge(a=large).verdict == FAILS
    # Within the error of the draws.
    assert judge(a=np.array([1.0, 1.0])).verdict == FAILS


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [({}, HOLDS), ({"low": np.log(102)}, FAILS), ({"high": 3 * np.log(99)}, FAILS)],
)
def test_asymptotes_must_be_reached_at_both_ends(ends, verdict):
    assert judge_asymptotes({"a": draws(np.ones(2), **ends)}).verdict == verdict


def test_the_printed_steps_evaluate_every_kernel_value():
    assert count_kernel_values(20, n_views=3, n_scales=4) == 3 * 4 * 20**2
    assert judge_cost({10: 100, 20: 400}).verdict == FAILS
    assert judge_cost({10: 100, 20: 200}).verdict == HOLDS


def test_pictures_have_labels():
    check_pictures("bandwidth-surface", quick("bandwidth-surface"))
