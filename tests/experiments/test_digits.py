"""The digits of Fig. 24: what must come out, and what the picture shows."""

from __future__ import annotations

import warnings

import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from viewhop.errors import ScaleWarning
from viewhop.experiments import Context, find
from viewhop.experiments import _digits as digits
from viewhop.experiments import _results_store as recording
from viewhop.kernels import Gaussian

METHODS = (
    *("fac", "kar", "zer", "mor", "pix", "fou"),
    *("kernel sum", "multi-view", "kernel product", "kernel product, concat"),
)
SETTINGS = ["10 neighbours", "max-min", "max-min × 0.1", "connected", "joint scales"]


def neighbours_table(result):
    """Table of the sweep over coordinates with neighbour kernels."""
    [table] = [each for each in result.tables if each.title == "NMI, 10 neighbours"]
    return table


@pytest.fixture(scope="module")
def quick():
    return recording.as_stored(find("digits").run(Context(quick=True, trials=2)))


def test_every_view_and_fusion_is_scored_under_every_kernel(quick):
    scores = quick.numbers["nmi"]
    assert list(scores) == SETTINGS
    for methods in scores.values():
        assert sorted(methods) == sorted(METHODS)
        for found in methods.values():
            assert [len(each) for each in found["runs"]] == [2, 2, 2]
            assert all(0 <= score <= 1 for each in found["runs"] for score in each)


def test_multi_view_tells_digits_apart_better_than_the_mean_view(quick):
    table = {row[0]: row for row in neighbours_table(quick).rows}
    alone = [table[name][1] for name in METHODS[:6]]
    assert table["multi-view"][1] > sum(alone) / 6 + 0.1
    assert table["multi-view"][3] >= 0.8


def test_result_tells_toy_sizes_and_the_remarks_have_its_own_numbers(quick):
    assert quick.ran["samples"] == 500
    assert quick.paper["samples"] == 2000
    assert (quick.ran["K-means runs"], quick.paper["K-means runs"]) == (2, 100)
    ours = next(row for row in neighbours_table(quick).rows if row[0] == "multi-view")
    assert f"NMI {ours[3]:.3f}" in quick.remarks[1]
    assert f"and {ours[5]:.3f} in the run of least inertia" in quick.remarks[1]


def test_draws_have_every_method_and_the_papers_kernel_every_time(quick):
    for setting, methods in quick.numbers["draws"].items():
        assert sorted(methods) == sorted(METHODS)
        for method, scores in methods.items():
            own = "2" if method == "multi-view" else "1"
            steps = {"0", "1", "2"} if setting == "max-min" else {own}
            assert set(scores) == {"eigenvalue", *steps}
            assert all(len(values) == 2 for values in scores.values())
    assert quick.tables[0].columns == ("method", *SETTINGS)


def test_finding_names_all_settings_and_starts_with_the_papers(quick):
    [finding] = quick.findings
    assert finding.claim == "digits-ahead"
    assert finding.evidence.startswith("max-min: multi-view")
    assert all(setting in finding.evidence for setting in SETTINGS)


@pytest.mark.parametrize("rule", ["connected", "joint"])
def test_scales_over_all_views_are_resolved_once_for_all_methods(rule):
    views = vh.datasets.load_mfeat().views[::10]
    kernels, _ = digits._kernels(views, seed=0)
    setting = {"connected": "connected", "joint": "joint scales"}[rule]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)
        fitted = vh.MultiViewDiffusionMaps.paper_settings(2, kernel=Gaussian(rule), random_state=0)
        expected = fitted.fit(views).bandwidths_
    assert_allclose(
        [kernels[setting][name].bandwidth for name in views.names],
        [expected[name] for name in views.names],
        rtol=1e-12,
    )


def test_picture_is_of_the_numbers(quick):
    picture = find("digits").draw(quick)[""]
    assert [ax.get_title(loc="left") for ax in picture.figure.axes] == list(quick.numbers["nmi"])
    lines = [line for line in picture.figure.axes[0].lines if line.get_marker() == "*"]
    found = quick.numbers["nmi"]["10 neighbours"]["multi-view"]["runs"]
    assert_allclose(lines[0].get_ydata(), [sum(each) / 2 for each in found], rtol=1e-12)
    assert len(picture.figure.legends[0].get_texts()) == len(METHODS)


@pytest.mark.slow
def test_recommended_setting_reaches_its_floor():
    result = find("digits").run(Context(trials=20))
    ours = next(row for row in neighbours_table(result).rows if row[0] == "multi-view")
    assert ours[3] >= 0.88
    assert ours[5] >= 0.88
