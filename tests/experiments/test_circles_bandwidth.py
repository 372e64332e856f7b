"""The experiment on circles over scales."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop.experiments import Context, find
from viewhop.experiments._results_store import as_stored


@pytest.fixture(scope="module")
def result():
    return as_stored(find("circles-bandwidth").run(Context(quick=True)))


def mean(result, method):
    return np.mean(result.numbers["accuracy"][method], axis=0)


def test_shares_of_the_grid_are_counted_on_the_means(result):
    (table,) = result.tables
    for name, share, overall in table.rows:
        cells = [value for row in mean(result, name) for value in row]
        assert share == sum(value >= 0.95 for value in cells) / len(cells)
        assert_allclose(overall, sum(cells) / len(cells), rtol=1e-12)


def test_the_product_does_not_care_which_view_has_which_scale(result):
    found = mean(result, "kernel product")
    assert_allclose(found, found.T, rtol=0, atol=0)


def test_every_method_finds_circles_by_some_scales_and_none_by_the_widest(result):
    for name in ("kernel sum", "kernel product", "multi-view"):
        found = mean(result, name)
        assert found.max() >= 0.95
        assert found[-1, -1] < 0.6


def test_the_picture_has_a_map_per_method_with_a_dot_where_it_is_good(result):
    (picture,) = find("circles-bandwidth").draw(result).values()
    *panels, bar = picture.figure.axes
    assert [ax.get_title(loc="left") for ax in panels] == [
        "kernel sum",
        "kernel product",
        "multi-view",
    ]
    for ax in panels:
        found = mean(result, ax.get_title(loc="left"))
        # σ_x runs to the right.
        assert_allclose(ax.images[0].get_array(), found.T, rtol=1e-12)
        dots = {(int(text.get_position()[0]), int(text.get_position()[1])) for text in ax.texts}
        assert dots == {(int(i), int(j)) for i, j in np.argwhere(found >= 0.95)}
        assert ax.get_xlabel() == "σ_x"
    assert panels[0].get_ylabel() == "σ_y"
    assert "right cluster" in bar.get_ylabel()


def test_trials_of_the_paper_stand_beside_ours(result):
    assert find("circles-bandwidth").trials == (5, 1, 20)
    assert (result.ran["trials"], result.paper["trials"]) == (1, 20)
