"""The process that parses waveform files: it may crash or hang, and nothing else does.

It reads requests from its input and writes answers to its output. A request is a line of JSON,
``{"size", "format", "limit"}``, and as many bytes; the answer is a line of JSON, ``{"error"}`` or
``{"traces", "warnings"}``, and the samples of all traces in a row.
"""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._obspy import obspy_module
from viewhop.seismic._traces import pieces_of
from viewhop.seismic.io._formats import FORMATS, check_contents, format_of, unpacked
from viewhop.seismic.io._mseed import is_of_file, read_mseed

__all__ = ["answer", "main"]

#: Address space for obspy itself, and per byte of a file: text takes the most.
_ROOM, _ROOM_PER_BYTE = 2 << 30, 64


def main() -> None:
    """Answer requests until the input ends."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    # What C code prints would break the answers.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    while line := requests.readline():
        request = json.loads(line)
        data = requests.read(request["size"])
        _limit_memory(len(data))
        try:
            header, arrays = answer(data, request["format"], request["limit"])
        except Exception as error:  # obspy raises what it likes; MemoryError is one of them
            header, arrays = {"error": _told(error)}, []
        _send(answers, header, arrays)


def answer(data: bytes, name: str | None, limit: int) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """What a file holds: headers and warnings, and the samples of each trace.

    Parameters
    ----------
    data : bytes
    name : str or None
        Format; None looks for it.
    limit : int
        Largest size that is unpacked.
    """
    data = unpacked(data, limit=limit)
    found = name or format_of(data)
    if found not in FORMATS:
        raise ValueError(f"the format {found} is not read; expected one of {', '.join(FORMATS)}")
    check_contents(data, found)
    if found == "MSEED":
        stream, told = read_mseed(data)
    else:
        stream, told = _read(data, found)
    traces, arrays = [], []
    for trace, start, rate, samples in pieces_of(stream):
        is_number = samples.dtype.kind in "biuf"
        array = np.ascontiguousarray(samples if is_number else samples[:0].astype(np.float64))
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        arrays.append(array)
        traces.append(
            {
                "id": trace,
                "start": start,
                "rate": repr(rate),
                "dtype": array.dtype.str,
                "size": array.size,
                "text": not is_number,
            }
        )
    return {"traces": traces, "warnings": list(dict.fromkeys(map(_told, told)))}, arrays


def _read(data: bytes, name: str) -> tuple[list[Any], list[str]]:
    """The traces of a file, and what obspy warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        stream = obspy_module().read(io.BytesIO(data), format=name, check_compression=False)
    return list(stream), [str(warning.message) for warning in told if is_of_file(warning)]


def _told(error: BaseException | str) -> str:
    """What went wrong, in a line that a terminal prints."""
    text = " ".join(str(error).split())[:200] or type(error).__name__
    if "Cannot open file" in text:  # obspy's last word, which names the object that was read
        return "its reader finds no waveform in it; the file may be cut short or damaged"
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in text)


def _send(answers: BinaryIO, header: dict[str, Any], arrays: list[NDArray[Any]]) -> None:
    answers.write(json.dumps(header).encode() + b"\n")
    for array in arrays:
        answers.write(array.tobytes())
    answers.flush()


def _limit_memory(size: int) -> None:
    """Let a file that lies about its size fail, before the machine does."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _ROOM + _ROOM_PER_BYTE * size
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
