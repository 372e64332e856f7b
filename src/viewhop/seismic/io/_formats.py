"""Which kinds of waveform files are read, and which of them a file is."""

from __future__ import annotations

import bz2
import io
import zlib
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from viewhop.seismic.io._records import holds_records

__all__ = ["FORMATS", "check_contents", "format_of", "unpacked"]

#: obspy's names of formats, in the order in which a file is tried. Not among them are PICKLE, which
#: runs what the file says, and those that open other files which the file names (Q, CSS).
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
#: A tar file has this at byte 257.
_TAR = b"ustar"
#: Lines of data are longer in no valid GSE file; obspy copies them to a buffer of this size.
_GSE_LINE = 82


def unpacked(data: bytes, *, limit: int) -> bytes:
    """What a gzip or bzip2 file holds; other data as they are.

    Parameters
    ----------
    data : bytes
    limit : int
        Largest size, in bytes, that is unpacked.

    Raises
    ------
    ValueError
        If it is damaged, too large, or an archive of several files.
    """
    if data.startswith(b"\x1f\x8b"):
        data = _inflated(zlib.decompressobj(wbits=31), data, limit)
    elif data.startswith(b"BZh"):
        data = _inflated(bz2.BZ2Decompressor(), data, limit)
    for start, kind in _REFUSED.items():
        if data.startswith(start):
            raise ValueError(f"it is {kind}; unpack it, or give waveform files")
    if data[257:262] == _TAR:
        raise ValueError("it is a tar file; unpack it first")
    return data


def _inflated(stream: Any, data: bytes, limit: int) -> bytes:
    try:
        found: bytes = stream.decompress(data, limit + 1)
    except (OSError, zlib.error) as error:
        raise ValueError(f"its compression is damaged: {error}") from error
    if len(found) > limit:
        raise ValueError(f"it unpacks to more than {limit:,} bytes; unpack it by other means")
    if not stream.eof:
        raise ValueError("its compression is damaged: it ends too early")
    if stream.unused_data.strip(b"\0"):
        raise ValueError("data follow its compressed part; unpack it by other means")
    return found


def format_of(data: bytes) -> str:
    """The format of a file, as obspy's own tests of the formats here tell.

    obspy looks at the beginning of a file only; where that is damaged, records of miniSEED are
    looked for.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    ValueError
        If it is none of them.
    """
    for name, entry in _tests():
        try:
            if entry.load()(io.BytesIO(data)):
                return name
        except Exception:  # a test that fails on a file does not know it
            continue
    if holds_records(data):
        return "MSEED"
    raise ValueError(f"it is in no known format; expected one of {', '.join(FORMATS)}")


@cache
def _tests() -> tuple[tuple[str, Any], ...]:
    """The functions by which obspy tells formats, in the order of `FORMATS`."""
    known = entry_points()
    return tuple(
        (name, entry)
        for name in FORMATS
        for entry in known.select(group=f"obspy.plugin.waveform.{name}", name="isFormat")
    )


def check_contents(data: bytes, name: str) -> None:
    """Raise ValueError for what obspy's reader of a format is known not to survive.

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
                f"a line of data has {len(line):,} characters, where {name} has at most "
                f"{_GSE_LINE}: the file is damaged"
            )
        elif line.startswith(start):
            is_inside = True
    if is_inside:
        raise ValueError(f"data end without a line of {end.decode()}: the file is cut short")
