"""``viewhop transform``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from viewhop.cli._command import Command
from viewhop.cli._completions import files
from viewhop.cli._options import (
    asked_tables,
    check_apart,
    output_file,
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
#: Names of columns in a line.
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
    help="File to write; its name says what: .csv, .tsv or .parquet.",
)
@click.option("--quiet", is_flag=True, help="Show neither progress nor notes.")
def transform(model: Path, views: dict[str, str], out: Path, quiet: bool) -> None:
    """Place new samples in the embedding of a model.

    Give any of the views that the model was fitted on. The columns of the fit are found by their
    names, in any order; others are passed over, and named in a line. The file has the ids, the
    clusters if the model has some, the coverage (near 0: unlike all training samples), and the
    coordinates.
    """
    from viewhop import load
    from viewhop.errors import TableError
    from viewhop.runs import _column_match as matching
    from viewhop.runs._estimator import embedder_of
    from viewhop.tables import check_writable

    options = asked_tables()
    check_apart([out], [model, *views.values()])
    try:
        with output_file(out):  # before long work
            check_writable(out)
    except TableError as error:
        raise click.UsageError(str(error)) from None
    est = load(model)
    inner = embedder_of(est)
    strange = [name for name in views if name not in inner.view_names_]
    if strange:
        raise click.UsageError(
            f"the model has no view {strange[0]!r}; it was fitted on "
            f"{', '.join(inner.view_names_)}."
        )
    if (options.keep or options.drop) and None not in inner._layout.feature_names:
        raise click.UsageError(
            "the model finds its columns by name: --keep and --drop are for arrays."
        )
    read = matching.read_for(inner, views, options=options)
    for table in () if quiet else read.tables.values():
        _say_ignored(table.path, matching.ignored(table, options))
    with progress_shown(quiet=quiet) as progress:
        inner.set_params(verbose=progress)
        embedding, coverage = inner.transform(read.views, return_coverage=True)
    with output_file(out):
        _write(out, est, embedding, coverage, read, options)
    click.echo(f"wrote {out}")


def _write(path: Path, est: Any, embedding: Any, coverage: Any, read: Any, options: Any) -> None:
    from viewhop.cli._running import free_name
    from viewhop.runs._estimator import embedder_of
    from viewhop.tables import write_embedding

    names = embedder_of(est).get_feature_names_out().tolist()
    ours = {"coverage": coverage}
    if hasattr(est, "cluster_centers_"):
        ours = {"cluster": est._assigned(embedding), **ours}
    taken = {*names, *ours}
    id_name = free_name(options.id or "id", taken)
    extra = {}
    if read.labels is not None:
        extra[free_name(options.label, taken | {id_name})] = read.labels
    write_embedding(
        path, embedding, names=names, ids=read.views.ids, id_name=id_name, extra=extra | ours
    )


def _say_ignored(path: str, names: list[str]) -> None:
    if not names:
        return
    listed = ", ".join(map(repr, names[:_MOST_NAMES]))
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    click.echo(f"note: {path}: passed over {listed}{more}", err=True)
