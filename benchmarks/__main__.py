"""Run the benchmarks and write one Markdown and one JSON table: ``make bench``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from time import perf_counter
from types import ModuleType

import click

from benchmarks import table
from benchmarks.apart import first_line
from benchmarks.row import Row

DOCS = Path(__file__).parent.parent / "docs"

#: In the order of the tables. Each is a module with TITLE, run(), and its sizes, FULL and SMALL.
PARTS = (
    "start",
    "dense",
    "columns",
    "solve",
    "million",
    "growth",
    "more_views",
    "incomplete",
    "documents",
    "transform",
    "grid",
    "naive",
    "peers",
    "memory",
    "scales",
    "joint",
    "selection",
    "continuity",
    "kcca",
    "report",
    "seismic",
)


@click.command()
@click.option("--small", is_flag=True, help="Small sizes; judge counts and memory, not seconds.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(PARTS),
    metavar="NAME",
    help="Run this part, and keep the others from an earlier run. May be repeated.",
)
@click.option("--list", "listed", is_flag=True, help="List the parts and exit.")
@click.option(
    "--out", default="benchmark-results", show_default=True, help="Folder for the tables."
)
@click.option("--record", is_flag=True, help="Also write docs/benchmarks.md and .json.")
def main(small: bool, only: tuple[str, ...], listed: bool, out: str, record: bool) -> None:
    """Time the library and its references in the same run."""
    if listed:
        for name in PARTS:
            click.echo(f"{name:12}{_module(name).TITLE}")
        return
    if small and record:
        raise click.UsageError("--record needs the full sizes; remove --small")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the child process too
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("VIEWHOP_BENCH_PEERS", str(folder.absolute() / "peers"))
    results: table.Results = {}
    if only:
        results = _earlier(folder, small=small) or (_earlier(DOCS, small=small) if record else {})
    recorded = _state()
    bad = []
    for name in PARTS:
        if only and name not in only:
            continue
        rows: list[Row] = []
        results[name] = table.Part(_module(name).TITLE, rows, recorded)
        for row in _rows(name, small=small):
            rows.append(row)
            _write(folder, results, small=small)
            if _is_bad(row, small=small):
                bad.append(f"{name}: {row.work}")
    text = _write(folder, results, small=small)
    if record:
        _write(DOCS, results, small=small)
    click.echo(text)
    for line in bad:
        click.echo(f"failed: {line}", err=True)
    sys.exit(1 if bad else 0)


def _state() -> str:
    """Today, and the commit that is measured."""
    git = ["git", "-C", str(DOCS.parent), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # not a checkout
        return f"{datetime.now(UTC):%Y-%m-%d}"
    return f"{datetime.now(UTC):%Y-%m-%d}, commit {commit}"


def _module(name: str) -> ModuleType:
    return import_module(f"benchmarks.{name}")


def _rows(name: str, *, small: bool) -> Iterator[Row]:
    """The rows of a part as they are measured; an error is the last row."""
    part = _module(name)
    click.echo(f"{name}: {part.TITLE} …", err=True)
    start = perf_counter()
    try:
        yield from part.run(**(part.SMALL if small else part.FULL))
    except Exception as error:
        yield Row(f"{name} ended early", error=first_line(str(error)))
    click.echo(f"{name}: {perf_counter() - start:.0f} s", err=True)


def _is_bad(row: Row, *, small: bool) -> bool:
    """Whether the run fails because of this row.

    A full run fails on errors of this library; a small run also on missed bounds for counts or
    memory.
    """
    if row.error:
        return row.ours and not row.error.startswith("skipped")
    return small and not row.timed and row.met is False


def _earlier(folder: Path, *, small: bool) -> table.Results:
    """The results of an earlier run in the folder."""
    path = folder / "benchmarks.json"
    return table.read_json(path.read_text(encoding="utf-8"), small=small) if path.exists() else {}


def _write(folder: Path, results: table.Results, *, small: bool) -> str:
    """Write both tables, in the order of the parts, and return the Markdown."""
    ordered = {name: results[name] for name in PARTS if name in results}
    text = table.markdown(ordered, small=small)
    (folder / "benchmarks.md").write_text(text, encoding="utf-8")
    (folder / "benchmarks.json").write_text(table.json_text(ordered, small=small), encoding="utf-8")
    return text


if __name__ == "__main__":
    main()
