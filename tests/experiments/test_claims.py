"""The table of claims: complete, consistent with the experiments, and shown as it is."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from tests.experiments.runs import quick
from viewhop.errors import DataMissingError
from viewhop.experiments import (
    NAMES,
    Finding,
    Result,
    _bandwidth_findings,
    _circles_bandwidth_pictures,
    _rank_findings,
    _rings,
    _statement_checks,
    _statements,
    _video_claims,
    read_claims,
)
from viewhop.experiments._claims import Claim
from viewhop.experiments._claims_page import claims_html, claims_markdown, judge
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, UNTESTABLE
from viewhop.experiments._results_tables import escape_markdown

BY_EXPERIMENT = {
    name: {claim.key for claim in read_claims() if claim.experiment == name} for name in NAMES
}
HOSTILE = "</td><script>alert(1)</script> | *b* [x](javascript:alert(1))"


def stored(*findings, experiment="circles", title="Two circles, clustered"):
    record = {"experiment": experiment, "title": title}
    return [(Result(ran={}, paper={}, findings=findings), record)]


def test_there_are_some_forty_claims_and_keys_are_unique():
    claims = read_claims()
    assert len(claims) >= 40
    assert len({claim.says + claim.where for claim in claims}) == len(claims)


def test_every_testable_claim_names_an_experiment():
    assert {claim.experiment for claim in read_claims() if claim.experiment} <= set(NAMES)


def test_every_experiment_decides_on_a_claim():
    assert [name for name in NAMES if not BY_EXPERIMENT[name]] == []


@pytest.mark.parametrize("name", NAMES)
def test_experiment_reports_exactly_its_claims(name):
    try:
        findings = quick(name).findings
    except DataMissingError as error:
        pytest.skip(str(error))
    assert sorted(finding.claim for finding in findings) == sorted(BY_EXPERIMENT[name])
    assert all(finding.evidence for finding in findings)


def test_claim_has_a_rule_or_a_reason_for_none():
    with pytest.raises(ValueError, match="experiment with a rule"):
        Claim("key", "Fig. 1", "It works.")
    with pytest.raises(ValueError, match="experiment with a rule"):
        Claim("key", "Fig. 1", "It works.", "circles", "Ahead.", "not public")


def test_claim_without_a_result_was_not_run():
    verdicts = {each.claim.key: each.verdict for each in judge([])}
    assert verdicts["circles-ahead"] == "not run"
    assert verdicts["seismic-numbers"] == UNTESTABLE


def test_finding_decides_on_its_claim_alone():
    verdicts = [each.verdict for each in judge(stored(Finding("circles-ahead", FAILS, "seen")))]
    assert verdicts.count(FAILS) == 1
    assert verdicts.count(HOLDS) == 0


def test_page_counts_verdicts_and_links_to_the_report():
    text = claims_markdown(
        stored(
            Finding("circles-ahead", CONDITIONAL, "0.9 ± 0.1", "10 neighbours"),
            Finding("circles-scale-robust", HOLDS, "0.5"),
        )
    )
    assert "| holds | 1 |" in text
    assert "| holds with a condition | 1 |" in text
    assert "holds with a condition: 10 neighbours | 0.9 ± 0.1 |" in text
    assert "[circles](report.md#circles-two-circles-clustered)" in text
    assert f"| all | {len(read_claims())} |" in text


def test_rules_are_on_the_page():
    text = claims_markdown([])
    for claim in read_claims():
        assert escape_markdown(claim.rule) in text


@pytest.mark.parametrize(
    ("claim", "numbers"),
    [
        ("helix-a-circle", (_rings.ENOUGH, _rings.CLOSED, f"{360 * (1 - _rings.CLOSED):.1f}°")),
        ("video-gap-circle", (_rings.ENOUGH, f"{_video_claims._OPEN:g}°")),
        ("video-gap-product", (_rings.ENOUGH, f"{_video_claims._OPEN:g}°")),
        ("asymptotes", (_bandwidth_findings._NEAR,)),
        ("rank-log", (_rank_findings._NEAR,)),
        ("rank-size-independent", (f"{_rank_findings._STEADY:.0%}".replace("%", " %"),)),
        ("circles-scale-robust", (_circles_bandwidth_pictures.GOOD,)),
        ("tail-products", (_statement_checks._FEW,)),
        *(
            (each.claim, (f"{each.most:g}".replace("e-0", "e-"),))
            for each in _statements._STATEMENTS
            if 0 < each.most < 1e-6
        ),
    ],
)
def test_rule_names_the_thresholds_that_the_code_applies(claim, numbers):
    (rule,) = (each.rule for each in read_claims() if each.key == claim)
    for number in numbers:
        assert str(number) in rule


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.opened = set()

    def handle_starttag(self, tag, attrs):
        self.opened.add(tag)


def test_evidence_cannot_carry_markup():
    results = stored(Finding("circles-ahead", FAILS, HOSTILE))
    parser = Tags()
    parser.feed(claims_html(results))
    assert "script" not in parser.opened
    row = next(line for line in claims_markdown(results).splitlines() if "script" in line)
    assert r"\](javascript" in row  # an escaped bracket makes no link
    assert row.replace(r"\|", "").count("|") == 7
