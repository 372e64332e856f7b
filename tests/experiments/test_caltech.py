"""Pictures in two views: the kernel, the scores, and what is told of them."""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import Bunch

from viewhop.errors import DataMissingError
from viewhop.experiments import Context, find
from viewhop.experiments import _caltech as caltech
from viewhop.experiments import _caltech_tables as tables
from viewhop.experiments import _results_store as recording

cv2 = pytest.importorskip("cv2", reason="the extra vision is not installed")
pytest.importorskip("skimage", reason="the extra vision is not installed")

SIX = ["SIFT", "PHOG", "kernel product", "kernel sum", "de Sa", "multi-view"]


def pictures():
    """Eight textures, fifteen pictures of each, as JPEG files."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:64, :64]
    files = []
    for kind in range(8):
        turn = np.pi * (kind % 4) / 4
        for _ in range(15):
            phase = (x * np.cos(turn) + y * np.sin(turn)) / (2 if kind < 4 else 5)
            shades = 128 + 90 * np.sin(phase + rng.uniform(0, 6)) + 15 * rng.normal(size=x.shape)
            encoded = cv2.imencode(".jpg", np.clip(shades, 0, 255).astype(np.uint8))[1]
            files.append(encoded.tobytes())
    return Bunch(images=files, target=np.repeat(np.arange(8), 15))


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caltech, "load_caltech101", lambda data_home, per_class: pictures())
        return recording.as_stored(find("caltech").run(Context(quick=True, trials=1)))


def test_kernel_is_that_of_chi_squared_over_its_mean():
    rows = np.random.default_rng(0).dirichlet(np.ones(5), size=6)
    square = [
        [sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True)) for y in rows] for x in rows
    ]
    mean = np.sum(square) / (6 * 5)
    found = caltech.chi_squared_kernel(caltech.chi_squared(rows))
    assert_allclose(found, np.exp(-np.array(square) / mean), rtol=1e-12)
    assert_allclose(found, found.T, rtol=0)


def test_rows_and_columns_are_those_of_the_paper(found):
    assert len(found.tables) == 6  # two kernels, three kinds of labels
    for table in found.tables:
        assert [row[0] for row in table.rows] == SIX
        assert table.columns[1:5] == (
            "Silhouette(10)",
            "Calinski(10)",
            "Silhouette(15)",
            "Calinski(15)",
        )
        printed = {row[0]: row[5:] for row in table.rows}
        assert printed["multi-view"] == (0.32, 727, 0.32, 1275)
        assert printed["SIFT"] == (-0.27, 183, -0.27, 293)


def test_labels_are_scored_in_three_ways_and_textures_are_found(found):
    for size in ("10", "15"):
        by_method = found.numbers["scores"]["dense"][size]
        for method, each in by_method.items():
            assert all(-1 <= silhouette <= 1 for silhouette, _ in each["categories"]), method
            assert min(silhouette for silhouette, _ in each["clusters"]) > 0, method
        # Multi-view's clusters are its own.
        ours = by_method["multi-view"]
        assert_allclose(ours["multi-view clusters"], ours["clusters"], rtol=1e-12)
        assert by_method["SIFT"]["multi-view clusters"] != by_method["SIFT"]["clusters"]
        for method in ("SIFT", "PHOG", "kernel sum", "kernel product", "multi-view"):
            assert np.mean(by_method[method]["nmi"]) > 0.6, method


def test_a_draw_has_as_many_random_pictures_of_each_category():
    target = np.repeat([3, 1, 2], 6)
    rows = caltech._draw_rows(target, 4, np.random.default_rng(0))
    assert_array_equal(np.bincount(target[rows])[1:], [4, 4, 4])
    assert len(set(rows)) == 12
    again = caltech._draw_rows(target, 4, np.random.default_rng(1))
    assert set(rows) != set(again)


def test_true_categories_have_one_score_per_draw_and_clusters_one_per_run(found):
    ten, fifteen = (found.numbers["scores"]["dense"][size]["SIFT"] for size in ("10", "15"))
    assert (len(ten["categories"]), len(ten["clusters"])) == (2, 2)
    assert (len(fifteen["categories"]), len(fifteen["clusters"])) == (1, 2)
    row = found.tables[0].rows[0]
    assert "±" in row[1]
    assert "±" not in row[3]  # a single value has no spread


def test_finding_leaves_out_the_labels_that_favour_multi_view(found):
    [finding] = found.findings
    assert finding.claim == "caltech-ahead"
    assert finding.evidence.startswith("dense scored by the true categories: multi-view")
    assert "each method's own" in finding.evidence
    assert "multi-view's K-means" not in finding.evidence


def test_labels_that_agree_with_the_printed_silhouettes_are_a_hypothesis():
    printed = {
        str(size): {method: values[2 * at] for method, values in tables.PAPER.items()}
        for at, size in enumerate(tables.PER_CLASS)
    }
    scores = {
        size: {
            method: {
                "categories": [(-value, 1.0)],
                "clusters": [(abs(value), 1.0)],
                "multi-view clusters": [(value, 1.0)],
            }
            for method, value in by_method.items()
        }
        for size, by_method in printed.items()
    }
    told = tables._hypothesis_remark(scores)
    assert "multi-view's K-means clusters: 12 of 12 signs, rank correlation 1.00" in told
    assert "the true categories: 0 of 12 signs, rank correlation -1.00" in told
    assert "Most signs agree for multi-view's K-means clusters" in told
    assert "every embedding was scored by multi-view's K-means clusters" in told
    assert "hypothesis, not a fact" in told


def test_signs_and_order_may_agree_best_for_different_labels():
    scores = {
        str(size): {
            method: {
                "categories": [(-abs(values[2 * at]), 1.0)],
                "clusters": [(1 - values[2 * at], 1.0)],
                "multi-view clusters": [(2 + values[2 * at], 1.0)],
            }
            for method, values in tables.PAPER.items()
        }
        for at, size in enumerate(tables.PER_CLASS)
    }
    told = tables._hypothesis_remark(scores)
    assert "Most signs agree for the true categories" in told
    assert "the order agrees best for multi-view's K-means clusters" in told


def test_finding_tells_of_the_other_score_and_of_the_larger_size():
    def pairs(silhouette, calinski):
        return [(silhouette + noise, calinski + noise) for noise in (0.0, 0.01, 0.02)]

    by_method = {
        "SIFT": {"categories": pairs(0.1, 9.0), "clusters": pairs(0.5, 1.0)},
        "multi-view": {"categories": pairs(0.3, 5.0), "clusters": pairs(0.2, 5.0)},
    }
    finding = tables.judge_scores({"dense": dict.fromkeys(("10", "15"), by_method)})
    assert finding.verdict == "does not hold here"  # either score alone is not enough
    assert (
        "By Calinski–Harabasz score, ahead of all in 1 of 2 settings: dense scored by each "
        "method's own K-means clusters."
    ) in finding.evidence
    assert (
        "With 15 pictures per category, the silhouette is the highest in 1 of 2 settings: dense "
        "scored by the true categories."
    ) in finding.evidence


@pytest.mark.parametrize(
    ("kind", "verdict"), [("categories", "holds"), ("clusters", "holds with a condition")]
)
def test_lead_by_both_scores_and_sizes_decides_on_the_claim(kind, verdict):
    def pairs(first, second):
        return [[first + 0.01 * draw, second + 0.1 * draw] for draw in range(3)]

    low, high = pairs(0.1, 2.0), pairs(0.3, 5.0)
    other = {"categories": "clusters", "clusters": "categories"}[kind]
    by_method = {"SIFT": {kind: low, other: high}, "multi-view": {kind: high, other: low}}
    finding = tables.judge_scores({"dense": dict.fromkeys(("10", "15"), by_method)})
    assert finding.verdict == verdict


def test_neighbours_have_no_product_and_the_remarks_say_what_stands_in(found):
    assert "kernel product" not in found.numbers["scores"]["10 neighbours"]["15"]
    told = " ".join(found.remarks)
    assert "Gehler and Nowozin are no longer available" in told
    assert '"kernel product, concat" needs features side by side' in told
    assert found.ran["pictures"] == [80, 120]
    assert found.paper["pictures"] == [1010, 1515]


@pytest.mark.parametrize(("ours", "told"), [(0.5, "as in the paper"), (0.1, "unlike in the paper")])
def test_place_of_multi_view_is_told(ours, told):
    found = tables.order_remark("here", {"SIFT": 0.3, "multi-view": ours}, 0.32)
    assert told in found
    assert f"{ours:.2f} (paper: 0.32)" in found
    assert ("SIFT has the highest, 0.30" in found) == (ours < 0.3)


def test_picture_has_all_methods_and_all_kinds_of_labels(found):
    figure = find("caltech").draw(found)[""].figure
    left, middle, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == SIX
    assert left.get_title(loc="left") == "scored by the true categories"
    title = middle.get_title(loc="left").replace("\n", " ")
    assert title == "scored by each method's own K-means clusters"
    assert "silhouette" in right.get_xlabel()
    assert len(figure.legends[0].get_texts()) == 3


def test_missing_pictures_are_told_in_a_line(tmp_path):
    with pytest.raises(DataMissingError, match=r"caltech101_15\.zip"):
        find("caltech").run(Context(quick=True, data_home=tmp_path))


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("VIEWHOP_DATA"), reason="VIEWHOP_DATA names no folder")
def test_real_pictures_are_better_than_chance():
    result = find("caltech").run(Context(quick=True, trials=1))
    scores = result.numbers["scores"]["10 neighbours"]["15"]
    assert np.mean(scores["multi-view"]["nmi"]) > 0.4
