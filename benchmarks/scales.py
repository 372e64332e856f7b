"""What the log-log scale costs beside the kernel it is for, and what a sample of rows costs it."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks.apart import apart, peak
from benchmarks.data import cube_views
from benchmarks.row import Row
from viewhop.affinity import build_affinity
from viewhop.bandwidth import _one_view as one_view

TITLE = "Scales: the log-log rule, one view of a cube"
FULL: dict[str, Any] = {"sizes": [5000, 20_000], "n_sampled": 20_000, "repeats": 5}
SMALL: dict[str, Any] = {"sizes": [600], "n_sampled": 9000, "repeats": 1}


def time_kernels(n_samples: int, repeats: int) -> dict[str, Any]:
    """Seconds of a full kernel with a max-min and with a log-log scale, in turn, the best."""
    (X,) = cube_views(n_samples, 1)
    best = dict.fromkeys(("max-min", "log-log"), np.inf)
    for _ in range(repeats):
        for rule in best:
            start = perf_counter()
            build_affinity("X", vh.kernels.Gaussian(rule), X)
            best[rule] = min(best[rule], perf_counter() - start)
    return best | {"peak": peak()}


def sample_rows(n_samples: int) -> dict[str, Any]:
    """The scale from a sample of rows and from all pairs, and the error that the sample reports."""
    (X,) = cube_views(n_samples, 1)
    start = perf_counter()
    sampled, error = vh.bandwidth.log_log(X, return_error=True)
    seconds = perf_counter() - start
    one_view.ALL_PAIRS = n_samples
    start = perf_counter()
    exact = vh.bandwidth.log_log(X)
    return {
        "seconds": seconds,
        "exact_seconds": perf_counter() - start,
        "off": abs(sampled / exact - 1),
        "own": error / sampled,
        "peak": peak(),
    }


def run(*, sizes: list[int], n_sampled: int, repeats: int) -> Iterator[Row]:
    """The kernel, and what the rule adds to it; then a scale from a sample of rows."""
    for n in sizes:
        result = apart(time_kernels, {"n_samples": n, "repeats": repeats})
        kernel = result["max-min"]
        yield Row(f"kernel of all pairs with a max-min scale, M = {n:,}", kernel)
        yield Row(
            "what a log-log scale adds",
            result["log-log"] - kernel,
            (result["log-log"] - kernel) / kernel,
            "× the kernel",
            at_most=1.0,
            peak=result["peak"],
            at_import=result["at_import"],
        )
    result = apart(sample_rows, {"n_samples": n_sampled})
    yield Row(f"bandwidth.log_log of all pairs, M = {n_sampled:,}", result["exact_seconds"])
    yield Row(
        f"of a sample of rows (its own standard error: {result['own']:.1e} of σ)",
        result["seconds"],
        result["off"],
        "of σ from all pairs",
        at_most=0.01,
        timed=False,
        peak=result["peak"],
        at_import=result["at_import"],
    )
