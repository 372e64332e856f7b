"""Blocks cover all rows, and threads change neither results nor the process."""

from __future__ import annotations

import threading
import time

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from viewhop._runtime import threads as blocks


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize(("n_rows", "width"), [(0, 3), (1, 1), (7, 3), (10, 0), (5, 10**9)])
def test_row_blocks_cover_all_rows_once(n_rows, width, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 6)
    rows = [row for block in blocks.row_blocks(n_rows, width) for row in range(n_rows)[block]]
    assert rows == [*range(n_rows)]
    assert all(
        b.stop - b.start <= max(1, 6 // max(1, width)) for b in blocks.row_blocks(n_rows, width)
    )


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_order_and_are_counted(n_jobs):
    counts = []

    def work(k):
        time.sleep(0.002 * (k % 3))
        return k * k

    assert blocks.map_threads(work, range(10), n_jobs, counts.append) == [k * k for k in range(10)]
    assert counts == [*range(1, 11)]


def test_blas_takes_one_core_inside_and_what_it_had_after():
    before = blas_threads()
    inside = blocks.map_threads(lambda k: blas_threads(), range(4), 2)
    assert all(set(counts) == {1} for counts in inside)
    assert blas_threads() == before


def test_overlapping_sections_put_the_blas_threads_back():
    before = blas_threads()
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

    def second():
        first_is_in.wait(10)
        blocks.map_threads(lambda k: (second_is_in.set(), first_is_out.wait(10)), range(2), 2)

    other = threading.Thread(target=second)
    other.start()
    blocks.map_threads(lambda k: (first_is_in.set(), second_is_in.wait(10)), range(2), 2)
    first_is_out.set()
    other.join(10)
    assert blas_threads() == before


def test_an_error_ends_the_work_and_puts_the_blas_threads_back():
    before = blas_threads()
    started = []

    def work(k):
        started.append(k)
        time.sleep(0.01)
        if k == 0:
            raise KeyError(k)

    with pytest.raises(KeyError):
        blocks.map_threads(work, range(1000), 2)
    assert len(started) < 100
    assert blas_threads() == before


def test_threads_follow_n_jobs_and_the_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert blocks.thread_count(None) == 3
    assert blocks.thread_count(2) == 2
    for unusable in ("", "many", "0"):
        monkeypatch.setenv("OMP_NUM_THREADS", unusable)
        assert blocks.thread_count(None) == joblib.cpu_count()
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert blocks.thread_count(None) == joblib.cpu_count()
    assert blocks.thread_count(-1) == joblib.effective_n_jobs(-1)


def test_products_in_threads_equal_products_in_one():
    rng = np.random.default_rng(0)
    matrices = [*rng.standard_normal((6, 50, 50))]
    one, two = (blocks.map_threads(lambda A: A @ A, matrices, n_jobs) for n_jobs in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
