"""Options that several commands share: the files of the views, and the columns to use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from viewhop._runtime.suggestion import suggestion
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
    "split_by_view",
    "stated_table_options",
    "table_options",
    "views_argument",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_META_KEY = "viewhop.tables"
#: Options that a view may have of its own.
_BY_VIEW = ("keep", "drop", "decimal", "delimiter", "encoding")


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
        _view_option("--keep", "COLUMN", "Use only this column, or a pattern like 'gene_*'."),
        _view_option("--drop", "COLUMN", "Leave out this column, or a pattern."),
        _view_option(
            "--decimal", "MARK", "Decimal mark in text files, . or a comma.  [default: .]"
        ),
        _view_option(
            "--delimiter",
            "CHARACTER",
            "Delimiter in text files, or 'tab'.  [default: detected]",
        ),
        _view_option("--encoding", "NAME", "Encoding of text files.  [default: utf-8]"),
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


def _view_option(name: str, metavar: str, help: str) -> Callable[[Decorated], Decorated]:
    """An option that may be given for a single view: ``--decimal rna=,``."""
    return click.option(
        name,
        metavar=f"[NAME=]{metavar}",
        multiple=True,
        callback=_remember,
        expose_value=False,
        help=help,
    )


def split_by_view(
    given: Mapping[str, Any], names: Collection[str]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The values of `table_options` for all views, and those of single views by name.

    Parameters
    ----------
    given : dict
        As `stated_table_options` returns them.
    names : collection of str
        The views. What stands before = belongs to a column unless it is one of them.

    Raises
    ------
    click.UsageError
        If a view is unknown, or an option that takes one value is given twice.
    """
    shared = {key: value for key, value in given.items() if key not in _BY_VIEW}
    own: dict[str, dict[str, Any]] = {}
    for key in _BY_VIEW:
        for text in given.get(key, ()):
            name, mark, value = text.partition("=")
            is_view = bool(mark) and name in names
            place = own.setdefault(name, {}) if is_view else shared
            if key in ("keep", "drop"):
                place[key] = (*place.get(key, ()), value if is_view else text)
                continue
            if mark and name.strip() and not is_view:
                raise click.UsageError(
                    f"--{key} {text}: there is no view {name!r}{suggestion(name, names)}"
                )
            if key in place:
                raise click.UsageError(
                    f"--{key} is given twice{f' for {name!r}' if is_view else ''}."
                )
            place[key] = value if is_view else text
            if key == "decimal" and place[key] not in (".", ","):
                raise click.UsageError(
                    f"Invalid value for '--decimal': {place[key]!r} is not one of '.', ','."
                )
    return shared, own


def chosen_table_options(views: Collection[str] = ()) -> Options:
    """How the current command reads files, by its `table_options`.

    Parameters
    ----------
    views : collection of str
        Names of the views, which may have options of their own.
    """
    from viewhop.tables import Options

    shared, own = split_by_view(stated_table_options(), views)
    for values in (shared, *own.values()):
        if values.get("delimiter") == "tab":
            values["delimiter"] = "\t"
    try:
        return Options(**shared, by_view=own)
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
    """A block that writes a report or a picture; what is missing ends it with one line."""
    from viewhop.runs._picture import NO_PICTURE
    from viewhop.runs._run_report import NO_REPORT

    try:
        yield
    except ImportError as error:
        if error.name == "matplotlib":
            raise click.ClickException(NO_PICTURE) from error
        if (error.name or "plotly").partition(".")[0] not in ("plotly", "viewhop"):
            raise
        raise click.ClickException(NO_REPORT) from error
