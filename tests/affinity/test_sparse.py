"""Sparse kernels: products by threads, approximate neighbours, memory."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.neighbours.test_neighbours import cube
from tests.support import cases, oracles
from viewhop import affinity
from viewhop.affinity import _graph
from viewhop.affinity._build import search_bytes
from viewhop.kernels import Correlation, Gaussian, Laplacian
from viewhop.neighbours import _choose as choice
from viewhop.neighbours import _faiss as approximate


def built(kernel, X, n_jobs=1, seed=0):
    return affinity.build_affinity(
        "v", kernel, X, generator=np.random.default_rng(seed), n_jobs=n_jobs
    )


def weights(rows):
    """Kernel rows as a dense array."""
    return rows.weights(np.zeros(rows.n_rows)).toarray()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(500,), (500, 1), (500, 7)])
def test_threads_do_not_change_a_bit_of_a_product(monkeypatch, dtype, shape):
    monkeypatch.setattr(_graph, "FEW", 1)
    X = cube(500).astype(dtype)
    V = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    one = built(Gaussian("local", n_neighbors=6, alpha=1.0), X)
    two = built(Gaussian("local", n_neighbors=6, alpha=1.0), X, n_jobs=3)
    assert_array_equal(two.values.toarray(), one.values.toarray())
    for operand in (V, np.asfortranarray(V), np.repeat(V, 2, axis=0)[::2]):
        product = two @ operand
        assert product.dtype == dtype
        assert_array_equal(product, one @ V)


def test_row_blocks_cover_all_rows_and_share_the_pairs():
    K = built(Gaussian("local", n_neighbors=6), cube(500)).values
    parts = _graph.even_rows(K, K.nnz // 8)
    assert_array_equal(np.concatenate([np.arange(500)[rows] for rows in parts]), np.arange(500))
    counts = [K.indptr[rows.stop] - K.indptr[rows.start] for rows in parts]
    assert max(counts) < 1.5 * K.nnz / 8
    assert np.shares_memory(_graph.row_slice(K, parts[3]).data, K.data)


def test_indices_are_as_short_as_they_can_be():
    K = built(Gaussian("local", n_neighbors=6), cube(300)).values
    assert K.indices.dtype == np.int32
    assert K.indptr.dtype == np.int32


@pytest.fixture
def faiss(monkeypatch):
    """faiss, with lists small enough for few samples."""
    monkeypatch.setattr(approximate, "LIST", 10)
    return pytest.importorskip("faiss")


KERNELS = [
    Gaussian("local", n_neighbors=5, search="faiss"),
    Gaussian(n_neighbors=5, alpha=1.0, search="faiss"),
    Laplacian("local", n_neighbors=5, alpha=0.5, search="faiss"),
    Correlation(n_neighbors=5, search="faiss"),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("data", cases.DATA)
def test_an_approximate_kernel_of_full_recall_is_the_exact_one(faiss, monkeypatch, kernel, data):
    monkeypatch.setattr(approximate, "LIST", cases.N)  # one list: it is always searched
    monkeypatch.setattr(approximate, "SPARE", cases.N)  # and all ties are returned
    X = cases.DATA[data](np.random.default_rng(0), 4)
    found = built(kernel, X)
    expected = oracles.View(kernel, X)
    assert found.recall == 1.0
    np.testing.assert_allclose(found.values.toarray(), expected.K, rtol=1e-10, atol=1e-300)
    # The same row asked again has the same list, so the same kernel.
    np.testing.assert_allclose(
        weights(found.against(X)), found.values.toarray(), rtol=1e-12, atol=1e-300
    )


def test_an_approximate_kernel_knows_its_training_rows_where_lists_are_the_same(faiss):
    X = cube(900)
    K = built(Gaussian("local", n_neighbors=6, search="faiss"), X)
    assert 0.9 < K.recall < 1.0
    assert K.index is not None
    stored, asked = K.values.toarray(), weights(K.against(X))
    # All that is stored is met again, with the same bits.
    assert_array_equal(asked[stored > 0], stored[stored > 0])
    # What more is found lies within a radius and was in no list.
    more = (asked > 0) & (stored == 0)
    D = oracles.distances(X, X)
    assert (np.maximum.outer(K.radius, K.radius) >= D)[more].all()
    assert more.sum() < 0.02 * (stored > 0).sum()


def test_a_batch_is_its_rows_one_by_one_in_an_approximate_kernel(faiss):
    K = built(Gaussian("local", n_neighbors=6, search="faiss"), cube(600))
    new = cube(30, seed=1)
    batch = weights(K.against(new))
    for row in range(30):
        assert_array_equal(weights(K.against(new[row : row + 1]))[0], batch[row])


@pytest.mark.parametrize("search", ["exact", "faiss"])
def test_a_kernel_survives_copies_and_threads(faiss, search):
    K = built(Gaussian("local", n_neighbors=6, search=search), cube(600))
    new = [cube(40, seed=seed) for seed in range(6)]
    expected = [weights(K.against(X)) for X in new]
    stored = pickle.dumps(K)
    for again in (copy.deepcopy(K), pickle.loads(stored)):  # noqa: S301 - its own bytes
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda X, K=again: weights(K.against(X)), new))
        for one, other in zip(found, expected, strict=True):
            assert_array_equal(one, other)
    assert len(stored) < K.nbytes + 600 * 8 * 6  # what is made again is not stored


def test_the_same_seed_gives_the_same_approximate_kernel(faiss):
    kernel = Gaussian("local", n_neighbors=6, search="faiss")
    one, two = built(kernel, cube(600), n_jobs=1), built(kernel, cube(600), n_jobs=2)
    assert_array_equal(one.values.toarray(), two.values.toarray())
    assert one.recall == two.recall


def test_a_large_exact_kernel_says_so(monkeypatch):
    monkeypatch.setattr(choice, "EXACT_UP_TO", 10)
    K = built(Gaussian("local", n_neighbors=6), cube(200))
    assert K.recall == 1.0
    assert K.index is None


def test_predicted_bytes_hold_what_is_kept():
    for n, d, dtype in [(300, 20, np.float32), (2000, 20, np.float64)]:
        K = built(Gaussian("local", n_neighbors=6), cube(n)[:, :d].astype(dtype))
        assert K.nbytes < search_bytes(n, d, 6, np.dtype(dtype))
    few, many = (search_bytes(n, 50, 15, np.dtype(np.float64)) for n in (10**5, 10**6))
    assert 6 < many / few < 10
    index = search_bytes(10**6, 50, 15, np.dtype(np.float64), approximate=True) - many
    assert index > 10**6 * 50 * 4
