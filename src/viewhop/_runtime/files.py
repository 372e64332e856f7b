"""Atomic replacement of files: a failure at any moment leaves the old files unchanged."""

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

#: Suffix of the names of unfinished files; these names begin with a dot.
PART = ".part"


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file, open for writing, that replaces `path` at the end of the block.

    The data go to a temporary file in the same folder, are flushed to disk, and the file is then
    renamed. If the block fails, the temporary file is removed and the old file stays.

    Parameters
    ----------
    path : path
        The file; a link is followed.

    Raises
    ------
    OSError
        If the folder is not writable, the disk is full, or `path` is not a regular file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop._runtime.files import replace_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replace_file(Path(folder, "greeting")) as file:
    ...         count = file.write(b"hello")
    ...     Path(folder, "greeting").read_text()
    'hello'
    """
    with _name_target(path):
        yield from _replace(Path(os.path.realpath(path)))


def _replace(target: Path) -> Iterator[BinaryIO]:
    """A temporary file that is renamed to `target` at the end."""
    mode = _mode(target)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}{PART}")
    # Not with tempfile: its files are readable by their owner only, also after the rename.
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
    _flush_folder(target.parent)


@contextmanager
def _name_target(path: str | os.PathLike[str]) -> Iterator[None]:
    """A context in which an OSError about the temporary file names the user's path instead."""
    try:
        yield
    except OSError as error:
        is_temporary = error.filename is None or str(error.filename).endswith(PART)
        if error.errno is not None and is_temporary:
            error.filename, error.filename2 = os.fspath(path), None
        raise


@contextmanager
def stage_files(folder: str | os.PathLike[str], *, last: str) -> Iterator[Path]:
    """An empty folder; its files replace those in `folder` at the end of the block.

    No file is moved before all of them are on disk, so a full disk or an error leaves all old
    files in place. The moves happen one by one: a process killed between two of them leaves some
    old and some new files, each of them complete.

    Parameters
    ----------
    folder : path
        An existing folder. The files must not exist in it, or be regular files.
    last : str
        The file to move last.

    Raises
    ------
    OSError
        If `folder` is not writable, the disk is full, or a file to replace is not a regular file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop._runtime.files import stage_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with stage_files(folder, last="b") as staging:
    ...         count = Path(staging, "a").write_text("one"), Path(staging, "b").write_text("two")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['a', 'b']
    """
    target = Path(folder)
    staging = target / f".{secrets.token_hex(6)}{PART}"
    staging.mkdir()
    try:
        yield staging
        names = sorted((path.name for path in staging.iterdir()), key=lambda name: name == last)
        check_replaceable(target, names)
        for name in names:
            _flush_file(staging / name)
            mode = _mode(target / name)
            if mode is not None:
                os.chmod(staging / name, mode)
        for name in names:
            os.replace(staging / name, target / name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    _flush_folder(target)


def check_replaceable(folder: Path, names: Iterable[str]) -> None:
    """Raise OSError if one of the names exists and is not a regular file."""
    for name in names:
        if (folder / name).is_symlink():
            raise OSError(errno.EINVAL, "it is a symbolic link; remove it", str(folder / name))
        _mode(folder / name)


def writable_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, created if necessary; OSError if no file can be created in it."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f".{secrets.token_hex(6)}{PART}"
    probe.touch(exist_ok=False)
    probe.unlink()
    return folder


def _mode(target: Path) -> int | None:
    """Permissions of an existing file; None if it does not exist."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(target))
    return stat.S_IMODE(mode)


def _flush_file(path: Path) -> None:
    """Flush the content of a file to disk."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, where the system allows it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
