"""Atomic writing: a file is the old one or the new one, whole, whatever happens in between."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when all is written.

    It stands in the same folder, under a name that begins with a dot and ends with ``.part``. It
    is removed if anything fails; only a process that is killed leaves it behind, and nothing reads
    it.

    Parameters
    ----------
    path : path
        A link is followed: what it leads to is replaced. Whatever is there must be a file.
    """
    target = Path(os.path.realpath(path))
    mode = None
    with suppress(FileNotFoundError):
        found = target.stat()
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(f"{path} is a folder; expected the name of a file")
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a file that can be replaced")
        mode = stat.S_IMODE(found.st_mode)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(part, flags, 0o666), "w+b")
    try:
        with file:
            yield file
            file.flush()
            if mode is not None:
                os.chmod(part, mode)
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk, where folders can be told to."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
