"""Tiles are the matrix they were cut from, at half its memory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.affinity import _tiles as tiles
from viewhop.affinity._tiles import Tiles

SIZES = [1, 7, 8, 9, 30]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(tiles, "SIDE", 8)
    monkeypatch.setattr(tiles, "WIDTH", 3)
    monkeypatch.setattr(tiles, "GROUPS", 4)


def symmetric(n, dtype=np.float64):
    A = np.random.default_rng(n).standard_normal((n, n))
    return (A + A.T).astype(dtype)


@pytest.mark.parametrize("n", SIZES)
def test_tiles_hold_the_matrix(n):
    A = symmetric(n)
    held = Tiles.of(A)
    assert_array_equal(held.full(), A)
    assert_array_equal(np.vstack([held.panel(b) for b in range(len(held.blocks))]), A)
    chosen = np.random.default_rng(0).permutation(n)[: n // 2 + 1]
    assert_array_equal(held.rows(chosen), A[chosen])
    chosen.sort()
    assert_array_equal(held.part(chosen), A[np.ix_(chosen, chosen)])
    for b, rows in enumerate(held.blocks):
        assert_array_equal(held.columns(b, chosen), A[rows][:, chosen])


@pytest.mark.parametrize("n", SIZES)
def test_tiles_own_their_entries(n):
    A = symmetric(n)
    held = Tiles.of(A)
    A[:] = 0
    assert (held.full() != 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [*SIZES, 512, 1000])
def test_bytes_are_known_before(n, dtype):
    held = Tiles.of(symmetric(n, dtype))
    assert held.nbytes == Tiles.bytes_of(n, np.dtype(dtype).itemsize)
    assert held.nbytes <= (n * (n + 8) / 2) * np.dtype(dtype).itemsize


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("width", [None, 0, 1, 3, 10])
@pytest.mark.parametrize("n", SIZES)
def test_a_product_is_that_of_the_matrix(n, width, n_jobs):
    A = symmetric(n)
    V = np.random.default_rng(1).standard_normal(n if width is None else (n, width))
    found = Tiles.of(A).product(V, n_jobs=n_jobs)
    assert found.shape == V.shape
    assert_allclose(found, A @ V, atol=1e-12)


def test_threads_do_not_change_a_bit_of_a_product():
    held = Tiles.of(symmetric(100, np.float32))
    V = np.random.default_rng(1).standard_normal((100, 7)).astype(np.float32)
    one = held.product(V, n_jobs=1)
    for n_jobs in (2, 3, 8):
        assert_array_equal(held.product(V, n_jobs=n_jobs), one)


def test_a_product_is_summed_in_the_precision_of_the_vectors():
    A = symmetric(60, np.float32)
    V = np.random.default_rng(1).standard_normal((60, 2))
    held = Tiles.of(A)
    assert held.product(V).dtype == np.float64
    assert_allclose(held.product(V), A.astype(np.float64) @ V, rtol=1e-13, atol=1e-13)
    assert held.product(V.astype(np.float32)).dtype == np.float32


def test_row_sums_of_single_precision_are_double():
    A = np.abs(symmetric(60, np.float32))
    assert_allclose(Tiles.of(A).sums(), A.sum(axis=1, dtype=np.float64), rtol=1e-14)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_tile_can_be_written(n_jobs):
    A = symmetric(30)
    held = Tiles.of(A)

    def halve(tile, rows, columns):
        assert_array_equal(tile, A[rows, columns])
        tile /= 2
        return tile.size

    sizes = held.each(halve, n_jobs=n_jobs)
    assert sum(sizes) == held.nbytes // 8
    assert_array_equal(held.full(), A / 2)


def test_element_wise_products():
    A, B = symmetric(20), symmetric(20) ** 3
    held = Tiles.of(A)
    assert_array_equal(Tiles.of_product([held, Tiles.of(B), held]).full(), A * B * A)
    assert_array_equal(held.full(), A)


def test_progress_counts_the_tiles():
    told = []
    Tiles(
        20,
        np.dtype(float),
        lambda a, b: np.ones((a.stop - a.start, b.stop - b.start)),
        done=lambda *count: told.append(count),
    )
    assert told == [(k, 6) for k in range(1, 7)]
