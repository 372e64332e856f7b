"""The graph of nearest cells, against dense brute force, scipy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from viewhop.scverse._fused_graph import build_graph, fuzzy_weights


def graph_of(Z, k):
    return build_graph(Z, k, generator=np.random.default_rng(0))


def dense_neighbours(Z, k):
    """Indices and distances of the k nearest others; by index among equals."""
    D = cdist(Z, Z)
    np.fill_diagonal(D, -1)
    order = np.argsort(D, axis=1, kind="stable")[:, 1 : k + 1]
    return order, np.take_along_axis(D, order, axis=1)


def dense_weights(d, k):
    """The weights of one cell, its width from a bracketing root finder."""
    positive = d[d > 0]
    rho = positive.min() if positive.size else 0.0
    gaps = np.maximum(d - rho, 0)

    def excess(log_width):
        return np.exp(-gaps / np.exp(log_width)).sum() - np.log2(k + 1)

    return np.exp(-gaps / np.exp(brentq(excess, -40.0, 40.0, xtol=1e-13)))


def dense_connectivities(Z, k):
    n = len(Z)
    columns, distances = dense_neighbours(Z, k)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, columns[i]] = dense_weights(distances[i], k)
    return W + W.T - W * W.T


@pytest.mark.parametrize(("n", "d", "k"), [(60, 3, 15), (40, 2, 4), (25, 5, 25), (200, 8, 30)])
def test_the_graph_equals_dense_brute_force(n, d, k):
    Z = np.random.default_rng(n).normal(size=(n, d))
    graph = graph_of(Z, k)
    columns, distances = dense_neighbours(Z, k - 1)
    assert_array_equal(graph.distances.indices.reshape(n, k - 1), columns)
    assert_allclose(graph.distances.data.reshape(n, k - 1), distances, rtol=1e-9)
    expected = dense_connectivities(Z, k - 1)
    assert_allclose(graph.connectivities.toarray(), expected, atol=1e-6)
    assert graph.recall == 1.0


def test_the_distances_are_those_of_scikit_learn():
    Z = np.random.default_rng(1).normal(size=(300, 6)).astype(np.float32)
    search = NearestNeighbors(n_neighbors=14).fit(Z)
    expected = search.kneighbors_graph(mode="distance")  # without the samples themselves
    ours = graph_of(Z, 15).distances
    assert_allclose(ours.toarray(), expected.toarray(), rtol=1e-5)


@settings(deadline=None, max_examples=40)
@given(
    cells=st.integers(2, 30),
    spread=st.sampled_from([1, 3, 1000]),
    k=st.integers(2, 30),
    seed=st.integers(0, 10_000),
)
def test_any_graph_is_symmetric_in_range_and_complete(cells, spread, k, seed):
    """Integers make ties and copies, up to all cells at one place."""
    k = min(k, cells)
    Z = np.random.default_rng(seed).integers(0, spread, (cells, 2)).astype(float)
    graph = graph_of(Z, k)
    columns, distances = dense_neighbours(Z, k - 1)
    assert_array_equal(np.diff(graph.distances.indptr), np.full(cells, k - 1))
    assert_array_equal(graph.distances.indices.reshape(cells, -1), columns)
    assert_allclose(graph.distances.data.reshape(cells, -1), distances, rtol=1e-9)
    W = graph.connectivities.toarray()
    assert_array_equal(W, W.T)
    assert_array_equal(np.diagonal(W), np.zeros(cells))
    assert W.min() >= 0
    assert W.max() <= 1
    nearest = columns[:, 0]
    assert_allclose(W[np.arange(cells), nearest], 1.0)


def test_copies_are_stored_with_distance_zero():
    Z = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 2, axis=0)
    near = graph_of(Z, 4).distances
    assert near.nnz == 60
    assert (near.data == 0).sum() == 20


def test_weights_sum_to_the_logarithm_of_the_neighbourhood():
    Z = np.random.default_rng(3).normal(size=(100, 4)) * 1e-6
    weights = fuzzy_weights(dense_neighbours(Z, 14)[1])
    assert_allclose(weights.sum(axis=1), np.log2(15), rtol=1e-9)
    assert_allclose(weights[:, 0], 1.0)


def test_weights_do_not_depend_on_the_unit():
    distances = dense_neighbours(np.random.default_rng(4).normal(size=(50, 3)), 9)[1]
    expected = fuzzy_weights(distances)
    for unit in (1e-9, 1e9):
        assert_allclose(fuzzy_weights(unit * distances), expected, rtol=1e-9)


def test_a_cell_with_many_equally_near_ones_gets_the_smallest_width():
    distances = np.array([[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.001]])
    width = 1e-3 * distances.sum() / 8
    assert_allclose(fuzzy_weights(distances), np.exp(-(distances - 1) / width), rtol=1e-9)
