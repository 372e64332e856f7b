"""Which bytes of a file are records of miniSEED, told from their headers alone."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

__all__ = ["Span", "encoding_of", "holds_records", "most_records", "scanned", "trace_and_time"]

#: Smallest and largest record, as libmseed has them.
_SMALLEST, _LARGEST = 1 << 7, 1 << 20
_HEADER = 48
#: From byte 6 of a header: quality, then a reserved byte; before them a sequence number.
_MARK = re.compile(rb"(?<=[0-9 \0]{6})[DRQM](?=[ \0])")
#: Control headers of full SEED; the first of a volume has the length of its records.
_CONTROL = re.compile(rb"[0-9]{6}[VAST][ *]")
_VOLUME = re.compile(rb"[0-9]{6}V[ *](?:005|008|010)[0-9]{4}.{4}(0[7-9]|1[0-9]|20)", re.DOTALL)
_CODE = re.compile(rb"[\0 -~]*")
#: More blockettes than a record has.
_BLOCKETTES = 64
_LENGTH_BLOCKETTE = 1000
#: Bytes of a sample, by the number of its encoding, where all samples have as many.
_BYTES = {0: 1, 1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 12: 3, 13: 2, 14: 2, 16: 2, 30: 2, 32: 2}


class Span(NamedTuple):
    """Bytes of a file that are one record, or none.

    Attributes
    ----------
    begin, end : int
        Bytes from `begin` up to `end`.
    has_header : bool
        Whether a header says that it is a record.
    fault : str
        Why it cannot be one; empty for a record that looks sound.
    """

    begin: int
    end: int
    has_header: bool
    fault: str


class _Header(NamedTuple):
    """What a fixed header holds, as far as it is needed here."""

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


def scanned(data: bytes) -> Iterator[Span]:
    """The spans of a file, in order: records, and what is between them.

    Parameters
    ----------
    data : bytes

    Yields
    ------
    Span
        Bytes that are no record are as few spans as can be. Control headers of full SEED, and
        records of blanks, are left out: they hold no samples.

    Notes
    -----
    A header may claim more bytes than its record has, and so hide those after it. Where another
    header is inside a record, the outer one is not believed.
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
            end = _next_header(data, at + 1)
            if data[at:end].translate(None, b" 0123456789"):
                yield Span(at, end, False, "no valid header")
            at = end
            continue
        span = _record(data, at, header)
        yield span
        at = span.end


def _record(data: bytes, at: int, header: _Header) -> Span:
    """The span of a record that has a header."""
    if _length_blockette(data, at, header) is None:
        length = _guessed_length(data, at)
    else:
        length = _length(data, at, header)
    if length is None:
        end = _next_header(data, at + _HEADER)
        return Span(at, end, True, "no valid length in the header")
    claimed = min(at + length, len(data))
    # Bytes may look like a header by chance; hardly like one that also has its blockette.
    end = _next_header(data, at + _HEADER, claimed, is_whole=True)
    fault = ""
    if end - at < length:
        what = "the next is" if end < claimed else "the file ends"
        fault = f"the header says {length:,} bytes, but {what} after {end - at:,}"
    elif _needed(data, at, header) > length:
        # libmseed would take them from what follows.
        fault = f"the header tells of {header.samples:,} samples, too many for {length:,} bytes"
    return Span(at, end, True, fault)


def holds_records(data: bytes) -> bool:
    """Whether a file whose first record is damaged is miniSEED.

    Parameters
    ----------
    data : bytes

    Notes
    -----
    It is, if a record follows within the length of the longest there may be, at a place where
    records begin, and that record is followed by another one or by nothing.
    """
    limit = min(_LARGEST + _HEADER, len(data))
    at = _next_header(data, 0, limit, is_whole=True)
    while at < limit:
        header = _header(data, at)
        end = at + ((header and _length(data, at, header)) or 0)
        if at % _SMALLEST == 0 and (end == len(data) or _is_whole(data, end)):
            return True
        at = _next_header(data, at + 1, limit, is_whole=True)
    return False


