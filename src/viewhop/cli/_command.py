"""How every command fails, warns and stops."""

from __future__ import annotations

import errno
import warnings
from typing import Any

import click

__all__ = ["Command"]

_ASKED = "viewhop.debug"


def _noted(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[_ASKED] = value


_DEBUG = click.Option(
    ["--debug"],
    is_flag=True,
    callback=_noted,
    expose_value=False,
    help="Show the traceback of an error.",
)


class Command(click.Command):
    """A command whose errors are a line on standard error, and whose warnings are one each.

    What is wrong with data or files exits with 1, wrong usage with 2, an interrupt with 130. The
    option ``--debug``, which every command has, lets the traceback through.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters of the command, and ``--debug``."""
        *own, last = super().get_params(ctx)  # help comes last
        return [*own, _DEBUG, last]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        debug = bool(ctx.meta.get(_ASKED))
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None
        except Exception as error:  # of any kind: a user gets a line, --debug the traceback
            # A reader that went away, `| head` for instance, is no error; click knows what to do.
            if debug or getattr(error, "errno", None) == errno.EPIPE:
                raise
            raise click.ClickException(_told(error)) from error


def _told(error: Exception) -> str:
    """An error in a line."""
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return f"{where}{error.strerror}"
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) and not text:
        return "the machine has no memory left for this"
    if isinstance(error, ValueError | MemoryError | RuntimeError) and text:
        return text
    return f"{type(error).__name__}: {text}; this is a fault of viewhop, see it with --debug"


def _show(message: Warning | str, *where: Any, **more: Any) -> None:
    click.echo(f"warning: {' '.join(str(message).split())}", err=True)
