"""Neighbour lists of views, and their agreement beyond chance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.selection import list_agreement, most_similar_lists, nearest_lists


def brute_force_lists(X, k):
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    np.fill_diagonal(D, np.inf)
    return np.sort(np.argsort(D, axis=1)[:, :k], axis=1)


def agreement_by_counting(first, second):
    """The definition, sample by sample."""
    n, k = first.shape
    common = sum(len(set(a) & set(b)) for a, b in zip(first, second, strict=True))
    p, q = (np.bincount(lists.ravel(), minlength=n) / (n * k) for lists in (first, second))
    expected = k * n / (n - 1) * (p * q).sum()
    return (common / (n * k) - expected) / (1 - expected)


@pytest.mark.parametrize("width", [2, 300])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_lists_hold_the_nearest_rows(width, n_jobs):
    X = np.random.default_rng(0).standard_normal((700, width)) * 3 + 50
    lists = nearest_lists(X, k=7, n_jobs=n_jobs)
    assert_array_equal(np.sort(lists, axis=1), brute_force_lists(X, 7))


def test_lists_survive_an_offset_and_any_scale():
    X = np.random.default_rng(0).standard_normal((200, 3))
    expected = brute_force_lists(X, 5)
    for Y in (X * 1e150, X * 1e-150, X + 1e6):
        assert_array_equal(np.sort(nearest_lists(Y, k=5), axis=1), expected)


def test_no_sample_is_its_own_neighbour_even_among_copies():
    X = np.repeat(np.arange(6.0), 20)[:, None]
    lists = nearest_lists(X, k=10)
    assert (lists != np.arange(120)[:, None]).all()
    assert (X[lists, 0] == X).all()


def test_lists_of_a_kernel_hold_its_largest_values():
    X = np.random.default_rng(0).standard_normal((120, 2))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1))
    lists = most_similar_lists(K, k=6)
    assert_array_equal(np.sort(lists, axis=1), brute_force_lists(X, 6))


def test_agreement_is_the_share_of_common_neighbours_beyond_chance():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 3))
    first = nearest_lists(X, k=10)
    second = nearest_lists(X + 0.3 * rng.standard_normal(X.shape), k=10)
    assert_allclose(list_agreement(first, second), agreement_by_counting(first, second), rtol=1e-12)
    assert_allclose(list_agreement(first, second), list_agreement(second, first), rtol=1e-12)


def test_equal_lists_agree_fully_and_unrelated_views_not_at_all():
    rng = np.random.default_rng(2)
    first, second = (nearest_lists(rng.standard_normal((1000, 4)), k=10) for _ in range(2))
    assert list_agreement(first, first) == 1.0
    assert abs(list_agreement(first, second)) < 0.01


def test_hubs_do_not_fake_an_agreement():
    # Both views put the same few samples into every list, and agree on nothing else.
    rng = np.random.default_rng(3)
    hubs = np.tile(np.arange(5), (2000, 1))
    first, second = (np.hstack([hubs, rng.integers(5, 2000, (2000, 5))]) for _ in range(2))
    assert abs(list_agreement(first, second)) < 0.02


def test_ties_are_broken_independently_in_two_views():
    # Half of the rows are zero in both views: by index, ties would put the same into all lists.
    rng = np.random.default_rng(4)
    zero = np.arange(400) < 200
    views = [np.where(zero[:, None], 0.0, rng.standard_normal((400, 3))) for _ in range(2)]
    lists = [nearest_lists(X, seed=(7, view)) for view, X in enumerate(views)]
    among_zeros = [part[zero] for part in lists]
    common = np.mean([len(set(a) & set(b)) for a, b in zip(*among_zeros, strict=True)])
    assert common / 10 < 0.1  # 0.05 by chance among 199 others
    again = nearest_lists(views[0], seed=(7, 0))
    assert_array_equal(again, lists[0])
