"""The comparison of the rules for the linear range: the decision, and a small run."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import joint_rules
from benchmarks.joint_rules import FAMILIES, Row, decide, mean_scores
from benchmarks.joint_rules_page import write_page


def row(family, level, minimal, steepest):
    scores = {"minimal": np.array(minimal), "steepest": np.array(steepest)}
    return Row(family, level, "share", scores, scores, {"minimal": 1.0, "steepest": 2.0})


def test_families_count_once_whatever_their_levels():
    rows = [row("a", "1", [1.0, 1.0], [0, 0]), row("a", "2", [0.0], [0.0]), row("b", "", [0], [1])]
    means = mean_scores(rows)
    assert means["a"] == {"minimal": 0.5, "steepest": 0.0}
    assert means["mean of the families"] == {"minimal": 0.25, "steepest": 0.5}
    assert decide(rows) == "steepest"


@pytest.mark.parametrize(
    ("steepest", "chosen"), [(0.5, "minimal"), (0.509, "minimal"), (0.52, "steepest")]
)
def test_a_tie_goes_to_the_words_of_the_paper(steepest, chosen):
    rows = [row("a", "", [0.5], [steepest])]
    assert decide(rows) == chosen
    assert f"takes `{chosen}`" in write_page(rows, 1)


def test_a_small_run_scores_every_family_with_both_rules_and_walks():
    rows = [*joint_rules.score_rules(draws=1, small=True)]
    assert [*dict.fromkeys(each.family for each in rows)] == [*FAMILIES]
    assert len(FAMILIES) == 8
    for each in rows:
        for scores in (each.scores, each.default):
            for values in scores.values():
                assert values.shape == (1,)
                assert 0 <= values[0] <= 1
    assert write_page(rows, 1).count("\n| circles, noise") == 5
