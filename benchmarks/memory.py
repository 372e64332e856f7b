"""The memory that a fit takes against the library's own estimate of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.apart import apart, resident
from benchmarks.data import cube_views
from benchmarks.fits import dense_estimator, measured, sparse_estimator
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
    """What a fit adds to the memory of the process, and what it was expected to add."""
    views = cube_views(n_samples)
    est = {"dense": dense_estimator, "sparse": sparse_estimator}[kind](R, TOL)
    before = resident()
    found = measured(est, views)
    return found | {"growth": found["peak"] - before, "estimate": getattr(est, "memory_", None)}


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
        found = apart(fit, {"kind": kind, "n_samples": n})
        work = f"{kind}, M = {n:,}, measured {format_bytes(found['growth'])}"
        if found["estimate"] is None:
            yield Row(work, found["seconds"], error="skipped: a fit has no memory_ to compare with")
            continue
        allowed = 0.25 + slack / found["growth"]
        yield Row(
            f"{work}, estimated {format_bytes(found['estimate'])}",
            found["seconds"],
            found["estimate"] / found["growth"],
            "× the measured growth",
            at_most=1 + allowed,
            at_least=1 - allowed,
            timed=False,
            peak=found["peak"],
            at_import=found["at_import"],
        )
