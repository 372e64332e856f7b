"""Figs. 4 and 5: the spectra of five walks on clusters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from tests.experiments.runs import check_pictures, quick, table
from viewhop.bandwidth import max_min
from viewhop.datasets import make_mixtures
from viewhop.experiments._decay_findings import judge_counts, judge_decay, tally
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS
from viewhop.experiments._walk_spectra import ONE_STEP, OURS, TWO_STEPS, rank, spectra


def gaussian(rows, sigma):
    return np.exp(-cdist(rows, rows, "sqeuclidean") / (2 * sigma**2))


def transition_spectrum(kernel):
    """Eigenvalues of the kernel divided by its row sums, largest first."""
    return np.sort(np.linalg.eigvals(kernel / kernel.sum(axis=1, keepdims=True)).real)[::-1]


@pytest.fixture(scope="module")
def mixtures():
    return make_mixtures(48, random_state=1)


def test_spectra_are_those_of_the_paper_s_matrices(mixtures):
    x, y = mixtures.views["x"], mixtures.views["y"]
    scales = [np.sqrt(0.5) * max_min(rows) for rows in (x, y)]
    K, L = gaussian(x, scales[0]), gaussian(y, scales[1])
    zero = np.zeros_like(K)
    expected = {
        "x alone": K,
        "y alone": L,
        "kernel sum": K + L,
        "kernel product": K * L,
        # One Gaussian of both views side by side, σ∘² = σx² + σy².
        "kernel product, concat": gaussian(np.hstack([x, y]), np.hypot(*scales)),
        "multi-view": np.block([[zero, K @ L], [L @ K, zero]]),
    }
    found = spectra(mixtures, 0.5)
    for name, kernel in expected.items():
        assert found[name].shape == (48,)
        assert_allclose(found[name], transition_spectrum(kernel)[:48], atol=1e-10)
    for name in ("kernel sum", "kernel product", "kernel product, concat"):
        twice = np.linalg.matrix_power(
            expected[name] / expected[name].sum(axis=1, keepdims=True), 2
        )
        squares = np.sort(np.linalg.eigvals(twice).real)[::-1]
        assert_allclose(found[f"{name}, two steps"], squares, atol=1e-10)
    assert_allclose(found["λ(x)·λ(y)"], found["x alone"] * found["y alone"], rtol=1e-15)


def test_rank_counts_both_signs():
    assert rank(np.array([1.0, 0.2, 0.05, -0.3]), 0.1) == 3


def test_the_multi_view_walk_falls_fastest_at_the_max_min_scale():
    result = quick("spectral-decay")
    rivals = ("x alone", "y alone", "kernel sum", "kernel product, concat")
    for case in ("6 and 6 clusters, C = 1:", "6 and 3 clusters, C = 1:"):
        rows = {row["matrix"]: row for row in table(result, case)}
        ours = rows.pop("multi-view")
        for column in [*ours][1:]:
            assert all(ours[column] <= rows[name][column] for name in rivals)
        assert (
            ours["sum beyond the sixth"]
            < 0.1 * rows["kernel product, concat"]["sum beyond the sixth"]
        )


def test_the_knee_stands_at_the_number_of_clusters():
    for case, knee in (("6 and 6 clusters", 6), ("6 and 3 clusters", 3)):
        values = quick("spectral-decay").numbers["spectra"][case]["multi-view"][:12]
        assert np.argmax(-np.diff(np.log(values))) + 1 == knee


def few(n):
    return np.concatenate([np.ones(n), np.full(9 - n, 1e-9)])


def test_the_decay_is_judged_against_walks_of_one_step_and_of_two():
    walks = {**dict.fromkeys(ONE_STEP, few(5)), **dict.fromkeys(TWO_STEPS, few(4)), OURS: few(4)}
    assert judge_decay([walks, walks]).verdict == HOLDS
    behind_two = {**walks, TWO_STEPS[1]: few(3)}
    assert judge_decay([walks, behind_two]).verdict == CONDITIONAL
    assert "in 1 against walks of two" in judge_decay([walks, behind_two]).evidence
    behind_one = {**walks, ONE_STEP[0]: few(3)}
    assert judge_decay([walks, behind_one]).verdict == FAILS


def test_the_number_of_clusters_is_judged_by_the_share_of_draws():
    true = {"a": 6, "b": 3}
    assert judge_counts({"a": [6, 6], "b": [3, 3]}, true).verdict == HOLDS
    some = judge_counts({"a": [6, 5], "b": [3, 3]}, true)
    assert (some.verdict, some.condition) == (CONDITIONAL, "in 3 of 4 draws")
    assert judge_counts({"a": [6, 5], "b": [2, 3]}, true).verdict == FAILS


def test_a_tally_counts():
    assert tally([6, 5, 6]) == "6 (2 times), 5"


def test_both_rules_count_the_clusters_and_curves_are_said_to_have_none():
    result = quick("spectral-decay")
    counts = table(result, "Number of clusters")
    assert len(counts) == 8
    printed = [row for row in counts if row["C"] == "1" and "log" in row["rule"]]
    assert [row["right number"] for row in printed] == [6, 3]
    assert all(row["share right"] >= 0.5 for row in printed)
    curves = {row["data"].split(",")[0]: row["it says"] for row in table(result, "Curves")}
    assert "no number of clusters is right" in curves["helix B"]
    assert "apart and compact" not in " ".join(curves.values())


def test_findings_are_on_the_claims_of_figure_5():
    found = [each.claim for each in quick("spectral-decay").findings]
    assert found == ["strongest-decay", "clusters-from-spectrum"]


def test_pictures_have_labels():
    check_pictures("spectral-decay", quick("spectral-decay"))
