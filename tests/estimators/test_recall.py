"""What a fit says about an approximate search that finds too few neighbours."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from viewhop import MultiViewDiffusionMaps
from viewhop.errors import RecallWarning
from viewhop.kernels import Gaussian

K = 10


@pytest.fixture(autouse=True)
def faiss():
    return pytest.importorskip("faiss")


@pytest.fixture(scope="module")
def cloud():
    """High-dimensional noise, which an index that looks into one of its lists mostly misses."""
    return np.random.default_rng(0).standard_normal((900, 40))


def true_share(est, X):
    """The share of the K nearest neighbours of each sample that the kernel stores, itself too."""
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=-1))
    nearest = np.sort(D, axis=1)[:, K : K + 1] >= D
    stored = (est.walk_.affinities[0] @ np.eye(len(X))) > 0
    return (stored & nearest).sum() / nearest.sum()


def test_a_poor_index_is_warned_of_with_the_measured_recall(cloud):
    kernels = {
        name: Gaussian("local", n_neighbors=K, search=search)
        for name, search in (("poor", "faiss"), ("fine", "exact"))
    }
    est = MultiViewDiffusionMaps(2, kernel=kernels, joint_view=False, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        est.fit({"poor": cloud, "fine": cloud})
    told = [entry.message for entry in caught if entry.category is RecallWarning]
    assert [f"view {name!r}" in str(told[0]) for name in ("poor", "fine")] == [True, False]
    assert len(told) == 1
    assert told[0].recall == est.recall_["poor"] < 0.95
    assert f"{told[0].recall:.1%}" in str(told[0])
    assert est.recall_["fine"] == 1.0
    # Stored pairs are symmetric, so that they hold some that the search itself missed.
    assert est.recall_["poor"] <= true_share(est, cloud) < 0.99
