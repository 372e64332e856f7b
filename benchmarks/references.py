"""The peak rates of the machine, as references for dense work."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

__all__ = ["dense_flops", "first_touch", "gemm_exp_seconds", "gemm_rate"]

_ROWS = 512


def first_touch(n_bytes: int) -> dict[str, float]:
    """Seconds of writing to new memory for the first time, with a thread for each core.

    A virtual machine gets memory from its host page by page, when it is first touched, and gives
    it back some seconds after it was freed. How long that takes is the host's matter, and as much
    as a third of a fit; so a fit that is held against a rate of this machine is run right after
    this, in a process of its own, and finds the memory there.
    """
    from joblib import cpu_count

    part = 2**24
    with ThreadPoolExecutor(cpu_count()) as pool:
        start = perf_counter()
        held = [*pool.map(lambda _: np.ones(part, dtype=np.uint8), range(n_bytes // part))]
        seconds = perf_counter() - start
    return {"seconds": seconds, "bytes": sum(block.nbytes for block in held)}


def gemm_rate(n: int, *, repeats: int = 3) -> float:
    """Flops per second of a float32 product of n × n matrices, the best of some."""
    rng = np.random.default_rng(0)
    A, B = rng.random((2, n, n), dtype=np.float32)
    out = np.empty((n, n), dtype=np.float32)
    best = np.inf
    for _ in range(repeats):
        start = perf_counter()
        np.matmul(A, B, out=out)
        best = min(best, perf_counter() - start)
    return 2.0 * n**3 / best


def dense_flops(n_samples: int, n_views: int, n_features: int, n_products: int) -> float:
    """Flops that a dense fit must do.

    Half of each kernel by a product of the samples, L·M²·D, and two products with each kernel for
    each column that the walk is multiplied by, 4·L·M² a column.
    """
    return float(n_views) * n_samples**2 * (n_features + 4.0 * n_products)


def gemm_exp_seconds(queries: Sequence[NDArray], points: Sequence[NDArray]) -> float:
    """Seconds of the products and exponentials of all rows against all points, view by view.

    Once with the threads of BLAS, where the exponentials have one core, and once with a thread for
    each core and one thread of BLAS in each; the better of the two.
    """
    from joblib import cpu_count
    from threadpoolctl import threadpool_limits

    def work(job: tuple[int, int]) -> None:
        view, start = job
        block = queries[view][start : start + _ROWS] @ points[view].T
        np.exp(block, out=block)

    jobs = [(l, start) for l, X in enumerate(queries) for start in range(0, len(X), _ROWS)]
    start = perf_counter()
    for job in jobs:
        work(job)
    together = perf_counter() - start
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cpu_count()) as pool:
        start = perf_counter()
        list(pool.map(work, jobs))
        return min(together, perf_counter() - start)
