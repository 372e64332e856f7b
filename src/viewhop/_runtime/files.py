"""Files that are replaced whole: a failure at any moment leaves the old ones as they were."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["PART", "check_replaceable", "replace_file", "stage_files", "writable_folder"]

#: How the name of what is not finished ends; it begins with a dot.
PART = ".part"


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
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
    >>> from viewhop._runtime.files import replaced
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replaced(Path(folder, "greeting")) as file:
    ...         count = file.write(b"hello")
    ...     Path(folder, "greeting").read_text()
    'hello'
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}{PART}")
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


@contextmanager
def stage_files(folder: str | os.PathLike[str], *, last: str) -> Iterator[Path]:
    """An empty folder whose files take the places of those in `folder` at the end of the block.

    Nothing is moved before all of it is on the disk, so a disk that fills up or an error leaves
    the old files, all of them. The moves are one by one: a process that is killed between two of
    them leaves some old and some new files, each whole.

    Parameters
    ----------
    folder : path
        It is there. The files must be new, or regular files, there.
    last : str
        The file that is moved last.

    Raises
    ------
    OSError
        If `folder` cannot be written to, the disk is full, or what is there is no regular file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop._runtime.files import staged
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with staged(folder, last="b") as inside:
    ...         count = Path(inside, "a").write_text("one"), Path(inside, "b").write_text("two")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['a', 'b']
    """
    target = Path(folder)
    inside = target / f".{secrets.token_hex(6)}{PART}"
    inside.mkdir()
    try:
        yield inside
        names = sorted((path.name for path in inside.iterdir()), key=lambda name: name == last)
        check_replaceable(target, names)
        for name in names:
            _flush(inside / name)
            found = _mode(target / name)
            if found is not None:
                os.chmod(inside / name, found)
        for name in names:
            os.replace(inside / name, target / name)
    finally:
        shutil.rmtree(inside, ignore_errors=True)
    _settle(target)


def check_replaceable(folder: Path, names: Iterable[str]) -> None:
    """Raise OSError if something that is no regular file has one of the names."""
    for name in names:
        if (folder / name).is_symlink():
            raise OSError(errno.EINVAL, "it is a link; remove it", str(folder / name))
        _mode(folder / name)


def writable_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made if need be; OSError unless a file can be made in it."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f".{secrets.token_hex(6)}{PART}"
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


def _flush(path: Path) -> None:
    """See to it that the content of a file is on the disk."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Ask that the move itself be on the disk, where folders can be asked for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
