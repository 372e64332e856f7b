"""The callback that reports the progress of long computations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "Stage", "no_progress", "show_progress"]

#: ``progress(stage, done, total)``; ``total`` is None if it is unknown.
Progress = Callable[[str, int, int | None], None]


class Stage(str):
    """The name of a stage, with a detail that a progress bar may show next to it.

    Attributes
    ----------
    detail : str
    """

    __slots__ = ("detail",)

    detail: str

    def __new__(cls, name: str, detail: str = "") -> Stage:
        """The name as a string that carries the detail."""
        stage = super().__new__(cls, name)
        stage.detail = detail
        return stage


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Show nothing."""


@contextmanager
def show_progress(verbose: int | Progress) -> Iterator[Progress]:
    """The progress callback for `verbose`: silent, progress bars, or the caller's own.

    Parameters
    ----------
    verbose : int or callable
        0 is silent; a positive number draws one bar per stage on standard error; a callable is
        used as the callback.
    """
    if callable(verbose):
        yield verbose
        return
    if verbose <= 0:
        yield no_progress
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        tasks = {}

        def show(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, detail="")
            detail = getattr(stage, "detail", "")
            bars.update(tasks[stage], completed=done, total=total, detail=detail)

        yield show
