"""``viewhop demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewhop.cli._command import Command
from viewhop.cli._options import seed_option
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
def demo(out: Path, seed: int, quick: bool) -> None:
    """Embed six views of handwritten digits and compare the methods.

    Each view alone, their concatenation, the kernel sum, the kernel product and the multi-view
    walk are embedded in nine coordinates and clustered by K-means.
    """
    from viewhop.experiments._demo import run

    try:
        with progress_shown() as progress:
            result = run(out=out, random_state=seed, progress=progress, quick=quick)
    except OSError as error:
        reason = error.strerror or error
        raise click.ClickException(
            f"cannot write to {out}: {reason}; choose another folder with --out"
        ) from error
    _show(result)


def _show(result: DemoResult) -> None:
    from rich.console import Console
    from rich.table import Table

    best = max(score.nmi for score in (*result.singles, *result.together))
    table = Table(title=f"{result.n_samples:,} handwritten digits, 9 coordinates")
    table.add_column("views")
    for name in ("NMI", "accuracy", "seconds"):
        table.add_column(name, justify="right")
    for scores in (result.singles, result.together):
        for score in scores:
            table.add_row(
                score.method,
                f"{score.nmi:.3f}",
                f"{score.accuracy:.3f}",
                f"{score.seconds:.1f}",
                style="bold" if score.nmi == best else None,
            )
        table.add_section()
    Console().print(table)
    for remark in result.remarks:
        click.echo(f"note: {remark}")
    for file in result.files:
        click.echo(f"wrote {file}")
