"""Locks of the operating system on files, which end with their process, however it ends."""

from __future__ import annotations

import errno
import importlib
import json
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from viewhop._runtime.leftovers import Leftover
from viewhop._runtime.owner import HOST
from viewhop.errors import NoLockWarning

__all__ = [
    "LOCK",
    "acquire",
    "hold_lock",
    "is_at",
    "is_lock_file",
    "is_windows",
    "lock_path",
    "release_stale",
    "shorten_name",
]

#: Suffix of the names of lock files; these names begin with a dot.
LOCK = ".viewhop-lock"
#: Longest part of a name that lock files and unfinished files take over, in bytes.
LONGEST = 100
#: Where the lock of Windows lies: beyond the content, which stays readable.
_FAR = 2**40
_HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
_UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


def _find_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


#: The locks of POSIX and of Windows; None where they do not exist.
_fcntl: Any = _find_module("fcntl")
_msvcrt: Any = None if _fcntl is not None else _find_module("msvcrt")


def acquire(handle: int, *, wait: bool = False) -> bool | None:
    """Whether this process now has the lock on an open file; None if there are no locks here.

    Parameters
    ----------
    handle : int
        Closing it releases the lock.
    wait : bool
        Whether to wait for another process to release it.
    """
    try:
        if _fcntl is not None:
            _fcntl.flock(handle, _fcntl.LOCK_EX | (0 if wait else _fcntl.LOCK_NB))
        elif _msvcrt is not None:
            os.lseek(handle, _FAR, os.SEEK_SET)
            try:
                _msvcrt.locking(handle, _msvcrt.LK_LOCK if wait else _msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(handle, 0, os.SEEK_SET)
        else:
            return None
    except OSError as error:
        if error.errno in _HELD:
            return False
        if error.errno in _UNSUPPORTED:
            return None
        raise
    return True


def is_windows() -> bool:
    """Whether locks are those of Windows, where an open file cannot be renamed or removed."""
    return _msvcrt is not None


def is_at(path: Path, handle: int) -> bool:
    """Whether the open file is still the one at the path.

    Parameters
    ----------
    path : Path
    handle : int
    """
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(handle))
    except FileNotFoundError:
        return False


def lock_path(path: Path) -> Path:
    """The lock file of an output: inside a folder, beside a file.

    Parameters
    ----------
    path : Path
        A folder, which must exist, or a file.
    """
    if path.is_dir():
        return path / LOCK
    place = Path(os.path.realpath(path))
    return place.with_name(f".{shorten_name(place.name)}{LOCK}")


def shorten_name(name: str) -> str:
    """The beginning of a file name; a name that gets a suffix must not become too long."""
    return os.fsencode(name)[:LONGEST].decode("utf-8", "ignore")


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """A block during which no other process holds the lock file at the path.

    Parameters
    ----------
    path : Path
        From `lock_path`. The file exists during the block only. If the process is killed, the
        file stays and the lock ends.

    Raises
    ------
    BlockingIOError
        If another process, or another thread of this one, holds it; the message says which.
    OSError
        If the file cannot be created.
    """
    lock = _Lock(path)
    with Leftover(lock.release):
        lock.acquire()
        yield


class _Lock:
    """A lock file: JSON that says who holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._is_refused = False

    def acquire(self) -> None:
        while True:
            self._handle = _open(self._path, os.O_CREAT)
            is_ours = acquire(self._handle)
            if is_ours is False:
                self._is_refused = True
                raise BlockingIOError(errno.EAGAIN, _describe_owner(self._handle), str(self._path))
            # The last owner may have removed the file after it was opened here.
            if is_at(self._path, self._handle):
                break
            os.close(self._handle)
        if not _is_ours(self._handle):
            self._is_refused = True
            message = f"{self._path.name} is not a lock of viewhop; remove it"
            raise FileExistsError(errno.EEXIST, message, str(self._path))
        if is_ours is None:
            warnings.warn(
                f"the file system of {self._path.parent} has no locks: nothing stops another "
                "process from writing there at the same time",
                NoLockWarning,
                stacklevel=4,
            )
        owner = {"viewhop": "lock", "pid": os.getpid(), "host": HOST, "since": _now()}
        os.ftruncate(self._handle, 0)
        os.write(self._handle, json.dumps(owner).encode())

    def release(self) -> None:
        if self._handle is None:
            if not self._is_refused:  # a signal struck before the handle was kept
                release_stale(self._path)
            return
        if not self._is_refused and not is_windows() and is_at(self._path, self._handle):
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        handle, self._handle = self._handle, None
        os.close(handle)
        if not self._is_refused and is_windows():  # an open file cannot be removed there
            release_stale(self._path)


def release_stale(path: Path) -> None:
    """Remove a lock file that no process holds.

    Parameters
    ----------
    path : Path
    """
    with suppress(OSError):
        handle = _open(path)
        try:
            is_stale = acquire(handle) is True and is_at(path, handle) and _is_ours(handle)
            if is_stale and not is_windows():
                path.unlink(missing_ok=True)
        finally:
            os.close(handle)
        if is_stale and is_windows():
            path.unlink(missing_ok=True)


def is_lock_file(name: str) -> bool:
    """Whether a file has the name of a lock file."""
    return name.startswith(".") and name.endswith(LOCK)


def _open(path: Path, flags: int = 0) -> int:
    flags |= os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, flags | getattr(os, "O_BINARY", 0), 0o666)


def _is_ours(handle: int) -> bool:
    """Whether a file is empty or the lock of a viewhop, not a file of the user."""
    facts = os.fstat(handle)
    return stat.S_ISREG(facts.st_mode) and (facts.st_size == 0 or _read_owner(handle) is not None)


def _read_owner(handle: int) -> dict[str, Any] | None:
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        owner = json.loads(os.read(handle, 4096))
    except ValueError:
        return None
    finally:
        os.lseek(handle, 0, os.SEEK_SET)
    return owner if isinstance(owner, dict) and owner.get("viewhop") == "lock" else None


def _describe_owner(handle: int) -> str:
    owner = _read_owner(handle) or {}
    if "pid" not in owner:
        return "another process is writing there; wait until it ends"
    here = " (this one)" if (owner["pid"], owner.get("host")) == (os.getpid(), HOST) else ""
    return (
        f"process {owner['pid']}{here} on {owner.get('host')} has been writing there since "
        f"{owner.get('since')}; wait until it ends"
    )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
