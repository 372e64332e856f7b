"""Progress: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from viewhop._runtime.progress import Progress

__all__ = ["progress_shown"]

#: Seconds between two lines about the same stage.
_PAUSE = 5.0


@contextmanager
def progress_shown(*, quiet: bool = False) -> Iterator[Progress]:
    """A block with a callback that shows progress on standard error.

    Parameters
    ----------
    quiet : bool
        Whether to show nothing, and no warnings either; a run still records them.
    """
    from viewhop._runtime.progress import show_progress

    verbose = 0 if quiet else 1 if sys.stderr.isatty() else _Lines()
    with warnings.catch_warnings(), show_progress(verbose) as progress:
        if quiet:
            warnings.showwarning = _show_nothing
        yield progress


def _show_nothing(message: Warning | str, *where: Any, **more: Any) -> None:
    """Take a warning without showing it."""


class _Lines:
    """A line when a stage begins and ends, and every few seconds in between."""

    def __init__(self) -> None:
        self._last_shown: dict[str, float] = {}

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now, name = monotonic(), str(stage)
        if name in self._last_shown and done != total and now < self._last_shown[name] + _PAUSE:
            return
        self._last_shown[name] = now
        detail = getattr(stage, "detail", "")
        line = f"{stage}: {done}" + ("" if total is None else f" of {total}")
        click.echo(f"{line}, {detail}" if detail else line, err=True)
