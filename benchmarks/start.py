"""Start-up: the time before the library can do any work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from benchmarks.row import Row

TITLE = "Starting: the command line and the import"
FULL: dict[str, Any] = {"repeats": 15}
SMALL: dict[str, Any] = {"repeats": 3}

EMPTY = "pass"
HELP = "from viewhop.cli import main; main(['--help'], standalone_mode=False)"
IMPORT = "import viewhop"
FIRST_USE = "import viewhop; viewhop.MultiViewDiffusionMaps"
REFERENCE = "import sklearn.manifold"


def best(codes: list[str], repeats: int) -> dict[str, float]:
    """Shortest time of a process that runs each code, in seconds; the codes take turns."""
    seconds: dict[str, list[float]] = {code: [] for code in codes}
    for _ in range(repeats):
        for code in codes:
            start = perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
            seconds[code].append(perf_counter() - start)
    return {code: min(result) for code, result in seconds.items()}


def run(*, repeats: int) -> Iterator[Row]:
    """Times of whole processes, including the start of the interpreter."""
    result = best([EMPTY, HELP, IMPORT, FIRST_USE, REFERENCE], repeats)
    yield Row("python, which does nothing", result[EMPTY])
    yield Row("viewhop --help", result[HELP], result[HELP], "seconds", at_most=0.4)
    yield Row(REFERENCE, result[REFERENCE])
    for work, code in ((IMPORT, IMPORT), ("the same, and the estimators", FIRST_USE)):
        ratio = result[code] / result[REFERENCE]
        yield Row(work, result[code], ratio, f"× {REFERENCE}", at_most=1.3)
