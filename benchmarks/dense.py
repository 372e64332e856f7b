"""A dense fit of the two noisy views of the digits against the flops that it must do.

The machine's own rate is measured in the same process before and after the fit, and the best of all
is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.apart import apart
from benchmarks.data import describe_digits, digit_views
from benchmarks.fits import dense_estimator, measure_fit
from benchmarks.references import dense_flops, first_touch, gemm_rate
from benchmarks.row import Row, ratio, size

TITLE = "Dense kernels: two noisy views of handwritten digits"
FULL = {"n_samples": 40_000, "gemm": 4096, "half": 1.1, "memory": 9_000_000_000}
SMALL = {"n_samples": 5000, "gemm": 1024, "half": 1.2, "memory": 600_000_000}

R = 20
TOL = 1e-3


def fit(n_samples: int, gemm: int) -> dict[str, Any]:
    """The fit, and the seconds that its flops take at the rate of the machine."""
    rate = gemm_rate(gemm)
    views = digit_views(n_samples)
    est = dense_estimator(R, TOL)
    result = measure_fit(est, views)
    rate = max(rate, gemm_rate(gemm))
    held = [K.nbytes - K.points.nbytes for K in est.walk_.affinities]
    flops = dense_flops(n_samples, len(views), views[0].shape[1], result["n_products"])
    return result | {"reference": flops / rate, "rate": rate, "kernel_bytes": max(held)}


def run(*, n_samples: int, gemm: int, half: float, memory: int) -> Iterator[Row]:
    """Time, memory and residuals of one fit.

    Parameters
    ----------
    n_samples : int
    gemm : int
        Size of the matrices that the rate is measured with.
    half : float
        Bytes that a kernel may take, in halves of the whole matrix.
    memory : int
        Bytes that the process may take at its peak.
    """
    touched = apart(first_touch, {"n_bytes": memory})
    yield Row(f"first touch of {memory / 1e9:.3g} GB, before the fit", touched["seconds"])
    result = apart(fit, {"n_samples": n_samples, "gemm": gemm})
    columns = result["n_products"]
    reference = (
        f"its flops ({result['reference']:.1f} s: {columns:,} columns) "
        f"at {result['rate'] / 1e9:.0f} Gflop/s"
    )
    work = f"whole fit, M = {n_samples:,}, D = 784, r = {R}, float32 ({describe_digits()})"
    yield ratio(
        work, result, result["reference"], reference, at_most=2.0, sound=result["residual"] <= TOL
    )
    yield Row("of this, the kernels", result["kernels"])
    yield Row("of this, the solve", result["solve"])
    yield size("peak memory of the process", result["peak"], at_most=memory)
    whole = 4 * n_samples**2
    yield Row(
        "bytes of one kernel",
        value=2 * result["kernel_bytes"] / whole,
        unit="× half of M² float32 numbers",
        at_most=half,
        timed=False,
    )
    work = f"largest residual over its eigenvalue (λ down to {result['least']:.1e})"
    yield Row(work, value=result["residual"], at_most=TOL, timed=False)
