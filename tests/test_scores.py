"""How well clusters agree with labels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop.scores import agreement


def test_clusters_under_other_names_agree_wholly():
    labels = np.array(["a", "a", "b", "c", None], dtype=object)
    found = agreement(labels, np.array([2, 2, 0, 1, 1]))
    assert_allclose(found, (1, 1, 1, 4), rtol=0, atol=1e-12)


def test_one_cluster_says_nothing():
    found = agreement(np.array([0, 0, 1, 1]), np.zeros(4, dtype=int))
    assert_allclose(found, (0, 0, 0.5, 4), rtol=0, atol=1e-12)


def test_half_of_the_samples_in_the_wrong_cluster():
    labels, clusters = np.repeat([0, 1], 4), np.array([0, 0, 1, 1, 0, 0, 1, 1])
    found = agreement(labels, clusters)
    assert_allclose((found.nmi, found.accuracy), (0, 0.5), rtol=0, atol=1e-12)
    assert found.ami < 0  # less than chance would give


@pytest.mark.parametrize("labels", [np.array([0.5, 1.5]), np.array([None, None], dtype=object)])
def test_labels_that_are_no_classes_are_not_scored(labels):
    assert agreement(labels, np.array([0, 1])) is None
