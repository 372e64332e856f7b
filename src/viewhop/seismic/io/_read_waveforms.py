"""Reading of waveform files as a batch; unreadable files are listed in the summary."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from viewhop.errors import SeismicError
from viewhop.seismic._assembly import assemble_channels
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
    """Waveforms from files, with a summary of everything that could not be used.

    Parameters
    ----------
    paths : path or list of paths
        Files in miniSEED, SAC, GSE, SLIST or another format of obspy. Files compressed by gzip or
        bzip2 are unpacked. URLs and patterns are not supported.
    format : str or None
        obspy's name of the format; None detects it for each file.
    timeout : float
        Seconds allowed per file, plus one for every million bytes.
    max_bytes : int
        Maximum size of a file, before and after unpacking.

    Returns
    -------
    Waveforms
        Its ``summary`` lists the files, traces and records that were left out.

    Raises
    ------
    SeismicError
        If no file contains a readable waveform.
    ImportError
        If obspy is not installed.

    Notes
    -----
    Files are parsed in a separate process with limited time and memory, because obspy's readers
    crash or hang on some damaged files. obspy's PICKLE format is refused because it executes code
    from the file, and so are formats that open other files named in the file (Q, CSS).
    """
    if format is not None and format not in FORMATS:
        raise SeismicError(f"unsupported format {format!r}; expected one of {', '.join(FORMATS)}")
    obspy_module()
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not files:
        raise SeismicError("expected at least one waveform file, got none")
    pieces: list[Piece] = []
    left_out: list[LeftOut] = []
    with Guard(timeout=timeout, limit=max_bytes) as guard:
        for path in files:
            name = os.fspath(path)
            try:
                parsed, warned = guard.parse(_bytes(name, max_bytes), format=format)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                left_out.append(LeftOut(name, "unreadable file", reason))
                continue
            pieces.extend(parsed)
            left_out.extend(LeftOut(name, "damaged record", reason) for reason in warned)
            if not parsed:
                left_out.append(LeftOut(name, "unreadable file", "it contains no trace"))
    channels, problems = assemble_channels(pieces)
    left_out.extend(problems)
    if not channels:
        reason = "; ".join(map(str, left_out[:3])) + "; …" * (len(left_out) > 3)
        raise SeismicError(
            f"no waveform could be read from {len(files):,} file{'s' * (len(files) > 1)}: {reason}",
            left_out[0].trace if left_out else "",
            tuple(left_out),
        )
    return Waveforms(channels, Summary(len(channels), "traces", tuple(left_out)))


def _bytes(name: str, limit: int) -> bytes:
    """Content of a file."""
    if "://" in name:
        raise ValueError("it is a URL; download it and pass the file")
    path = Path(name)
    if not path.is_file():
        what = "it is a folder or a device" if path.exists() else "the file does not exist"
        raise ValueError(f"{what}; expected a waveform file (patterns are not expanded)")
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it is larger than {limit:,} bytes; split it or raise max_bytes")
    if not data:
        raise ValueError("it is empty")
    return data
