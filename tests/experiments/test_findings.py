"""Findings: leads over paired draws, and the verdicts that follow from them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop.experiments._findings import (
    CONDITIONAL,
    FAILS,
    HOLDS,
    UNTESTABLE,
    VERDICTS,
    Finding,
    judge_lead,
    measure_lead,
)

LOW = np.array([0.50, 0.52, 0.51, 0.49])
HIGH = LOW + np.array([0.10, 0.11, 0.09, 0.10])


def judge(scores, **options):
    return judge_lead("key", scores, printed="printed", **options)


def test_lead_is_mean_and_standard_error_of_paired_differences():
    lead = measure_lead([3.0, 5.0, 4.0], [1.0, 2.0, 3.0])
    assert_allclose(lead.mean, 2.0, rtol=1e-15)
    assert_allclose(lead.error, 1.0 / np.sqrt(3.0), rtol=1e-12)


@pytest.mark.parametrize(
    ("differences", "sign"), [([1.0, 1.0], 1), ([-1.0, -1.2], -1), ([1.0, -1.0], 0), ([0, 0], 0)]
)
def test_lead_within_two_errors_is_none(differences, sign):
    assert measure_lead(differences, [0.0, 0.0]).sign == sign


def test_common_spread_of_draws_does_not_hide_a_lead():
    draws = np.array([0.1, 0.9, 0.4, 0.6])  # far more spread than lead
    assert measure_lead(draws + 0.01, draws).sign == 1


@pytest.mark.parametrize("draws", [[1.0], [], [[1.0, 2.0]]])
def test_fewer_than_two_draws_are_refused(draws):
    with pytest.raises(ValueError, match="at least two draws"):
        measure_lead(draws, draws)


def test_claim_holds_if_ahead_of_every_rival_in_the_printed_setting():
    finding = judge({"printed": {"multi-view": HIGH, "a": LOW, "b": LOW - 0.1}})
    assert finding.verdict == HOLDS
    assert "ahead of a (+0.100" in finding.evidence
    assert "over 4 draws" in finding.evidence


def test_one_level_rival_is_enough_to_fail():
    finding = judge({"printed": {"multi-view": HIGH, "a": LOW, "b": HIGH[::-1]}})
    assert finding.verdict == FAILS
    assert "level with b" in finding.evidence


def test_lead_in_another_setting_is_a_condition_and_names_all_settings():
    finding = judge(
        {
            "printed": {"multi-view": LOW, "a": HIGH},
            "worse": {"multi-view": LOW, "a": HIGH},
            "better": {"multi-view": HIGH, "a": LOW},
        }
    )
    assert finding.verdict == CONDITIONAL
    assert finding.condition == "better instead of printed"
    assert "1 of 3 settings: better (tried: printed, worse, better)" in finding.evidence
    assert "behind a" in finding.evidence


def test_rivals_that_the_claim_does_not_name_do_not_count():
    scores = {"printed": {"multi-view": HIGH, "a": LOW, "other": HIGH + 1}}
    assert judge(scores, rivals=["a"]).verdict == HOLDS
    assert judge(scores).verdict == FAILS


def test_setting_without_rivals_is_no_lead():
    assert judge({"printed": {"multi-view": HIGH}}).verdict == FAILS


@pytest.mark.parametrize("verdict", [HOLDS, FAILS, UNTESTABLE])
def test_only_a_conditional_verdict_has_a_condition(verdict):
    with pytest.raises(ValueError, match="condition"):
        Finding("key", verdict, "seen", "if")
    with pytest.raises(ValueError, match="condition"):
        Finding("key", CONDITIONAL, "seen")


def test_unknown_verdict_is_refused():
    with pytest.raises(ValueError, match=VERDICTS[1]):
        Finding("key", "maybe", "seen")
