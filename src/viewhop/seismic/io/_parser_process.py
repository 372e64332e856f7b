"""Process that parses waveform files, so that a crash or hang stays contained.

It reads requests from its input and writes answers to its output. A request is a line of JSON,
``{"size", "format", "limit", "seconds"}``, followed by `size` bytes; the answer is a line of JSON,
``{"error"}`` or ``{"traces", "warnings"}``, followed by the samples of all traces.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import signal
import sys
import warnings
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._obspy import obspy_module
from viewhop.seismic._traces import stream_pieces
from viewhop.seismic.io._formats import FORMATS, check_contents, detect_format, unpack
from viewhop.seismic.io._mseed import concerns_file, read_mseed

__all__ = ["answer", "main"]

#: Address space for obspy itself, and per byte of a file; text formats need the most.
_ROOM, _ROOM_PER_BYTE = 2 << 30, 64
#: Number of the option of Linux by which a process gets a signal when its parent dies.
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answer requests until the input ends."""
    _die_with_parent()
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    # Output printed by C code would corrupt the answers.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    while line := requests.readline():
        request = json.loads(line)
        data = requests.read(request["size"])
        _limit_memory(len(data))
        _limit_time(request["seconds"])
        try:
            header, arrays = answer(data, request["format"], request["limit"])
        except Exception as error:  # obspy may raise anything, including MemoryError
            header, arrays = {"error": _one_line(error)}, []
        _send(answers, header, arrays)
        _limit_time(0)


def answer(data: bytes, name: str | None, limit: int) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Headers and warnings of a file, and the samples of each trace.

    Parameters
    ----------
    data : bytes
    name : str or None
        Format; None detects it.
    limit : int
        Maximum unpacked size, in bytes.
    """
    data = unpack(data, limit=limit)
    format_name = name or detect_format(data)
    if format_name not in FORMATS:
        raise ValueError(f"unsupported format {format_name}; expected one of {', '.join(FORMATS)}")
    check_contents(data, format_name)
    if format_name == "MSEED":
        stream, messages = read_mseed(data)
    else:
        stream, messages = _read(data, format_name)
    traces, arrays = [], []
    for trace, start, rate, samples in stream_pieces(stream):
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
    return {"traces": traces, "warnings": list(dict.fromkeys(map(_one_line, messages)))}, arrays


def _read(data: bytes, name: str) -> tuple[list[Any], list[str]]:
    """Traces of a file, and obspy's warnings about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stream = obspy_module().read(io.BytesIO(data), format=name, check_compression=False)
    return list(stream), [str(warning.message) for warning in caught if concerns_file(warning)]


def _one_line(error: BaseException | str) -> str:
    """Error message on one line, with unprintable characters escaped."""
    text = " ".join(str(error).split())[:200] or type(error).__name__
    if "Cannot open file" in text:  # obspy's message names the in-memory object, not the file
        return "its reader found no waveform; the file may be truncated or damaged"
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in text)


def _send(answers: BinaryIO, header: dict[str, Any], arrays: list[NDArray[Any]]) -> None:
    answers.write(json.dumps(header).encode() + b"\n")
    for array in arrays:
        answers.write(array.tobytes())
    answers.flush()


def _die_with_parent() -> None:
    """End with the parent, also if it is killed while obspy hangs; leave Ctrl-C to the parent.

    Where the system cannot do it, the process ends with its input or its time.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def _limit_time(seconds: float) -> None:
    """Let the system end the process when its time is over, whatever obspy is doing; 0 never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds)  # the parent comes first


def _limit_memory(size: int) -> None:
    """Limit the address space, so that a file with a false size fails early."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    room = _ROOM + _ROOM_PER_BYTE * size
    if hard != resource.RLIM_INFINITY:
        room = min(room, hard)
    resource.setrlimit(resource.RLIMIT_AS, (room, hard))
