"""The table of claims: the verdicts of a folder of results on the claims of the paper."""

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
    "What these experiments say about the paper's claims: its theorems, lemmas and numbered "
    "results, every figure and table with an outcome, and what the abstract and the text assert "
    "about the method, in the order of the paper and in our words. Each claim that can be tested "
    "has a rule, which derives the verdict from the numbers; it stands before the verdict.",
    "“Holds” means: in the paper's own setting, or, where its setting or data are not published, "
    "in our substitute for it. “Holds with a condition” means: not there, but in the setting or "
    "form that the condition names; if several settings were tried, the evidence names them all. "
    "“Does not hold here” means neither. Substitute data can neither confirm nor refute the "
    "paper's numbers; they only show whether an effect appears there.",
    "“Ahead” means that the mean lead over the draws exceeds two standard errors of the paired "
    "difference. After a score, ± is the standard deviation over the draws; after a lead, it is "
    "two standard errors.",
    "Draws of real data are overlapping subsets of one data set, so that their standard errors are "
    "rather too small, and with about ten draws two standard errors are a little less than a "
    "95 % interval. Nothing corrects for the number of settings that were tried; the evidence "
    "says how many there were.",
    "The rules were written before the recorded runs, but by then earlier versions of most results "
    "were known. Their wording was later made to say exactly what the code checks; no threshold "
    "changed. Three verdicts rest on a change made after a result was seen. Caltech-101: the "
    "rule was extended to both scores and both numbers of pictures; until then the claim held with "
    "a condition. DANCo: two more numbers of samples were tried; with 500 samples alone the claim "
    "did not hold. Connected samples: a sample exactly at the scale now counts as connected; until "
    "then one in 20 draws failed.",
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
        """One of `VERDICTS`, or `NOT_RUN`."""
        return NOT_RUN if self.finding is None else self.finding.verdict

    @property
    def condition(self) -> str:
        """The condition of the verdict, preceded by a colon; empty if there is none."""
        return f": {self.finding.condition}" if self.finding and self.finding.condition else ""

    @property
    def evidence(self) -> str:
        """What was measured, or the command that measures it."""
        if self.finding is None:
            return f"viewhop reproduce {self.claim.experiment}"
        return self.finding.evidence


def judge(stored: Iterable[tuple[Result, Mapping[str, Any]]]) -> list[Judgement]:
    """Every claim, with the finding of the results on it.

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
    head = ("where", "claim", "rule", "verdict", "evidence", "experiment")
    rows = [head, ("---",) * len(head)]
    for each in judgements:
        cells = (
            each.claim.where,
            each.claim.says,
            each.claim.rule or "–",
            f"{each.verdict}{each.condition}",
            each.evidence,
        )
        rows.append((*map(escape_markdown, cells), _link(each)))
    parts = (
        f"# {CLAIMS_TITLE}",
        *_INTRO,
        markdown_table(_count_verdicts(judgements)),
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
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
        "Claims, rules and verdicts",
        ("where", "claim", "rule", "verdict", "evidence", "experiment"),
        tuple(
            (
                each.claim.where,
                each.claim.says,
                each.claim.rule,
                f"{each.verdict}{each.condition}",
                each.evidence,
                each.claim.experiment,
            )
            for each in judgements
        ),
    )
    intro = "".join(f"<p>{escape(each)}</p>\n" for each in _INTRO)
    return (
        f'<section id="claims">\n<h2>{CLAIMS_TITLE}</h2>\n{intro}'
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
