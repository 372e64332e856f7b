"""What advice recommends: an estimator takes it, and gets what it promised."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop.advice import _subset as subset
from viewhop.kernels import Gaussian

N = 240


@pytest.fixture
def views():
    rng = np.random.default_rng(3)
    hidden = rng.standard_normal((N, 3))
    return {
        name: np.tanh(hidden @ rng.standard_normal((3, width)))
        for name, width in (("a", 6), ("b", 8), ("c", 5))
    }


def assert_kept(advice, views):
    """A fit with the parameters has the metrics and weights that were promised."""
    est = vh.MultiViewDiffusionMaps(**advice.parameters, random_state=0).fit(views)
    assert est.metrics_ == advice.metrics
    assert_allclose([*est.view_weights_.values()], [*advice.weights.values()], rtol=1e-12)
    assert est.n_components_ == advice.parameters["n_components"]
    return est


def test_parameters_fit_and_keep_their_promise(views):
    advice = vh.advise(views)
    assert advice.parameters["kernel"] == "adaptive"
    assert_kept(advice, views)


def test_metrics_that_are_not_the_default_are_stated(views):
    digits = vh.datasets.load_mfeat().views[::5]
    advice = vh.advise(digits)
    assert advice.parameters["kernel"]["mor"].metric == "centered-cosine"
    est = assert_kept(advice, digits)
    default = vh.MultiViewDiffusionMaps(est.n_components_, random_state=0).fit(digits)
    assert_allclose(est.embedding_, default.embedding_, atol=1e-12)


def test_incomplete_views_are_advised_on(views):
    views["a"][:60] = np.nan
    views["b"][100:150] = np.nan
    advice = vh.advise(views)
    assert not [one for one in advice.findings if one.severity == "warning"]
    (fusion,) = (one for one in advice.recommendations if one.parameter == "fusion")
    assert fusion.value == "hop"
    assert "54%" in fusion.text
    assert_kept(advice, views)


def test_a_given_kernel_is_kept(views):
    kernel = {"a": Gaussian(2.0), "b": Gaussian("connected"), "c": "adaptive"}
    advice = vh.advise(views, kernel=kernel)
    assert advice.parameters["kernel"]["a"].bandwidth == 2.0
    assert advice.parameters["kernel"]["b"].bandwidth == "connected"
    assert_kept(advice, views)


def test_precomputed_kernels_are_advised_on(views):
    X = views["a"]
    kernel = np.exp(-np.square(X[:, None] - X).sum(axis=2))
    data = {"k": kernel, "b": views["b"]}
    advice = vh.advise(data, kernel={"k": "precomputed", "b": "adaptive"})
    assert advice.metrics["k"] == "precomputed"
    assert_kept(advice, data)


@pytest.mark.parametrize("form", [lambda X: [X], lambda X: X, pd.DataFrame])
def test_one_view_is_an_ordinary_diffusion_map(views, form):
    data = form(views["a"])
    advice = vh.advise(data)
    assert_kept(advice, data)
    assert "DiffusionMaps" in str(advice)
    assert advice.parameters["fusion"] == "hop"


def test_single_precision_gives_the_same_advice(views):
    single = {name: X.astype(np.float32) for name, X in views.items()}
    assert vh.advise(single).parameters == vh.advise(views).parameters


def measured(advice):
    return {(one.kind, one.view): one.value for one in advice.findings}


def test_the_order_of_rows_and_columns_does_not_matter(views):
    rng = np.random.default_rng(0)
    views["a"][:20] = views["a"][0]
    views["c"] = views["c"][rng.permutation(N)]
    first = vh.advise(views)
    rows = rng.permutation(N)
    moved = {name: X[rows][:, rng.permutation(X.shape[1])] for name, X in views.items()}
    again = vh.advise(moved)
    assert first.metrics == again.metrics
    assert measured(first).keys() == measured(again).keys()
    assert_allclose([*first.weights.values()], [*again.weights.values()], atol=0.02)
    assert first.parameters["n_components"] == again.parameters["n_components"]


def test_inputs_are_not_changed(views):
    before = {name: X.copy() for name, X in views.items()}
    vh.advise(views)
    for name, X in views.items():
        assert_array_equal(X, before[name])


@pytest.mark.parametrize("n", [3, 4, 5, 8, 12, 30, 45])
def test_tiny_data_are_advised_on(views, n):
    few = {name: X[:n] for name, X in views.items()}
    advice = vh.advise(few)
    vh.MultiViewDiffusionMaps(**advice.parameters, random_state=0).fit(few)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda views: {name: X[:2] for name, X in views.items()},
            "^(advice|n_components=1) needs at least 3 samples",
        ),
        (lambda views: [views["a"], None], "a view is None"),
        (lambda views: [np.ones((N, 2)), views["b"]], "is constant"),
        (lambda views: [], "at least one view"),
    ],
)
def test_what_a_fit_refuses_is_refused(views, change, message):
    data = change(views)
    with pytest.raises(ValueError, match=message):
        vh.advise(data)
    with pytest.raises(ValueError, match=message):
        vh.MultiViewDiffusionMaps(1).fit(data)


# --- many samples ---------------------------------------------------------------------------------


def test_many_samples_are_examined_on_a_seeded_subset(views, monkeypatch):
    monkeypatch.setattr(subset, "SAMPLES", 100)
    advice = vh.advise(views, random_state=1)
    assert (advice.n_samples, advice.n_examined) == (N, 100)
    assert "100 samples drawn at random" in advice.title
    assert advice.findings == vh.advise(views, random_state=1).findings
    assert_kept(advice, views)


def test_a_view_with_few_samples_stays_in_the_subset(views, monkeypatch):
    monkeypatch.setattr(subset, "SAMPLES", 24)
    views["c"][8:] = np.nan
    assert vh.advise(views).n_examined == 24


def test_duplicates_are_counted_in_all_samples(views, monkeypatch):
    monkeypatch.setattr(subset, "SAMPLES", 60)
    views["a"][:31] = views["a"][0]
    (share,) = (one.value for one in vh.advise(views).findings if one.kind == "duplicates")
    assert_allclose(share, 30 / N, rtol=1e-12)


def test_the_columns_of_a_precomputed_kernel_are_reduced_with_its_rows(views, monkeypatch):
    monkeypatch.setattr(subset, "SAMPLES", 60)
    X = views["a"]
    data = {"k": np.exp(-np.square(X[:, None] - X).sum(axis=2)), "b": views["b"]}
    advice = vh.advise(data, kernel={"k": "precomputed", "b": "adaptive"})
    assert advice.n_examined == 60


@pytest.mark.slow
def test_a_hundred_thousand_samples_take_seconds():
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((100_000, 3))
    views = [hidden @ rng.standard_normal((3, width)) for width in (10, 20)]
    assert vh.advise(views).n_examined == 3000


# --- what it looks like ---------------------------------------------------------------------------


def test_advice_is_printed_as_a_table(views):
    views["b"][:31] = views["b"][0]
    lines = str(vh.advise(views)).splitlines()
    assert lines[0] == f"{N} samples in 3 views"
    assert any(line.split()[:3] == ["warning", "b", "duplicates"] for line in lines)
    assert any(line.split()[:2] == ["n_components", "all"] for line in lines)
    assert max(map(len, lines)) <= 100


def test_warnings_come_first(views):
    views["a"] = np.hstack([views["a"], np.ones((N, 1))])
    views["b"][:31] = views["b"][0]
    assert [one.severity for one in vh.advise(views).findings] == ["warning", "note"]


def test_names_are_escaped_in_a_notebook(views):
    name = "<img src=x>"
    page = vh.advise({name: views["a"], "b": views["b"]})._repr_html_()
    assert name not in page
    assert "&lt;img src=x&gt;" in page


def test_plain_advice_is_json(views):
    plain = json.loads(json.dumps(vh.advise(views).as_plain(), allow_nan=False))
    assert plain["parameters"]["fusion"] == "hop"
    assert {one["parameter"] for one in plain["recommendations"]} == {
        "metric",
        "n_neighbors",
        "bandwidth",
        "weight",
        "n_components",
        "n_steps",
        "fusion",
    }


def test_progress_is_reported(views):
    stages = set()
    vh.advise(views, verbose=lambda stage, done, total: stages.add(str(stage)))
    assert {"selection", "solve"} <= stages
