"""Files that other libraries parse, seen from the process that asks for their content."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

import numpy as np

from viewhop._runtime.leftovers import Leftover

__all__ = ["ForeignError", "ForeignFile", "Parser"]

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from viewhop._runtime.parsing import parsing_loop; parsing_loop.main()"
)
#: Threads and pools would take address space that the file may need.
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
#: Seconds that a process and a library may take to start.
_START_SECONDS = 60.0
#: Longest line before the content of an answer.
_LINE = 2**16


class ForeignError(ValueError):
    """A file that its library does not read; the message is one line."""


class Parser:
    """A process that parses files, restarted after a file has crashed it.

    Parameters
    ----------
    seconds : float
        Time allowed for every answer.

    Notes
    -----
    HDF5 2.0 does not return from some damaged files, and neither that nor a crash can be caught
    within the process. Compressed blocks of Zarr and Arrow allocate what they claim to hold.
    """

    def __init__(self, seconds: float = 120.0) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._loaded: set[str] = set()
        self._leftover = Leftover(self.stop)

    def __enter__(self) -> Parser:
        self._leftover.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leftover.__exit__(kind, error, traceback)

    def ask(self, request: dict[str, Any], count: Callable[[int], None]) -> Any:
        """The answer to a request: an array, or plain data.

        Parameters
        ----------
        request : dict
        count : callable
            Called with the bytes of the answer before they are read; what it raises ends the
            process.

        Raises
        ------
        ForeignError
            If the library refuses the file, crashes or takes too long.
        """
        process = self._running()
        late = threading.Event()
        seconds = _START_SECONDS if request["do"] == "load" else self._seconds

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            return self._exchange(process, request, count)
        except ForeignError:
            raise
        except (OSError, EOFError) as error:
            self.stop()
            if late.is_set():
                raise ForeignError(
                    f"reading took more than {seconds:.0f} s; the file is damaged"
                ) from error
            raise ForeignError("its reader crashed on it; the file is damaged") from error
        except BaseException:
            self.stop()
            raise
        finally:
            timer.cancel()

    def load(self, kind: str) -> None:
        """Start the process and import the library of a kind, unless that was done before.

        Parameters
        ----------
        kind : str
        """
        if kind not in self._loaded:
            self.ask({"do": "load", "kind": kind}, lambda n_bytes: None)
            self._loaded.add(kind)

    def _exchange(
        self,
        process: subprocess.Popen[bytes],
        request: dict[str, Any],
        count: Callable[[int], None],
    ) -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline(_LINE)
        if not line.endswith(b"\n"):
            raise EOFError
        head = json.loads(line)
        if "error" in head:
            raise ForeignError(head["error"])
        count(head["size"])
        content = bytearray(head["size"])
        if process.stdout.readinto(content) < len(content):  # type: ignore[attr-defined]
            raise EOFError
        if head["kind"] == "json":
            return json.loads(content)
        return np.frombuffer(content, dtype=head["dtype"]).reshape(head["shape"])

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **_ENVIRONMENT},
            )
        return self._process

    def stop(self) -> None:
        """End the process; the next request starts another."""
        process, self._process = self._process, None
        self._loaded.clear()
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # unwritten data cannot be flushed
                if pipe is not None:
                    pipe.close()
        process.wait()


class ForeignFile:
    """An open file that another library parses.

    Parameters
    ----------
    path : str
    kind : {"hdf5", "zarr", "arrow", "excel"}
    parser : Parser
    allowed : int or None
        Bytes by which the other process may grow; None sets no limit.
    count : callable
        Called with the bytes of every answer before it is read; it may raise.
    """

    def __init__(
        self,
        path: str,
        kind: str,
        parser: Parser,
        *,
        allowed: int | None,
        count: Callable[[int], None],
    ) -> None:
        self._parser, self._count = parser, count
        path = os.path.abspath(path)
        self._parser.load(kind)
        self._parser.ask({"do": "open", "kind": kind, "path": path, "limit": allowed}, count)

    def describe(self, name: str = "") -> Any:
        """What there is under a name, as plain data."""
        return self._parser.ask({"do": "describe", "name": name, "where": []}, self._count)

    def read(self, name: str, *where: Any) -> Any:
        """A part of what there is under a name: an array, or a list.

        Parameters
        ----------
        name : str
        *where : int or list
            As the module of the kind defines it.
        """
        return self._parser.ask({"do": "read", "name": name, "where": [*where]}, self._count)
