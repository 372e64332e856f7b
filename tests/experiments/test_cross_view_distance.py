"""Fig. 7: the cross-view distance beside the single-view one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.experiments.runs import check_pictures, quick, table
from viewhop import DiffusionMaps
from viewhop.datasets import make_swiss_rolls
from viewhop.experiments._cross_view_distance import (
    distances,
    judge_flips,
    judge_smaller,
    repaired_distance,
)
from viewhop.experiments._findings import FAILS, HOLDS
from viewhop.kernels import Gaussian


@pytest.fixture(scope="module")
def embedding():
    return np.random.default_rng(0).standard_normal((30, 2))


@pytest.mark.parametrize("signs", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
def test_flipped_axes_are_repaired(embedding, signs):
    assert_allclose(repaired_distance(embedding, embedding * signs), 0, atol=1e-14)


def test_exchanged_axes_are_repaired_if_asked(embedding):
    exchanged = embedding[:, ::-1] * (1, -1)
    assert repaired_distance(embedding, exchanged) > 1
    assert_allclose(repaired_distance(embedding, exchanged, order=True), 0, atol=1e-14)


def test_a_repair_is_the_best_of_all_signs(embedding):
    other = np.random.default_rng(1).standard_normal((30, 2))
    best = min(np.sqrt(((embedding - other * (a, b)) ** 2).sum()) for a in (1, -1) for b in (1, -1))
    assert_allclose(repaired_distance(embedding, other), best, rtol=1e-14)


def test_distances_follow_their_definitions():
    rolls = make_swiss_rolls(120, noise=0.5, random_state=3)
    found = distances(rolls)
    assert found["single-view"] >= found["signs repaired"] >= found["signs and order repaired"]
    x, y = (
        DiffusionMaps(2, kernel=Gaussian("max-min")).fit_transform(rows)
        for _, rows in rolls.views.items()
    )
    assert_allclose(found["single-view"], np.linalg.norm(x - y), rtol=1e-8)
    # Eq. (30) from the SVD of the normalised kernel product.
    squares = [((rows[:, None] - rows) ** 2).sum(2) for _, rows in rolls.views.items()]
    scales = [(s + np.diag(np.full(120, np.inf))).min(axis=1).max() for s in squares]
    K, L = (np.exp(-s / (2 * scale)) for s, scale in zip(squares, scales, strict=True))
    Z = K @ L
    rows, columns = Z.sum(axis=1), Z.sum(axis=0)
    u, s, vt = np.linalg.svd(Z / np.sqrt(np.outer(rows, columns)))
    weight = np.sqrt((rows.sum() + columns.sum()) / 2)
    left = s[1:3] * u[:, 1:3] * weight / np.sqrt(rows)[:, None]
    right = s[1:3] * vt[1:3].T * weight / np.sqrt(columns)[:, None]
    assert_allclose(found["cross-view"], np.linalg.norm(left - right), rtol=1e-8)


def test_without_noise_the_cross_view_distance_is_0_and_with_noise_it_is_the_smaller():
    rows = table(quick("cross-view-distance"), "Median")
    assert rows[0]["σ_N²"] == "0"
    assert rows[0]["cross-view"] < 1e-8
    for before, row in pairwise(rows):
        assert before["cross-view"] < row["cross-view"] < row["single-view"]
        assert row["signs and order repaired"] <= row["signs repaired"] <= row["single-view"]


def test_the_distance_must_be_smaller_and_grow_at_every_noise():
    variances = (0.0, 1.0, 2.0)
    good = np.zeros((3, 5, 4))
    good[:, :, 0], good[:, :, 1] = [[0.0], [1.0], [2.0]], [[0.0], [3.0], [2.5]]
    found = judge_smaller(variances, good)
    assert found.verdict == HOLDS
    assert "grows at 2 of 2 steps of the noise, the single-view one at 1" in found.evidence
    for place, value in (((1, 0), 3.5), ((2, 0), 0.5)):
        bad = good.copy()
        bad[place[0], :, place[1]] = value
        assert judge_smaller(variances, bad).verdict == FAILS


def test_a_tenth_of_flips_is_between_5_and_15_percent():
    for share, verdict in ((0.1, HOLDS), (0.04, FAILS), (0.3, FAILS)):
        found = judge_flips((0.0, 1.0), np.array([share, share]), 10)
        assert found.verdict == verdict
        assert f"{share:.0%}" in found.evidence


def test_findings_are_on_the_claims_of_figure_7():
    found = {each.claim: each for each in quick("cross-view-distance").findings}
    assert [*found] == ["cross-view-smaller", "axis-flips"]
    assert found["cross-view-smaller"].verdict == HOLDS


def test_pictures_have_labels():
    check_pictures("cross-view-distance", quick("cross-view-distance"))
