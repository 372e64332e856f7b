"""Waveform files read as a batch: what cannot be read is named, and the rest goes on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from viewhop.errors import SeismicError
from viewhop.seismic._assembly import assembled
from viewhop.seismic._obspy import obspy_module
from viewhop.seismic._summary import LeftOut, Summary
from viewhop.seismic._traces import Piece
from viewhop.seismic._waveforms import Waveforms
from viewhop.seismic.io._formats import FORMATS
from viewhop.seismic.io._guard import Guard

__all__ = ["read_waveforms"]

AnyPath = str | os.PathLike[str]


def read_waveforms(
    paths: AnyPath | Iterable[AnyPath],
    *,
    format: str | None = None,
    timeout: float = 60.0,
    max_bytes: int = 1 << 30,
) -> Waveforms:
    """What the channels in waveform files recorded, and what of the files could not be used.

    Parameters
    ----------
    paths : path or list of paths
        Files, each miniSEED, SAC, GSE, SLIST, or another format of obspy's. One that was
        compressed by gzip or bzip2 is unpacked. A URL is no file, and no name is a pattern.
    format : str or None
        obspy's name of the format; None looks at each file.
    timeout : float
        Seconds after which a file is given up; one more for every million bytes.
    max_bytes : int
        Largest file that is read, and largest that one may unpack to.

    Returns
    -------
    Waveforms
        Its ``summary`` has the files, traces and records that were left out.

    Raises
    ------
    SeismicError
        If nothing could be read from any file.
    ImportError
        If obspy is not installed.

    Notes
    -----
    Files are parsed in a process of their own, which may take a limited time and memory: obspy's
    readers crash or hang on some damaged files. obspy's PICKLE format is refused, for it runs what
    a file says; so are the formats that open other files by names in the first (Q, CSS).
    """
    if format is not None and format not in FORMATS:
        raise SeismicError(
            f"the format {format!r} is not read; expected one of {', '.join(FORMATS)}"
        )
    obspy_module()
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise SeismicError("expected at least one waveform file, got none")
    pieces: list[Piece] = []
    left_out: list[LeftOut] = []
    with Guard(timeout=timeout, limit=max_bytes) as guard:
        for path in given:
            name = os.fspath(path)
            try:
                found, warned = guard.parse(_bytes(name, max_bytes), format=format)
            except (OSError, ValueError) as error:
                told = getattr(error, "strerror", None) or str(error)
                left_out.append(LeftOut(name, "unreadable file", told))
                continue
            pieces.extend(found)
            left_out.extend(LeftOut(name, "damaged record", told) for told in warned)
            if not found:
                left_out.append(LeftOut(name, "unreadable file", "it holds no trace"))
    channels, problems = assembled(pieces)
    left_out.extend(problems)
    if not channels:
        told = "; ".join(map(str, left_out[:3])) + "; …" * (len(left_out) > 3)
        raise SeismicError(
            f"no waveform could be read from {len(given):,} file{'s' * (len(given) > 1)}: {told}",
            left_out[0].trace if left_out else "",
            tuple(left_out),
        )
    return Waveforms(channels, Summary(len(channels), "traces", tuple(left_out)))


def _bytes(name: str, limit: int) -> bytes:
    """What a file holds."""
    if "://" in name:
        raise ValueError("it is a URL, and nothing is downloaded; give a file")
    path = Path(name)
    if not path.is_file():
        what = "it is a folder or a device" if path.exists() else "there is no such file"
        raise ValueError(f"{what}; expected a waveform file (patterns are not expanded)")
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it has more than {limit:,} bytes; cut it, or raise max_bytes")
    if not data:
        raise ValueError("it is empty")
    return data
