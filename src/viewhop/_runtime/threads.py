"""Blocks of rows, and threads that work through them.

NumPy releases the interpreter lock in its loops and products, so plain threads use all cores. BLAS
is limited to one core per call while several threads multiply; otherwise it would start its own
threads in each of ours, and they would compete for the cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache
from threading import Event, Lock, Thread
from typing import TypeVar

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = ["BLOCK", "map_threads", "row_blocks", "single_blas", "thread_count"]

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Numbers in one temporary block.
BLOCK = 2**22


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices that cover `n_rows` rows, each of at most `BLOCK` numbers of `width` columns."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def thread_count(n_jobs: int | None) -> int:
    """Number of threads for a value of `n_jobs`.

    Parameters
    ----------
    n_jobs : int or None
        None follows BLAS and OpenMP: ``OMP_NUM_THREADS`` if it is set, otherwise all cores of
        this process. −1 is all cores, −2 all but one.
    """
    if n_jobs is not None:
        if n_jobs == 0:
            raise ValueError("n_jobs must not be 0; pass a number of threads, −1 for all, or None")
        return int(effective_n_jobs(n_jobs))
    setting = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(setting) if setting.isdigit() and int(setting) > 0 else int(cpu_count())


def map_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    n_jobs: int,
    done: Callable[[int], None] = lambda count: None,
    *,
    blas: bool = True,
) -> list[Result]:
    """Results of `work` for each item, in order, computed by `n_jobs` threads.

    Parameters
    ----------
    work : callable
    items : sequence
    n_jobs : int
        Number of threads.
    done : callable
        Called with the number of finished items, in order.
    blas : bool
        Whether `work` calls BLAS; if so, BLAS is limited to one thread.
    """
    results = []
    if n_jobs == 1 or len(items) < 2:
        for item in items:
            results.append(work(item))
            done(len(results))
        return results
    limit, begin = (single_blas, _limit_this_thread) if blas else (nullcontext(), None)
    with limit, ThreadPoolExecutor(n_jobs, initializer=begin) as pool:
        try:
            for result in pool.map(work, items):
                results.append(result)
                done(len(results))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)  # skip the items not yet started
            raise
    return results


class _SingleBlas:
    """A context in which BLAS uses one thread; the last to leave restores the earlier limit.

    Where the limit applies to the process, overlapping contexts in several threads count as one:
    if each restored the limit that it met on entry, the second would restore the limit of 1. A
    dedicated thread sets and lifts the limit, because threadpoolctl lets only the thread that set
    a limit lift it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._over = Event()
        self._holder = Thread()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                ready, self._over = Event(), Event()
                self._holder = Thread(target=_hold, args=(ready, self._over), daemon=True)
                self._holder.start()
                ready.wait()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._over.set()
                self._holder.join()


def _hold(ready: Event, over: Event) -> None:
    """Limit BLAS from `ready` to `over`."""
    try:
        with _controller().limit(limits=1, user_api="blas"):
            ready.set()
            over.wait()
    finally:
        ready.set()  # release the waiting thread even if the limit could not be set


def _limit_this_thread() -> None:
    """Limit BLAS for the lifetime of this thread, where the limit applies to threads."""
    _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


#: The context. Code that calls `map_threads` often may enter it once, so each call costs nothing.
single_blas = _SingleBlas()
