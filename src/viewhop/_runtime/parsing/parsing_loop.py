"""The process that parses files with other libraries, so that a crash or hang stays contained.

It reads requests from its input, a line of JSON each, and writes answers to its output: a line of
JSON, ``{"error"}``, ``{"kind": "json", "size"}`` or ``{"kind": "array", "dtype", "shape",
"size"}``, followed by `size` bytes.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import warnings
from contextlib import suppress
from typing import Any, BinaryIO, Protocol

import numpy as np

__all__ = ["KINDS", "Source", "main"]

#: The module of each kind of file.
KINDS = {
    "hdf5": "hdf5_source",
    "zarr": "zarr_source",
    "arrow": "arrow_source",
    "excel": "excel_source",
}
#: Address space beyond that of the process and the budget: stacks of threads, and fragments.
_ROOM = 1 << 29
#: Number of the option of Linux by which a process gets a signal when its parent dies.
_PR_SET_PDEATHSIG = 1


class Source(Protocol):
    """A file that is open."""

    def describe(self, name: str) -> Any:
        """What there is under a name, as plain data."""

    def read(self, name: str, *where: Any) -> Any:
        """An array, or plain data."""

    def close(self) -> None:
        """Close the file."""


def main() -> None:
    """Answer requests until the input ends."""
    _die_with_parent()
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    # Output printed by C code would corrupt the answers.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    warnings.simplefilter("ignore")
    source: Source | None = None
    while line := requests.readline():
        request = json.loads(line)
        try:
            answer: Any = None
            if request["do"] == "load":
                importlib.import_module(f"viewhop._runtime.parsing.{KINDS[request['kind']]}")
            elif request["do"] == "open":
                before, source = source, None
                with suppress(Exception):  # whatever was wrong with the file before
                    if before is not None:
                        before.close()
                module = importlib.import_module(
                    f"viewhop._runtime.parsing.{KINDS[request['kind']]}"
                )
                _limit_memory(request["limit"])
                source = module.open_source(request["path"])
            else:
                assert source is not None, "no file is open"
                call = source.describe if request["do"] == "describe" else source.read
                answer = call(request["name"], *request["where"])
        except Exception as error:  # these libraries may raise anything
            answers.write(json.dumps({"error": _one_line(error)}).encode() + b"\n")
        else:
            _send(answers, answer)
        answers.flush()


def _send(answers: BinaryIO, answer: Any) -> None:
    if isinstance(answer, np.ndarray):
        array = np.ascontiguousarray(answer)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        head = {"kind": "array", "dtype": array.dtype.str, "shape": array.shape}
        content: Any = array.reshape(-1).view(np.uint8).data
        size = array.nbytes
    else:
        head, content = {"kind": "json"}, json.dumps(answer).encode()
        size = len(content)
    answers.write(json.dumps({**head, "size": size}).encode() + b"\n")
    answers.write(content)


def _one_line(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "it needs more memory than it may take"
    # The message of a KeyError is the repr of its key.
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    first = (text.splitlines() or [""])[0] or type(error).__name__
    return first if len(first) <= 300 else f"{first[:299]}…"


def _limit_memory(allowed: int | None) -> None:
    """Let the process grow by as many bytes; where the system has no such limit, nothing."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = hard
        if allowed is not None:
            with open("/proc/self/statm") as file:
                used = int(file.read().split()[0]) * resource.getpagesize()
            limit = used + allowed + _ROOM
            limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _die_with_parent() -> None:
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
