"""Shared parts of the seismic commands: waveform files and messages about data left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from viewhop.seismic._summary import LeftOut, Summary
    from viewhop.seismic.io import Waveforms

__all__ = [
    "echo_left_out_on_error",
    "echo_summary",
    "files_argument",
    "read_files",
    "remove_stale",
    "require_obspy",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

#: Names of arguments on the command line.
_OPTIONS = {
    "min_stations": "--min-stations",
    "set unpicked to 'event'": "pass --unpicked event",
    "n_neighbors": "--neighbors",
    "n_components": "--components",
    "n_steps": "--steps",
}
#: Maximum number of problems printed one by one; the others are counted.
_MOST_SHOWN = 10


def files_argument(function: Decorated) -> Decorated:
    """Add the argument ``files``."""
    return click.argument(
        "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
    )(function)


@contextmanager
def require_obspy() -> Iterator[None]:
    """Context that reports a missing obspy as a one-line error."""
    try:
        yield
    except ImportError as error:
        raise click.ClickException(str(error)) from error


def read_files(files: tuple[Path, ...]) -> Waveforms:
    """Waveforms from files."""
    from viewhop.seismic.io import read_waveforms

    with require_obspy():
        return read_waveforms(files)


def echo_summary(summary: Summary) -> None:
    """Print what was left out or is doubtful to standard error, then the counts."""
    _echo_problems("left out", summary.left_out)
    _echo_problems("doubtful", summary.doubtful)
    click.echo(str(summary), err=True)


@contextmanager
def echo_left_out_on_error(left_out: Sequence[LeftOut] = ()) -> Iterator[None]:
    """Context that prints what was left out before an error, since it may be the cause.

    Parameters
    ----------
    left_out : list of LeftOut
        Items from earlier steps; a SeismicError brings its own.
    """
    from viewhop.seismic._summary import count_by_reason

    try:
        yield
    except ValueError as error:
        # Some messages contain an item already.
        every = (*left_out, *getattr(error, "left_out", ()))
        lost = [each for each in every if str(each) not in str(error)]
        if lost:
            _echo_problems("left out", lost)
            click.echo(count_by_reason("left out", lost), err=True)
        text = str(error)
        for name, option in _OPTIONS.items():
            text = text.replace(name, option)
        error.args = (text, *error.args[1:])
        raise


def remove_stale(folder: Path, names: Iterable[str]) -> list[str]:
    """Remove files of an earlier run that this run did not write; a line about each.

    Parameters
    ----------
    folder : Path
    names : list of str
        File names used by the command.
    """
    stale = [path for name in sorted(names) if (path := folder / name).is_file()]
    for path in stale:
        path.unlink()
    return [f"removed {path}, left by an earlier run" for path in stale]


def _echo_problems(what: str, problems: Sequence[LeftOut]) -> None:
    """Print at most ten problems, or one per reason if there are more reasons."""
    from viewhop.seismic._summary import sample_by_reason

    shown = sample_by_reason(problems, _MOST_SHOWN)
    for each in shown:
        click.echo(f"{what}: {each}", err=True)
    if more := len(problems) - len(shown):
        click.echo(f"{what}: {more:,} more", err=True)
