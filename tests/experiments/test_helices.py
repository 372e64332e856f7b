"""The experiments on helices."""

from __future__ import annotations

import pytest

from viewhop.experiments import Context, find
from viewhop.experiments._results_store import as_stored


@pytest.fixture(scope="module", params=["helix-a", "helix-b"])
def result(request):
    return as_stored(find(request.param).run(Context(quick=True)))


@pytest.fixture
def rows(result):
    (table,) = result.tables
    return {row[0]: row[1:] for row in table.rows}


@pytest.mark.parametrize("setting", ["max-min scale", "10 neighbours"])
def test_both_curves_are_closed_and_in_order(rows, setting):
    for view in "xy":
        correlation, gap, _ = rows[f"multi-view, {view}; {setting}"]
        assert correlation >= 0.99
        assert gap < 10


@pytest.mark.parametrize("setting", ["max-min scale", "10 neighbours"])
def test_one_view_alone_is_a_bow(rows, setting):
    for view in "xy":
        assert rows[f"{view} alone; {setting}"][1] > 80


def test_the_kernel_product_is_torn(rows):
    correlation, gap, _ = rows["kernel product; max-min scale"]
    assert gap > 100
    assert correlation < 0.99


def test_the_page_says_that_toy_sizes_are_smaller_than_the_papers(result):
    assert result.ran["samples"] == 400
    assert result.paper["samples"] == 1000


def test_the_picture_has_six_labelled_panels(result):
    (picture,) = find("helix-a").draw(result).values()
    panels = [ax for ax in picture.figure.axes if ax.get_xlabel()]
    assert len(panels) == 6
    assert all(ax.get_ylabel() == "coordinate 2" and ax.get_title(loc="left") for ax in panels)
    bars = [ax for ax in picture.figure.axes if not ax.get_xlabel()]
    assert {bar.get_ylabel() for bar in bars} == {"angle a (radians)", "angle b (radians)"}


def test_their_place_in_the_paper():
    assert find("helix-a").where == "Figs. 8–10"
    assert find("helix-b").where == "Figs. 11–13"
