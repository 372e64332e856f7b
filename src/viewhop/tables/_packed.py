"""Packed content: gzip and Zstandard streams, and zip files, which must not unpack without end."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator

from viewhop.errors import TableError
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._faults import reason, table_fault

__all__ = ["PACKED", "check_zip", "unpack"]

#: Kinds of packed files by their extension.
PACKED = {".gz": "a gzip file", ".zst": "a Zstandard file"}
#: How many times a file may expand, beyond a size at which that does no harm.
_RATIO, _HARMLESS = 200, 2**24
#: Bytes that are unpacked at a time, and packed ones of Zstandard, each block of which can become
#: 128 kB.
_PIECE, _SIP = 2**18, 512
#: The largest window that a Zstandard stream may ask for.
_WINDOW = 2**27


def unpack(path: str, data: bytes, ending: str, budget: ReadingBudget) -> bytes:
    """The content of a gzip or Zstandard file, counted in the budget.

    Parameters
    ----------
    path : str
    data : bytes
    ending : {".gz", ".zst"}
    budget : ReadingBudget

    Raises
    ------
    TableError
        If the file is damaged, or unpacks to more than the budget, or more than 200 times its
        size.
    """
    pieces = _gunzip(data) if ending == ".gz" else _unpack_zstandard(path, data)
    content = bytearray()
    try:
        for piece in pieces:
            content += piece
            _check_ratio(path, "it", len(data), len(content))
            budget.check(path, 2 * len(content), what="its unpacked content")
    except TableError:
        raise
    except Exception as error:  # the libraries have error types of their own
        raise table_fault(path, f"it is damaged or cut short ({reason(error)})") from None
    budget.take(path, len(content), what="its unpacked content")
    return bytes(content)


def _check_ratio(path: str, what: str, packed: int, size: int) -> None:
    if size > _RATIO * packed + _HARMLESS:
        raise table_fault(
            path,
            f"{what} unpacks to more than {_RATIO} times its size; unpack it yourself if you trust "
            "the file",
        )


def _gunzip(data: bytes) -> Iterator[bytes]:
    """The members of a gzip file; zlib compares their checksums."""
    view, at = memoryview(data), 0
    while at < len(data):
        unpacking, pending = zlib.decompressobj(wbits=31), b""
        while not unpacking.eof:
            if not pending:
                pending = bytes(view[at : at + _PIECE])
                at += len(pending)
                if not pending:
                    raise ValueError("its end is missing")
            yield unpacking.decompress(pending, _PIECE)
            pending = unpacking.unconsumed_tail
        at -= len(unpacking.unused_data)
        while at < len(data) and not data[at]:  # some writers pad with zeros
            at += 1


def _unpack_zstandard(path: str, data: bytes) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise table_fault(
            path, 'Zstandard files need zstandard: pip install "viewhop[data]", or use gzip'
        ) from None
    unpacking = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    view, at = memoryview(data), 0
    while at < len(data):
        frame = unpacking.decompressobj()
        while not frame.eof:
            piece = view[at : at + _SIP]
            if not piece:
                raise ValueError("its end is missing")
            at += len(piece)
            yield frame.decompress(piece)
        at -= len(frame.unused_data)


def check_zip(path: str, name: str, budget: ReadingBudget) -> None:
    """Raise TableError for a zip file with a member that unpacks to too much.

    Parameters
    ----------
    path : str
        The file, as the caller gave it.
    name : str
        Where it is.
    budget : ReadingBudget
    """
    try:
        with zipfile.ZipFile(name) as archive:
            members = archive.infolist()
    except Exception as error:  # a damaged file can make zipfile raise almost anything
        raise table_fault(path, f"it is not a valid zip file ({reason(error)})") from None
    for member in members:
        _check_ratio(path, f"its part {member.filename!r}", member.compress_size, member.file_size)
        budget.check(path, member.file_size, what=f"its part {member.filename!r}")
