"""Methods at several diffusion times, and their scores over draws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

import viewhop as vh
from viewhop.experiments._comparison import Coordinates
from viewhop.experiments._draws import (
    add_draw,
    draws_table,
    lead_settings,
    score_methods,
    times_table,
)
from viewhop.experiments._timed_methods import TimedCoordinates, timed_methods
from viewhop.kernels import Gaussian

R = 4
FUSIONS = {
    "kernel sum": "sum",
    "kernel product": "product",
    "kernel product, concat": "concat",
}


@pytest.fixture(scope="module")
def circles():
    return vh.datasets.make_circles(120, noise=0.1, random_state=0).views


@pytest.fixture(scope="module")
def methods(circles):
    return dict(timed_methods(circles, dict.fromkeys(circles.names, Gaussian(0.6)), R, seed=0))


def estimators(views):
    """The estimator of each method, and what to fit it on."""
    kernel = Gaussian(0.6)
    single = {
        name: (vh.DiffusionMaps(R, kernel=kernel, random_state=0), views[name])
        for name in views.names
    }
    fused = {
        name: (vh.MultiViewDiffusionMaps(R, kernel=kernel, fusion=fusion, random_state=0), views)
        for name, fusion in FUSIONS.items()
    }
    hop = vh.MultiViewDiffusionMaps.paper_settings(R, kernel=kernel, random_state=0)
    return {**single, **fused, "multi-view": (hop, views)}


@pytest.mark.parametrize("n_steps", [0, 1, 2])
def test_kernel_steps_are_those_of_each_estimator(circles, methods, n_steps):
    for name, (estimator, data) in estimators(circles).items():
        estimator.fit(data)
        time = n_steps / 2 if name == "multi-view" else n_steps
        found = methods[name].after(n_steps).first(R)
        expected = estimator.coordinates(n_steps=time)
        sign = np.sign((found * expected).sum(axis=0))
        assert_allclose(found * sign, expected, atol=1e-7, err_msg=name)
        assert_allclose(methods[name].eigenvalues, estimator.eigenvalues_, atol=1e-9)


def test_methods_come_in_order_and_products_can_be_left_out(circles, methods):
    products = ["kernel product", "kernel product, concat"]
    assert list(methods) == ["x", "y", "kernel sum", "de Sa", "multi-view", *products]
    kernels = dict.fromkeys(circles.names, Gaussian(0.6))
    some = timed_methods(circles, kernels, R, seed=0, has_product=False)
    assert [name for name, _ in some] == [*methods][:-2]


def test_wide_product_has_fewer_coordinates_where_fewer_eigenvalues_are_positive(circles):
    views = vh.Views({**dict(circles.items()), "z": circles["x"]})
    kernels = {"x": Gaussian(0.6), "y": Gaussian(0.6), "z": Gaussian(1e4)}
    found = dict(timed_methods(views, kernels, 20, seed=0))
    assert len(found["multi-view"].eigenvalues) == 20
    wide = found["kernel product, concat"]
    assert 0 < len(wide.eigenvalues) < 20
    assert wide.after(0).first(20).shape == (120, len(wide.eigenvalues))
    assert wide.eigenvalue(20) is None


def test_method_without_a_time_stays_and_has_no_eigenvalue(methods):
    rows = methods["de Sa"]
    assert rows.after(0) is rows.one_step
    assert rows.eigenvalue(1) is None
    assert methods["x"].eigenvalue(R + 1) is None
    assert methods["x"].eigenvalue(2) == methods["x"].eigenvalues[1]


@pytest.fixture(scope="module")
def scores():
    """Coordinates whose second one, which tells the classes, counts at t = 0 alone."""
    rng = np.random.default_rng(0)
    target = np.repeat([0, 1], 40)
    psi = np.column_stack([rng.normal(size=80), np.where(target == 0, -1.0, 1.0)])
    eigenvalues = np.array([1.0, 1e-3])
    one_step = Coordinates((psi * eigenvalues,))
    methods = {
        "single": TimedCoordinates(one_step, eigenvalues),
        "multi-view": TimedCoordinates(one_step, eigenvalues, kernel_steps=2),
        "rows": TimedCoordinates(one_step, None),
    }
    gathered = {}
    for seed in range(3):
        for setting, is_timed in (("wide", True), ("near", False)):
            draw = score_methods(
                methods.items(), target, (2,), n_clusters=2, seeds=[seed], is_timed=is_timed
            )
            add_draw(gathered, setting, draw)
    return gathered


def test_scores_depend_on_the_time(scores):
    for method in ("single", "multi-view"):
        zero, two = (np.mean(scores["wide"][method][steps]) for steps in ("0", "2"))
        assert zero > two + 0.1, method
    assert scores["wide"]["rows"]["0"] == scores["wide"]["rows"]["2"]
    assert set(scores["near"]["single"]) == {"eigenvalue", "1"}
    assert set(scores["near"]["multi-view"]) == {"eigenvalue", "2"}


def test_combination_is_taken_over_coordinates_and_starts():
    points, target = make_blobs(60, centers=3, random_state=0)
    method = {"x": TimedCoordinates(Coordinates((points,)), np.ones(2))}
    shapes = []

    def combine(nmi):
        shapes.append(np.shape(nmi))
        return np.max(nmi)

    score_methods(method.items(), target, (1, 2), n_clusters=3, seeds=range(4), combine=combine)
    assert shapes == [(2, 4)]


def test_leads_compare_equal_times_and_equal_kernel_steps():
    steps = {"eigenvalue": [0.5], "0": [0.0], "1": [0.1], "2": [0.2]}
    scores = {
        "wide": {"multi-view": steps, "x": steps, "rows": {"eigenvalue": [None], "2": [0.7]}},
        "near": {"multi-view": {"eigenvalue": [0.5], "2": [0.9]}, "x": steps},
    }
    rows = {"rows": [0.7]}
    assert lead_settings(scores, timed=["wide"]) == {
        "wide": {"multi-view": [0.2], "x": [0.1], **rows},
        "near": {"multi-view": [0.9], "x": [0.1]},
        "wide at t = 0": {"multi-view": [0.0], "x": [0.0], **rows},
        "wide after one kernel step each": {"multi-view": [0.1], "x": [0.1], **rows},
        "wide after two kernel steps each": {"multi-view": [0.2], "x": [0.2], **rows},
    }


def test_tables_show_mean_and_deviation():
    steps = {"eigenvalue": [0.01, 0.03], "0": [0.2, 0.4], "1": [0.1, 0.1], "2": [0.5, 0.6]}
    scores = {"wide": {"multi-view": steps}, "near": {"x": steps}}
    table = draws_table("draws", scores)
    assert table.columns == ("method", "wide", "near")
    assert table.rows == (
        ("multi-view", "0.550 ± 0.071", None),
        ("x", None, "0.100 ± 0.000"),
    )
    times = times_table("times", scores["wide"])
    assert times.rows == (
        ("multi-view", "2.0e-02", "0.300 ± 0.141", "0.100 ± 0.000", "0.550 ± 0.071"),
    )
