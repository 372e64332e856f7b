"""How every command reports errors and warnings, and its exit code."""

from __future__ import annotations

import errno
import re
import warnings
from functools import partial
from typing import Any

import click

__all__ = ["Command", "name_options"]

_DEBUG_KEY = "viewhop.debug"
#: Parameters of estimators whose options have the same name, or another one. A quoted word is the
#: name of a view or a column.
_OPTIONS = {
    "connect": "--connect",
    "n_neighbors": "--neighbors",
    "within_view_weight": "--within-view-weight",
}
_PARAMETER = re.compile(rf"(?<!['\w])({'|'.join(_OPTIONS)})(?:=(True|\d+))?(?!['\w])")


def _remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[_DEBUG_KEY] = value


_DEBUG = click.Option(
    ["--debug"],
    is_flag=True,
    callback=_remember,
    expose_value=False,
    help="Show the traceback of an error.",
)


class Command(click.Command):
    """A command that prints each error and each warning as one line on standard error.

    Errors in data or files exit with 1, wrong usage with 2, an interrupt with 130. Every command
    has the option ``--debug``, which shows the traceback of an error instead.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters of the command, with ``--debug``."""
        *own, last = super().get_params(ctx)  # help comes last
        return [*own, _DEBUG, last]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        debug = bool(ctx.meta.get(_DEBUG_KEY))
        try:
            with warnings.catch_warnings():
                warnings.showwarning = partial(_show_warning, ctx)
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None
        except Exception as error:  # of any type: a user gets a line, --debug the traceback
            # A closed pipe (`| head`) is not an error; click handles it.
            if debug or getattr(error, "errno", None) == errno.EPIPE:
                raise
            raise click.ClickException(name_options(_error_line(error), ctx)) from error


def _error_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return f"{where}{error.strerror}"
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) and not text:
        return "out of memory"
    if isinstance(error, ValueError | MemoryError | RuntimeError) and text:
        return text
    return (
        f"{type(error).__name__}: {text}; this is a bug in viewhop; rerun with --debug for the "
        "traceback"
    )


def _show_warning(ctx: click.Context, message: Warning | str, *where: Any, **more: Any) -> None:
    text = " ".join(str(message).split())
    click.echo(f"warning: {name_options(text, ctx)}", err=True)


def name_options(text: str, ctx: click.Context | None = None) -> str:
    """The text with options in place of the parameters of an estimator that they set.

    Parameters
    ----------
    text : str
    ctx : Context or None
        Of the command that has the options; None takes all, for advice about another command.
    """
    known = {*_OPTIONS.values()}
    if ctx is not None:
        known &= {option for param in ctx.command.params for option in param.opts}

    def option(found: re.Match[str]) -> str:
        name, value = _OPTIONS[found[1]], found[2]
        if name not in known or (found[1] == "connect" and value is None):
            return found[0]
        return name if value in (None, "True") else f"{name} {value}"

    return _PARAMETER.sub(option, text)
