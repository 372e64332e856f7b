"""The digits of Fig. 24: what must come out, and what the picture shows."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from viewhop.experiments import Context, find
from viewhop.experiments import _results_store as recording

METHODS = (
    *("fac", "kar", "zer", "mor", "pix", "fou"),
    *("kernel sum", "multi-view", "kernel product", "kernel product, concat"),
)


@pytest.fixture(scope="module")
def quick():
    return recording.as_stored(find("digits").run(Context(quick=True, trials=2)))


def test_every_view_and_fusion_is_scored_under_every_kernel(quick):
    scores = quick.numbers["nmi"]
    assert list(scores) == ["10 neighbours", "dense, joint scales", "dense, max-min"]
    for methods in scores.values():
        assert sorted(methods) == sorted(METHODS)
        for found in methods.values():
            assert [len(each) for each in found["runs"]] == [2, 2, 2]
            assert all(0 <= score <= 1 for each in found["runs"] for score in each)


def test_multi_view_tells_digits_apart_better_than_the_mean_view(quick):
    table = {row[0]: row for row in quick.tables[0].rows}
    alone = [table[name][1] for name in METHODS[:6]]
    assert table["multi-view"][1] > sum(alone) / 6 + 0.1
    assert table["multi-view"][3] >= 0.8


def test_result_tells_toy_sizes_and_the_remarks_have_its_own_numbers(quick):
    assert quick.ran["samples"] == 500
    assert quick.paper["samples"] == 2000
    assert (quick.ran["K-means runs"], quick.paper["K-means runs"]) == (2, 100)
    ours = next(row for row in quick.tables[0].rows if row[0] == "multi-view")
    assert f"NMI {ours[3]:.3f}" in quick.remarks[1]


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
    ours = next(row for row in result.tables[0].rows if row[0] == "multi-view")
    assert ours[3] >= 0.88
    assert ours[4] >= 0.88
