"""Waveform file formats: which are supported, and how a file's format is detected."""

from __future__ import annotations

import bz2
import io
import zlib
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from viewhop.seismic.io._records import holds_records

__all__ = ["FORMATS", "check_contents", "detect_format", "unpack"]

#: obspy's format names, in the order of detection. Excluded are PICKLE, which executes code from
#: the file, and formats that open other files named in the file (Q, CSS).
FORMATS = (
    "MSEED",
    "SAC",
    "GSE2",
    "SEISAN",
    "SACXY",
    "GSE1",
    "SH_ASC",
    "SLIST",
    "TSPAIR",
    "Y",
    "SEGY",
    "SU",
    "SEG2",
    "WAV",
    "WIN",
    "AH",
    "PDAS",
    "KINEMETRICS_EVT",
    "GCF",
    "REFTEK130",
    "KNET",
)

_REFUSED = {
    b"PK\x03\x04": "a zip file",
    b"PK\x05\x06": "a zip file",
    b"\xfd7zXZ\x00": "an xz file",
    b"7z\xbc\xaf": "a 7z file",
    b"\x89HDF": "an HDF5 file",
    b"<?xml": "an XML file",
    b"%PDF": "a PDF file",
}
#: Marker at byte 257 of a tar file.
_TAR = b"ustar"
#: Longest line of data in a valid GSE file; obspy copies lines to a buffer of this size.
_GSE_LINE = 82


def unpack(data: bytes, *, limit: int) -> bytes:
    """Content of a gzip or bzip2 file; other data unchanged.

    Parameters
    ----------
    data : bytes
    limit : int
        Maximum unpacked size, in bytes.

    Raises
    ------
    ValueError
        If the data are damaged, too large, or an archive of several files.
    """
    if data.startswith(b"\x1f\x8b"):
        data = _inflate(zlib.decompressobj(wbits=31), data, limit)
    elif data.startswith(b"BZh"):
        data = _inflate(bz2.BZ2Decompressor(), data, limit)
    for start, kind in _REFUSED.items():
        if data.startswith(start):
            raise ValueError(f"it is {kind}; unpack it, or pass waveform files")
    if data[257:262] == _TAR:
        raise ValueError("it is a tar file; unpack it first")
    return data


def _inflate(stream: Any, data: bytes, limit: int) -> bytes:
    try:
        content: bytes = stream.decompress(data, limit + 1)
    except (OSError, zlib.error) as error:
        raise ValueError(f"its compressed data are damaged: {error}") from error
    if len(content) > limit:
        raise ValueError(f"it unpacks to more than {limit:,} bytes; unpack it with another tool")
    if not stream.eof:
        raise ValueError("its compressed data are truncated")
    if stream.unused_data.strip(b"\0"):
        raise ValueError("data follow its compressed part; unpack it with another tool")
    return content


def detect_format(data: bytes) -> str:
    """Format of a file, detected by obspy's own tests.

    obspy inspects only the beginning of a file; if that is damaged, the data are searched for
    miniSEED records.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    ValueError
        If no format matches.
    """
    for name, entry in _format_tests():
        try:
            if entry.load()(io.BytesIO(data)):
                return name
        except Exception:  # a test that fails on a file does not match it
            continue
    if holds_records(data):
        return "MSEED"
    raise ValueError(f"its format is unknown; expected one of {', '.join(FORMATS)}")


@cache
def _format_tests() -> tuple[tuple[str, Any], ...]:
    """Obspy's detection function of each format, in the order of `FORMATS`."""
    plugins = entry_points()
    return tuple(
        (name, entry)
        for name in FORMATS
        for entry in plugins.select(group=f"obspy.plugin.waveform.{name}", name="isFormat")
    )


def check_contents(data: bytes, name: str) -> None:
    """Raise ValueError for data that are known to crash obspy's reader of a format.

    Parameters
    ----------
    data : bytes
    name : str
        The format.
    """
    if name not in ("GSE1", "GSE2"):
        return
    start, end = (word + name[-1:].encode() for word in (b"DAT", b"CHK"))
    is_inside = False
    for line in data.splitlines():
        if line.startswith(end):
            is_inside = False
        elif is_inside and len(line) > _GSE_LINE:
            raise ValueError(
                f"a line of data has {len(line):,} characters, but {name} allows at most "
                f"{_GSE_LINE}; the file is damaged"
            )
        elif line.startswith(start):
            is_inside = True
    if is_inside:
        raise ValueError(f"the data end without a {end.decode()} line; the file is truncated")
