"""Page that compares results with those of the paper, as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from viewhop._runtime.files import stage_files
from viewhop.errors import RunFileError
from viewhop.experiments import _results_store as recording
from viewhop.experiments._claims_page import (
    CLAIMS_TITLE,
    claims_html,
    claims_markdown,
)
from viewhop.experiments._experiment import Cell, Result, Table
from viewhop.experiments._index import NAMES
from viewhop.experiments._results_store import Record
from viewhop.experiments._results_tables import (
    cell_text,
    escape_markdown,
    html_table,
    markdown_table,
)

__all__ = ["update", "write"]

_TITLE = "The paper's experiments"
_INTRO = (
    "Each figure and table of O. Lindenbaum, A. Yeredor, M. Salhov and A. Averbuch, "
    "“Multi-view diffusion maps”, run again by viewhop. What was run stands beside what the paper "
    "ran; where the two differ, so may the results."
)
_SEE = "What they say about each claim of the paper: [claims.md](claims.md)."
_TOY = "Toy size: this shows that the experiment runs, not what comes out."

_STYLE = """
:root { color-scheme: light dark; --ink: #24292f; --pale: #6b7280; --rule: #d8dee4;
  --paper: #ffffff; --tint: #f6f8fa; --warn: #fff4d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --pale: #9aa4af; --rule: #30363d;
  --paper: #0d1117; --tint: #161b22; --warn: #3b2f0b; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  margin: 0 auto; padding: 1.5rem; max-width: 62rem; }
h1 { font-size: 1.9rem; margin: .5rem 0; } h2 { font-size: 1.35rem; margin: 0 0 .25rem; }
section { border-top: 1px solid var(--rule); margin-top: 2.5rem; padding-top: 1.5rem; }
a { color: inherit; } nav ul { columns: 16rem; padding-left: 1.2rem; }
.where { color: var(--pale); margin: 0 0 1rem; }
.toy { background: var(--warn); padding: .5rem .8rem; border-radius: .4rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: .5rem 0 1.2rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--rule); text-align: right;
  font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
#claims td, #claims th { text-align: left; vertical-align: top; min-width: 7rem; }
#claims td:nth-child(4), #claims td:nth-child(6) { min-width: 18rem; font-size: .9rem; }
figure { margin: 1rem 0; } figcaption { color: var(--pale); font-size: .9rem; }
img { max-width: 100%; height: auto; background: #ffffff; border-radius: .3rem; }
footer { color: var(--pale); font-size: .9rem; }
"""


def update(folder: Path) -> None:
    """Write the pages of all results in a folder, unless they are there."""
    pages = _render(folder)
    if any(_content(folder / name) != content for name, content in pages.items()):
        with stage_files(folder, last="report.html") as inside:
            write(inside, folder)


def write(inside: Path, folder: Path) -> None:
    """Write ``claims.md``, ``report.md`` and ``report.html`` of all results in two folders.

    Results that cannot be read are named at the beginning.

    Parameters
    ----------
    inside : Path
        The folder for the page, with new results, which take precedence.
    folder : Path
        The folder with earlier results.
    """
    for name, content in _render(inside, folder).items():
        (inside / name).write_bytes(content)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _render(*folders: Path) -> dict[str, bytes]:
    """Content of the pages by file name; results in the first folder take precedence."""
    results, faults = [], []
    for name in NAMES:
        stored = (recording.read(folder / f"{name}.json") for folder in folders)
        try:
            results += [*islice((each for each in stored if each is not None), 1)]
        except RunFileError as error:
            faults.append(f"Not shown: {error}; run viewhop reproduce {name} again.")
    return {
        "claims.md": claims_markdown(results).encode(),
        "report.md": _markdown(results, faults).encode(),
        "report.html": _html(results, faults).encode(),
    }


def _markdown(results: Iterable[tuple[Result, Record]], faults: Iterable[str]) -> str:
    parts = [f"# {_TITLE}", _INTRO, _SEE, *(f"**{escape_markdown(fault)}**" for fault in faults)]
    for result, record in results:
        parts += [
            f"## {record['experiment']}: {record['title']}",
            f"{record['where']}. " + record["about"],
        ]
        if record["settings"]["quick"]:
            parts.append(f"**{_TOY}**")
        parts += [markdown_table(table) for table in (_sizes(result), *result.tables)]
        parts += [
            f"![{escape_markdown(each['caption'])}]({quote(each['file'])})\n\n*{escape_markdown(each['caption'])}*"
            for each in record["pictures"]
        ]
        parts += ["\n".join(f"- {escape_markdown(remark)}" for remark in result.remarks)]
        parts.append(_run_line(record))
    return "\n\n".join(part for part in parts if part) + "\n"


def _html(results: Iterable[tuple[Result, Record]], faults: Iterable[str]) -> str:
    stored = list(results)
    notes = "".join(f'<p class="toy">{escape(fault)}</p>\n' for fault in faults)
    sections = "".join(_section(result, record) for result, record in stored)
    links = "".join(
        f'<li><a href="#{escape(record["experiment"])}">{escape(record["title"])}</a></li>'
        for _, record in stored
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_TITLE}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<header>\n"
        f"<h1>{_TITLE}</h1>\n<p>{escape(_INTRO)}</p>\n{notes}</header>\n"
        f'<nav aria-label="Experiments"><ul><li><a href="#claims">{CLAIMS_TITLE}</a></li>'
        f"{links}</ul></nav>\n"
        f"<main>\n{claims_html(stored)}{sections}</main>\n</body>\n</html>\n"
    )


def _section(result: Result, record: Mapping[str, Any]) -> str:
    name = escape(record["experiment"])
    toy = f'<p class="toy">{_TOY}</p>\n' if record["settings"]["quick"] else ""
    tables = "".join(html_table(table) for table in (_sizes(result), *result.tables))
    pictures = "".join(
        f'<figure><img src="{escape(quote(each["file"]))}" alt="{escape(each["caption"])}">'
        f"<figcaption>{escape(each['caption'])}</figcaption></figure>\n"
        for each in record["pictures"]
    )
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in result.remarks)
    return (
        f'<section id="{name}">\n<h2>{escape(record["title"])}</h2>\n'
        f'<p class="where">{escape(record["where"])} · <code>viewhop reproduce {name}</code></p>\n'
        f"{toy}<p>{escape(record['about'])}</p>\n{tables}{pictures}"
        + (f"<ul>{remarks}</ul>\n" if remarks else "")
        + f"<footer>{escape(_run_line(record))}</footer>\n</section>\n"
    )


def _sizes(result: Result) -> Table:
    """Table of the settings of this run and of the paper."""
    names = dict.fromkeys([*result.ran, *result.paper])
    return Table(
        "What was run",
        ("", "here", "paper"),
        tuple((name, _cell(result.ran.get(name)), _cell(result.paper.get(name))) for name in names),
    )


def _run_line(record: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    return f"Seed {record['settings']['seed']}; {versions}."


def _cell(value: Any) -> Cell:
    """Cell of a setting; sequences and booleans become text."""
    if isinstance(value, list | tuple):
        return ", ".join(cell_text(_cell(each), 3) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value  # type: ignore[no-any-return]  # plain data, by `recording.plain`
