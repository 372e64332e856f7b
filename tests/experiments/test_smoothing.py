"""Fig. 1: a gap in one view is closed by the other."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from tests.experiments.runs import check_pictures, quick, table
from viewhop.experiments._findings import FAILS, HOLDS
from viewhop.experiments._smoothing import _find_crossing, largest_jump, mass_across


def test_mass_across_sums_the_other_side():
    side = np.array([0, 0, 1, 1])
    step = np.array([[0.5, 0.2, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    # 0.3 of the first start ends beyond the gap, 0.3 of the second, which starts beyond it.
    assert_allclose(mass_across(side, np.array([0, 2]), step), 0.3, rtol=1e-15)


def test_the_largest_jump_is_a_share_of_the_range():
    assert_allclose(largest_jump(np.array([3.0, 0.0, 1.0, 10.0])), 0.7, rtol=1e-15)


def test_a_step_within_a_view_stays_and_one_between_views_passes():
    for row in table(quick("smoothing"), "Probability"):
        assert row["multi-view"] > 0.1
        # Two steps of a view smooth as often as one between views, and do not pass either.
        assert row["one view"] <= row["one view, two steps"] < 0.05
        if "default" in row["kernel"]:
            assert row["one view, two steps"] == 0


def test_only_the_walk_between_views_makes_one_curve():
    for row in table(quick("smoothing"), "The walk"):
        together = row["walk"] == "multi-view"
        assert (row["widest empty stretch of it"] < 0.1) == together
        if "default" in row["kernel"]:
            assert row["pieces"] == (1 if together else 2)
        if together:
            assert row["rank correlation of coordinate 1 with θ"] > 0.98


def test_probabilities_that_are_drawn_sum_to_one():
    for chance in quick("smoothing").numbers["probabilities"].values():
        assert_allclose(sum(chance), 1, rtol=1e-12)


def test_pictures_have_labels():
    check_pictures("smoothing", quick("smoothing"))


def test_one_gap_that_is_hardly_crossed_refutes_the_claim():
    crossed = {"one view": 0.0, "one view, two steps": 0.01, "multi-view": 0.2}
    hardly = {**crossed, "multi-view": 0.04}
    assert _find_crossing([{"x": crossed, "y": crossed}] * 2).verdict == HOLDS
    finding = _find_crossing([{"x": crossed, "y": crossed}, {"x": crossed, "y": hardly}])
    assert finding.verdict == FAILS
    assert "at least 0.040" in finding.evidence
