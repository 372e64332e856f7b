"""The ``viewhop`` command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewhop._version import __version__

# Everything heavy is imported inside the commands: help and version answer at once.
if TYPE_CHECKING:
    from viewhop.demo import DemoResult

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="viewhop")
def main() -> None:
    """Multi-view diffusion maps: several measurements in, one geometry out."""


@main.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("viewhop-demo"),
    show_default=True,
    help="Folder for embedding.csv and embedding.png.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of everything random.",
)
@click.option("--quick", is_flag=True, help="Take 500 of the 2,000 digits.")
def demo(out: Path, seed: int, quick: bool) -> None:
    """Embed six views of handwritten digits, and compare.

    Each view alone, their concatenation, the kernel sum, the kernel product and the multi-view
    walk are embedded with nine coordinates and clustered by K-means.
    """
    from viewhop.demo import run
    from viewhop.progress import shown

    try:
        with shown(1 if sys.stderr.isatty() else _say) as progress:
            result = run(out=out, random_state=seed, progress=progress, quick=quick)
    except OSError as error:
        reason = error.strerror or error
        raise click.ClickException(
            f"cannot write to {out}: {reason}. Choose another folder with --out."
        ) from error
    except KeyboardInterrupt:
        raise click.exceptions.Exit(130) from None
    _show(result)


def _say(stage: str, done: int, total: int | None) -> None:
    """One plain line per step, where there is no terminal to draw a bar on."""
    detail = getattr(stage, "detail", "")
    line = f"{stage}: {done}" + ("" if total is None else f" of {total}")
    click.echo(f"{line}, {detail}" if detail else line, err=True)


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
