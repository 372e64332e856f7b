"""Affinities: dense and sparse kernels against the brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components

from tests.support import cases, oracles
from viewhop import affinity
from viewhop.kernels import Gaussian, Precomputed

pytestmark = pytest.mark.usefixtures("small_tiles")

EACH_KERNEL = pytest.mark.parametrize("name", cases.KERNELS)
EACH_HOLDING = pytest.mark.parametrize("holding", cases.HOLDINGS)
EACH_DATA = pytest.mark.parametrize("data", cases.DATA)


def build(kernel, X):
    return affinity.build_affinity("x", kernel, X, generator=np.random.default_rng(0))


def full(K):
    return K @ np.eye(K.n_samples)


@EACH_DATA
@EACH_HOLDING
@EACH_KERNEL
def test_products_equal_the_dense_kernel(name, holding, data):
    kernel = cases.kernel(name, holding)
    (X,) = cases.views(data, 1, kernel)
    K = build(kernel, X)
    oracle = oracles.View(kernel, X, K.scale)
    assert_allclose(full(K), oracle.K, rtol=1e-9, atol=1e-300)
    assert_array_equal(full(K), full(K).T)
    assert_allclose(K.degrees, oracle.K.sum(axis=1), rtol=1e-9)
    v = np.random.default_rng(1).standard_normal(K.n_samples)
    assert_allclose(K @ v, oracle.K @ v, rtol=1e-9, atol=1e-12)
    assert K.nbytes >= (oracle.K > 0).sum() * 8 or holding == "dense"


@EACH_DATA
@EACH_HOLDING
@EACH_KERNEL
def test_rows_of_new_samples_equal_the_dense_kernel(name, holding, data):
    kernel = cases.kernel(name, holding)
    (X,) = cases.views(data, 1, kernel)
    K = build(kernel, X)
    oracle = oracles.View(kernel, X, K.scale)
    if isinstance(kernel, Precomputed):
        new = np.random.default_rng(3).uniform(0, 1, (5, len(X)))
    else:
        new = cases.views(data, 1, kernel, seed=9)[0][:5]
    rows = K.against(new)
    weights = rows.weights(np.zeros(len(new)))
    assert_allclose(weights @ np.eye(len(X)), oracle.rows(new), rtol=1e-8, atol=1e-300)


@EACH_DATA
@EACH_HOLDING
@EACH_KERNEL
def test_training_rows_are_rows_of_the_kernel(name, holding, data):
    kernel = cases.kernel(name, holding)
    (X,) = cases.views(data, 1, kernel)
    K = build(kernel, X)
    weights = K.against(X).weights(np.zeros(len(X)))
    assert_allclose(weights @ np.eye(len(X)), full(K), rtol=1e-9, atol=1e-300)


@EACH_HOLDING
@EACH_KERNEL
def test_single_precision_stays_single_and_close(name, holding):
    kernel = cases.kernel(name, holding)
    (X,) = cases.views("generic", 1, kernel)
    K, single = build(kernel, X), build(kernel, X.astype(np.float32))
    assert single.dtype == np.float32
    assert (single @ np.ones(len(X), dtype=np.float32)).dtype == np.float32
    assert (single @ np.ones(len(X))).dtype == np.float64
    assert_allclose(full(single), full(K), rtol=1e-4, atol=1e-6)


def test_the_dense_pattern_has_the_pieces_of_the_positive_entries():
    rng = np.random.default_rng(0)
    K = np.zeros((30, 30))
    for part in np.split(rng.permutation(30), [4, 15, 16]):
        chain = np.sort(part)
        K[chain, chain] = 1
        K[chain[:-1], chain[1:]] = K[chain[1:], chain[:-1]] = 0.5
    found = build(Precomputed(), K).pattern()
    assert found.nnz <= 60
    assert_array_equal((found != 0).toarray(), (found != 0).toarray().T)
    expected = connected_components(K, directed=False)[1]
    labels = connected_components(found, directed=False)[1]
    assert_array_equal(labels[:, None] == labels, expected[:, None] == expected)


def test_scales_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    for kernel in (Gaussian(), Gaussian("local", n_neighbors=5), Gaussian("log-log")):
        plain = full(build(kernel, X))
        for unit in (1e-100, 1e100):
            assert_allclose(full(build(kernel, X * unit)), plain, rtol=1e-6, atol=1e-12)


def test_an_input_is_never_written():
    X = np.random.default_rng(0).standard_normal((20, 3))
    K0 = np.exp(-oracles.distances(X, X))
    for kernel, given in ((Gaussian(alpha=1.0), X), (Precomputed(alpha=1.0), K0)):
        before = given.copy()
        K = build(kernel, given)
        K.against(given)
        assert_array_equal(given, before)


@pytest.mark.parametrize("k", [1, 2, 3, cases.N, 1000])
@pytest.mark.parametrize("data", cases.DATA)
def test_few_and_too_many_neighbours_keep_the_rules(data, k):
    # The local scale looks at two neighbours at least, and no count goes beyond the samples.
    kernel = Gaussian("local", n_neighbors=k)
    (X,) = cases.views(data, 1, kernel)
    K = build(kernel, X)
    assert_allclose(full(K), oracles.View(kernel, X).K, rtol=1e-9, atol=1e-300)
    weights = K.against(X).weights(np.zeros(len(X)))
    assert_allclose(weights @ np.eye(len(X)), full(K), rtol=1e-9, atol=1e-300)
