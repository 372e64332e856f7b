"""Growth of the time of a sparse fit with the number of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.apart import apart
from benchmarks.fits import NEIGHBOURS, sparse_fit
from benchmarks.row import Row

TITLE = "Growth: sparse fits of two views of a cube"
FULL: dict[str, Any] = {"sizes": [50_000, 100_000, 200_000, 400_000, 800_000]}
SMALL: dict[str, Any] = {"sizes": [1500, 3000]}

R = 10
TOL = 1e-4


def run(*, sizes: list[int]) -> Iterator[Row]:
    """A fit of each size, and the exponent of time over all of them."""
    seconds = []
    for n in sizes:
        result = apart(sparse_fit, {"n_samples": n, "n_views": 2, "r": R, "tol": TOL})
        seconds.append(result["seconds"])
        yield Row(
            f"whole fit, η = 0, M = {n:,}, k = {NEIGHBOURS}, r = {R}, residual ≤ {TOL:g} λ, "
            f"{result['solver']}",
            result["seconds"],
            result["n_products"],
            f"columns; kernels {result['kernels']:.1f} s, solve {result['solve']:.1f} s",
            timed=False,
            peak=result["peak"],
            at_import=result["at_import"],
        )
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    yield Row("growth of the time", value=exponent, unit="is its exponent", at_most=1.15)
