"""Scores against their definitions, written out."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from viewhop.scores import agreement, circular_rank_correlation, matched_share


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_the_matched_share_is_that_of_the_best_renaming(pairs):
    target, clusters = np.array(pairs).T
    best = max(np.mean(np.array(names)[clusters] == target) for names in permutations(range(4)))
    assert_allclose(matched_share(target, clusters), best, rtol=0, atol=1e-15)


@given(st.integers(3, 60), st.integers(0, 2**32 - 1))
def test_rotations_reversals_and_stretches_do_not_count(n, seed):
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0, 2 * np.pi, n))
    stretched = 2 * np.pi * (angle / (2 * np.pi)) ** 3  # keeps the cyclic order
    for other in (angle + 1.7, -angle, angle - 4 * np.pi, stretched, 2 - stretched):
        assert_allclose(circular_rank_correlation(angle, other), 1, rtol=0, atol=1e-12)


def test_it_is_mardias_formula():
    rng = np.random.default_rng(0)
    first, second = rng.uniform(-9, 9, (2, 25))
    a, b = (2 * np.pi * np.argsort(np.argsort(x % (2 * np.pi))) / 25 for x in (first, second))
    expected = max(
        (np.cos(a - s * b).sum() ** 2 + np.sin(a - s * b).sum() ** 2) / 25**2 for s in (1, -1)
    )
    assert_allclose(circular_rank_correlation(first, second), expected, rtol=1e-12)


def test_angles_without_relation_score_near_zero():
    rng = np.random.default_rng(1)
    assert circular_rank_correlation(*rng.uniform(0, 7, (2, 2000))) < 0.01


@pytest.mark.parametrize("bad", [[], [[1.0]], [np.nan, 1.0]])
def test_what_is_no_list_of_angles_is_refused(bad):
    with pytest.raises(ValueError, match="list of finite angles"):
        circular_rank_correlation(bad, bad)


def test_lists_of_different_length_are_refused():
    with pytest.raises(ValueError, match="got 3 and 2 angles"):
        circular_rank_correlation([1, 2, 3], [1, 2])


def test_clusters_under_other_names_agree_wholly():
    labels = np.array(["a", "a", "b", "c", None], dtype=object)
    scores = agreement(labels, np.array([2, 2, 0, 1, 1]))
    assert_allclose(scores, (1, 1, 1, 4), rtol=0, atol=1e-12)


def test_one_cluster_says_nothing():
    scores = agreement(np.array([0, 0, 1, 1]), np.zeros(4, dtype=int))
    assert_allclose(scores, (0, 0, 0.5, 4), rtol=0, atol=1e-12)


def test_half_of_the_samples_in_the_wrong_cluster():
    labels, clusters = np.repeat([0, 1], 4), np.array([0, 0, 1, 1, 0, 0, 1, 1])
    scores = agreement(labels, clusters)
    assert_allclose((scores.nmi, scores.accuracy), (0, 0.5), rtol=0, atol=1e-12)
    assert scores.ami < 0  # less than chance would give


@pytest.mark.parametrize("labels", [np.array([0.5, 1.5]), np.array([None, None], dtype=object)])
def test_labels_that_are_no_classes_are_not_scored(labels):
    assert agreement(labels, np.array([0, 1])) is None
