"""Views in the HTML of a fitted estimator: a table under the diagram of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

__all__ = ["ViewSummary", "write_table"]

#: Readable on a light and on a dark page, since it takes the colours of the page.
_CELL = "padding: 0.1em 0.8em; text-align: {}; border-bottom: 1px solid rgba(128, 128, 128, 0.4)"


def write_table(caption: str, columns: Mapping[str, Sequence[object]]) -> str:
    """A table as HTML, with numbers on the right; text is escaped.

    Parameters
    ----------
    caption : str
    columns : dict of sequences by heading
        All of one length.

    Examples
    --------
    >>> from viewhop.estimators._view_summary import write_table
    >>> "<td" in write_table("2 views", {"view": ["<a>", "b"], "features": [3, 4]})
    True
    """
    sides = [
        "right" if all(isinstance(entry, int | float) for entry in entries) else "left"
        for entries in columns.values()
    ]

    def row(tag: str, entries: Sequence[object]) -> str:
        cells = (
            f'<{tag} style="{_CELL.format(side)}">{escape(_format(entry))}</{tag}>'
            for entry, side in zip(entries, sides, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>"

    rows = "".join(row("td", entries) for entries in zip(*columns.values(), strict=True))
    return (
        '<table class="viewhop-views" style="border-collapse: collapse; margin-top: 0.5em">'
        f'<caption style="text-align: left">{escape(caption)}</caption>'
        f"<thead>{row('th', [*columns])}</thead><tbody>{rows}</tbody></table>"
    )


class ViewSummary:
    """An estimator whose HTML tells of its views once it is fitted; before, it is scikit-learn's.

    A subclass has `_view_caption` and `_view_columns` once it is fitted.
    """

    @property
    def _view_caption(self) -> str:
        raise NotImplementedError

    @property
    def _view_columns(self) -> dict[str, Sequence[object]]:
        raise NotImplementedError

    def _repr_html_inner(self) -> str:
        """The diagram of scikit-learn, and the table of views."""
        return f"{super()._repr_html_inner()}{self._view_html}"  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What a notebook shows."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] += self._view_html
        return shown

    @property
    def _view_html(self) -> str:
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        return write_table(self._view_caption, self._view_columns)


def _format(entry: object) -> str:
    if isinstance(entry, float):
        return f"{entry:.3g}"
    return f"{entry:,}" if isinstance(entry, int) else str(entry)
