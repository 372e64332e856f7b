"""Where a command writes: a lock, a check before long work, and one error for any refusal."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from viewhop._runtime.files import lock_file, lock_folder
from viewhop._runtime.locks import is_lock_file
from viewhop._runtime.parts import is_part_name

__all__ = ["OutputError", "output_file", "output_folder"]


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


@contextmanager
def output_folder(out: Path) -> Iterator[Path]:
    """The folder, created if necessary, in which no other process writes during the block.

    An error of the system about the folder is an OutputError. A folder that was created for a run
    that fails is removed.

    Parameters
    ----------
    out : Path
    """
    with _convert_errors(out), lock_folder(out) as folder:
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
    with _convert_errors(out), lock_file(out):
        yield


@contextmanager
def _convert_errors(out: Path) -> Iterator[None]:
    """A block in which an error of the system about the output is an OutputError."""
    try:
        yield
    except OSError as error:
        # A pipe is standard output; an OutputError is of an output within this one.
        if error.errno == errno.EPIPE or isinstance(error, OutputError):
            raise
        name = None if error.filename is None else Path(os.fsdecode(error.filename))
        if name is not None and not _is_about(name, out):
            raise
        # The temporary files of a run begin with a dot; a user does not know them.
        is_inside = name is not None and not name.name.startswith(".") and out in name.parents
        inside = name.name if is_inside and name is not None else None
        raise OutputError(error.errno, error.strerror or str(error), str(out), inside) from error


def _is_about(name: Path, out: Path) -> bool:
    """Whether a path is the output, above it or in it, or a temporary file beside it."""
    place, target = (Path(os.path.realpath(path)) for path in (name, out))
    if place.parent == target.parent and (is_part_name(place.name) or is_lock_file(place.name)):
        return True
    return place in (target, *target.parents) or target in place.parents
