"""Pictures in two views: the kernel, the scores, and what is told of them."""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils import Bunch

from viewhop.errors import DataMissingError
from viewhop.experiments import Context, find
from viewhop.experiments import _caltech as caltech
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
    found = caltech.chi_squared_kernel(rows)
    assert_allclose(found, np.exp(-np.array(square) / mean), rtol=1e-12)
    assert_allclose(found, found.T, rtol=0)


def test_rows_and_columns_are_those_of_the_paper(found):
    assert len(found.tables) == 4
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


def test_clusters_part_their_samples_and_textures_are_found(found):
    for size in ("10", "15"):
        for method, each in found.numbers["scores"]["dense"][size].items():
            assert -1 <= each["categories"][0] <= 1, method
            assert each["clusters"][0] > 0, method
        for method in ("SIFT", "PHOG", "kernel sum", "kernel product", "multi-view"):
            assert found.numbers["scores"]["dense"][size][method]["nmi"] > 0.6, method


def test_neighbours_have_no_product_and_the_remarks_say_what_stands_in(found):
    assert "kernel product" not in found.numbers["scores"]["10 neighbours"]["15"]
    told = " ".join(found.remarks)
    assert "Gehler and Nowozin are not to be had" in told
    assert "true categories or the clusters" in told
    assert found.ran["pictures"] == [80, 120]
    assert found.paper["pictures"] == [1010, 1515]


@pytest.mark.parametrize(("ours", "told"), [(0.5, "as in the paper"), (0.1, "unlike in the paper")])
def test_place_of_multi_view_is_told(ours, told):
    found = caltech._order_remark("here", {"SIFT": 0.3, "multi-view": ours}, 0.32)
    assert told in found
    assert f"{ours:.2f} (paper: 0.32)" in found
    assert ("0.30, of SIFT" in found) == (ours < 0.3)


def test_picture_has_all_methods_and_both_kinds_of_labels(found):
    figure = find("caltech").draw(found)[""].figure
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == SIX
    assert left.get_title(loc="left") == "labels: the true categories"
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
    assert scores["multi-view"]["nmi"] > 0.4
