"""Location of miniSEED records in a file, from their headers alone."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

__all__ = [
    "Span",
    "holds_records",
    "most_records",
    "sample_encoding",
    "scan_records",
    "trace_and_time",
]

#: Smallest and largest record size in libmseed.
_SMALLEST, _LARGEST = 1 << 7, 1 << 20
_HEADER = 48
#: From byte 6 of a header: quality, then a reserved byte; before them a sequence number.
_MARK = re.compile(rb"(?<=[0-9 \0]{6})[DRQM](?=[ \0])")
#: Control headers of full SEED; the first of a volume gives the length of its records.
_CONTROL = re.compile(rb"[0-9]{6}[VAST][ *]")
_VOLUME = re.compile(rb"[0-9]{6}V[ *](?:005|008|010)[0-9]{4}.{4}(0[7-9]|1[0-9]|20)", re.DOTALL)
_CODE = re.compile(rb"[\0 -~]*")
#: Upper bound on the number of blockettes in a record.
_BLOCKETTES = 64
_LENGTH_BLOCKETTE = 1000
#: Bytes per sample by encoding, for encodings with a fixed sample size.
_BYTES = {0: 1, 1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 12: 3, 13: 2, 14: 2, 16: 2, 30: 2, 32: 2}


class Span(NamedTuple):
    """Bytes of a file that form one record, or no record.

    Attributes
    ----------
    begin, end : int
        Bytes from `begin` up to `end`.
    has_header : bool
        Whether it starts with a record header.
    fault : str
        Why it is not a valid record; empty for a record that looks intact.
    """

    begin: int
    end: int
    has_header: bool
    fault: str


class _Header(NamedTuple):
    """Fields of a fixed header that are used here."""

    order: str
    station: bytes
    location: bytes
    channel: bytes
    network: bytes
    year: int
    day: int
    hour: int
    minute: int
    second: int
    fraction: int
    samples: int
    activity: int
    correction: int
    beginning: int
    blockette: int


def scan_records(data: bytes) -> Iterator[Span]:
    """Spans of a file in order: records, and the bytes between them.

    Parameters
    ----------
    data : bytes

    Yields
    ------
    Span
        Bytes outside records are merged into as few spans as possible. Control headers of full SEED
        and blank records are skipped: they contain no samples.

    Notes
    -----
    A header may claim more bytes than its record has and so hide the next records. If a record
    contains another header, the outer one is not trusted.
    """
    at, control = 0, 0
    while at < len(data):
        header = _header(data, at)
        if header is None:
            volume = _VOLUME.match(data, at)
            control = 1 << int(volume.group(1)) if volume else control
            if control and _CONTROL.match(data, at):
                at += control
                continue
            end = _find_header(data, at + 1)
            if data[at:end].translate(None, b" 0123456789"):
                yield Span(at, end, False, "no valid header")
            at = end
            continue
        span = _record_span(data, at, header)
        yield span
        at = span.end


def _record_span(data: bytes, at: int, header: _Header) -> Span:
    """Span of the record with a given header."""
    if _length_blockette(data, at, header) is None:
        length = _guess_length(data, at)
    else:
        length = _length(data, at, header)
    if length is None:
        end = _find_header(data, at + _HEADER)
        return Span(at, end, True, "no valid length in the header")
    claimed = min(at + length, len(data))
    # Bytes may look like a header by chance, but rarely like one with a valid blockette.
    end = _find_header(data, at + _HEADER, claimed, is_whole=True)
    fault = ""
    if end - at < length:
        what = "the next record starts" if end < claimed else "the file ends"
        fault = f"the header claims {length:,} bytes, but {what} after {end - at:,}"
    elif _needed_bytes(data, at, header) > length:
        # libmseed would read them from the bytes that follow.
        fault = f"the header claims {header.samples:,} samples, too many for {length:,} bytes"
    return Span(at, end, True, fault)


def holds_records(data: bytes) -> bool:
    """Whether a file with a damaged first record is miniSEED.

    Parameters
    ----------
    data : bytes

    Notes
    -----
    It is if a record starts within the maximum record length, at a multiple of the smallest record
    size, and is followed by another record or by the end of the file.
    """
    limit = min(_LARGEST + _HEADER, len(data))
    at = _find_header(data, 0, limit, is_whole=True)
    while at < limit:
        header = _header(data, at)
        end = at + ((header and _length(data, at, header)) or 0)
        if at % _SMALLEST == 0 and (end == len(data) or _is_whole(data, end)):
            return True
        at = _find_header(data, at + 1, limit, is_whole=True)
    return False


def most_records(data: bytes) -> int:
    """Number of possible record starts, an upper bound on the records of an intact file.

    Parameters
    ----------
    data : bytes
    """
    rows = len(data) // _SMALLEST
    cells = np.frombuffer(data, np.uint8, rows * _SMALLEST).reshape(rows, _SMALLEST)
    is_mark = np.isin(cells[:, 6], list(b"DRQM")) & np.isin(cells[:, 7], list(b" \0"))
    return int(np.isin(cells[is_mark, :6], list(b"0123456789 \0")).all(axis=1).sum())


def trace_and_time(data: bytes, at: int) -> tuple[str, str]:
    """Name (``NET.STA.LOC.CHA``) and time of the record that starts at a byte.

    Parameters
    ----------
    data : bytes
    at : int
        Start of a valid header.
    """
    header = _header(data, at)
    assert header is not None
    codes = (header.network, header.station, header.location, header.channel)
    name = ".".join(code.decode("ascii", "replace").strip(" \0") for code in codes)
    units = header.fraction
    if not header.activity & 2:  # a correction not yet applied to the time
        units += header.correction
    time = datetime(header.year, 1, 1) + timedelta(
        days=header.day - 1,
        hours=header.hour,
        minutes=header.minute,
        seconds=header.second,
        microseconds=100 * units,
    )
    return name, f"{time.isoformat()}Z"


def sample_encoding(data: bytes, at: int) -> int | None:
    """Encoding number of a record's samples; None if the header does not give it.

    Parameters
    ----------
    data : bytes
    at : int
        Start of a valid header.
    """
    header = _header(data, at)
    place = header and _length_blockette(data, at, header)
    return data[place + 4] if place else None


def _header(data: bytes, at: int) -> _Header | None:
    """Fixed header that starts at a byte; None if there is none."""
    if at + _HEADER > len(data) or not _MARK.match(data, at + 6):
        return None
    if not _CODE.fullmatch(data, at + 8, at + 13) or not _CODE.fullmatch(data, at + 15, at + 20):
        return None
    # As in libmseed, the byte order is the one that gives a possible year and day.
    for order in "><":
        header = _Header(
            order, *struct.unpack_from(f"{order}5s2s3s2sHHBBBxHH4xB3xiHH", data, at + 8)
        )
        if 1900 <= header.year <= 2100 and 1 <= header.day <= 366:
            is_time = header.hour < 24 and header.minute < 60 and header.second <= 60
            return header if is_time else None
    return None


def _length_blockette(data: bytes, at: int, header: _Header) -> int | None:
    """Position of the blockette with a record's length and encoding; None if missing."""
    place = header.blockette
    for _ in range(_BLOCKETTES):
        if place < _HEADER or at + place + 8 > len(data):
            return None
        kind, later = struct.unpack_from(f"{header.order}HH", data, at + place)
        if kind == _LENGTH_BLOCKETTE:
            return at + place
        if later <= place:
            return None
        place = later
    return None


