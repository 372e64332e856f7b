"""Tables of results as Markdown and as HTML."""

from __future__ import annotations

import re
from html import escape

from viewhop.experiments._experiment import Cell, Table

__all__ = ["cell_text", "escape_markdown", "html_table", "markdown_table"]


def cell_text(cell: Cell, digits: int) -> str:
    """Text of a cell; small and large numbers in scientific notation, a dash for None.

    Parameters
    ----------
    cell : Cell
    digits : int
        Decimals.
    """
    if cell is None:
        return "–"
    if isinstance(cell, float):
        small = cell != 0 and abs(cell) < 10.0**-digits
        return f"{cell:.2e}" if small or abs(cell) >= 1e7 else f"{cell:,.{digits}f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def markdown_table(table: Table) -> str:
    """A table with its title, in Markdown."""
    rows = [table.columns, ("---", *["---:"] * (len(table.columns) - 1))]
    shown = [
        tuple(escape_markdown(cell_text(cell, table.digits)) for cell in row) for row in table.rows
    ]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in (*rows, *shown))
    return f"**{escape_markdown(table.title)}**\n\n{lines}"


def html_table(table: Table) -> str:
    """A table with its caption, in HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(cell_text(cell, table.digits))}</td>" for cell in row)
        + "</tr>\n"
        for row in table.rows
    )
    return (
        f'<div class="wide"><table><caption>{escape(table.title)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )


def escape_markdown(text: str) -> str:
    """Text with Markdown's special characters escaped."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))
