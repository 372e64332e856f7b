"""Files that are replaced whole: a failure at any moment leaves the old one as it was."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["replaced", "writable_folder"]


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file, open for writing, that takes the place of `path` at the end of the block.

    What is written goes to a file beside it, then to the disk, and is moved over. If the block
    fails, that file is removed and the old one stays.

    Parameters
    ----------
    path : path
        The file; a link is followed.

    Raises
    ------
    OSError
        If the folder cannot be written to, the disk is full, or `path` is no regular file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop.files import replaced
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replaced(Path(folder, "greeting")) as file:
    ...         count = file.write(b"hello")
    ...     Path(folder, "greeting").read_text()
    'hello'
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    # Not by tempfile: its files are closed to everyone else, and stay so when they are moved.
    handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(part, mode)
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    _settle(target.parent)


def writable_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made if need be; OSError unless a file can be made in it."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f".{secrets.token_hex(6)}.part"
    probe.touch(exist_ok=False)
    probe.unlink()
    return folder


def _mode(target: Path) -> int | None:
    """Permissions of the file that is there, None if there is none."""
    try:
        found = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "it is no regular file", str(target))
    return stat.S_IMODE(found)


def _settle(folder: Path) -> None:
    """Ask that the move itself be on the disk, where folders can be asked for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
