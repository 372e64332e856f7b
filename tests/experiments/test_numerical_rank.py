"""Lemma 1 and Section 5.5.1: ranks over δ and samples, boxes, and the intrinsic dimension."""

from __future__ import annotations

import numpy as np
import pytest

from tests.experiments.runs import check_pictures, quick, table
from viewhop.experiments._dimension_estimates import Case, draw_manifolds, judge_danco
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS
from viewhop.experiments._rank_findings import judge_boxes, judge_growth, judge_sizes
from viewhop.experiments._rank_of_kernels import count_ranks

pytest.importorskip("skdim")


def test_ranks_are_shares_of_the_largest_eigenvalue():
    assert count_ranks(np.array([50.0, 6.0, 4.0, 0.6, 0.06, 0.04])) == [2, 4, 5]


def test_manifolds_lie_where_they_should():
    drawn = {name: (d, rows) for name, d, rows in draw_manifolds(60, np.random.default_rng(0))}
    for name in ("circle", "sphere, d = 2", "sphere, d = 4"):
        np.testing.assert_allclose(np.linalg.norm(drawn[name][1], axis=1), 1, rtol=1e-12)
    for name in ("cube, d = 3", "cube, d = 5"):
        d, rows = drawn[name]
        assert rows.shape == (60, 10)
        assert np.linalg.matrix_rank(rows) == d
    assert drawn["Swiss roll"][1].shape == (60, 3)


def test_lemma_1_holds_only_near_the_printed_exponent():
    assert judge_growth({1: [0.9, 1.1], 2: [2.0, 2.2]}).verdict == HOLDS
    found = judge_growth({1: [0.5, 0.5], 2: [2.0, 2.0]})
    assert found.verdict == FAILS
    assert "0.50 ± 0.00 at d = 1" in found.evidence


def test_the_rank_is_steady_if_it_grows_by_less_than_a_tenth():
    ranks = np.array([[[10, 20], [15, 30], [16, 31]]] * 2, dtype=float)
    deltas = (0.1, 0.01)
    assert judge_sizes((1, 2, 4), ranks, deltas).verdict == HOLDS
    ranks[:, -1, 1] = 40
    found = judge_sizes((1, 2, 4), ranks, deltas)
    assert (found.verdict, found.condition) == (CONDITIONAL, "δ of 0.1")
    ranks[:, -1, 0] = 30
    assert judge_sizes((1, 2, 4), ranks, deltas).verdict == FAILS


def test_boxes_bound_the_rank_in_every_draw_or_not():
    good = {1: (50, [30, 50]), 2: (100, [40, 80])}
    assert judge_boxes([good, good], (0.1, 0.01)).verdict == HOLDS
    found = judge_boxes([good, {**good, 2: (100, [40, 101])}], (0.1, 0.01))
    assert (found.verdict, found.condition) == (CONDITIONAL, "δ of 0.1")
    assert judge_boxes([{1: (10, [11, 12])}], (0.1, 0.01)).verdict == FAILS


def test_danco_is_robust_if_it_is_right_with_noise_too():
    right, wrong = [(2.2, 3), (1.8, 2)], [(2.2, 2), (2.6, 2)]
    few, noisy = Case("roll", 2, 0.0, 100), Case("roll", 2, 0.02, 100)
    many = few._replace(n_samples=900)
    assert judge_danco({few: right, noisy: right, many: right}).verdict == HOLDS
    found = judge_danco({few: right, noisy: wrong, many: wrong})
    assert found.verdict == CONDITIONAL
    assert found.condition == "without noise, at 100 samples (tried: 100, 900)"
    assert "100 samples without noise 2 of 2, local PCA 1" in found.evidence
    assert "100 samples with noise 1 of 2, local PCA 2 (DANCo errs on roll)" in found.evidence
    assert judge_danco({few: wrong, noisy: right, many: wrong}).verdict == FAILS


def test_the_printed_exponent_fails_and_boxes_do_not_bound_every_rank():
    result = quick("numerical-rank")
    found = {each.claim: each for each in result.findings}
    assert [*found] == ["rank-log", "rank-size-independent", "rank-boxes", "danco-robust"]
    assert found["rank-log"].verdict == FAILS
    rows = {row["samples"]: row for row in table(result, "Lemma 1")}
    assert abs(rows["cube, d = 1"]["p, mean"] - 0.5) < 0.1
    assert rows["cube, d = 1"]["p, mean"] < rows["normal, d = 1"]["p, mean"]
    assert found["rank-boxes"].verdict == CONDITIONAL


def test_one_draw_is_enough():
    assert quick("numerical-rank", trials=1).ran["draws"] == 1


def test_pictures_have_labels():
    check_pictures("numerical-rank", quick("numerical-rank"))
