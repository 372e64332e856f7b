"""What advice sees: each finding appears where it was made to, and not in clean data."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import entropy

import viewhop as vh
from viewhop.advice import Finding, agreement_findings, entropy_knee, graph_findings
from viewhop.advice._graph_findings import effective_neighbours
from viewhop.advice._spectral_choice import choose_rank_by_spectrum
from viewhop.affinity import build_affinity
from viewhop.kernels import Gaussian, Precomputed

N = 300


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def pair():
    """Two views of samples in three dimensions, each a smooth map of six and eight features."""
    rng = np.random.default_rng(1)
    hidden = rng.standard_normal((N, 3))
    return {
        "a": np.tanh(hidden @ rng.standard_normal((3, 6))),
        "b": np.tanh(hidden @ rng.standard_normal((3, 8))),
    }


def kinds(advice, severity=("warning", "note")):
    return {(one.kind, one.view) for one in advice.findings if one.severity in severity}


def finding(advice, kind, view=None) -> Finding:
    (only,) = (one for one in advice.findings if (one.kind, one.view) == (kind, view))
    return only


# --- clean data -----------------------------------------------------------------------------------


def test_clean_views_have_no_finding(pair):
    assert not vh.advise(pair).findings


@pytest.mark.parametrize(
    "views",
    [
        vh.datasets.make_gapped_rolls(300, random_state=0).views,
        vh.datasets.load_mfeat().views[::5],
    ],
    ids=["rolls", "digits"],
)
def test_rolls_and_digits_have_no_warning(views):
    assert not kinds(vh.advise(views), ["warning"])


# --- features -------------------------------------------------------------------------------------


def test_constant_features_are_counted(pair):
    pair["a"] = np.hstack([pair["a"], np.full((N, 2), 0.1)])
    advice = vh.advise(pair)
    assert kinds(advice) == {("constant features", "a")}
    assert finding(advice, "constant features", "a").value == 2


def test_the_share_of_duplicates_is_exact(pair):
    pair["a"][:31] = pair["a"][0]
    found = finding(vh.advise(pair), "duplicates", "a")
    assert_allclose(found.value, 30 / N, rtol=1e-12)
    assert found.severity == "warning"
    assert "31 times" in found.text


def test_zeros_of_both_signs_are_duplicates(pair):
    pair["a"][:8] = 0.0
    pair["a"][4:8] *= -1.0
    assert_allclose(finding(vh.advise(pair), "duplicates", "a").value, 7 / N, rtol=1e-12)


def test_scales_that_differ_by_orders_are_measured_and_standardised(pair):
    pair["a"] = pair["a"] / pair["a"].std(axis=0) * 10.0 ** np.arange(-3, 3)
    advice = vh.advise(pair)
    assert_allclose(finding(advice, "scales", "a").value, 1e5, rtol=1e-9)
    assert advice.metrics["a"].startswith("standardized")


def test_one_view_of_different_scales_is_standardised(pair):
    advice = vh.advise({"a": pair["a"] * 10.0 ** np.arange(-3, 3)})
    assert advice.metrics == {"a": "standardized"}
    standard = vh.advise({"a": pair["a"] / pair["a"].std(axis=0)})
    assert advice.parameters["n_components"] == standard.parameters["n_components"]
    assert finding(advice, "scales", "a").severity == "note"


def test_scales_under_a_fixed_metric_are_a_warning(pair):
    pair["a"] = pair["a"] * 10.0 ** np.arange(-3, 3)
    advice = vh.advise(pair, kernel=Gaussian("local", n_neighbors=10))
    assert finding(advice, "scales", "a").severity == "warning"


def test_rows_without_direction_are_counted_under_the_chosen_metric(rng):
    counts = rng.poisson(0.3, (N, 12)).astype(float) + np.eye(N, 12)
    counts[np.arange(N), rng.integers(0, 12, N)] += 1
    counts[:7] = 0
    assert vh.advise([counts]).metrics == {"view1": "cosine"}
    assert finding(vh.advise([counts]), "no direction", "view1").value == 7
    euclidean = vh.advise([counts], kernel=Gaussian("local", n_neighbors=10))
    assert "no direction" not in {kind for kind, _ in kinds(euclidean)}


# --- kernels and graphs ---------------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 7])
def test_effective_neighbours_are_the_perplexity_of_kernel_rows(pair, k):
    X = pair["a"][:50]
    K = build_affinity("a", Gaussian(0.7, n_neighbors=k), X)
    rows = K @ np.eye(50)
    assert_allclose(effective_neighbours(K), np.exp(np.median(entropy(rows, axis=1))), rtol=1e-9)


@pytest.mark.parametrize(("sigma", "kind"), [(0.08, "identity"), (1e3, "complete")])
def test_extreme_scales_are_found(pair, sigma, kind):
    advice = vh.advise(pair, kernel=Gaussian(sigma))
    assert {(kind, "a"), (kind, "b")} <= kinds(advice, ["warning"])


def test_a_precomputed_identity_is_found(pair):
    kernels = {"a": Precomputed(), "b": Gaussian("local", n_neighbors=10)}
    advice = vh.advise({"a": np.eye(N) + 1e-5, "b": pair["b"]}, kernel=kernels)
    assert ("identity", "a") in kinds(advice, ["warning"])


def test_hubs_are_found(rng):
    X = np.vstack([rng.standard_normal((N - 5, 100)), 0.1 * rng.standard_normal((5, 100))])
    advice = vh.advise([X])
    pairs = build_affinity("x", Gaussian("local", n_neighbors=10, taper=0.2), X).stored_pairs
    assert finding(advice, "hubs", "view1").value == (np.diff(pairs.indptr).max() - 1) / 10


def test_a_small_group_apart_is_connected_by_more_neighbours(rng):
    x = np.r_[rng.standard_normal(188), 6 + 0.1 * rng.standard_normal(12)][:, None]
    views = {"x": x, "y": x + 0.01 * rng.standard_normal((200, 1))}
    advice = vh.advise(views)
    assert finding(advice, "pieces").value == 2
    assert {one.n_neighbors for one in advice.parameters["kernel"].values()} == {15}
    est = vh.MultiViewDiffusionMaps(**advice.parameters, random_state=0).fit(views)
    assert est.n_pieces_ == 1


def test_pieces_that_stay_keep_the_default_neighbours(rng):
    blobs = np.repeat([0.0, 1e4, 2e4], 60)[:, None]
    advice = vh.advise([blobs + rng.standard_normal((180, 3)) for _ in range(2)])
    assert finding(advice, "pieces").value == 3
    assert advice.parameters["n_components"] == 2
    (reason,) = (one for one in advice.recommendations if one.parameter == "n_neighbors")
    assert reason.value == 10
    assert "30 neighbours: 3" in reason.text
    assert "pass connect=True" in reason.text


def test_few_samples_get_fewer_neighbours(pair):
    advice = vh.advise({name: X[:25] for name, X in pair.items()})
    assert {("few samples", "a"), ("few samples", "b")} <= kinds(advice, ["warning"])
    assert {one.n_neighbors for one in advice.parameters["kernel"].values()} == {6}


def test_clusters_smaller_than_neighbourhoods_are_found(rng):
    centres = 20 * rng.standard_normal((12, 5))[np.repeat(np.arange(12), 8)]
    other = centres @ rng.standard_normal((5, 6))
    advice = vh.advise([X + rng.standard_normal(X.shape) for X in (centres, other)])
    assert finding(advice, "few samples").value == 8


def test_findings_of_a_geometry_are_those_of_advice(pair):
    est = vh.MultiViewDiffusionMaps(kernel=Gaussian(1e3), random_state=0).fit(pair)
    advised = vh.advise(pair, kernel=Gaussian(1e3))
    assert {(one.kind, one.view) for one in graph_findings(est.geometry_)} == kinds(advised)


# --- agreement ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_shuffled_view_is_named(pair, seed):
    rng = np.random.default_rng(seed)
    views = {**pair, "c": pair["a"] ** 3 + pair["b"][:, :6]}
    assert not kinds(vh.advise(views), ["warning"])
    views["b"] = views["b"][rng.permutation(N)]
    advice = vh.advise(views)
    assert kinds(advice, ["warning"]) == {("no agreement", "b")}
    assert advice.weights["b"] < 0.1


def test_of_two_views_both_may_be_shuffled(pair, rng):
    pair["b"] = pair["b"][rng.permutation(N)]
    advice = vh.advise(pair)
    assert kinds(advice, ["warning"]) == {("no agreement", "a"), ("no agreement", "b")}
    assert "either may be the cause" in finding(advice, "no agreement", "a").text


def test_a_negligible_agreement_is_none():
    agreement = np.array([[1.0, 0.4, 0.009], [0.4, 1.0, 0.002], [0.009, 0.002, 1.0]])
    (found,) = agreement_findings(["a", "b", "c"], agreement, {"c": 0.02})
    assert (found.view, found.value) == ("c", 0.009)
    assert "Its weight is 0.02." in found.text


def test_an_agreement_that_was_not_measured_gives_no_finding():
    assert agreement_findings(["a", "b"], None, {}) == []


def test_too_few_common_samples_are_no_evidence(pair):
    pair["a"][:270] = np.nan
    pair["b"][290:] = np.nan
    assert {("no evidence", "a"), ("no evidence", "b")} <= kinds(vh.advise(pair), ["note"])


# --- spectrum -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("eigenvalues", "r", "by_gap", "by_accuracy", "is_clear"),
    [
        ([0.99, 0.98, 0.5, 0.45], 2, 2, 4, True),
        ([0.9, 0.7, 0.65, 0.5, 0.49], 3, 1, 5, False),
        ([0.9, 0.05, 0.01], 1, 1, 1, True),
        ([0.4], 1, 1, 1, True),
        ([1.0, 1.0, 1.0], 1, 1, 3, True),
    ],
)
def test_coordinates_end_at_the_last_comparable_gap(eigenvalues, r, by_gap, by_accuracy, is_clear):
    choice = choose_rank_by_spectrum(eigenvalues)
    assert (choice.r, choice.by_gap, choice.by_accuracy) == (r, by_gap, by_accuracy)
    assert choice.is_clear == is_clear


def test_the_knee_is_where_the_entropy_is_farthest_below_its_chord():
    values = np.r_[0.999, 0.998, 0.6 * np.ones(20)]
    times = np.arange(1, 101)
    H = np.array([entropy(values**t) for t in times])
    chord = H[0] + (H[-1] - H[0]) * (times - 1) / 99
    assert entropy_knee(values) == times[np.argmax(chord - H)]


@pytest.mark.parametrize("eigenvalues", [[0.5], [1.0, 1.0, 1.0]])
def test_an_entropy_that_does_not_fall_has_no_knee(eigenvalues):
    assert entropy_knee(eigenvalues) == 1
