"""Work cut into blocks, and threads that share the blocks.

NumPy lets go of the interpreter in its loops and products, so plain threads use all cores. While
several of them multiply, each call of BLAS takes one core; left alone, BLAS would start threads of
its own in every one of ours, and they would wait for each other.
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
    """Number of threads that `n_jobs` asks for.

    Parameters
    ----------
    n_jobs : int or None
        None is what BLAS and OpenMP take by themselves: ``OMP_NUM_THREADS`` if it is set, or all
        cores of this process; −1 is all cores, −2 all but one.
    """
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(asked) if asked.isdigit() and int(asked) > 0 else int(cpu_count())


def map_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    n_jobs: int,
    done: Callable[[int], None] = lambda count: None,
    *,
    blas: bool = True,
) -> list[Result]:
    """Results of `work` on each item, in order, by `n_jobs` threads.

    Parameters
    ----------
    work : callable
    items : sequence
    n_jobs : int
        Threads.
    done : callable
        Told the number of finished items, in order.
    blas : bool
        Whether the work calls BLAS, which is then held to one thread.
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
            pool.shutdown(wait=True, cancel_futures=True)  # do not finish what nobody waits for
            raise
    return results


class _SingleBlas:
    """A context in which BLAS uses one thread; the last one to leave puts back what was there.

    Where the limit is the process's, contexts that overlap in several threads count as one: were
    each to put back what it found, the second would leave the limit behind. One thread of its own
    sets and lifts it, because threadpoolctl lets only the thread that set a limit lift it.
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
        ready.set()  # whoever waits goes on, limited or not


def _limit_this_thread() -> None:
    """Limit BLAS where the limit is the thread's, for as long as the thread lives."""
    _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


#: The context. Work that calls `map_threads` many times may hold it, so that entering costs nothing.
single_blas = _SingleBlas()
