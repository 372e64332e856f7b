"""Noisy twos and threes: the noise, the rows of the table, and what is told."""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import Bunch

from viewhop.errors import DataMissingError, MemoryBudgetError
from viewhop.experiments import Context, find
from viewhop.experiments import _mnist as mnist
from viewhop.experiments import _mnist_scores as mnist_scores
from viewhop.experiments import _results_store as recording

METHODS = [
    "X1 alone",
    "X2 alone",
    "kernel product",
    "kernel product, concat",
    "kernel sum",
    "kernel CCA",
    "de Sa",
    "multi-view",
]
TIMES = ["multi-view, t = 0.5", "multi-view, t = 0"]


def strokes(n=500):
    """Images of two shapes, moved about: bars that lie and bars that stand."""
    rng = np.random.default_rng(0)
    target = rng.integers(2, 4, size=n)
    images = np.zeros((n, 28, 28), dtype=np.uint8)
    for image, kind in zip(images, target, strict=True):
        row, column = rng.integers(6, 9, size=2)
        size = (4, 14) if kind == 2 else (14, 4)
        image[row : row + size[0], column : column + size[1]] = rng.integers(150, 256)
    return Bunch(images=images, target=target)


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mnist, "load_mnist_2_3", lambda data_home: strokes())
        return recording.as_stored(find("mnist").run(Context(quick=True, trials=3)))


@pytest.mark.parametrize("deviation", [0.5, 0.5**0.5])
def test_first_view_has_normal_noise_of_the_deviation_asked(deviation):
    images = strokes(200).images / 255.0
    views = mnist.noisy_views(images, deviation=deviation, rng=np.random.default_rng(1))
    noise = views["X1"] - images.reshape(200, -1)
    n = noise.size
    assert_allclose(noise.mean(), 0, atol=5 * deviation / np.sqrt(n))
    assert_allclose(noise.var(), deviation**2, atol=5 * deviation**2 * np.sqrt(2 / n))
    assert_allclose((noise**4).mean() / noise.var() ** 2, 3, atol=5 * np.sqrt(96 / n))


def test_second_view_has_half_of_the_pixels_and_nothing_else():
    images = np.full((100, 28, 28), 0.5)
    views = mnist.noisy_views(images, rng=np.random.default_rng(1))
    assert_array_equal(np.unique(views["X2"]), [0.0, 0.5])
    kept = views["X2"] > 0
    assert_allclose(kept.mean(), 0.5, atol=5 * 0.5 / np.sqrt(kept.size))
    # Which pixels are dropped has nothing to do with the noise of the other view.
    assert abs(np.corrcoef(kept.ravel(), views["X1"].ravel())[0, 1]) < 5 / np.sqrt(kept.size)


def test_deformed_copies_follow_the_real_digits_with_their_labels():
    digits = strokes(60)
    context = Context(seed=3)
    images, target = mnist._draw_digits(digits.images, digits.target, 100, 60, context)
    assert_array_equal(images[:60], digits.images / np.float32(255))
    assert_array_equal(target[:60], digits.target)
    assert images.shape == (100, 28, 28)
    # A bar that lies is wider than high, deformed or not.
    wide = (images.max(axis=1) > 0.3).sum(axis=1) > (images.max(axis=2) > 0.3).sum(axis=1)
    assert (wide == (target == 2)).mean() > 0.95


def test_rows_are_those_of_the_paper_and_dense_kernels_have_them_all(found):
    near, other, dense = found.numbers["scores"].values()
    rows = {*METHODS, *TIMES}
    assert set(dense) == rows
    assert set(near) == rows - {"kernel CCA"}
    assert set(other) == rows - {"kernel CCA", "kernel product", "kernel product, concat"}
    for table in found.tables[:2]:
        assert [row[0] for row in table.rows] == METHODS + TIMES


def test_papers_columns_are_its_table(found):
    printed = {row[0]: row[-2:] for row in found.tables[0].rows}
    assert printed["multi-view"] == (0.70, 0.947)
    assert printed["X1 alone"] == (0.38, 0.844)
    assert printed["de Sa"] == (0.59, 0.912)
    assert found.tables[0].columns[-2:] == ("paper: NMI", "paper: accuracy")


def test_top_is_the_largest_of_all_runs(found):
    setting, methods = next(iter(found.numbers["scores"].items()))
    row = next(row for row in found.tables[0].rows if row[0] == "multi-view")
    assert row[1] == max(max(each) for each in methods["multi-view"]["nmi"])
    assert row[2] == max(max(each) for each in methods["multi-view"]["accuracy"])
    assert row[1] > 0.9  # bars that lie and stand are easy
    assert setting in found.tables[0].columns[1]