def _length(data: bytes, at: int, header: _Header) -> int | None:
    """Record length in bytes from its header; None if missing or invalid."""
    place = _length_blockette(data, at, header)
    if place is None or not _SMALLEST <= 1 << min(data[place + 6], 63) <= _LARGEST:
        return None
    return 1 << data[place + 6]


def _needed_bytes(data: bytes, at: int, header: _Header) -> int:
    """Number of bytes that a record needs for its samples; 0 if they are compressed."""
    encoding = sample_encoding(data, at)
    return header.beginning + header.samples * _BYTES[encoding] if encoding in _BYTES else 0


def _guess_length(data: bytes, at: int) -> int | None:
    """Number of bytes up to the next header or the end, if that is a valid record length."""
    length = _SMALLEST
    while length <= _LARGEST and at + length <= len(data):
        if at + length == len(data) or _header(data, at + length):
            return length
        length *= 2
    return None


def _is_whole(data: bytes, at: int) -> bool:
    header = _header(data, at)
    return header is not None and _length(data, at, header) is not None


def _find_header(data: bytes, begin: int, end: int | None = None, *, is_whole: bool = False) -> int:
    """Position of the first header between `begin` and `end`; `end` if there is none."""
    end = len(data) if end is None else end
    # The mark of a header and the byte after it may lie beyond the end.
    for mark in _MARK.finditer(data, begin + 6, end + 7):
        at = mark.start() - 6
        if _is_whole(data, at) if is_whole else _header(data, at):
            return at
    return end
