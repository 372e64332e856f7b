"""The experiments on helices."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop import bandwidth
from viewhop.datasets import make_helices
from viewhop.experiments import Context, find
from viewhop.experiments import _helices as helices
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS
from viewhop.experiments._map_parts import Parts
from viewhop.experiments._results_store import as_stored
from viewhop.experiments._rings import Ring

SETTINGS = ["max-min, C = 1", "Algorithm 1", "Algorithm 1, steepest", "10 neighbours"]


@pytest.fixture(scope="module", params=["helix-a", "helix-b"])
def result(request):
    return as_stored(find(request.param).run(Context(quick=True)))


@pytest.fixture
def rows(result):
    return {row[0]: row[1:] for row in result.tables[0].rows}


@pytest.mark.parametrize("setting", ["max-min, C = 1", "Algorithm 1", "10 neighbours"])
def test_both_curves_are_closed_and_in_order(rows, setting):
    for view in "xy":
        correlation, gap, closed, _ = rows[f"multi-view, {view}; {setting}"]
        assert correlation >= 0.99
        assert gap < 10
        assert_allclose(closed, 1 - gap / 360, rtol=1e-12)


def test_around_the_steepest_slope_the_curves_stay_open(rows):
    for view in "xy":
        assert rows[f"multi-view, {view}; Algorithm 1, steepest"][2] < 0.97


@pytest.mark.parametrize("setting", ["max-min, C = 1", "10 neighbours"])
def test_one_view_alone_is_a_bow(rows, setting):
    for view in "xy":
        assert rows[f"{view} alone; {setting}"][1] > 80


@pytest.mark.parametrize("product", ["kernel product", "kernel product, concat"])
def test_the_kernel_products_are_torn(rows, product):
    correlation, gap, _, _ = rows[f"{product}; max-min, C = 1"]
    assert gap > 100
    assert correlation < 0.99


@pytest.mark.filterwarnings("ignore::viewhop.errors.ScaleWarning")
def test_scales_are_those_of_their_rules(result):
    scales = {row[0]: row[1:] for row in result.tables[2].rows}
    views = make_helices(result.numbers["kind"], n_samples=400).views
    assert_allclose(scales["max-min, C = 1"], [bandwidth.max_min(views[v]) for v in "xy"])
    for setting, rule in (("Algorithm 1", "minimal"), ("Algorithm 1, steepest", "steepest")):
        expected = bandwidth.joint(views, rule=rule).scales
        assert_allclose(scales[setting], [*expected.values()])


def test_findings_are_about_circles_and_products(result):
    kind = result.numbers["kind"].lower()
    circle, product = result.findings
    assert (circle.claim, product.claim) == (f"helix-{kind}-circle", f"helix-{kind}-product")
    assert circle.verdict == HOLDS
    assert all(setting in circle.evidence for setting in SETTINGS)
    assert product.verdict == HOLDS


def rings(good):
    """Rings of both views by setting, whole in the good ones and open in others."""
    return {
        f"multi-view, {view}; {setting}": Ring(1.0, 1.0 if setting in good else 40.0)
        for setting in SETTINGS
        for view in "xy"
    }


def test_a_circle_in_another_setting_only_is_a_condition():
    assert helices._judge_circle("A", rings(SETTINGS)).verdict == HOLDS
    other = helices._judge_circle("A", rings(["Algorithm 1", "10 neighbours"]))
    assert other.verdict == CONDITIONAL
    assert other.condition == "Algorithm 1 or 10 neighbours for the scale"
    assert helices._judge_circle("A", rings([])).verdict == FAILS


def test_the_product_is_judged_by_the_papers_own_first():
    own, other = "kernel product, concat; max-min, C = 1", "kernel product; max-min, C = 1"
    bow, line = Parts((1.0, 0.0), 0.7), Parts((0.6, 0.4), 0.0)
    apart = Parts((0.4, 0.4), 0.2)

    def judge(kind, **parts):
        found = {own: parts["own"], other: parts["other"]}
        return helices._judge_product(kind, found).verdict

    assert judge("A", own=bow, other=line) == HOLDS
    assert judge("A", own=line, other=bow) == CONDITIONAL
    assert judge("A", own=apart, other=apart) == FAILS
    assert judge("B", own=apart, other=line) == HOLDS
    assert judge("B", own=line, other=line) == FAILS


def test_the_page_says_that_toy_sizes_are_smaller_than_the_papers(result):
    assert result.ran["samples"] == 400
    assert result.paper["samples"] == 1000


def test_the_picture_has_labelled_panels_by_setting_and_method(result):
    pictures = find("helix-a").draw(result)
    figure = pictures[""].figure
    panels = [ax for ax in figure.axes if ax.get_xlabel()]
    assert len(panels) == 12
    assert all(ax.get_ylabel() == "coordinate 2" and ax.get_title(loc="left") for ax in panels)
    bars = [ax for ax in figure.axes if not ax.get_xlabel()]
    assert {bar.get_ylabel() for bar in bars} == {"angle a (radians)", "angle b (radians)"}


def test_the_data_have_their_own_picture(result):
    figure, caption = find("helix-a").draw(result)["data"]
    first, second, _ = figure.axes
    assert (first.get_xlabel(), second.get_zlabel()) == ("x[1]", "y[3]")
    points = np.asarray(result.numbers["views"]["x"])
    assert_allclose(np.column_stack([*first.collections[0]._offsets3d]), points, rtol=1e-12)
    assert ("Fig. 8" if result.numbers["kind"] == "A" else "Fig. 11") in caption


def test_their_place_in_the_paper():
    assert find("helix-a").where == "Figs. 8–10"
    assert find("helix-b").where == "Figs. 11–13"