def test_top_and_tightest_are_taken_from_all_runs_of_their_coordinates():
    scores = {
        "nmi": [[0.2, 0.5], [0.9, 0.1], [0.3, 0.3], [0.6, 0.4]],
        "tightest": [1, 0, 0, 1],
        "eigenvalue": 2.5e-4,
    }
    assert mnist_scores.top_score(scores, "nmi") == 0.9
    assert mnist_scores.top_score(None, "nmi") is None
    assert_allclose(mnist_scores.top_by_run(scores), [0.9, 0.5], rtol=1e-12)
    # With 10 coordinates, the second number of them.
    assert mnist_scores._typical(scores) == ["0.500 ± 0.400", 0.9, "2.5e-04"]
    assert mnist_scores._typical(None) == [None, None, None]


def test_size_and_both_readings_of_the_noise_are_told(found):
    assert found.ran["samples"] == 450
    assert found.ran["deformed copies among them"] == "33%"
    assert found.paper["samples"] == 40_000
    told = " ".join(found.remarks)
    assert "450 digits, max-min at variance 0.5: multi-view has NMI" in told
    assert "10 neighbours at deviation 0.5: multi-view has NMI" in told


def test_draws_are_scored_by_their_top_at_every_time(found):
    dense = found.numbers["draws"]["max-min at variance 0.5"]
    assert set(dense) == set(METHODS)
    for scores in dense.values():
        assert {"0", "1", "2"} < set(scores)
        assert all(len(values) == 2 for values in scores.values())
    # Neither has a diffusion time.
    for method in ("de Sa", "kernel CCA"):
        assert dense[method]["0"] == dense[method]["1"] == dense[method]["2"]


def test_finding_is_about_the_full_size_first(found):
    [finding] = found.findings
    assert finding.claim == "mnist-ahead"
    start = "450 digits with max-min at variance 0.5 (runs of K-means): multi-view"
    assert finding.evidence.startswith(start)
    assert "200 digits with max-min at variance 0.5 after one kernel step each" in finding.evidence


def test_finding_falls_back_to_the_draws_without_dense_kernels_at_full_size(found):
    scores = {**found.numbers["scores"], "max-min at variance 0.5": {}}
    finding = mnist._judge("450 digits", scores, found.numbers["draws"], "200 digits")
    assert finding.evidence.startswith("200 digits with max-min at variance 0.5: multi-view")


def test_dense_kernels_beyond_memory_are_told_and_the_rest_is_kept(monkeypatch):
    def refused(*given, **options):
        yield from ()
        raise MemoryBudgetError("needs 9 GB, has 1 GB")

    views = mnist.noisy_views(strokes(40).images / 255.0, rng=np.random.default_rng(0))
    monkeypatch.setattr(mnist, "timed_methods", refused)
    scores, told = mnist._measure("stage", views, np.ones(40), mnist._SETTINGS[2], Context())
    assert scores == {}
    assert told == ["stage: stopped early. needs 9 GB, has 1 GB"]


def test_pictures_show_all_methods_and_samples_of_both_views(found):
    pictures = find("mnist").draw(found)
    assert set(pictures) == {"", "views"}
    left, right = pictures[""].figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == METHODS + TIMES
    assert left.get_title(loc="left") == "450 digits"
    assert right.get_title(loc="left") == "2 draws of 200 digits"
    assert left.get_xlabel() == "NMI"
    assert len(pictures[""].figure.legends[0].get_texts()) == 4
    samples = pictures["views"].figure.axes
    assert len(samples) == 20
    assert [samples[0].get_ylabel(), samples[10].get_ylabel()] == ["X1", "X2"]


def test_missing_digits_are_told_in_a_line(tmp_path):
    with pytest.raises(DataMissingError, match=r"mnist_2_3\.npz"):
        find("mnist").run(Context(quick=True, data_home=tmp_path))


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("VIEWHOP_DATA"), reason="VIEWHOP_DATA names no folder")
def test_neighbours_of_all_real_digits_reach_their_floor():
    from viewhop.datasets import load_mnist_2_3

    digits = load_mnist_2_3()
    context = Context(trials=5)
    for setting in mnist._SETTINGS[:2]:
        views = mnist.noisy_views(
            digits.images / 255.0,
            deviation=mnist._DEVIATIONS[setting.noise],
            rng=context.generator(1, 0),
        )
        methods = mnist._methods(views, setting, context)
        multi = next(found for name, found in methods if name == "multi-view")
        scores = mnist._score(multi.one_step, digits.target, [0, 1, 2, 3, 4])
        assert np.max(scores["nmi"]) >= 0.75
        assert np.max(scores["accuracy"]) >= 0.96
