"""Reading an archive with everything in it verified and no code executed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import memory
from viewhop._storage.archive import manifest, npy, zipped
from viewhop._storage.archive.manifest import MANIFEST, Entry
from viewhop._storage.archive.zipped import Member
from viewhop.errors import ModelDamagedError, ModelFileError, ModelSizeError

__all__ = ["Archive", "name_file", "read"]

Arrays = dict[str, NDArray[Any]]


class Archive(NamedTuple):
    """The content of an archive.

    Attributes
    ----------
    model : dict
        Plain data.
    arrays : dict of arrays by name
    version : int
        Version of the file format.
    """

    model: dict[str, Any]
    arrays: Arrays
    version: int


def read(path: str | os.PathLike[str], *, max_memory: float | str | None = None) -> Archive:
    """The plain data and the arrays of an archive, and the version of its format.

    Parameters
    ----------
    path : path
    max_memory : number, str or None
        Limit for the size of the arrays: bytes, or text like "2GB"; None means 80 % of the
        available memory.

    Raises
    ------
    ModelFileError
        If the file is not an archive written by `viewhop._storage.archive.write`.
    OSError
        If the file does not exist or cannot be read.
    """
    allowed = memory.parse_budget(max_memory)
    with name_file(path), _opened(path) as (file, length):
        members = {member.name: member for member in zipped.members(file, length)}
        version, model, entries = manifest.decode_manifest(_manifest(file, members))
        _check_listed(members, entries)
        needed = sum(entry.size for entry in entries.values())
        if allowed is not None and needed > allowed:
            raise ModelSizeError(
                f"its arrays take {memory.format_bytes(needed)}, but the budget is "
                f"{memory.format_bytes(allowed)}; raise max_memory if you trust the file"
            )
        arrays = {
            name: _array(file, members[f"{name}.npy"], entry) for name, entry in entries.items()
        }
    return Archive(model, arrays, version)


@contextmanager
def name_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """A context in which every ModelFileError names the file."""
    try:
        yield
    except ModelFileError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from error


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, int]]:
    """The open file and its length; a pipe is refused without waiting for it."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    if os.path.isdir(path):
        raise ModelFileError("it is a folder, expected a file")
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError("it is a pipe or a device, expected a file")
        yield file, status.st_size


def _manifest(file: BinaryIO, members: dict[str, Member]) -> bytes:
    member = members.get(MANIFEST)
    if member is None:
        raise ModelFileError(f"it has no {MANIFEST}")
    if member.size > manifest.MOST_BYTES:
        raise ModelSizeError(
            f"{MANIFEST} has {member.size:,} bytes, more than the limit of {manifest.MOST_BYTES:,}"
        )
    return b"".join(zipped.chunks(file, member))


def _check_listed(members: dict[str, Member], entries: dict[str, Entry]) -> None:
    """Raise ModelFileError unless members and manifest have the same arrays of the same sizes."""
    known = {MANIFEST, *(f"{name}.npy" for name in entries)}
    unlisted = [name for name in members if name not in known]
    if unlisted:
        raise ModelFileError(f"{unlisted[0]} is not in the manifest")
    for name, entry in entries.items():
        member = members.get(f"{name}.npy")
        if member is None:
            raise ModelFileError(f"{name}.npy is in the manifest, but not in the file")
        if member.size != entry.size:
            raise ModelSizeError(
                f"{member.name} has {member.size} bytes, but the manifest says {entry.size}"
            )


def _array(file: BinaryIO, member: Member, entry: Entry) -> NDArray[Any]:
    """The array of a member, verified against the manifest."""
    header = entry.header.encoded()
    begin = b""
    digest = sha256()
    # The sizes agree and fit into the file, so this allocation is justified.
    data = np.empty(header_free := entry.size - len(header), dtype=np.uint8)
    filled = 0
    for chunk in zipped.chunks(file, member):
        digest.update(chunk)
        if len(begin) < len(header):
            missing = len(header) - len(begin)
            begin, chunk = begin + chunk[:missing], chunk[missing:]
        data[filled : filled + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
        filled += len(chunk)
    _check_header(member, begin, entry)
    if filled != header_free or digest.hexdigest() != entry.sha256:
        raise ModelDamagedError(f"{member.name} is damaged: its SHA-256 differs from the manifest")
    if entry.header.dtype == "|b1" and (data > 1).any():
        raise ModelFileError(f"{member.name} has booleans that are neither 0 nor 1")
    stored = np.dtype(entry.header.dtype)
    order = "F" if entry.header.is_fortran else "C"
    # The stubs of NumPy take an order only as a literal.
    array = data.view(stored).reshape(entry.header.shape, order=order)  # type: ignore[call-overload]
    return np.asarray(array.astype(stored.newbyteorder("="), copy=False))


def _check_header(member: Member, begin: bytes, entry: Entry) -> None:
    """Raise ModelFileError unless the header of the array agrees with the manifest."""
    try:
        length = npy.Header.rest(begin[: npy.PREFIX])
        header = npy.Header.decoded(begin[npy.PREFIX : npy.PREFIX + length])
    except ModelFileError as error:
        raise ModelFileError(f"{member.name}: {error}") from error
    if header != entry.header or begin != entry.header.encoded():
        raise ModelSizeError(f"{member.name}: its header differs from the manifest")
