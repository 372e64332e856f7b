"""``viewhop advise``."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import click

from viewhop.cli._command import Command, name_options
from viewhop.cli._fit_options import kernel_options, setting, settings_from_options
from viewhop.cli._options import quiet_option, table_options, views_argument

if TYPE_CHECKING:
    from viewhop.runs import FileAdvice

__all__ = ["advise"]

_EXAMPLE = """\b
Example:
  viewhop data rolls --samples 300 --noise 0.1 -o rolls
  viewhop advise x=rolls/x.csv y=rolls/y.csv --id sample --label theta
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@views_argument()
@table_options
@kernel_options
@setting("--jobs", metavar="N", type=int, help="Threads; -1 is all cores.")
@setting("--seed", metavar="N", type=int, help="Random seed.  [default: 0]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@quiet_option
def advise(views: dict[str, str], as_json: bool, quiet: bool) -> None:
    """Examine files before a fit, and recommend its settings.

    Prints what was found in the views, such as duplicates, features on different scales or a view
    that agrees with no other, what is recommended and why, and the command to run. With more
    than 3,000 samples, graphs and spectra are computed for 3,000 drawn at random.
    """
    from viewhop.cli._options import convert_errors
    from viewhop.cli._progress_display import progress_shown
    from viewhop.runs import advise_files

    settings = settings_from_options("fit", views, None, None, needs_folder=False)
    with convert_errors("another folder"), progress_shown(quiet=quiet) as progress:
        result = advise_files(settings, progress=progress)
    if as_json:
        plain = {**result.advice.as_plain(), "command": [*result.command], "notes": result.notes}
        click.echo(json.dumps(plain, indent=1, allow_nan=False))
        return
    _print_tables(result)


def _print_tables(result: FileAdvice) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    advice = result.advice
    click.echo(advice.title)
    seen = Table("", "view", "finding", "number", "", title="Findings", title_justify="left")
    advised = Table(
        "parameter", "view", "value", "reason", title="Recommendations", title_justify="left"
    )
    for table, rows in ((seen, advice.finding_rows()), (advised, advice.recommendation_rows())):
        for row in rows:
            *cells, reason = row
            # As Text: names of views are no markup. The advice is for `viewhop fit`.
            table.add_row(*map(Text, cells), Text(name_options(reason)))
    console = Console()
    if advice.findings:
        console.print(seen)
    else:
        click.echo("no findings")
    console.print(advised)
    for note in result.notes:
        click.echo(f"note: {note}")
    click.echo(f"try: {shlex.join(result.command)}")
