"""The Advice class: findings and recommended parameters, as a table for people and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import Any

from viewhop.advice._finding import Finding, Recommendation

__all__ = ["Advice", "format_value"]

#: Characters per line of the printed table.
WIDTH = 100


@dataclass(frozen=True)
class Advice:
    """What was found in views, and what is recommended for them.

    Attributes
    ----------
    parameters : dict by name
        Parameters of `viewhop.MultiViewDiffusionMaps`.
    findings : list of Finding
        Warnings first.
    recommendations : list of Recommendation
        The reasons for the parameters.
    n_samples : int
    n_examined : int
        Samples that graphs and spectra were computed from; fewer than `n_samples` if there are
        many.
    view_names : tuple of str
    metrics, weights : dict by view name
        Of the recommended fit.

    Examples
    --------
    >>> import viewhop as vh
    >>> rolls = vh.datasets.make_gapped_rolls(300, random_state=0).views
    >>> advice = vh.advise(rolls)
    >>> [finding for finding in advice.findings if finding.severity == "warning"]
    []
    >>> vh.MultiViewDiffusionMaps(**advice.parameters, random_state=0).fit(rolls).metrics_
    {'x': 'euclidean', 'y': 'euclidean'}
    """

    parameters: dict[str, Any]
    findings: list[Finding]
    recommendations: list[Recommendation]
    n_samples: int
    n_examined: int
    view_names: tuple[str, ...]
    metrics: dict[str, str] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """One line that says what was examined."""
        n_views = len(self.view_names)
        text = f"{self.n_samples:,} samples in {n_views} view{'s' * (n_views > 1)}"
        if self.n_examined < self.n_samples:
            text += f"; graphs and spectra of {self.n_examined:,} samples drawn at random"
        return text

    def finding_rows(self) -> list[tuple[str, ...]]:
        """Severity, view, kind, number and text of each finding, as text."""
        return [
            (one.severity, one.view or "all", one.kind, format_value(one.value), one.text)
            for one in self.findings
        ]

    def recommendation_rows(self) -> list[tuple[str, ...]]:
        """Parameter, view, value and reason of each recommendation, as text."""
        return [
            (one.parameter, one.view or "all", format_value(one.value), one.text)
            for one in self.recommendations
        ]

    def as_plain(self) -> dict[str, Any]:
        """Everything as plain data, for JSON; kernels as text."""
        kernel = self.parameters["kernel"]
        if isinstance(kernel, Mapping):
            kernel = {name: " ".join(repr(one).split()) for name, one in kernel.items()}
        return {
            "n_samples": self.n_samples,
            "n_examined": self.n_examined,
            "views": [*self.view_names],
            "metrics": dict(self.metrics),
            "weights": dict(self.weights),
            "parameters": {**self.parameters, "kernel": kernel},
            "findings": [vars(one) for one in self.findings],
            "recommendations": [vars(one) for one in self.recommendations],
        }

    def __str__(self) -> str:
        lines = [self.title, "", "Findings"]
        lines += [*_table_lines(self.finding_rows())] if self.findings else ["  none"]
        lines += ["", "Recommendations", *_table_lines(self.recommendation_rows())]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same tables for a notebook."""
        seen = _html_table(("", "view", "finding", "number", ""), self.finding_rows())
        advised = _html_table(("parameter", "view", "value", "reason"), self.recommendation_rows())
        return f"<p>{escape(self.title)}</p>{seen if self.findings else ''}{advised}"


def format_value(value: Any) -> str:
    """A number with three digits; other values as they are.

    Parameters
    ----------
    value : str or number
    """
    if isinstance(value, str) or (isinstance(value, float) and not value.is_integer()):
        return value if isinstance(value, str) else f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) < 1e6 else f"{value:.3g}"


def _table_lines(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Aligned columns; the last one is wrapped."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
    for *cells, text in rows:
        head = "  " + "  ".join(
            cell.ljust(width) for cell, width in zip(cells, widths, strict=True)
        )
        first, *rest = wrap(text, max(40, WIDTH - len(head) - 2)) or [""]
        yield f"{head}  {first}"
        yield from (f"{'':{len(head)}}  {line}" for line in rest)


def _html_table(head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
