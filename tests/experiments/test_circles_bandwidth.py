"""The experiment on circles over scales."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop.experiments import Context, find
from viewhop.experiments import _circles_bandwidth as circles_bandwidth
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS
from viewhop.experiments._results_store import as_stored

METHODS = ["kernel sum", "kernel product", "kernel product, concat", "multi-view"]


@pytest.fixture(scope="module")
def result():
    return as_stored(find("circles-bandwidth").run(Context(quick=True, trials=2)))


def mean(result, method):
    return np.mean(result.numbers["accuracy"][method], axis=0)


def test_the_grid_goes_from_a_hundredth_to_the_papers_largest(result):
    assert_allclose(np.array(result.numbers["scales"])[[0, -1]], [0.01, 1.6], rtol=1e-12)


def test_shares_are_counted_on_each_draw_from_each_lower_end(result):
    scales = np.array(result.numbers["scales"])
    rows = {row[0]: row[1:] for row in result.tables[0].rows}
    for place, (start, shares) in enumerate(result.numbers["shares"].items()):
        k = int(np.argmin(abs(scales - float(start))))
        for method in METHODS:
            draws = []
            for values in np.asarray(result.numbers["accuracy"][method]):
                cells = [value for row in values[k:] for value in row[k:]]
                draws.append(sum(value >= 0.95 for value in cells) / len(cells))
            assert_allclose(shares[method], draws, rtol=1e-12)
            expected = f"{np.mean(draws):.3f} ± {np.std(draws, ddof=1):.3f}"
            assert rows[method][place] == expected


def test_the_papers_product_does_not_care_which_view_has_which_scale(result):
    found = mean(result, "kernel product, concat")
    assert_allclose(found, found.T, rtol=0, atol=0)


def test_the_hop_and_the_sum_find_circles_by_some_scales_and_none_by_the_widest(result):
    for name in METHODS:
        found = mean(result, name)
        assert found.max() >= 0.95
        assert found[-1, -1] < 0.65


def test_the_verdict_needs_a_lead_at_every_lower_end():
    noise = 0.001 * np.random.default_rng(0).standard_normal(10)

    def judge(*leads):
        shares = {}
        for start, lead in zip(("0.01", "0.1"), leads, strict=True):
            rivals = dict.fromkeys(METHODS, np.full(10, 0.4))
            shares[start] = {**rivals, "multi-view": 0.4 + lead + noise}
        return circles_bandwidth._judge(shares)

    assert judge(0.1, 0.1).verdict == HOLDS
    some = judge(0.0, 0.1)
    assert (some.verdict, some.condition) == (CONDITIONAL, "the grid begins at 0.1")
    assert judge(0.0, -0.1).verdict == FAILS


def test_the_run_judges_its_claim(result):
    [finding] = result.findings
    assert finding.claim == "circles-scale-robust"
    assert find("circles-bandwidth").run(Context(quick=True, trials=1)).findings == ()


def test_the_picture_has_a_map_per_method_with_a_dot_where_it_is_good(result):
    figure, _ = find("circles-bandwidth").draw(result)[""]
    *panels, bar = figure.axes
    assert [ax.get_title(loc="left") for ax in panels] == METHODS
    for ax in panels:
        found = mean(result, ax.get_title(loc="left"))
        # σ_x runs to the right.
        assert_allclose(ax.images[0].get_array(), found.T, rtol=1e-12)
        dots = {(int(text.get_position()[0]), int(text.get_position()[1])) for text in ax.texts}
        assert dots == {(int(i), int(j)) for i, j in np.argwhere(found >= 0.95)}
        assert ax.get_xlabel() == "σ_x"
    assert panels[0].get_ylabel() == "σ_y"
    assert "right cluster" in bar.get_ylabel()


def test_a_picture_shows_the_share_over_the_lower_end(result):
    figure, caption = find("circles-bandwidth").draw(result)["ends"]
    (ax,) = figure.axes
    assert caption
    assert ax.get_xlabel() == "lower end of the grid"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == METHODS


def test_trials_of_the_paper_stand_beside_ours(result):
    assert find("circles-bandwidth").trials == (10, 2, 20)
    assert (result.ran["trials"], result.paper["trials"]) == (2, 20)
