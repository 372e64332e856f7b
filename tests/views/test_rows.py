"""Nodes against dense 0/1 matrices: E_l (n_l × M) gathers for view l, its transpose scatters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.views._rows import RowMap, unless_whole

N_SAMPLES = 9


@pytest.fixture
def nodes():
    """A whole view, one that missed samples, one with repeated rows, one that saw nobody."""
    rng = np.random.default_rng(3)
    missed = rng.permutation(N_SAMPLES)[:6]
    repeated = rng.integers(0, N_SAMPLES - 2, size=14)
    assert np.unique(repeated).size < repeated.size
    samples = [None, missed, repeated, np.empty(0, dtype=np.intp)]
    return RowMap([N_SAMPLES, 6, 14, 0], samples, N_SAMPLES)


def gather(nodes, view):
    """E_l, one 1 in each row, by a loop."""
    E = np.zeros((nodes.sizes[view], nodes.n_samples))
    for row, sample in enumerate(nodes.samples(view)):
        E[row, sample] = 1.0
    return E


def blocks(rng, n):
    """A vector and a matrix of n rows."""
    return rng.normal(size=n), rng.normal(size=(n, 3))


def test_scattered_and_gathered_equal_dense_products(nodes):
    rng = np.random.default_rng(4)
    for view, size in enumerate(nodes.sizes):
        E = gather(nodes, view)
        for W in blocks(rng, size):
            assert_allclose(nodes.scattered(view, W), E.T @ W, rtol=1e-15, atol=1e-15)
        for W in blocks(rng, N_SAMPLES):
            assert_array_equal(nodes.gathered(view, W), E @ W)


def test_carried_equals_scattering_then_gathering_for_every_pair_of_views(nodes):
    rng = np.random.default_rng(5)
    for start, size in enumerate(nodes.sizes):
        for end in range(nodes.n_views):
            hop = gather(nodes, end) @ gather(nodes, start).T
            for W in blocks(rng, size):
                found = nodes.carried(W, start, end)
                assert_allclose(found, hop @ W, rtol=1e-15, atol=1e-15)


def test_spread_is_the_mean_of_a_samples_rows_and_nan_without_any(nodes):
    rng = np.random.default_rng(6)
    for view, size in enumerate(nodes.sizes):
        for W in blocks(rng, size):
            expected = np.full((N_SAMPLES, *W.shape[1:]), np.nan)
            for sample in np.unique(nodes.samples(view)):
                expected[sample] = W[nodes.samples(view) == sample].mean(axis=0)
            assert_allclose(nodes.spread(view, W), expected, rtol=1e-14)


def test_the_first_row_of_a_sample_is_the_first_that_belongs_to_it(nodes):
    for view in range(nodes.n_views):
        samples = nodes.samples(view).tolist()
        expected = [samples.index(s) if s in samples else -1 for s in range(nodes.n_samples)]
        assert_array_equal(nodes.first_rows(view), expected)


def test_single_precision_stays_single(nodes):
    for view, size in enumerate(nodes.sizes):
        rows, samples = np.ones((size, 2), np.float32), np.ones((N_SAMPLES, 2), np.float32)
        for found in (
            nodes.scattered(view, rows),
            nodes.gathered(view, samples),
            nodes.spread(view, rows),
            nodes.carried(rows, view, 2),
        ):
            assert found.dtype == np.float32


def test_rows_are_not_written_to(nodes):
    for view, size in enumerate(nodes.sizes):
        W = np.ones((size, 2))
        W.flags.writeable = False
        for found in (nodes.scattered(view, W), nodes.spread(view, W)):
            assert found.shape == (N_SAMPLES, 2)


def test_observed_and_is_repeated_count_the_rows_of_each_sample(nodes):
    counts = np.stack([gather(nodes, view).sum(axis=0) for view in range(nodes.n_views)], axis=1)
    assert_array_equal(nodes.observed, counts > 0)
    assert [nodes.is_repeated(view) for view in range(4)] == [False, False, True, False]


def test_split_and_where_count_the_rows_through_all_views(nodes):
    numbers = nodes.split(np.arange(sum(nodes.sizes)))
    assert [part.size for part in numbers] == [*nodes.sizes]
    for view, part in enumerate(numbers):
        for row, node in enumerate(part):
            assert nodes.where(node) == (view, nodes.samples(view)[row])


def test_nodes_of_chosen_samples_keep_just_their_rows(nodes):
    for chosen in (np.array([0, 2, 3, 7]), np.arange(N_SAMPLES), np.empty(0, dtype=np.intp)):
        part, kept = nodes.of_samples(chosen)
        assert part.n_samples == chosen.size
        for view, rows in enumerate(kept):
            assert_array_equal(rows, np.flatnonzero(np.isin(nodes.samples(view), chosen)))
            assert part.sizes[view] == rows.size
            assert_array_equal(chosen[part.samples(view)], nodes.samples(view)[rows])


def test_reordered_nodes_belong_to_the_same_samples(nodes):
    order = np.random.default_rng(7).permutation(N_SAMPLES)
    moved, orders = nodes.reordered(order)
    assert moved.sizes == nodes.sizes
    for view, rows in enumerate(orders):
        assert_array_equal(np.sort(rows), np.arange(nodes.sizes[view]))
        assert_array_equal(order[moved.samples(view)], nodes.samples(view)[rows])
        assert (np.diff(moved.samples(view)) >= 0).all()


def test_merged_nodes_have_one_row_for_each_merged_sample_that_was_seen(nodes):
    label = np.array([0, 1, 2, 3, 3, 2, 1, 0, 0])
    merged, labels = nodes.merged(label)
    assert merged.n_samples == 4
    for view, rows in enumerate(labels):
        seen = [nodes.observed[label == k, view].any() for k in range(4)]
        assert_array_equal(merged.observed[:, view], seen)
        assert not merged.is_repeated(view)
        assert merged.sizes[view] == sum(seen)
        assert_array_equal(merged.samples(view)[rows], label[nodes.samples(view)])


@pytest.mark.parametrize("inner", [0.0, 1.0])
def test_a_row_is_live_where_a_view_it_hops_to_observed_its_sample(nodes, inner):
    hops = np.ones((4, 4)) - np.eye(4) * (1 - inner)
    hops[0, 2] = hops[2, 0] = 0.0
    for view, found in enumerate(nodes.live(hops)):
        targets = np.flatnonzero(hops[view] > 0)
        expected = [nodes.observed[sample, targets].any() for sample in nodes.samples(view)]
        assert_array_equal(found, np.array(expected, dtype=bool))


def test_whole_nodes_are_known_as_such_however_they_came_about(nodes):
    assert RowMap.whole(2, 5).is_whole
    assert RowMap([5, 5], [None, np.arange(5)], 5).is_whole
    assert not nodes.is_whole
    for samples in ([1, 0, 2], [0, 1], [0, 1, 2, 2], [0, 1, 1]):
        assert unless_whole(np.array(samples), 3) is not None
        assert not RowMap([3, len(samples)], [None, np.array(samples)], 3).is_whole
    pair = RowMap([5, 4], [None, np.array([0, 1, 3, 4])], 5)
    assert pair.of_samples(np.array([0, 3]))[0].is_whole
    assert not pair.of_samples(np.array([0, 2]))[0].is_whole
