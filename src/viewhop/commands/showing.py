"""How far work is: bars on a terminal, a plain line per step elsewhere."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from viewhop.progress import Progress

__all__ = ["progress_shown"]


def progress_shown() -> AbstractContextManager[Progress]:
    """The callback that shows how far work is, on standard error."""
    from viewhop.progress import shown

    return shown(1 if sys.stderr.isatty() else _say)


def _say(stage: str, done: int, total: int | None) -> None:
    detail = getattr(stage, "detail", "")
    line = f"{stage}: {done}" + ("" if total is None else f" of {total}")
    click.echo(f"{line}, {detail}" if detail else line, err=True)
