"""``viewhop transform``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from viewhop.cli._command import Command
from viewhop.cli._completions import files
from viewhop.cli._options import (
    chosen_table_options,
    convert_errors,
    quiet_option,
    table_options,
    views_argument,
)
from viewhop.cli._progress_display import progress_shown

__all__ = ["transform"]

_EXAMPLE = """\b
Example:
  viewhop data rolls --samples 300 --noise 0.1 -o rolls
  viewhop fit x=rolls/x.csv y=rolls/y.csv --id sample --label theta -o out
  viewhop transform out/model.viewhop y=rolls/y.csv --id sample -o new.csv
"""
#: Most column names in a note.
_MOST_NAMES = 20


@click.command(cls=Command, epilog=_EXAMPLE)
@click.argument("model", type=click.Path(path_type=Path), shell_complete=files)
@views_argument()
@table_options
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    required=True,
    help="File to write; its ending sets the format: .csv, .tsv or .parquet. - is standard "
    "output, as CSV.",
)
@quiet_option
def transform(model: Path, views: dict[str, str], out: Path, quiet: bool) -> None:
    """Place new samples in the embedding of a model, or of the run in a folder.

    Pass any of the views that the model was fitted on. Columns are matched by name, in any order;
    other columns are ignored, and a note lists them. The output has the ids, the clusters if the
    model has any, the coverage (near 0: unlike all training samples), and the coordinates.
    """
    from viewhop.runs import transform_files

    options = chosen_table_options(views)
    is_printed = out == Path("-")
    with ExitStack() as stack:
        path = out
        if is_printed:
            path = Path(stack.enter_context(TemporaryDirectory(prefix="viewhop-"))) / "new.csv"
        with convert_errors("another file with --out"), progress_shown(quiet=quiet) as progress:
            result = transform_files(model, views, path, options=options, progress=progress)
        _note_ignored({} if quiet else result.ignored)
        if is_printed:
            with path.open("rb") as file:
                while part := file.read(2**20):
                    click.echo(part, nl=False)
        else:
            click.echo(f"wrote {result.path}")


def _note_ignored(ignored: Mapping[str, Sequence[str]]) -> None:
    """Print which columns of the files the model does not use."""
    for file, names in ignored.items():
        listed = ", ".join(map(repr, names[:_MOST_NAMES]))
        more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        click.echo(f"note: {file}: ignored {listed}{more}", err=True)
