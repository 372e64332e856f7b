"""Options that several commands share: the files of the views, and the columns to use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from viewhop.cli._completions import named_files

if TYPE_CHECKING:
    from viewhop.tables import Options

__all__ = [
    "check_apart",
    "chosen_table_options",
    "convert_errors",
    "folder_option",
    "output_file",
    "output_folder",
    "quiet_option",
    "report_written",
    "seed_option",
    "stated_table_options",
    "table_options",
    "views_argument",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_META_KEY = "viewhop.tables"


def views_argument(*, required: bool = True) -> Callable[[Decorated], Decorated]:
    """The decorator that adds the argument ``views``: a dict of paths by view name, in order.

    Parameters
    ----------
    required : bool
        Whether at least one is required.
    """
    return click.argument(
        "views",
        metavar="NAME=PATH..." if required else "[NAME=PATH...]",
        nargs=-1,
        required=required,
        callback=_split_names,
        shell_complete=named_files,
    )


def _split_names(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    paths: dict[str, str] = {}
    for text in given:
        name, mark, path = text.partition("=")
        if not mark or not name.strip() or not path or not name.isprintable():
            raise click.BadParameter(
                f"expected NAME=PATH, as in rna=rna.csv, got {text!r}", ctx, param
            )
        if name in paths:
            raise click.BadParameter(f"view {name!r} is given twice", ctx, param)
        paths[name] = path
    return paths


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep the value of an option for the two functions that read them."""
    ctx.meta.setdefault(_META_KEY, {})[param.name] = value


def stated_table_options() -> dict[str, Any]:
    """The values of those `table_options` that the user stated, by name."""
    ctx = click.get_current_context()
    return {
        name: value
        for name, value in ctx.meta[_META_KEY].items()
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    }


def table_options(function: Decorated) -> Decorated:
    """Add options for `viewhop.tables.Options`; `chosen_table_options` returns their values."""
    for option in reversed(_table_options()):
        function = option(function)
    return function


def _table_options() -> list[Callable[[Decorated], Decorated]]:
    return [
        click.option(
            "--id",
            metavar="COLUMN",
            callback=_remember,
            expose_value=False,
            help="Sample ids, by which the views are joined; without them, by row.",
        ),
        click.option(
            "--label",
            metavar="COLUMN",
            callback=_remember,
            expose_value=False,
            help="Sample labels; not used as a feature.",
        ),
        click.option(
            "--keep",
            metavar="COLUMN",
            multiple=True,
            callback=_remember,
            expose_value=False,
            help="Use only this column, or a pattern like 'gene_*'; repeatable.",
        ),
        click.option(
            "--drop",
            metavar="COLUMN",
            multiple=True,
            callback=_remember,
            expose_value=False,
            help="Leave out this column, or a pattern; repeatable.",
        ),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            default=".",
            show_default=True,
            callback=_remember,
            expose_value=False,
            help="Decimal mark in text files.",
        ),
        click.option(
            "--delimiter",
            metavar="CHARACTER",
            callback=_remember,
            expose_value=False,
            help="Delimiter in text files, or 'tab'.  [default: detected]",
        ),
        click.option(
            "--encoding",
            default="utf-8",
            show_default=True,
            callback=_remember,
            expose_value=False,
            help="Encoding of text files.",
        ),
        click.option(
            "--id-strip/--no-id-strip",
            default=False,
            callback=_remember,
            expose_value=False,
            help="Remove white space around ids; upper and lower case always differ.",
        ),
        click.option(
            "--missing",
            type=click.Choice(["error", "drop"]),
            default="error",
            show_default=True,
            callback=_remember,
            expose_value=False,
            help="A row that is empty in part is an error, or counts as not observed.",
        ),
    ]


def chosen_table_options() -> Options:
    """How the current command reads files, by its `table_options`."""
    from viewhop.tables import Options

    given = click.get_current_context().meta[_META_KEY]
    try:
        return Options(
            id=given["id"],
            label=given["label"],
            keep=given["keep"],
            drop=given["drop"],
            decimal=given["decimal"],
            delimiter="\t" if given["delimiter"] == "tab" else given["delimiter"],
            encoding=given["encoding"],
            id_strip=given["id_strip"],
            missing=given["missing"],
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def quiet_option(function: Decorated) -> Decorated:
    """Add the option ``--quiet``; pass its value to `progress_shown`."""
    return click.option(
        "--quiet",
        is_flag=True,
        help="Print results only: no progress, no notes and no warnings. Errors are printed.",
    )(function)


def seed_option(function: Decorated) -> Decorated:
    """Add the option ``--seed``."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Random seed.",
    )(function)


def folder_option(help: str, *, required: bool = False) -> Callable[[Decorated], Decorated]:
    """The decorator that adds the option ``-o`` for a folder, as ``out``."""
    return click.option(
        "-o",
        "--out",
        type=click.Path(path_type=Path),
        metavar="DIR",
        required=required,
        help=help,
    )


def check_apart(written: Iterable[Path], read: Iterable[str | Path]) -> None:
    """Raise UsageError if an output would overwrite an input.

    Parameters
    ----------
    written, read : lists of paths
        ``::`` separates a file from the name of an array in it.
    """
    from viewhop.runs import _writing

    with convert_errors("another name with -o"):
        _writing.check_apart(written, read)


@contextmanager
def output_folder(out: Path) -> Iterator[Path]:
    """The folder, created if necessary and locked; errors of the system name the option.

    Parameters
    ----------
    out : Path
    """
    from viewhop._runtime import outputs

    with convert_errors("another folder with --out"), outputs.output_folder(out) as folder:
        yield folder


@contextmanager
def output_file(out: Path) -> Iterator[None]:
    """A block that writes a file, in a folder that is created if necessary.

    Parameters
    ----------
    out : Path
        Not a folder.
    """
    from viewhop._runtime import outputs

    with convert_errors("another file with --out"), outputs.output_file(out):
        yield


@contextmanager
def convert_errors(instead: str) -> Iterator[None]:
    """A block in which errors of runs become those of the command line, with their exit codes.

    Parameters
    ----------
    instead : str
        What to choose where the output cannot be written.
    """
    from viewhop._runtime.outputs import OutputError
    from viewhop.errors import SettingsError

    try:
        yield
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    except OutputError as error:
        raise click.ClickException(f"{error}. Choose {instead}.") from error


@contextmanager
def report_written() -> Iterator[None]:
    """A block that writes a report; without plotly it ends with an error of one line."""
    from viewhop.runs._run_report import NO_REPORT

    try:
        yield
    except ImportError as error:
        if (error.name or "plotly").partition(".")[0] not in ("plotly", "viewhop"):
            raise
        raise click.ClickException(NO_REPORT) from error
