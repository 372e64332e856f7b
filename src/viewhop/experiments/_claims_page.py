"""The table of claims: what a folder of results says about each claim of the paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from viewhop.experiments._claims import Claim, read_claims
from viewhop.experiments._experiment import Result, Table
from viewhop.experiments._findings import UNTESTABLE, VERDICTS, Finding
from viewhop.experiments._results_tables import escape_markdown, html_table, markdown_table

__all__ = ["CLAIMS_TITLE", "Judgement", "claims_html", "claims_markdown", "judge"]

CLAIMS_TITLE = "The paper's claims"
_INTRO = (
    "What these experiments say about each claim of the paper. A verdict follows from the numbers "
    "by the claim's rule. Rules were written before the recorded runs, with earlier versions of "
    "most results known. Three verdicts rest on a change made after a result was seen: "
    "Caltech-101 was then asked for both scores and both numbers of pictures (it had held with a "
    "condition), DANCo was tried at two more numbers of samples (at 500 alone it did not hold), "
    "and a sample exactly at the scale was counted as connected (one in 20 draws was not). "
    "“Holds” means in the paper's own setting; a condition names the setting in which a claim "
    "holds instead, beside all others that were tried. Data that stand in for unpublished ones can "
    "neither confirm nor refute numbers, only show whether an effect appears there."
)
#: Verdict on a claim whose experiment is not in the folder.
NOT_RUN = "not run"


class Judgement(NamedTuple):
    """A claim with the finding on it.

    Attributes
    ----------
    claim : Claim
    finding : Finding or None
        None if its experiment was not run.
    title : str
        Heading of the experiment in the report.
    """

    claim: Claim
    finding: Finding | None
    title: str = ""

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`, or that it was not run."""
        return NOT_RUN if self.finding is None else self.finding.verdict

    @property
    def condition(self) -> str:
        """The condition of the verdict, after a colon; empty if there is none."""
        return f": {self.finding.condition}" if self.finding and self.finding.condition else ""

    @property
    def evidence(self) -> str:
        """What was measured, or how to measure it."""
        if self.finding is None:
            return f"viewhop reproduce {self.claim.experiment}"
        return self.finding.evidence


def judge(stored: Iterable[tuple[Result, Mapping[str, Any]]]) -> list[Judgement]:
    """Every claim with what the results say about it.

    Parameters
    ----------
    stored : list of (Result, record) pairs
    """
    findings, titles = {}, {}
    for result, record in stored:
        for finding in result.findings:
            findings[finding.claim] = finding
            titles[finding.claim] = f"{record['experiment']}: {record['title']}"
    return [
        Judgement(claim, Finding(claim.key, UNTESTABLE, claim.untestable))
        if claim.untestable
        else Judgement(claim, findings.get(claim.key), titles.get(claim.key, ""))
        for claim in read_claims()
    ]


def claims_markdown(stored: Iterable[tuple[Result, Mapping[str, Any]]]) -> str:
    """The page of claims in Markdown, with links into ``report.md``.

    Parameters
    ----------
    stored : list of (Result, record) pairs
    """
    judgements = judge(stored)
    head = ("where", "claim", "verdict", "evidence", "experiment")
    rows = [head, ("---",) * len(head)]
    for each in judgements:
        cells = (
            each.claim.where,
            each.claim.says,
            f"{each.verdict}{each.condition}",
            each.evidence,
        )
        rows.append((*map(escape_markdown, cells), _link(each)))
    rules = "\n".join(
        f"- *{escape_markdown(claim.says)}* {escape_markdown(claim.rule)}"
        for claim, _, _ in judgements
        if claim.rule
    )
    parts = (
        f"# {CLAIMS_TITLE}",
        _INTRO,
        markdown_table(_count_verdicts(judgements)),
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
        "## Rules",
        "By which each verdict follows from the numbers. “Ahead” means that the mean lead over the "
        "draws exceeds two standard errors of the paired difference.",
        rules,
    )
    return "\n\n".join(parts) + "\n"


def claims_html(stored: Iterable[tuple[Result, Mapping[str, Any]]]) -> str:
    """The section of claims in HTML.

    Parameters
    ----------
    stored : list of (Result, record) pairs
    """
    judgements = judge(stored)
    table = Table(
        "Claims, verdicts and rules",
        ("where", "claim", "verdict", "evidence", "experiment", "rule"),
        tuple(
            (
                each.claim.where,
                each.claim.says,
                f"{each.verdict}{each.condition}",
                each.evidence,
                each.claim.experiment,
                each.claim.rule,
            )
            for each in judgements
        ),
    )
    return (
        f'<section id="claims">\n<h2>{CLAIMS_TITLE}</h2>\n<p>{escape(_INTRO)}</p>\n'
        f"{html_table(_count_verdicts(judgements))}{html_table(table)}</section>\n"
    )


def _count_verdicts(judgements: Sequence[Judgement]) -> Table:
    """Table of the number of claims by verdict."""
    counts = Counter(each.verdict for each in judgements)
    names = [*VERDICTS, *([NOT_RUN] if counts[NOT_RUN] else [])]
    rows = tuple((name, counts[name]) for name in names)
    return Table("Claims by verdict", ("verdict", "claims"), (*rows, ("all", len(judgements))))


def _link(judgement: Judgement) -> str:
    """Link to the experiment's section of the report; its bare name if it was not run."""
    name = judgement.claim.experiment
    if not judgement.title:
        return name or "–"
    anchor = re.sub(r"[^\w\- ]", "", judgement.title.lower()).replace(" ", "-")
    return f"[{name}](report.md#{anchor})"