def most_records(data: bytes) -> int:
    """The number of places where a record may begin: at least that of the records of a sound file.

    Parameters
    ----------
    data : bytes
    """
    rows = len(data) // _SMALLEST
    cells = np.frombuffer(data, np.uint8, rows * _SMALLEST).reshape(rows, _SMALLEST)
    is_mark = np.isin(cells[:, 6], list(b"DRQM")) & np.isin(cells[:, 7], list(b" \0"))
    return int(np.isin(cells[is_mark, :6], list(b"0123456789 \0")).all(axis=1).sum())


def trace_and_time(data: bytes, at: int) -> tuple[str, str]:
    """Name (``NET.STA.LOC.CHA``) and time of the record that begins at a byte.

    Parameters
    ----------
    data : bytes
    at : int
        Where a valid header begins.
    """
    header = _header(data, at)
    assert header is not None
    codes = (header.network, header.station, header.location, header.channel)
    name = ".".join(code.decode("ascii", "replace").strip(" \0") for code in codes)
    units = header.fraction
    if not header.activity & 2:  # a correction that the time does not contain yet
        units += header.correction
    time = datetime(header.year, 1, 1) + timedelta(
        days=header.day - 1,
        hours=header.hour,
        minutes=header.minute,
        seconds=header.second,
        microseconds=100 * units,
    )
    return name, f"{time.isoformat()}Z"


def encoding_of(data: bytes, at: int) -> int | None:
    """The number of the encoding of a record's samples; None if its header does not say.

    Parameters
    ----------
    data : bytes
    at : int
        Where a valid header begins.
    """
    header = _header(data, at)
    place = header and _length_blockette(data, at, header)
    return data[place + 4] if place else None


def _header(data: bytes, at: int) -> _Header | None:
    """The fixed header that begins at a byte; None if none does."""
    if at + _HEADER > len(data) or not _MARK.match(data, at + 6):
        return None
    if not _CODE.fullmatch(data, at + 8, at + 13) or not _CODE.fullmatch(data, at + 15, at + 20):
        return None
    # The byte order is the one in which year and day are possible, as libmseed does it.
    for order in "><":
        header = _Header(
            order, *struct.unpack_from(f"{order}5s2s3s2sHHBBBxHH4xB3xiHH", data, at + 8)
        )
        if 1900 <= header.year <= 2100 and 1 <= header.day <= 366:
            is_time = header.hour < 24 and header.minute < 60 and header.second <= 60
            return header if is_time else None
    return None


def _length_blockette(data: bytes, at: int, header: _Header) -> int | None:
    """Where the blockette is that has a record's length and encoding."""
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
    """Number of bytes of a record, as its header has it."""
    place = _length_blockette(data, at, header)
    if place is None or not _SMALLEST <= 1 << min(data[place + 6], 63) <= _LARGEST:
        return None
    return 1 << data[place + 6]


def _needed(data: bytes, at: int, header: _Header) -> int:
    """Number of bytes that a record must have for its samples; 0 if they are compressed."""
    encoding = encoding_of(data, at)
    return header.beginning + header.samples * _BYTES[encoding] if encoding in _BYTES else 0


def _guessed_length(data: bytes, at: int) -> int | None:
    """Number of bytes up to the next header or the end, if a record may have as many."""
    length = _SMALLEST
    while length <= _LARGEST and at + length <= len(data):
        if at + length == len(data) or _header(data, at + length):
            return length
        length *= 2
    return None


def _is_whole(data: bytes, at: int) -> bool:
    header = _header(data, at)
    return header is not None and _length(data, at, header) is not None


def _next_header(data: bytes, begin: int, end: int | None = None, *, is_whole: bool = False) -> int:
    """Where the first header from `begin` on begins; `end` if there is none before."""
    end = len(data) if end is None else end
    # The mark of a header, with the byte after it, may be beyond the end.
    for mark in _MARK.finditer(data, begin + 6, end + 7):
        at = mark.start() - 6
        if _is_whole(data, at) if is_whole else _header(data, at):
            return at
    return end
