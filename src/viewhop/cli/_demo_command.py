"""``viewhop demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewhop.cli._command import Command
from viewhop.cli._options import convert_errors, quiet_option, seed_option
from viewhop.cli._progress_display import progress_shown

if TYPE_CHECKING:
    from viewhop.experiments._demo import DemoResult

__all__ = ["demo"]


@click.command(cls=Command, epilog="\b\nExample:\n  viewhop demo --quick --out digits")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("viewhop-demo"),
    show_default=True,
    help="Folder for embedding.csv and embedding.png.",
)
@seed_option
@click.option("--quick", is_flag=True, help="Use 500 of the 2,000 digits.")
@quiet_option
def demo(out: Path, seed: int, quick: bool, quiet: bool) -> None:
    """Show when hopping between six views of handwritten digits is worth it.

    Methods are compared by how well K-means finds the digits in their coordinates: on complete
    digits, with half of all (sample, view) pairs missing, and with one view replaced by noise.
    """
    from viewhop.experiments._demo import run

    with convert_errors("another folder with --out"), progress_shown(quiet=quiet) as progress:
        result = run(out=out, random_state=seed, progress=progress, quick=quick)
    _show(result)


def _show(result: DemoResult) -> None:
    from rich.console import Console
    from rich.table import Table

    scores = result.table
    table = Table(
        title=f"{result.n_samples:,} handwritten digits in six views",
        caption="Adjusted mutual information of clusters and digits; 1 is perfect.\n"
        "Half missing: half of all (sample, view) pairs; mean of 5 draws.",
    )
    table.add_column("method")
    for condition in scores.conditions:
        table.add_column(condition, justify="right")
    for method, row in scores.rows.items():
        cells = ["–" if score is None else f"{score:.3f}" for score in row]
        for column, cell in enumerate(cells):
            if scores.is_best(method, column):
                cells[column] = f"[bold]{cell}[/bold]"
        table.add_row(method, *cells)
    Console().print(table)
    click.echo(f"Is hopping between views worth it? {scores.reading()}.")
    for remark in result.remarks:
        click.echo(f"note: {remark}")
    for file in result.files:
        click.echo(f"wrote {file}")
