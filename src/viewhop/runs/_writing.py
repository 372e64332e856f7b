"""Where a run writes: checks before long work, and one error for whatever the system refuses."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from viewhop._runtime.files import lock_file, lock_folder
from viewhop.errors import SettingsError

__all__ = ["OutputError", "check_apart", "output_file", "output_folder"]


class OutputError(OSError):
    """A run cannot write its output; the error of the system is its cause.

    Attributes
    ----------
    errno : int or None
    strerror : str
        The reason, as the system states it.
    filename : str
        The folder or file that was to be written.
    inside : str or None
        The file of the folder that could not be written, if it is a particular one.
    """

    def __init__(
        self, errno: int | None, strerror: str, filename: str, inside: str | None = None
    ) -> None:
        super().__init__(errno, strerror, filename)
        self.inside = inside

    def __str__(self) -> str:
        where = f" ({self.inside})" if self.inside else ""
        return f"cannot write to {self.filename}{where}: {self.strerror}"


def check_apart(written: Iterable[Path], read: Iterable[str | Path]) -> None:
    """Raise SettingsError if an output would overwrite an input.

    Parameters
    ----------
    written, read : lists of paths
        ``::`` separates a file from the name of an array in it.
    """
    targets = {os.path.realpath(path) for path in written}
    for path in read:
        names = (str(path), str(path).rpartition("::")[0])
        if any(name and os.path.realpath(name) in targets for name in names):
            raise SettingsError(
                f"{path} would be written over; choose another name with -o", key="out"
            )


@contextmanager
def output_folder(out: Path) -> Iterator[Path]:
    """The folder, created if necessary, in which no other process writes during the block.

    An error of the system about the folder is an OutputError. A folder that was created for a run
    that fails is removed.

    Parameters
    ----------
    out : Path
    """
    with _convert_errors(out, out), lock_folder(out) as folder:
        yield folder


@contextmanager
def output_file(out: Path) -> Iterator[None]:
    """A block that writes a file, in a folder that is created if necessary.

    No other process writes the file during the block.

    Parameters
    ----------
    out : Path
        Not a folder.
    """
    with _convert_errors(out, out.parent), lock_file(out):
        yield


@contextmanager
def _convert_errors(out: Path, folder: Path) -> Iterator[None]:
    """A block in which an error of the system about the output is an OutputError.

    Parameters
    ----------
    out : Path
        What the user asked for.
    folder : Path
        Where it is written. Errors about files elsewhere are not about the output.
    """
    try:
        yield
    except OSError as error:
        # A pipe is standard output; an OutputError is of an output within this one.
        if error.errno == errno.EPIPE or isinstance(error, OutputError):
            raise
        name = None if error.filename is None else Path(os.fsdecode(error.filename))
        if name is not None and not _is_about(name, folder):
            raise
        # The temporary files of a run begin with a dot; a user does not know them.
        is_known = name is None or name.name == out.name or name.name.startswith(".")
        inside = None if name is None or is_known or name in folder.parents else name.name
        raise OutputError(error.errno, error.strerror or str(error), str(out), inside) from error


def _is_about(name: Path, folder: Path) -> bool:
    """Whether a path is a folder, in it, or above it."""
    places = [Path(os.path.realpath(path)) for path in (name, folder)]
    return places[0] in (places[1], *places[1].parents) or places[1] in places[0].parents
