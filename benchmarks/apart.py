"""A function run in a process of its own, so that its peak memory is its own.

A process starts with the peak of the one that started it, so the process that runs the benchmarks
imports nothing large: what is large is imported by the functions that are run apart.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["ApartError", "apart", "first_line", "peak", "resident"]

ROOT = Path(__file__).parent.parent

#: Seconds after which work is given up.
LIMIT = 7200.0


class ApartError(Exception):
    """The first line of what went wrong in a process apart."""


def apart(
    function: Callable[..., dict[str, Any]],
    arguments: Mapping[str, Any],
    *,
    python: str = sys.executable,
    limit: float = LIMIT,
    memory: int | None = None,
) -> dict[str, Any]:
    """What a function returns in a process of its own, with its "peak" and "at_import" in bytes.

    Parameters
    ----------
    function : callable
        Of a module of this package. Its result, a dict, goes through JSON, and so do its arguments.
        A "peak" that it puts into the result itself is kept.
    arguments : dict
        By name.
    python : str
        The interpreter.
    limit : float
        Seconds after which the process and all that it started are ended.
    memory : int or None
        Bytes of address space that it may take.

    Raises
    ------
    ApartError
        With the first line of the error.
    """
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory() as folder:
        answer, errors = Path(folder, "answer.json"), Path(folder, "errors")
        order = {
            "function": f"{function.__module__}:{function.__qualname__}",
            "arguments": dict(arguments),
            "answer": str(answer),
            "memory": memory,
        }
        with errors.open("wb") as stream:
            process = subprocess.Popen(
                [python, "-m", "benchmarks.apart", json.dumps(order)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stream,
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
            )
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                raise ApartError(f"not finished in {limit:,.0f} s") from None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if answer.exists():
            result: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        elif process.returncode < 0:
            result = {"error": f"ended by signal {-process.returncode}"}
        else:
            result = {"error": first_line(errors.read_text(errors="replace"), last=True)}
    if "error" in result:
        raise ApartError(result["error"])
    return result


def peak() -> int:
    """Peak resident memory of this process so far, in bytes."""
    try:
        # What getrusage tells on Linux includes the peak of the parent before the program began.
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        pass
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident() -> int:
    """Resident memory of this process now, in bytes; the peak where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak()
    return pages * resource.getpagesize()


def first_line(text: str, *, last: bool = False) -> str:
    """The first line that says something, or the last, without the folders of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    return re.sub(r"(?<![\w:/])(/[\w.+-]+){2,}", "…", lines[-1 if last else 0])[:200]


def main() -> None:
    """Run what the order says and write the answer."""
    order = json.loads(sys.argv[1])
    module, name = order["function"].split(":")
    try:
        if order["memory"] is not None:
            resource.setrlimit(resource.RLIMIT_AS, (order["memory"],) * 2)
        function = getattr(import_module(module), name)
        with suppress(ImportError):  # the interpreter of a peer has no viewhop
            # The classes, too: the package loads them on first use.
            import_module("viewhop").MultiViewDiffusionMaps  # noqa: B018
        at_import = peak()
        result = function(**order["arguments"])
        result = {"peak": peak(), "at_import": at_import} | result
    except Exception as error:
        result = {"error": f"{type(error).__name__}: {first_line(str(error))}"}
    Path(order["answer"]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
