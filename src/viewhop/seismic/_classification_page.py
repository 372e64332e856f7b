"""HTML page of a classification: tables and pictures in one self-contained file."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from viewhop.seismic._outcomes import Classification, Score
from viewhop.seismic._summary import Summary, printable

__all__ = ["classification_page"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
_STYLE = """
:root { color-scheme: light dark; --ink: #24292f; --pale: #6b7280; --rule: #d8dee4;
  --ground: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --pale: #9aa4af; --rule: #30363d;
  --ground: #0d1117; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  margin: 0 auto; padding: 1.5rem; max-width: 66rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: .5rem 0 1.4rem; }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--rule);
  text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child, .text { text-align: left; }
figure { margin: 1rem 0; } figcaption { color: var(--pale); }
img { max-width: 100%; height: auto; background: #ffffff; }
"""
_TEXT = ' class="text"'
#: Maximum number of left-out items listed one by one; the others are counted.
_LISTED = 50


def classification_page(
    classification: Classification,
    *,
    summary: Summary,
    settings: Mapping[str, Any],
    pictures: Sequence[tuple[str, bytes]] = (),
    title: str = "Seismic events",
) -> str:
    """HTML text of the page of a classification.

    Parameters
    ----------
    classification : Classification
    summary : Summary
        Items left out before classification.
    settings : dict
        Settings of the run, shown unchanged.
    pictures : list of (caption, PNG)
    title : str

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic import classify
    >>> from viewhop.seismic._classification_page import classification_page
    >>> from viewhop.seismic._summary import Summary
    >>> view = np.random.default_rng(0).normal(size=(20, 3))
    >>> scores = classify([view], ["<b>", "c"] * 10, kernel="gaussian", n_components=2)
    >>> text = classification_page(scores, summary=Summary(20, "windows"), settings={"K": 1})
    >>> "<b>" in text, "&lt;b&gt;" in text
    (False, True)
    """
    scores = [
        (
            score.method,
            score.procedure,
            score.n_components,
            f"{100 * score.accuracy:.1f}",
            f"{100 * score.balanced_accuracy:.1f}",
            score.n_events,
        )
        for score in classification
    ]
    parts = [
        f"<h1>{_text(title)}</h1>",
        _table("Settings", ("setting", "value"), list(settings.items())),
        _table(
            "Accuracy of each method",
            ("method", "procedure", "r", "accuracy [%]", "balanced [%]", "events"),
            scores,
        ),
        "<p>Transductive: one embedding of all events, each classified by its neighbours among the "
        "others. Refitted: each event is left out of the fit and then placed like a new event. "
        "Balanced accuracy weights all classes equally.</p>",
        *(f"<p>Not used: {_text(why)}.</p>" for why in classification.refused.values()),
        *(f"<p>Note: {_text(remark)}.</p>" for remark in classification.remarks),
        *(_confusion(score) for score in _scores_with_confusion(classification)),
        *(_figure(caption, png) for caption, png in pictures),
        f"<h2>Left out</h2><p>{_text(str(summary))}.</p>",
        _list([str(lost) for lost in summary.left_out]),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body>\n</html>\n"
    )


def _scores_with_confusion(classification: Classification) -> list[Score]:
    """Score of the last method with the most coordinates, one per procedure."""
    last = {score.procedure: score for score in classification}
    return list(last.values())


def _confusion(score: Score) -> str:
    counts: list[tuple[Any, ...]] = [
        (name, *row) for name, row in zip(score.classes, score.confusion.tolist(), strict=True)
    ]
    title = f"Confusion, {score.method}, {score.procedure}, r = {score.n_components}"
    return _table(title, ("class, predicted as", *score.classes), counts)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    words = [any(not _is_number(row[k]) for row in rows) for k in range(len(columns))]
    head = "".join(
        f'<th scope="col"{_TEXT * is_text}>{_text(name)}</th>'
        for name, is_text in zip(columns, words, strict=True)
    )
    body = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>\n" for row in rows)
    return (
        f'<h2>{_text(title)}</h2>\n<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    """Table cell; text is aligned left and numbers right."""
    return f"<td{_TEXT * (not _is_number(value))}>{_text(value)}</td>"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or str(value).replace(".", "", 1).isdigit()


def _figure(caption: str, png: bytes) -> str:
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<figure><img alt="{_text(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{_text(caption)}</figcaption></figure>"
    )


def _list(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    more = len(lines) - _LISTED
    shown = [*lines[:_LISTED], *([f"and {more:,} more, in left-out.csv"] if more > 0 else [])]
    return "<ul>" + "".join(f"<li>{_text(line)}</li>" for line in shown) + "</ul>"


def _text(value: Any) -> str:
    """Escaped text of a value."""
    shown = f"{value:g}" if isinstance(value, float | np.floating) else str(value)
    # Lone surrogates cannot be encoded.
    return escape(printable(shown).encode("utf-8", "replace").decode("utf-8"))
