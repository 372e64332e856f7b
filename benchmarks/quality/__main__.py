"""Run the benchmark of quality and write a page, a JSON file and a picture."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from benchmarks.quality.cells import Store
from benchmarks.quality.choices import CHOICE, around, find_records, grid, run_choices
from benchmarks.quality.choices_page import write_choices
from benchmarks.quality.methods import BASELINES, OURS, Method
from benchmarks.quality.page import find_versions, write_page
from benchmarks.quality.peer_list import list_peers
from benchmarks.quality.peer_process import PeerError, PeerProcess
from benchmarks.quality.picture import draw_picture
from benchmarks.quality.plan import Plan, Size, sets_of
from benchmarks.quality.run import Results, run_plan
from benchmarks.quality.summary import Summary

ROOT = Path(__file__).parent.parent.parent
PEER_PYTHON = ROOT / ".venv-peers" / "bin" / "python"


@click.command()
@click.option("--quick", is_flag=True, help="Bundled and synthetic sets, small, without peers.")
@click.option("--full", is_flag=True, help="Three seeds, and robustness of all methods.")
@click.option("--out", default="quality-results", show_default=True, help="Folder of the results.")
@click.option("--data-home", help="Folder of the data; otherwise VIEWHOP_DATA.")
@click.option("--only", multiple=True, metavar="SET", help="Run this set. May be repeated.")
@click.option("--only-method", multiple=True, metavar="METHOD", help="Run this method only.")
@click.option("--no-peers", is_flag=True, help="Leave the other packages out.")
@click.option(
    "--peer-python",
    envvar="VIEWHOP_PEER_PYTHON",
    default=str(PEER_PYTHON),
    help="The interpreter that has the other packages.",
)
@click.option("--choices", is_flag=True, help="Compute the candidates for the default, too.")
@click.option("--retry", is_flag=True, help="Compute cells again that failed.")
@click.option("--fresh", is_flag=True, help="Compute cells again if the source has changed.")
@click.option("--write-docs", is_flag=True, help="Copy page, JSON and picture to docs/.")
def main(
    quick: bool,
    full: bool,
    out: str,
    data_home: str | None,
    only: tuple[str, ...],
    only_method: tuple[str, ...],
    no_peers: bool,
    peer_python: str,
    choices: bool,
    retry: bool,
    fresh: bool,
    write_docs: bool,
) -> None:
    """Score the embeddings of the library and of other methods on real and synthetic sets.

    A finished cell is kept in the folder of the results; a rerun computes only what is missing.
    """
    if quick and (full or write_docs or choices):
        raise click.UsageError("--quick goes with none of --full, --choices and --write-docs")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the process of the peers, too
    size = Size.QUICK if quick else Size.FULL if full else Size.USUAL
    names = _choose(only, sets_of(size), "--only")
    folder = Path(out)
    store = Store(folder / "cells")
    with closing(PeerProcess(peer_python)) as process:
        peers, why_not = _find_peers(process, wanted=not (quick or no_peers))
        methods = (*OURS, *BASELINES, *peers)
        missing = dict.fromkeys((peer.name for peer in peers), why_not) if why_not else {}
        chosen = _choose(only_method, [method.name for method in methods], "--only-method")
        plan = Plan(tuple(m for m in methods if m.name in chosen), size, tuple(names), missing)
        if why_not and not quick:
            _report(f"the peers are left out: {why_not}")
        results = run_plan(
            plan, store, data_home=data_home, retry=retry, fresh=fresh, report=_report
        )
    fits = [*grid(), *around(CHOICE[0])]
    counted = [name for name in Summary(results, ()).sets if not quick]
    if choices:
        run_choices(
            fits,
            store,
            data_home=data_home,
            names=counted,
            retry=retry,
            fresh=fresh,
            report=_report,
        )
    summary = Summary(results, plan.methods)
    versions = find_versions() | {
        name: version for name, version in process.versions.items() if name not in find_versions()
    }
    measured = {name: summary.default(name) for name in counted}
    section = write_choices(find_records(fits, store, counted), counted, measured)
    _write(folder, summary, size, versions, section, docs=write_docs)
    _report(f"{results.computed} cells computed, {len(results.records)} in all")
    _report(f"written: {folder / 'quality.md'}")
    sys.exit(1 if any(_is_ours(record.cell.method) for record in summary.failures()) else 0)


def _find_peers(process: PeerProcess, *, wanted: bool) -> tuple[Sequence[Method], str]:
    """The peers, and the reason why they cannot be run, if there is one."""
    if not wanted:
        return list_peers(process), "run without peers"
    try:
        process.start()
    except PeerError as error:
        return list_peers(process), str(error)
    return list_peers(process), ""


def _choose(asked: Sequence[str], known: Sequence[str], option: str) -> list[str]:
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise click.BadParameter(f"unknown: {unknown[0]!r}; choose from {', '.join(known)}",
                                 param_hint=option)  # fmt: skip
    return [name for name in known if not asked or name in asked]


def _write(
    folder: Path,
    summary: Summary,
    size: Size,
    versions: dict[str, str],
    choices: str,
    *,
    docs: bool,
) -> None:
    """Page, JSON and picture, in the folder of the results and, if asked for, in docs/."""
    is_drawn = draw_picture(summary, folder / "quality.png")
    page = write_page(summary, size, versions, choices, "quality.png" if is_drawn else "")
    (folder / "quality.md").write_text(page, encoding="utf-8")
    text = json.dumps(_content(summary.results, size, versions), indent=1)
    (folder / "quality.json").write_text(text + "\n", encoding="utf-8")
    if docs:
        target = ROOT / "docs"
        (target / "pictures").mkdir(exist_ok=True)
        page = write_page(summary, size, versions, choices, "pictures/quality.png")
        (target / "quality.md").write_text(page, encoding="utf-8")
        shutil.copyfile(folder / "quality.json", target / "quality.json")
        shutil.copyfile(folder / "quality.png", target / "pictures" / "quality.png")


def _content(results: Results, size: Size, versions: dict[str, str]) -> dict[str, Any]:
    return {
        "size": size.value,
        "versions": versions,
        "sets": {name: set_size._asdict() for name, set_size in results.sizes.items()},
        "missing sets": results.absent,
        "cells": [
            {
                **asdict(record.cell),
                "parameters": dict(record.parameters),
                "scores": {name: round(value, 4) for name, value in record.scores.items()},
                "error": record.error,
                "warnings": list(record.warnings),
            }
            for record in results.records
        ],
        "left out": [{**asdict(cell), "reason": why} for cell, why in results.left_out.items()],
    }


def _is_ours(method: str) -> bool:
    return method in {known.name for known in (*OURS, *BASELINES)}


def _report(line: str) -> None:
    click.echo(line, err=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
