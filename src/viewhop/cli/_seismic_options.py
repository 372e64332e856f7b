"""What the seismic commands share: waveform files, and what was left out of them."""

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
    "files_argument",
    "read_files",
    "remove_stale",
    "tell_summary",
    "telling",
    "with_obspy",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

#: What arguments are called on the command line.
_OPTIONS = {
    "min_stations": "--min-stations",
    "set unpicked to 'event'": "give --unpicked event",
    "n_neighbors": "--neighbors",
    "n_components": "--components",
}
#: Things that are told one by one; the rest are counted.
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
    """Say what was left out or is doubtful, on standard error, and how many things there are."""
    _tell("left out", summary.left_out)
    _tell("doubtful", summary.doubtful)
    click.echo(str(summary), err=True)


@contextmanager
def telling(left_out: Sequence[LeftOut] = ()) -> Iterator[None]:
    """A context whose error comes after what was left out before: the reason may be there.

    Parameters
    ----------
    left_out : list of LeftOut
        What is known already; an error of seismic data has its own.
    """
    from viewhop.seismic._summary import counted

    try:
        yield
    except ValueError as error:
        # Some messages have them already.
        every = (*left_out, *getattr(error, "left_out", ()))
        lost = [each for each in every if str(each) not in str(error)]
        if lost:
            _tell("left out", lost)
            click.echo(counted("left out", lost), err=True)
        text = str(error)
        for name, option in _OPTIONS.items():
            text = text.replace(name, option)
        error.args = (text, *error.args[1:])
        raise


def remove_stale(folder: Path, names: Iterable[str]) -> None:
    """Remove files of an earlier run that this one did not write, and say so.

    Parameters
    ----------
    folder : Path
    names : list of str
        Names that the command gives to its own files.
    """
    for name in sorted(names):
        path = folder / name
        if path.is_file():
            path.unlink()
            click.echo(f"removed {path} of an earlier run: this one has none")


def _tell(what: str, problems: Sequence[LeftOut]) -> None:
    """Say problems: ten, or one of every kind if there are more kinds."""
    from viewhop.seismic._summary import samples_of_each

    told = samples_of_each(problems, _TOLD)
    for each in told:
        click.echo(f"{what}: {each}", err=True)
    if more := len(problems) - len(told):
        click.echo(f"{what}: and {more:,} more", err=True)
