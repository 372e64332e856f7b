"""Strict zip files: members follow each other without gaps, and both of their headers agree.

The directory at the end is read first, and the header of each member must agree with it. No byte
lies outside a member, so every program sees the same content in the file.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from viewhop.errors import ModelDamagedError, ModelFileError, ModelSizeError

__all__ = ["RATIO", "Member", "chunks", "members"]

#: Largest size of the directory in bytes, and largest number of members.
MOST_DIRECTORY = 1_000_000
MOST_MEMBERS = 10_000
#: A member that expands by more than this factor is taken for a zip bomb.
RATIO = 100
CHUNK = 2**20

STORED, DEFLATED = 0, 8
_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_FULL = 0xFFFFFFFF
#: The flag for a name in UTF-8; it makes no difference to the ASCII names used here.
_UTF8 = 0x800
_FILE, _FILE_TYPES = 0o100000, 0o170000
_DIRECTORY_BIT = 0x10


class Member(NamedTuple):
    """A member of a zip file.

    Attributes
    ----------
    name : str
    method : int
        0 is stored, 8 is deflated.
    crc : int
    packed, size : int
        Size in bytes in the file, and unpacked.
    header, start : int
        Offsets of its header and of its data.
    """

    name: str
    method: int
    crc: int
    packed: int
    size: int
    header: int
    start: int = 0


def members(file: BinaryIO, length: int) -> list[Member]:
    """The members of a zip file of `length` bytes, in file order."""
    begin, size, count = _directory(file, length)
    file.seek(begin)
    directory = _read_exactly(file, size)
    entries = [*_parse_directory(directory, count)]
    names = [member.name for member in entries]
    if len({name.casefold() for name in names}) < len(names):
        raise ModelFileError("two members have the same name, ignoring case")
    located, end = [], 0
    for member in sorted(entries, key=lambda member: member.header):
        if member.header != end:
            raise ModelFileError(f"{member.name}: members overlap, or bytes belong to none of them")
        start = _data_offset(file, member, begin)
        end = start + member.packed
        located.append(member._replace(start=start))
    if end != begin:
        raise ModelFileError("members overlap, or bytes belong to none of them")
    return located


def chunks(file: BinaryIO, member: Member) -> Iterator[bytes]:
    """The unpacked bytes of a member, in chunks; ModelFileError unless size and CRC agree."""
    file.seek(member.start)
    left, size, crc = member.packed, 0, 0
    engine = zlib.decompressobj(-15) if member.method == DEFLATED else None
    pending = b""
    while True:
        if not pending and left:
            pending = _read_exactly(file, min(CHUNK, left))
            left -= len(pending)
        if engine is None:
            data, pending = pending, b""
        else:
            try:
                data = engine.decompress(pending, CHUNK)
            except zlib.error as error:
                raise ModelDamagedError(f"{member.name} cannot be unpacked: {error}") from error
            pending = engine.unconsumed_tail
            if engine.unused_data or (engine.eof and left):
                raise ModelSizeError(f"{member.name} has bytes after its end")
        size += len(data)
        if size > member.size:
            raise ModelSizeError(f"{member.name} contains more than its {member.size} bytes")
        crc = zlib.crc32(data, crc)
        if data:
            yield data
        elif not pending and not left:
            break
    if size != member.size or (engine is not None and not engine.eof):
        raise ModelSizeError(f"{member.name} contains {size} bytes, but declares {member.size}")
    if crc != member.crc:
        raise ModelDamagedError(f"{member.name} is damaged: its CRC differs")


def _read_exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise ModelDamagedError("the file is cut short")
    return data


def _directory(file: BinaryIO, length: int) -> tuple[int, int, int]:
    """Offset of the directory, its size in bytes, and the number of members."""
    file.seek(0)
    if length < _END.size or file.read(4) != b"PK\x03\x04":
        raise ModelFileError("it is not a viewhop model: it does not begin like a zip file")
    end = length - _END.size
    file.seek(end)
    sign, disk, start_disk, here, count, size, begin, comment = _END.unpack(_read_exactly(file, 22))
    if sign != b"PK\x05\x06" or comment:
        raise ModelDamagedError(
            "it does not end like a zip file without a comment; it may be cut short"
        )
    locator = end - _LOCATOR.size
    if locator >= 0:
        file.seek(locator)
        sign, locator_disk, end_64, disks = _LOCATOR.unpack(_read_exactly(file, _LOCATOR.size))
        if sign == b"PK\x06\x07":
            if end_64 + _END_64.size != locator or locator_disk or disks != 1:
                raise ModelFileError("its zip64 directory is not at the declared offset")
            file.seek(end_64)
            sign, rest, _, _, disk, start_disk, here, count, size, begin = _END_64.unpack(
                _read_exactly(file, _END_64.size)
            )
            if sign != b"PK\x06\x06" or rest != _END_64.size - 12:
                raise ModelFileError("its zip64 directory is not at the declared offset")
            end = end_64
    if disk or start_disk or here != count:
        raise ModelFileError("it is one part of a zip file in several parts")
    if size > MOST_DIRECTORY or count > MOST_MEMBERS:
        raise ModelSizeError(f"its directory has too many members: {count:,} in {size:,} bytes")
    if begin + size != end:
        raise ModelFileError("its directory is not at the declared offset")
    return begin, size, count


def _parse_directory(directory: bytes, count: int) -> Iterator[Member]:
    """The members in the directory."""
    place = 0
    for _ in range(count):
        if place + _CENTRAL.size > len(directory):
            raise ModelFileError("its directory is shorter than declared")
        fields = _CENTRAL.unpack_from(directory, place)
        sign, _, _, flags, method, _, _, crc, packed, size = fields[:10]
        name_size, extra_size, comment_size, disk, _, attributes, header = fields[10:]
        place += _CENTRAL.size
        raw = directory[place : place + name_size]
        extra = directory[place + name_size : place + name_size + extra_size]
        place += name_size + extra_size + comment_size
        if sign != b"PK\x01\x02" or place > len(directory) or disk or comment_size:
            raise ModelFileError("its directory is not a plain zip directory")
        name = _name(raw)
        size, packed, header = _wide(name, extra, [size, packed, header])
        _check_kind(name, flags, method, attributes)
        if method == STORED and packed != size:
            raise ModelSizeError(
                f"{name} is not compressed, but its sizes differ: {packed} and {size} bytes"
            )
        if size > RATIO * packed + 1024:
            raise ModelSizeError(
                f"{name} would expand from {packed:,} to {size:,} bytes, more than {RATIO} times"
            )
        yield Member(name, method, crc, packed, size, header)
    if place != len(directory):
        raise ModelFileError("its directory is longer than declared")


def _name(raw: bytes) -> str:
    """The name of a member; ModelFileError if it is not portable or could escape its folder."""
    text = raw.decode("ascii", "backslashreplace")
    parts = text.split("/")
    if (
        not raw.isascii()
        or not text.isprintable()
        or any(part in ("", ".", "..") or part.endswith((".", " ")) for part in parts)
        or any(sign in text for sign in '\\:*?"<>|')
    ):
        raise ModelFileError(f"a member cannot have the name {text[:100]!r}")
    return text


def _wide(name: str, extra: bytes, values: list[int]) -> list[int]:
    """Sizes and offset of a member; values beyond 32 bits come from the zip64 field."""
    wanted = [k for k, value in enumerate(values) if value == _FULL]
    place, field = 0, b""
    while place + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, place)
        if kind == 1:
            field = extra[place + 4 : place + 4 + size]
        place += 4 + size
    if place != len(extra) or len(field) < 8 * len(wanted):
        raise ModelFileError(f"{name}: its extra field does not have the length that it declares")
    widened = list(values)
    for k, value in zip(wanted, struct.iter_unpack("<Q", field[: 8 * len(wanted)]), strict=True):
        widened[k] = value[0]
    return widened


def _check_kind(name: str, flags: int, method: int, attributes: int) -> None:
    if flags & 1:
        raise ModelFileError(f"{name} is encrypted")
    if flags & ~_UTF8:
        raise ModelFileError(f"{name} has the flags {flags:#x}, expected none")
    if method not in (STORED, DEFLATED):
        raise ModelFileError(
            f"{name} uses compression method {method}; supported are stored and deflated"
        )
    kind = (attributes >> 16) & _FILE_TYPES
    if kind not in (0, _FILE) or attributes & _DIRECTORY_BIT:
        raise ModelFileError(f"{name} is a link, a folder or a device, expected a file")


def _data_offset(file: BinaryIO, member: Member, end: int) -> int:
    """Offset of the data of a member; its header must agree with the directory."""
    if member.header + _LOCAL.size > end:
        raise ModelFileError(f"{member.name} is not at the offset in the directory")
    file.seek(member.header)
    fields = _LOCAL.unpack(_read_exactly(file, _LOCAL.size))
    sign, _, flags, method, _, _, crc, packed, size, name_size, extra_size = fields
    name = _read_exactly(file, name_size) if name_size == len(member.name) else b""
    extra = file.read(extra_size)
    if sign != b"PK\x03\x04" or name != member.name.encode("ascii") or len(extra) < extra_size:
        raise ModelFileError(f"{member.name} is not at the offset in the directory")
    size, packed = _wide(member.name, extra, [size, packed])
    if flags & ~_UTF8 or (method, crc) != (member.method, member.crc):
        raise ModelFileError(f"{member.name}: its header and the directory do not agree")
    start: int = member.header + _LOCAL.size + name_size + extra_size
    if (packed, size) != (member.packed, member.size) or start + packed > end:
        raise ModelSizeError(f"{member.name}: its header and the directory have different sizes")
    return start
