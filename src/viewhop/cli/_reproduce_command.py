"""``viewhop reproduce``."""

from __future__ import annotations

from pathlib import Path

import click

from viewhop.cli._command import Command
from viewhop.cli._options import convert_errors, quiet_option, seed_option
from viewhop.cli._progress_display import progress_shown

__all__ = ["reproduce"]

_EXAMPLE = """\b
Examples:
  viewhop reproduce --list
  viewhop reproduce smoothing decay-over-time --quick --out toy
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List the experiments without running them.")
@click.option("--quick", is_flag=True, help="Use toy sizes: everything runs in minutes.")
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    help="Number of repetitions.  [default: set by the experiment]",
)
@seed_option
@click.option("--force", is_flag=True, help="Run finished experiments again.")
@click.option(
    "--data-home",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    envvar="VIEWHOP_DATA",
    show_envvar=True,
    help="Folder of data sets that are not included in viewhop.",
)
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("viewhop-reproduce"),
    show_default=True,
    help="Folder for pictures, numbers, report.html and claims.md.",
)
@quiet_option
def reproduce(
    names: tuple[str, ...],
    listing: bool,
    quick: bool,
    trials: int | None,
    seed: int,
    force: bool,
    data_home: Path | None,
    out: Path,
    quiet: bool,
) -> None:
    """Run the paper's experiments and compare the results with the published ones.

    Without NAME, all are run. Each writes pictures and NAME.json; report.html and report.md show
    them all, and claims.md says what they mean for each claim of the paper. Experiments that are
    finished in the folder are kept, so a stopped run resumes; a damaged result is computed again.
    If the folder has results of other settings, versions or data, nothing is run.
    """
    from viewhop import experiments

    unknown = [name for name in names if name not in experiments.NAMES]
    if unknown:
        raise click.UsageError(
            f"unknown experiment {unknown[0]!r}; expected one of {', '.join(experiments.NAMES)}"
        )
    chosen = names or experiments.NAMES
    if listing:
        width = max(map(len, chosen))
        for name in chosen:
            experiment = experiments.find(name)
            click.echo(f"{name:<{width}}  {experiment.where:<12} {experiment.title}")
        return
    with convert_errors("another folder with --out"), progress_shown(quiet=quiet) as progress:
        outcomes = experiments.reproduce(
            chosen,
            out=out,
            quick=quick,
            trials=trials,
            seed=seed,
            force=force,
            data_home=data_home,
            progress=progress,
        )
    for outcome in outcomes:
        seconds = [f"{outcome.seconds:.1f} s"] if outcome.status == "done" else []
        details = [*seconds, *filter(None, [outcome.reason])]
        click.echo(", ".join([f"{outcome.name}: {outcome.status}", *details]))
    click.echo(f"all: {sum(outcome.seconds for outcome in outcomes):.1f} s")
    click.echo(f"wrote {out / 'report.html'} and {out / 'claims.md'}")
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    if failed:
        debug = click.get_current_context().meta.get("viewhop.debug")
        if debug and failed[0].error is not None:
            raise failed[0].error
        raise click.ClickException(
            f"{len(failed)} of {len(outcomes)} experiments failed; rerun with --debug for the "
            "traceback of the first"
        )
