"""The tables: rows as Markdown and as JSON."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from benchmarks.row import Row
from viewhop._runtime import memory

__all__ = ["Part", "Results", "json_text", "markdown", "read_json"]


@dataclass(frozen=True)
class Part:
    """One table.

    Attributes
    ----------
    title : str
    rows : list of Row
    recorded : str
        When, and of which state of the library.
    """

    title: str
    rows: list[Row]
    recorded: str = ""


#: Tables by the name of their part.
Results = dict[str, Part]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "faiss-cpu", "pyamg")
_COLUMNS = ("work", "seconds", "result", "bound", "", "peak memory", "at import")


def markdown(results: Results, *, small: bool) -> str:
    """The results as Markdown: an introduction, and a table per part."""
    lines = ["# Benchmarks", "", _head(small=small), ""]
    for part in results.values():
        lines += [f"## {part.title}", ""]
        lines += [f"Recorded {part.recorded}.", ""] if part.recorded else []
        lines += [_line(_COLUMNS), "|" + "---|" * len(_COLUMNS)]
        lines += [_line(_cells(row, small=small)) for row in part.rows]
        lines.append("")
    return "\n".join(lines)


def json_text(results: Results, *, small: bool) -> str:
    """The results as JSON."""
    parts = {
        name: {
            "title": part.title,
            "recorded": part.recorded,
            "rows": [_as_dict(row, small=small) for row in part.rows],
        }
        for name, part in results.items()
    }
    return json.dumps({"small": small, **_machine(), "parts": parts}, indent=2) + "\n"


def read_json(text: str, *, small: bool) -> Results:
    """The results of an earlier run; empty if it ran at the other sizes."""
    content = json.loads(text)
    if content["small"] != small:
        return {}
    return {
        name: Part(part["title"], [_row(row) for row in part["rows"]], part["recorded"])
        for name, part in content["parts"].items()
    }


def _as_dict(row: Row, *, small: bool) -> dict[str, Any]:
    return row.as_dict() | {"met": row.met if _is_judged(row, small=small) else None}


def _is_judged(row: Row, *, small: bool) -> bool:
    """Whether the bound applies to this run; in a small run, bounds on times do not."""
    return not (small and row.timed)


def _row(content: dict[str, Any]) -> Row:
    return Row(**{name: value for name, value in content.items() if name != "met"})


def _machine() -> dict[str, Any]:
    versions = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {"cores": _cores(), "memory": _memory(), "versions": versions}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _head(*, small: bool) -> str:
    machine = _machine()
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    how = "`make bench-small`" if small else "`make bench` with `--record`"
    text = (
        f"Made by {how} on {machine['cores']} cores and "
        f"{memory.format_bytes(machine['memory'])} of a shared machine: only the ratios, not the "
        "seconds, carry over to other machines. A reference is measured in the same run as the "
        "work next to it. Each line is a process of its own, with its own peak of resident memory; "
        "“at import” is that peak before any work.\n\n"
    )
    if small:
        text += "Sizes are small: bounds apply to counts and memory, not to times.\n\n"
    return text + f"{versions}."


def _cells(row: Row, *, small: bool) -> tuple[str, ...]:
    judged = _is_judged(row, small=small)
    verdict = "" if row.met is None or not judged else "met" if row.met else "**missed**"
    if verdict and not row.sound:
        verdict += ", not converged"
    return (
        row.work,
        "" if row.seconds is None else f"{row.seconds:.2f}",
        row.error or _value(row.value, row.unit),
        _bound(row) if judged else "",
        verdict,
        "" if row.peak is None else memory.format_bytes(row.peak),
        "" if row.at_import is None else memory.format_bytes(row.at_import),
    )


def _bound(row: Row) -> str:
    unit = row.unit if row.unit == "bytes" else ""
    parts = []
    if row.at_least is not None:
        parts.append(f"at least {_value(row.at_least, unit)}")
    if row.at_most is not None:
        parts.append(f"at most {_value(row.at_most, unit)}")
    return ", ".join(parts)


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == "bytes":
        return memory.format_bytes(value)
    number = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{number} {unit}".rstrip()


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
