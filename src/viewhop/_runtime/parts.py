"""Unfinished files and folders: their names, and the removal of those of dead processes.

The name tells the host, the process and, by a random token, the write; the time of the last change
tells when. A part is locked as long as its process writes it, and the lock ends with the process.
So a part that can be locked is stale, whatever process has got the number since.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from viewhop._runtime import locks
from viewhop._runtime.leftovers import Leftover
from viewhop._runtime.owner import HOST, is_running

__all__ = ["PART", "find_stale_parts", "is_part_name", "open_part", "open_part_folder", "sweep"]

#: Suffix of the names of unfinished files and folders; these names begin with a dot.
PART = ".part"
#: In a folder: the file with its lock, and the folder that is filled.
_LOCK_FILE, _FILES = "lock", "files"
_NAME = re.compile(
    r"\.(?:.*\.)?(?P<host>[0-9A-Za-z_-]{1,32})-(?P<pid>[0-9]{1,10})-[0-9a-f]{12}\.part", re.DOTALL
)
#: Age in seconds of a part of another host, whose locks may not be seen here, when it is stale.
_OLD = 7 * 24 * 3600.0
#: The same for any part on Windows, where a file is unlocked before it takes its place.
_GRACE = 60.0


@contextmanager
def open_part(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """The path of a new, locked file beside `target`, and the file; removed if it is still there.

    Parameters
    ----------
    target : Path
    """
    while True:
        part = target.with_name(_part_name(f"{locks.shorten_name(target.name)}."))
        with Leftover(lambda part=part: _remove(part)):  # type: ignore[misc]
            # Not with tempfile: its files are readable by their owner only, also after a rename.
            file = open(part, "x+b")  # noqa: SIM115
            with _closed(file):
                locks.acquire(file.fileno(), wait=True)
                # A sweep may have come between the two calls.
                if locks.is_at(part, file.fileno()):
                    yield part, file
                    return


@contextmanager
def open_part_folder(folder: Path) -> Iterator[Path]:
    """A new, empty folder inside a locked one in `folder`; both are removed at the end.

    Parameters
    ----------
    folder : Path
    """
    while True:
        part = folder / _part_name("")
        with Leftover(lambda part=part: _remove(part)):  # type: ignore[misc]
            part.mkdir()
            try:
                handle = os.open(part / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
            except FileNotFoundError:  # a sweep came between the two calls
                continue
            try:
                locks.acquire(handle, wait=True)
                if locks.is_at(part / _LOCK_FILE, handle):
                    (part / _FILES).mkdir()
                    yield part / _FILES
                    return
            finally:
                os.close(handle)


def is_part_name(name: str) -> bool:
    """Whether a name is that of a part; a user's own file may end in ``.part`` as well."""
    return name.endswith(PART) and _NAME.fullmatch(name) is not None


def find_stale_parts(folder: Path) -> list[Path]:
    """Parts in a folder that no living process writes.

    Parameters
    ----------
    folder : Path
    """
    stale = []
    for path in _list_parts(folder):
        with _claim(path) as is_stale:
            if is_stale:
                stale.append(path)
    return sorted(stale)


def sweep(folder: Path) -> None:
    """Remove the parts and the lock files in a folder that no living process holds.

    What cannot be removed stays; it is in nobody's way.

    Parameters
    ----------
    folder : Path
    """
    for path in _list_parts(folder):
        with _claim(path, create=True) as is_stale:
            if is_stale:
                _remove(path)
    for name in _list_names(folder):
        if locks.is_lock_file(name):
            locks.release_stale(folder / name)


def _part_name(begin: str) -> str:
    return f".{begin}{HOST}-{os.getpid()}-{secrets.token_hex(6)}{PART}"


def _list_names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _list_parts(folder: Path) -> list[Path]:
    return [folder / name for name in _list_names(folder) if is_part_name(name)]


@contextmanager
def _claim(path: Path, *, create: bool = False) -> Iterator[bool]:
    """Whether a part is stale; if so, it is locked during the block.

    Parameters
    ----------
    path : Path
    create : bool
        Whether to create the missing lock of a folder whose process was killed before it did.
    """
    handle, is_stale = None, False
    try:
        with suppress(OSError):  # its process may finish it meanwhile
            handle = _open_lock(path, create=create)
            is_stale = _is_stale(path, handle)
        yield is_stale
    finally:
        if handle is not None:
            os.close(handle)


def _open_lock(path: Path, *, create: bool) -> int:
    """The open file that holds the lock of a part; OSError if it is neither a file nor a folder."""
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):
        return os.open(path / _LOCK_FILE, flags | (os.O_CREAT if create else 0), 0o666)
    if stat.S_ISREG(mode):
        return os.open(path, flags)
    raise OSError("not a part of viewhop")


def _is_stale(path: Path, handle: int) -> bool:
    name = _NAME.fullmatch(path.name)
    assert name is not None
    age = time.time() - _last_change(path)
    if name["host"] != HOST and age < _OLD:
        return False
    if locks.is_windows() and age < _GRACE:
        return False
    is_ours = locks.acquire(handle)
    if is_ours is None:  # no locks here: the number of the process must do
        return name["host"] != HOST or not is_running(int(name["pid"]))
    return is_ours


def _last_change(path: Path) -> float:
    """Time of the last change of a part, or of anything in it."""
    times = [path.lstat().st_mtime]
    for place, _, names in os.walk(path):
        with suppress(OSError):
            times += [os.lstat(os.path.join(place, name)).st_mtime for name in ("", *names)]
    return max(times)


def _remove(part: Path) -> None:
    """Remove a part; what cannot be removed stays."""
    with suppress(OSError):
        if part.is_dir() and not part.is_symlink():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


@contextmanager
def _closed(file: BinaryIO) -> Iterator[None]:
    """A block after which a file is closed; after an error, unwritten data are dropped."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            file.close()
        raise
    file.close()
