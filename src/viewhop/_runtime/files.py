"""Atomic replacement of files: a failure at any moment leaves the old files unchanged."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from viewhop._runtime.leftovers import Leftover
from viewhop._runtime.locks import hold_lock, is_windows, lock_path
from viewhop._runtime.parts import is_part_name, open_part, open_part_folder, sweep

__all__ = [
    "check_replaceable",
    "lock_file",
    "lock_folder",
    "replace_file",
    "stage_files",
    "writable_folder",
]


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
    target = Path(os.path.realpath(path))
    with _name_errors(Path(path), target.parent):
        mode = _mode(target)
        sweep(target.parent)
        with open_part(target) as (part, file):
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.chmod(part, mode)
            if is_windows():
                file.close()
            os.replace(part, target)
    _flush_folder(target.parent)


@contextmanager
def stage_files(folder: str | os.PathLike[str], *, last: str) -> Iterator[Path]:
    """An empty folder; its files replace those in `folder` at the end of the block.

    No file is moved before all of them are on disk. The moves happen one by one; if an error or an
    interrupt comes between two of them, the old files are put back. So a full disk, an error or an
    interrupt leaves all old files in place. Only a process killed between two moves leaves some old
    and some new files, each of them complete.

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
    sweep(target)
    with _name_errors(target, target), open_part_folder(target) as staging:
        yield staging
        names = sorted((path.name for path in staging.iterdir()), key=lambda name: name == last)
        check_replaceable(target, names)
        for name in names:
            _flush_file(staging / name)
            mode = _mode(target / name)
            if mode is not None:
                os.chmod(staging / name, mode)
        _move_files(staging, target, names)
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
    sweep(folder)
    with open_part(folder / "probe"):
        return folder


@contextmanager
def lock_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The folder, created if necessary, in which no other process writes during the block.

    A folder that was created and is empty at the end is removed.

    Parameters
    ----------
    path : path

    Raises
    ------
    OSError
        If the folder cannot be created or written, or another process holds its lock.
    """
    folder = Path(path)
    with _created_folder(folder), hold_lock(lock_path(folder)):
        sweep(folder)
        yield folder


@contextmanager
def lock_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """A block during which no other process writes a file; its folder is created if necessary.

    Parameters
    ----------
    path : path
        Not a folder.

    Raises
    ------
    OSError
        If the folder cannot be created or written, or another process holds the lock of the file.
    """
    file = Path(path)
    with _created_folder(file.parent):
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        with hold_lock(lock_path(file)):
            sweep(file.parent)
            yield


@contextmanager
def _created_folder(folder: Path) -> Iterator[None]:
    """A block before which a folder is created, and removed after it if it is empty."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]

    def remove() -> None:
        for each in missing:
            with suppress(OSError):  # it is not empty
                each.rmdir()

    with Leftover(remove):
        folder.mkdir(parents=True, exist_ok=True)
        yield


@contextmanager
def _name_errors(user: Path, folder: Path) -> Iterator[None]:
    """A block whose errors of the system name the user's file or folder, not a temporary one.

    Parameters
    ----------
    user : Path
        The file or folder that the user knows.
    folder : Path
        Where the temporary files and folders are.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            if error.strerror and error.errno != errno.EPIPE:  # a pipe is not a file of ours
                error.filename = str(user)
            raise
        with suppress(ValueError):  # it is elsewhere
            first, *rest = Path(os.fsdecode(error.filename)).relative_to(folder).parts
            if is_part_name(first):
                error.filename = str(user.joinpath(*rest[1:]))
                if error.filename2 is not None:  # of a rename; None would be printed as a name
                    del error.filename2
        raise


def _move_files(staging: Path, target: Path, names: list[str]) -> None:
    """Move files to their places, in this order; put the old ones back if it does not succeed."""
    old = staging.with_name("old")
    replaced = {name for name in names if (target / name).exists()}
    is_done = False

    def undo() -> None:
        for name in () if is_done else names[::-1]:
            if (staging / name).exists():
                continue  # not moved
            if name not in replaced:
                (target / name).unlink(missing_ok=True)
            elif (old / name).exists():
                os.replace(old / name, target / name)

    old.mkdir()
    for name in replaced:
        _keep_file(target / name, old / name)
    with Leftover(undo):
        for name in names:
            os.replace(staging / name, target / name)
        is_done = True


def _keep_file(path: Path, copy: Path) -> None:
    """Give a file a second name, or copy it where it can have only one."""
    try:
        os.link(path, copy)
    except OSError:
        shutil.copy2(path, copy)


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
