"""What the seismic commands share: waveform files, and what was left out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from viewhop.seismic.io import Waveforms
    from viewhop.seismic.summary import Summary

__all__ = ["files_argument", "read_files", "tell_summary", "with_obspy"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

#: Things that were left out and are told one by one; the rest are counted.
_TOLD = 10


def files_argument(function: Decorated) -> Decorated:
    """Add the argument ``files``."""
    return click.argument(
        "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
    )(function)


@contextmanager
def with_obspy() -> Iterator[None]:
    """A context in which a missing obspy is told in a line."""
    try:
        yield
    except ImportError as error:
        raise click.ClickException(str(error)) from error


def read_files(files: tuple[Path, ...]) -> Waveforms:
    """What was recorded in waveform files."""
    from viewhop.seismic.io import read_waveforms

    with with_obspy():
        return read_waveforms(files)


def tell_summary(summary: Summary) -> None:
    """Say what was left out, on standard error: each thing, up to ten, and how many there are."""
    for lost in summary.left_out[:_TOLD]:
        click.echo(f"left out: {lost}", err=True)
    more = len(summary.left_out) - _TOLD
    if more > 0:
        click.echo(f"left out: and {more:,} more", err=True)
    click.echo(str(summary), err=True)
