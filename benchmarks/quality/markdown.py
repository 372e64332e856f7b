"""Tables in Markdown, in which every gap is a dash and has a reason below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.quality.methods import DEFAULT
from benchmarks.quality.summary import Value

__all__ = ["DASH", "Gaps", "bold_default", "format_value", "table"]

DASH = "–"


class Gaps:
    """The dashes of a table, with their reasons."""

    def __init__(self) -> None:
        self._where: dict[str, dict[str, list[str]]] = {}

    def show(self, value: Value, row: str, column: str, digits: int = 2) -> str:
        """A number as text, or a dash, whose reason is kept."""
        if value.number is None:
            self._where.setdefault(value.reason, {}).setdefault(row, []).append(column)
            return DASH
        return format_value(value.number, digits)

    def text(self) -> str:
        """One line per reason; empty without gaps."""
        lines = []
        for reason, by_row in self._where.items():
            alike: dict[tuple[str, ...], list[str]] = {}
            for row, columns in by_row.items():
                alike.setdefault(tuple(dict.fromkeys(columns)), []).append(row)
            places = [f"{', '.join(rows)} ({'; '.join(cols)})" for cols, rows in alike.items()]
            lines.append(f"{DASH} {reason}: {'; '.join(places)}.")
        return "\n\n".join(lines)

    def below(self, text: str) -> str:
        """A text with the reasons of its gaps below it."""
        return "\n\n".join(part for part in (text, self.text()) if part)


def bold_default(cells: list[str]) -> list[str]:
    """The cells of a line, in bold if it is the line of the default."""
    return [f"**{cell}**" for cell in cells] if cells[0] == DEFAULT else cells


def format_value(number: float, digits: int = 2) -> str:
    """A score as text; no minus stands before a zero."""
    text = f"{number:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
                     for line in lines)  # fmt: skip
