"""What lies at a path, a file or the folder of a store: its size and its hash."""

from __future__ import annotations

import os
import stat
from hashlib import file_digest, sha256
from pathlib import Path

from viewhop.errors import TableError
from viewhop.tables._faults import table_fault

__all__ = ["check_stored", "digest_path", "first_bytes", "measure_path"]

#: Bytes by which kinds of files are told apart.
_HEAD = 16
#: Where HDF5 begins in a file that starts with a block of its user, as mudata writes it.
_USER_BLOCK = 512


def check_stored(path: str, name: str, *, may_be_folder: bool) -> None:
    """Raise TableError unless there is a file, or a folder of files that no link leaves.

    Parameters
    ----------
    path : str
        As the caller gave it.
    name : str
        Where it is.
    may_be_folder : bool
    """
    try:
        status = os.stat(name)
        if stat.S_ISDIR(status.st_mode):
            if not may_be_folder:
                raise table_fault(path, "it is a folder; expected a file")
            _check_entries(path, Path(name))
        elif not stat.S_ISREG(status.st_mode):
            raise table_fault(path, "it is no regular file, which this kind of file must be")
        elif not status.st_size:
            raise table_fault(path, "it is empty")
    except OSError as error:
        raise table_fault(path, f"it cannot be read: {error.strerror or error}") from error
    except TableError:
        raise
    except ValueError as error:  # a NUL in the name
        raise table_fault(path, f"it cannot be read: {error}") from error


def _check_entries(path: str, folder: Path) -> None:
    for place, folders, files in os.walk(folder):
        for entry in (*folders, *files):
            mode = os.lstat(os.path.join(place, entry)).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                inside = os.path.relpath(os.path.join(place, entry), folder)
                raise table_fault(path, f"{inside!r} in it is a link or a device, expected a file")


def first_bytes(name: str) -> bytes:
    """The first bytes of a file, those after the block of its user in HDF5; none of a folder."""
    if os.path.isdir(name):
        return b""
    with open(name, "rb") as file:
        head = file.read(_USER_BLOCK + _HEAD)
    inner = head[_USER_BLOCK:]
    return inner if inner.startswith(b"\x89HDF") else head[:_HEAD]


def measure_path(name: str) -> int:
    """Bytes of a file, or of all files in a folder."""
    if not os.path.isdir(name):
        return os.path.getsize(name)
    return sum(file.stat().st_size for file in _files(Path(name)))


def digest_path(name: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file; of a folder, that of the names and the hashes of its files.

    Parameters
    ----------
    name : path

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop.tables import digest_path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "a").write_bytes(b"1")
    ...     before = digest_path(folder)
    ...     path = Path(folder, "a").rename(Path(folder, "b"))
    ...     digest_path(folder) == before
    False
    """
    place = Path(name)
    if not place.is_dir():
        with open(place, "rb") as file:
            return file_digest(file, "sha256").hexdigest()
    total = sha256()
    for entry in _files(place):
        with open(entry, "rb") as file:
            own = file_digest(file, "sha256").digest()
        relative = entry.relative_to(place).as_posix().encode("utf-8", "surrogateescape")
        total.update(len(relative).to_bytes(8, "little") + relative + own)
    return total.hexdigest()


def _files(folder: Path) -> list[Path]:
    """The regular files below a folder, in the same order on every system."""
    files = (entry for entry in folder.rglob("*") if entry.is_file())
    return sorted(files, key=lambda entry: entry.relative_to(folder).as_posix())
