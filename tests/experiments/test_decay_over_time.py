"""Fig. 2: the longer the walk, the faster its spectrum falls."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.linalg import orthogonal_procrustes

from tests.experiments.runs import check_pictures, quick, table
from viewhop.datasets import make_swiss_rolls
from viewhop.estimators._multi_view import MultiViewDiffusionMaps
from viewhop.experiments import Context
from viewhop.experiments._decay_over_time import _find_fall, _rolls
from viewhop.experiments._findings import FAILS, HOLDS
from viewhop.experiments._whole_spectrum import all_eigenvalues
from viewhop.kernels import Gaussian


def dense_walk(X, Y, sigma):
    """P̂ of two views by its definition, Eqs. (12)–(14)."""
    K = [np.exp(-((A[:, None] - A) ** 2).sum(2) / (2 * sigma**2)) for A in (X, Y)]
    zero = np.zeros_like(K[0])
    kernel = np.block([[zero, K[0] @ K[1]], [K[1] @ K[0], zero]])
    return kernel / kernel.sum(axis=1, keepdims=True)


def test_all_eigenvalues_are_those_of_the_transition_matrix():
    X, Y = np.random.default_rng(0).standard_normal((2, 12, 2))
    est = MultiViewDiffusionMaps.paper_settings(1, kernel=Gaussian(0.9)).fit([X, Y])
    expected = np.sort(np.linalg.eigvals(dense_walk(X, Y, 0.9)).real)[::-1]
    assert_allclose(all_eigenvalues(est.walk_), expected, atol=1e-12)


def test_three_rolls_are_one_turned_with_noise_of_its_own():
    views = _rolls(400, Context(), 3)
    clean = make_swiss_rolls(400, random_state=Context().integer(3)).views["x"]
    assert views.names == ("x", "y", "z")
    noises = []
    for _, rows in views.items():
        turn, _ = orthogonal_procrustes(clean, rows)
        noises.append((rows - clean @ turn).ravel())
    # 1,200 draws of variance 1, and no view repeats the noise of another.
    assert_allclose(np.cov(noises), np.eye(3), atol=0.15)


def test_ranks_count_powers_of_the_eigenvalues():
    result = quick("decay-over-time")
    size = np.array(result.numbers["absolute_eigenvalues"])
    assert_allclose(size[0], 1, rtol=1e-12)
    rows = table(result, "Numerical rank")
    means = [row["mean over draws"] for row in rows]
    assert means == sorted(means, reverse=True)
    assert means[-1] < means[0] / 4
    assert_allclose(means, np.mean(result.numbers["ranks"], axis=0), rtol=1e-12)
    assert result.numbers["ranks"][0][-1] == (size ** int(rows[-1]["t"]) > 0.01).sum()


def test_draws_differ():
    first, second = quick("decay-over-time").numbers["ranks"]
    assert first != second


def test_rank_that_stays_is_no_fall():
    assert _find_fall(np.array([[5, 3, 1], [4, 3, 2]])).verdict == HOLDS
    assert _find_fall(np.array([[5, 3, 1], [4, 3, 3]])).verdict == FAILS


def test_pictures_have_labels():
    check_pictures("decay-over-time", quick("decay-over-time"))
