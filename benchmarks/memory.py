"""The memory of a fit, compared with the library's own estimate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.apart import apart, resident
from benchmarks.data import cube_views
from benchmarks.fits import dense_estimator, measure_fit, sparse_estimator
from benchmarks.row import Row
from viewhop._runtime.memory import format_bytes

TITLE = "Memory: estimate and measurement, two views of a cube"
FULL: dict[str, Any] = {
    "dense": [5000, 10_000, 20_000],
    "sparse": [50_000, 100_000, 200_000],
    "slack": 0,
}
SMALL: dict[str, Any] = {"dense": [2000], "sparse": [5000], "slack": 100_000_000}

R = 10
TOL = 1e-3


def fit(kind: str, n_samples: int) -> dict[str, Any]:
    """Memory that a fit adds to the process, and its estimate."""
    views = cube_views(n_samples)
    est = {"dense": dense_estimator, "sparse": sparse_estimator}[kind](R, TOL)
    before = resident()
    result = measure_fit(est, views)
    return result | {"growth": result["peak"] - before, "estimate": getattr(est, "memory_", None)}


def run(*, dense: list[int], sparse: list[int], slack: int) -> Iterator[Row]:
    """One fit of each size.

    Parameters
    ----------
    dense, sparse : list of int
        Sizes.
    slack : int
        Bytes by which the estimate may be off besides: a small fit has little but what every
        process takes.
    """
    for kind, n in [("dense", n) for n in dense] + [("sparse", n) for n in sparse]:
        result = apart(fit, {"kind": kind, "n_samples": n})
        work = f"{kind}, M = {n:,}, measured {format_bytes(result['growth'])}"
        if result["estimate"] is None:
            yield Row(
                work, result["seconds"], error="skipped: a fit has no memory_ to compare with"
            )
            continue
        allowed = 0.25 + slack / result["growth"]
        yield Row(
            f"{work}, estimated {format_bytes(result['estimate'])}",
            result["seconds"],
            result["estimate"] / result["growth"],
            "× the measured growth",
            at_most=1 + allowed,
            at_least=1 - allowed,
            timed=False,
            peak=result["peak"],
            at_import=result["at_import"],
        )
