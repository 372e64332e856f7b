"""Run the benchmarks and write one Markdown and one JSON table: ``make bench``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from benchmarks import digits, joint, kcca
from viewhop import memory

DOCS = Path(__file__).parent.parent / "docs"


@click.command()
@click.option(
    "--views", default=3, show_default=True, help="Views of the LAPACK reference, 2 to 6."
)
@click.option("--long", is_flag=True, help="Also the dense kernel CCA at 5,000 samples (minutes).")
@click.option(
    "--out", default="benchmark-results", show_default=True, help="Folder for the tables."
)
@click.option("--record", is_flag=True, help="Also write docs/benchmarks.md.")
def main(views: int, long: bool, out: str, record: bool) -> None:
    """Time the library beside its references, in one run."""
    parts = {
        "Six views of 2,000 digits, dense Gaussians": digits.run(n_views=views),
        "Algorithm 1 on the digits": joint.run(),
        "Kernel CCA of two views": kcca.run(dense_large=long),
    }
    lines = []
    for title, rows in parts.items():
        lines += [
            f"## {title}",
            "",
            "| work | seconds | ratio | peak memory |",
            "|---|---|---|---|",
        ]
        for row in rows:
            ratio = "" if row.ratio is None else f"{row.ratio:.1f} × {row.of}"
            peak = "" if row.peak is None else memory.text(row.peak)
            lines.append(f"| {row.work} | {row.seconds:.2f} | {ratio} | {peak} |")
        lines.append("")
    table = "\n".join(lines)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "benchmarks.md").write_text(table, encoding="utf-8")
    found = {title: [asdict(row) for row in rows] for title, rows in parts.items()}
    (folder / "benchmarks.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if record:
        head = (
            "# Benchmarks\n\nMade by `make bench` with `--record` on two cores of a shared "
            "machine; only the ratios carry over to another.\n\n"
        )
        (DOCS / "benchmarks.md").write_text(head + table, encoding="utf-8")
    click.echo(table)


if __name__ == "__main__":
    main()
