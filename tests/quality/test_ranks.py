"""Ranks, the critical difference, and a choice with one set held out."""

from __future__ import annotations

import pytest
from benchmarks.quality.ranks import cliques, critical_difference, hold_out, mean_ranks
from numpy.testing import assert_allclose


def test_equal_scores_share_their_ranks():
    scores = {
        "a": {"x": 0.9, "y": 0.5},
        "b": {"x": 0.9, "y": 0.5},
        "c": {"x": 0.1, "y": 0.7},
    }
    # x: a and b share 1 and 2; y: c is first, a and b share 2 and 3.
    assert mean_ranks(scores) == {"a": 2.0, "b": 2.0, "c": 2.0}


def test_the_highest_score_has_rank_one():
    assert mean_ranks({"a": {"x": 0.2}, "b": {"x": 0.4}}) == {"a": 2.0, "b": 1.0}


def test_ranks_need_the_same_sets():
    with pytest.raises(ValueError, match="the same sets"):
        mean_ranks({"a": {"x": 0.2}, "b": {"y": 0.4}})


@pytest.mark.parametrize(("n_methods", "quantile"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_has_the_quantiles_of_the_tables(n_methods, quantile):
    # Demšar (2006), Table 5(a); 14 sets.
    expected = quantile * (n_methods * (n_methods + 1) / (6 * 14)) ** 0.5
    assert_allclose(critical_difference(n_methods, 14), expected, rtol=3e-4)


def test_cliques_are_the_largest_groups_within_the_difference():
    ranks = {"d": 4.0, "a": 1.0, "b": 1.5, "c": 2.4}
    assert cliques(ranks, 1.0) == [["a", "b"], ["b", "c"]]
    assert cliques(ranks, 9.0) == [["a", "b", "c", "d"]]


def test_a_choice_is_scored_on_the_set_that_it_has_not_seen():
    scores = {
        "p": {"x": 0.9, "y": 0.1, "z": 0.2},
        "q": {"x": 0.2, "y": 0.4, "z": 0.4},
    }
    held = hold_out(scores, ["x", "y", "z"])
    assert held.best == "p"  # 0.4 against 1/3
    assert_allclose(held.mean, 0.4, rtol=1e-12)
    # Without x: p 0.15, q 0.4. Without y: p 0.55, q 0.3. Without z: p 0.5, q 0.3.
    assert held.chosen == {"x": "q", "y": "p", "z": "p"}
    assert held.scores == {"x": 0.2, "y": 0.1, "z": 0.2}
    assert_allclose(held.held_out_mean, 0.5 / 3, rtol=1e-12)
