"""Options that several commands have: which files are the views, and which columns they use."""

from __future__ import annotations

import errno
import os
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
    "asked_tables",
    "check_apart",
    "folder_option",
    "given_tables",
    "output_file",
    "output_folder",
    "seed_option",
    "table_options",
    "views_argument",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_TABLES = "viewhop.tables"


def views_argument(*, required: bool = True) -> Callable[[Decorated], Decorated]:
    """The decorator that adds the argument ``views``: a dict of paths by view name, in order.

    Parameters
    ----------
    required : bool
        Whether there must be one.
    """
    return click.argument(
        "views",
        metavar="NAME=PATH..." if required else "[NAME=PATH...]",
        nargs=-1,
        required=required,
        callback=_by_name,
        shell_complete=named_files,
    )


def _by_name(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, mark, path = text.partition("=")
        if not mark or not name.strip() or not path or not name.isprintable():
            raise click.BadParameter(
                f"expected NAME=PATH, as in rna=rna.csv, got {text!r}", ctx, param
            )
        if name in found:
            raise click.BadParameter(f"the view {name!r} is given twice", ctx, param)
        found[name] = path
    return found


def _noted(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep the value of an option for `asked_tables` and `given_tables`."""
    ctx.meta.setdefault(_TABLES, {})[param.name] = value


def given_tables() -> dict[str, Any]:
    """What the options of `table_options` were given, without their defaults, by name."""
    ctx = click.get_current_context()
    return {
        name: value
        for name, value in ctx.meta[_TABLES].items()
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    }


def table_options(function: Decorated) -> Decorated:
    """Add the options of `viewhop.tables.Options`; the command asks for them by `asked_tables`."""
    for option in reversed(_table_options()):
        function = option(function)
    return function


def _table_options() -> list[Callable[[Decorated], Decorated]]:
    return [
        click.option(
            "--id",
            metavar="COLUMN",
            callback=_noted,
            expose_value=False,
            help="Ids of samples; views are joined by them, else by row.",
        ),
        click.option(
            "--label",
            metavar="COLUMN",
            callback=_noted,
            expose_value=False,
            help="Labels of samples, which are no feature.",
        ),
        click.option(
            "--keep",
            metavar="COLUMN",
            multiple=True,
            callback=_noted,
            expose_value=False,
            help="Use only this column, or pattern like 'gene_*'; may be repeated.",
        ),
        click.option(
            "--drop",
            metavar="COLUMN",
            multiple=True,
            callback=_noted,
            expose_value=False,
            help="Leave out this column, or pattern; may be repeated.",
        ),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            default=".",
            show_default=True,
            callback=_noted,
            expose_value=False,
            help="What stands before decimals in text files.",
        ),
        click.option(
            "--delimiter",
            metavar="CHARACTER",
            callback=_noted,
            expose_value=False,
            help="What stands between cells of text files, or 'tab'.  [default: by the file]",
        ),
        click.option(
            "--encoding",
            default="utf-8",
            show_default=True,
            callback=_noted,
            expose_value=False,
            help="Of text files.",
        ),
    ]


def asked_tables() -> Options:
    """What the options of `table_options` ask for, in the command that runs."""
    from viewhop.tables import Options

    given = click.get_current_context().meta[_TABLES]
    try:
        return Options(
            id=given["id"],
            label=given["label"],
            keep=given["keep"],
            drop=given["drop"],
            decimal=given["decimal"],
            delimiter="\t" if given["delimiter"] == "tab" else given["delimiter"],
            encoding=given["encoding"],
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def seed_option(function: Decorated) -> Decorated:
    """Add the option ``--seed``."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Seed of everything random.",
    )(function)


def folder_option(help: str, *, required: bool = False) -> Callable[[Decorated], Decorated]:
    """The decorator that adds the option ``-o``, a folder, as ``out``."""
    return click.option(
        "-o",
        "--out",
        type=click.Path(path_type=Path),
        metavar="DIR",
        required=required,
        help=help,
    )


def check_apart(written: Iterable[Path], read: Iterable[str | Path]) -> None:
    """Raise UsageError if a file would be written over one that is read.

    Parameters
    ----------
    written, read : lists of paths
        Behind ``::`` stands which array of a file is meant.
    """
    targets = {os.path.realpath(path) for path in written}
    for path in read:
        names = (str(path), str(path).rpartition("::")[0])
        if any(name and os.path.realpath(name) in targets for name in names):
            raise click.UsageError(f"{path} would be written over; choose another name with -o.")


@contextmanager
def output_folder(out: Path) -> Iterator[Path]:
    """The folder, made if need be; an error inside that is about writing names the option.

    Parameters
    ----------
    out : Path
    """
    from viewhop._runtime.files import writable_folder

    with _writing(out, "another folder with --out"):
        yield writable_folder(out)


@contextmanager
def output_file(out: Path) -> Iterator[None]:
    """A context in which a file is written, whose folder is made if need be.

    Parameters
    ----------
    out : Path
        It must not be a folder.
    """
    from viewhop._runtime.files import writable_folder

    with _writing(out, "another file with --out"):
        writable_folder(out.parent)
        if out.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        yield


@contextmanager
def _writing(out: Path, instead: str) -> Iterator[None]:
    """A context whose errors of the system are about what is written."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE:  # of standard output, which is no file of ours
            raise
        inside = error.filename is not None and Path(error.filename).name != out.name
        where = f" ({Path(error.filename).name})" if inside and _is_named(error) else ""
        raise click.ClickException(
            f"cannot write to {out}{where}: {error.strerror or error}. Choose {instead}."
        ) from error


def _is_named(error: OSError) -> bool:
    """Whether the file of an error is one that a user knows."""
    return not Path(error.filename).name.startswith(".")
