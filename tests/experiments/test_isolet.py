"""Three kernels on one set of features: on blobs, and on the letters where they are."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.utils import Bunch

import viewhop as vh
from viewhop.errors import DataMissingError
from viewhop.experiments import Context, find
from viewhop.experiments import _isolet as isolet
from viewhop.experiments import _results_store as recording

SETTINGS = [
    *("10 neighbours", "max-min", "max-min × 0.1"),
    *("max-min with L1", "max-min × 0.1 with L1"),
]


def neighbours_table(result):
    """Table of the sweep over coordinates with neighbour kernels."""
    [table] = [each for each in result.tables if each.title == "NMI, 10 neighbours"]
    return table


@pytest.fixture(scope="module")
def letters():
    """Like the letters: 26 classes of 20 samples."""
    rng = np.random.default_rng(0)
    target = np.repeat(np.arange(26), 20)
    centres = rng.normal(size=(26, 40))
    features = centres[target] + 0.35 * rng.normal(size=(520, 40))
    return Bunch(views=vh.Views({"features": features}), target=target)


@pytest.fixture(scope="module")
def found(letters):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolet, "load_isolet", lambda data_home: letters)
        return recording.as_stored(find("isolet").run(Context(quick=True, trials=2)))


def test_kernels_are_those_of_the_paper():
    printed = isolet._kernels()["max-min"]
    assert {name: type(kernel).__name__ for name, kernel in printed.items()} == {
        "Gaussian": "Gaussian",
        "Laplacian": "Laplacian",
        "correlation": "Correlation",
    }
    assert {kernel.bandwidth for kernel in printed.values()} == {"max-min"}


@pytest.mark.parametrize("setting", ["max-min", "max-min × 0.1"])
def test_l1_changes_the_distance_of_the_laplacian_kernel_alone(setting):
    kernels = isolet._kernels()
    euclidean, manhattan = kernels[setting], kernels[f"{setting} with L1"]
    changed = {
        (name, key)
        for name in euclidean
        for key, value in euclidean[name].get_params().items()
        if manhattan[name].get_params()[key] != value
    }
    assert changed == {("Laplacian", "metric")}
    assert manhattan["Laplacian"].metric == "manhattan"


def test_every_kernel_and_fusion_is_scored(found):
    assert list(found.numbers["nmi"]) == SETTINGS
    for setting, methods in found.numbers["nmi"].items():
        expected = ["Gaussian", "Laplacian", "correlation", "kernel sum", "multi-view"]
        if setting in ("max-min", "max-min × 0.1", "max-min with L1"):
            expected += ["multi-view, t = 0.5", "multi-view, t = 0"]
        expected += [] if setting == SETTINGS[0] else ["kernel product"]
        assert list(methods) == expected


def test_classes_that_lie_apart_are_found(found):
    for name in ("multi-view", "kernel sum", "Gaussian"):
        row = next(row for row in neighbours_table(found).rows if row[0] == name)
        assert row[3] > 0.85  # at 25 coordinates


def test_letters_of_all_sizes_are_told(found):
    assert found.ran["samples"] == 520
    assert found.paper["samples"] == 1559
    assert any("1,599" in remark for remark in found.remarks)


def test_picture_has_a_panel_per_scale(found):
    figure = find("isolet").draw(found)[""].figure
    assert [ax.get_title(loc="left") for ax in figure.axes] == SETTINGS
    assert len(figure.legends[0].get_texts()) == 8


def test_hop_walk_of_wide_kernels_needs_the_shorter_time(found):
    ours = found.numbers["draws"]["max-min"]["multi-view"]
    alone = found.numbers["draws"]["max-min"]["Gaussian"]
    # Two kernel steps: about the square of one.
    assert np.mean(ours["eigenvalue"]) < np.mean(alone["eigenvalue"]) ** 1.5
    assert np.mean(ours["1"]) > np.mean(ours["2"])


def test_finding_compares_equal_numbers_of_kernel_steps(found):
    finding, time = found.findings
    assert time.claim == "one-step"
    assert finding.claim == "isolet-ahead"
    assert finding.evidence.startswith("max-min: multi-view")
    for time in ("at t = 0", "after one kernel step each", "after two kernel steps each"):
        assert f"max-min {time}" in finding.evidence


def test_missing_letters_are_told_in_a_line(tmp_path):
    with pytest.raises(DataMissingError, match=r"isolet5\.npz"):
        find("isolet").run(Context(quick=True, data_home=tmp_path))


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("VIEWHOP_DATA"), reason="VIEWHOP_DATA names no folder")
def test_neighbours_tell_letters_apart():
    result = find("isolet").run(Context(quick=True, trials=2))
    row = next(row for row in neighbours_table(result).rows if row[0] == "multi-view")
    assert row[3] > 0.68


@pytest.mark.parametrize(("best", "verdict"), [("2", "holds"), ("1", "does not hold here")])
def test_one_step_is_judged_against_other_times(best, verdict):
    scores = {key: [0.5, 0.52, 0.51] for key in ("0", "1", "2")}
    scores[best] = [0.6, 0.63, 0.61]
    finding = isolet._judge_time({"max-min": {"multi-view": scores}})
    assert (finding.claim, finding.verdict) == ("one-step", verdict)
