"""Parsing in a separate process: obspy's readers crash or hang on some damaged files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any

import numpy as np

from viewhop._runtime.leftovers import Leftover
from viewhop.seismic._traces import Piece

__all__ = ["Guard"]

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from viewhop.seismic.io import _parser_process; _parser_process.main()"
)


class Guard:
    """Process that parses waveform files, restarted after a file has crashed it.

    Parameters
    ----------
    timeout : float
        Seconds allowed per file, plus one for every million bytes.
    limit : int
        Maximum unpacked size of a file, in bytes.

    Notes
    -----
    obspy 1.5 terminates its process on some truncated GSE2 files and never returns from a SAC file
    with an invalid longitude. Neither can be caught within the process.
    """

    def __init__(self, *, timeout: float, limit: int) -> None:
        self._timeout = timeout
        self._limit = limit
        self._process: subprocess.Popen[bytes] | None = None
        self._leftover = Leftover(self._stop)

    def __enter__(self) -> Guard:
        self._leftover.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leftover.__exit__(kind, error, traceback)

    def parse(self, data: bytes, *, format: str | None = None) -> tuple[list[Piece], list[str]]:
        """Pieces in a file, and obspy's warnings.

        Parameters
        ----------
        data : bytes
            Content of the file.
        format : str or None
            obspy's name of its format; None detects it.

        Raises
        ------
        ValueError
            If the file cannot be parsed.
        """
        process = self._running()
        late = threading.Event()
        seconds = self._seconds(data)

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            answer = self._exchange(process, data, format)
        except (OSError, EOFError, ValueError) as error:
            self._stop()
            if late.is_set():
                what = f"reading took more than {seconds:.0f} s; the file is damaged or too large"
                raise ValueError(what) from error
            raise ValueError("obspy's reader crashed on it; the file is damaged") from error
        except BaseException:
            self._stop()
            raise
        finally:
            timer.cancel()
        header, pieces = answer
        if "error" in header:
            raise ValueError(header["error"])
        return pieces, header["warnings"]

    def _seconds(self, data: bytes) -> float:
        return self._timeout + len(data) / 1e6

    def _exchange(
        self, process: subprocess.Popen[bytes], data: bytes, format: str | None
    ) -> tuple[dict[str, Any], list[Piece]]:
        assert process.stdin is not None
        assert process.stdout is not None
        request = {
            "size": len(data),
            "format": format,
            "limit": self._limit,
            "seconds": self._seconds(data),
        }
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.write(data)
        process.stdin.flush()
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        header = json.loads(line)
        pieces: list[Piece] = []
        for trace in header.get("traces", ()):
            dtype = np.dtype(trace["dtype"])
            raw = process.stdout.read(trace["size"] * dtype.itemsize)
            samples: Any = np.frombuffer(raw, dtype=dtype, count=trace["size"])
            if trace["text"]:  # a channel of log messages
                samples = np.empty(0, dtype="S1")
            pieces.append((trace["id"], trace["start"], float(trace["rate"]), samples))
        return header, pieces

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # Each BLAS thread would take address space that the file may need.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # unwritten data cannot be flushed
                if pipe is not None:
                    pipe.close()
        process.wait()
