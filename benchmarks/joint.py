"""Algorithm 1 on six views of 2,000 digits against the exponentials that its grid names.

A direct evaluation takes one exponential of each distance matrix per scale, before any sum or any
product of kernels; that alone is the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks.apart import apart
from benchmarks.row import Row, ratio

TITLE = "Algorithm 1 on the digits"
FULL: dict[str, Any] = {"n_samples": 2000, "n_scales": 60}
SMALL: dict[str, Any] = {"n_samples": 400, "n_scales": 20}


def exponentials(n_samples: int, count: int) -> dict[str, Any]:
    """Plain exponentials of so many tables."""
    table = np.random.default_rng(0).uniform(-5.0, 0.0, (n_samples, n_samples))
    start = perf_counter()
    for _ in range(count):
        np.exp(table)
    return {"seconds": perf_counter() - start}


def scales(n_samples: int, n_scales: int) -> dict[str, Any]:
    """Algorithm 1."""
    digits = vh.datasets.load_mfeat().views
    step = len(digits) // n_samples
    views = [X[::step][:n_samples] for _, X in digits.items()]
    start = perf_counter()
    vh.bandwidth.joint(views, n_scales)
    return {"seconds": perf_counter() - start}


def run(*, n_samples: int, n_scales: int) -> Iterator[Row]:
    """Algorithm 1, and the plain exponentials."""
    count = 6 * n_scales
    plain = apart(exponentials, {"n_samples": n_samples, "count": count})
    result = apart(scales, {"n_samples": n_samples, "n_scales": n_scales})
    reference = f"{count} exponentials of a {n_samples:,} × {n_samples:,} array"
    yield Row(reference, plain["seconds"], peak=plain["peak"], at_import=plain["at_import"])
    work = f"Algorithm 1, 6 views, {n_scales} scales"
    yield ratio(work, result, plain["seconds"], reference)
