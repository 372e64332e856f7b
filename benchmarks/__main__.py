"""Run the benchmarks and write one Markdown and one JSON table: ``make bench``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from benchmarks import digits
from viewhop import memory


@click.command()
@click.option(
    "--views", default=3, show_default=True, help="Views of the LAPACK reference, 2 to 6."
)
@click.option(
    "--out", default="benchmark-results", show_default=True, help="Folder for the tables."
)
def main(views: int, out: str) -> None:
    """Time the library beside its references, in one run."""
    rows = digits.run(n_views=views)
    lines = ["| work | seconds | ratio | peak memory |", "|---|---|---|---|"]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.1f}"
        peak = "" if row.peak is None else memory.text(row.peak)
        lines.append(f"| {row.work} | {row.seconds:.2f} | {ratio} | {peak} |")
    table = "\n".join(lines)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "digits.md").write_text(table + "\n", encoding="utf-8")
    (folder / "digits.json").write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    click.echo(table)


if __name__ == "__main__":
    main()
