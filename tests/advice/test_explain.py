"""Features along coordinates, beside rank correlations of scipy and profiles by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.exceptions import NotFittedError

import viewhop as vh
from viewhop.advice import explain_embedding
from viewhop.advice._profiles import N_BINS, profile_features

KERNEL = vh.kernels.Gaussian(factor=30.0)


def line(n=240, seed=0):
    """Two views of a line: features of every shape, and the position along it."""
    rng = np.random.default_rng(seed)
    s = rng.uniform(-1.0, 1.0, n)
    first = np.column_stack(
        [4.0 * s, -np.exp(s), s**2, -(s**2), np.sin(6 * np.pi * s), rng.standard_normal(n) / 9]
    )
    second = np.column_stack([3.0 * s + 5.0, np.full(n, 2.0)])
    return {"first": first, "second": second}, s


def test_correlations_are_spearmans_with_ties():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, (90, 7)).astype(float)
    Z = rng.integers(0, 30, (90, 3)).astype(float)
    for found, z in zip(profile_features(X, Z), Z.T, strict=True):
        expected = [spearmanr(x, z).statistic for x in X.T]
        assert_allclose(found.correlation, expected, rtol=0, atol=1e-12)


def test_profiles_are_mean_ranks_of_bins():
    rng = np.random.default_rng(2)
    x, z = rng.standard_normal((2, 105))
    (found,) = profile_features(x[:, None], z[:, None])
    ranks = np.argsort(np.argsort(x))[np.argsort(z)].astype(float)
    edges = np.arange(N_BINS) * 105 // N_BINS
    expected = [part.mean() / 104 for part in np.split(ranks, edges[1:])]
    assert_allclose(found.means[0], expected, rtol=1e-12)
    between = sum(
        part.size * (part.mean() - ranks.mean()) ** 2 for part in np.split(ranks, edges[1:])
    )
    share = 1 - (1 - between / np.square(ranks - ranks.mean()).sum()) * 104 / (105 - N_BINS)
    assert_allclose(found.strength[0], np.sqrt(max(share, 0.0)), rtol=1e-12)


def test_blocks_of_features_change_nothing(monkeypatch):
    views, s = line()
    (whole,) = profile_features(views["first"], s[:, None])
    monkeypatch.setattr("viewhop.advice._profiles.BLOCK", 500)
    (parts,) = profile_features(views["first"], s[:, None])
    for one, other in zip(whole, parts, strict=True):
        assert_array_equal(one, other)


def test_every_shape_is_recognised():
    views, s = line()
    (found,) = profile_features(views["first"], s[:, None])
    assert found.shape.tolist() == ["rises", "falls", "dips", "peaks", "waves", "none"]
    assert found.strength[:4].min() > 0.95
    assert found.strength[5] < 0.3
    (mirrored,) = profile_features(views["first"], -s[:, None])
    assert mirrored.shape.tolist() == ["falls", "rises", "dips", "peaks", "waves", "none"]
    assert_allclose(mirrored.correlation, -found.correlation, atol=1e-12)


def test_a_bend_near_an_end_does_not_turn_it():
    s = np.random.default_rng(0).uniform(-1, 1, 400)
    X = np.column_stack([(s - 0.95) ** 2, -((s + 1.5) ** 2), (s - 0.3) ** 2])
    (found,) = profile_features(X, s[:, None])
    assert found.shape.tolist() == ["falls", "falls", "dips"]


@pytest.mark.parametrize("n", [50, 300, 3000])
def test_unrelated_features_have_no_shape(n):
    rng = np.random.default_rng(3)
    X, z = rng.standard_normal((n, 2000)), rng.standard_normal((n, 1))
    (found,) = profile_features(X, z)
    assert (found.shape != "none").mean() < 0.005
    assert np.median(found.strength) < 0.5 / np.sqrt(n / 50)


def test_the_table_names_what_changes_along_the_line():
    views, s = line()
    est = vh.MultiViewDiffusionMaps(1, kernel=KERNEL, fusion="sum").fit(views)
    assert abs(spearmanr(est.embedding_[:, 0], s).statistic) > 0.99
    explanation = vh.explain(est, views)
    frame = explanation.frame
    assert set(frame["coordinate"]) == {"fused_1"}
    assert len(frame) == len(explanation.profiles) == 8
    assert frame["strength"].dropna().is_monotonic_decreasing
    by_name = frame.set_index(["view", "feature"])
    correlation, shape = by_name["correlation"], by_name["shape"]
    opposed = correlation["first", "column 1"] * correlation["first", "column 2"]
    assert opposed == pytest.approx(-1, abs=0.02)
    assert shape["second", "column 1"] == shape["first", "column 1"]
    constant = by_name.loc[("second", "column 2")]
    assert np.isnan(constant["correlation"])
    assert constant["shape"] == "none"
    assert len(explanation.top(2)) == 3  # two of the first view, and one of the second
    assert "rises" in str(explanation)
    assert "falls" in str(explanation)


def test_names_of_features_and_of_views_are_those_of_the_data():
    views, _ = line()
    frame = pd.DataFrame(views["first"], columns=[*"abcdef"])
    est = vh.MultiViewDiffusionMaps(1, kernel=KERNEL).fit({"x": frame, "y": views["second"]})
    found = vh.explain(est, {"x": frame, "y": views["second"]}).frame
    assert set(found.loc[found["view"] == "x", "feature"]) == set("abcdef")
    assert set(found.loc[found["view"] == "y", "feature"]) == {"column 1", "column 2"}


def test_samples_that_a_view_missed_do_not_count():
    views, _ = line()
    holed = {name: X.copy() for name, X in views.items()}
    holed["second"][::3] = np.nan
    est = vh.MultiViewDiffusionMaps(1, kernel=KERNEL).fit(holed)
    found = vh.explain(est, holed).frame
    embedding = est.embedding_[:, 0]
    seen = np.isfinite(holed["second"][:, 0])
    row = found[(found["view"] == "second") & (found["feature"] == "column 1")].iloc[0]
    expected = spearmanr(holed["second"][seen, 0], est.transform(holed)[seen, 0]).statistic
    assert_allclose(row["correlation"], expected, atol=1e-12)
    assert embedding.shape == (240,)
    few = {name: X.copy() for name, X in views.items()}
    few["second"][40:] = np.nan
    explained = vh.explain(est, few)
    assert "40 samples" in explained.skipped["second"]
    assert set(explained.frame["view"]) == {"first"}


def test_samples_without_coordinates_are_left_out():
    views, s = line()
    embedding = s[:, None].copy()
    embedding[:30] = np.nan
    found = explain_embedding(embedding, ["c"], vh.Views(views), ()).frame
    expected = spearmanr(views["first"][30:, 1], s[30:]).statistic
    row = found[(found["view"] == "first") & (found["feature"] == "column 2")].iloc[0]
    assert_allclose(row["correlation"], expected, atol=1e-12)


def test_many_samples_are_drawn_by_the_seed():
    views, _ = line()
    est = vh.MultiViewDiffusionMaps(1, kernel=KERNEL).fit(views)
    one, two = (vh.explain(est, views, max_samples=100, random_state=4).frame for _ in range(2))
    assert one.equals(two)
    other = vh.explain(est, views, max_samples=100, random_state=5).frame
    assert not one["strength"].equals(other["strength"])


def test_precomputed_kernels_are_skipped_and_said_so():
    views, s = line()
    K = np.exp(-np.square(s[:, None] - s) / 0.1)
    kernels = {"first": KERNEL, "k": "precomputed"}
    data = {"first": views["first"], "k": K}
    est = vh.MultiViewDiffusionMaps(1, kernel=kernels).fit(data)
    explained = vh.explain(est, data)
    assert explained.skipped == {"k": "it is a precomputed kernel, without features"}
    only = vh.MultiViewDiffusionMaps(1, kernel="precomputed", fusion="sum").fit({"k": K})
    empty = vh.explain(only, {"k": K})
    assert len(empty.frame) == 0
    assert str(empty) == "no feature changes along any coordinate"


def test_what_cannot_be_explained_is_refused():
    views, _ = line(60)
    est = vh.MultiViewDiffusionMaps(1, kernel=KERNEL)
    with pytest.raises(NotFittedError):
        vh.explain(est, views)
    est.fit(views)
    with pytest.raises(ValueError, match="at least 50 samples, got 20"):
        vh.explain(est, {name: X[:20] for name, X in views.items()})
    with pytest.raises(TypeError, match="places samples, got list"):
        vh.explain([1], views)
