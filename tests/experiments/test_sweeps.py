"""Runs of K-means, and scores against the number of coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import normalized_mutual_info_score

import viewhop as vh
from viewhop.experiments import Context, Table
from viewhop.experiments._kmeans_runs import Runs, run_kmeans
from viewhop.experiments._sweeps import rank_remark, sweep_methods, sweep_panels, sweep_table
from viewhop.kernels import Gaussian


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(90, centers=6, cluster_std=0.3, random_state=0)


def test_inertia_is_that_of_the_clusters_and_the_tightest_has_the_least():
    points = np.random.default_rng(0).uniform(size=(90, 2))
    found = run_kmeans(points, 6, seeds=range(8))
    for clusters, inertia in zip(found.clusters, found.inertia, strict=True):
        groups = [points[clusters == each] for each in np.unique(clusters)]
        spread = sum(np.square(group - group.mean(axis=0)).sum() for group in groups)
        assert_allclose(inertia, spread, rtol=1e-3)
    assert found.inertia[found.tightest] == found.inertia.min()
    # Some starts are bad: single ones are what is measured.
    single = [KMeans(6, n_init=1, random_state=seed).fit(points).inertia_ for seed in range(8)]
    assert_allclose(found.inertia, single, rtol=1e-9)
    assert np.ptp(found.inertia) > 0


def test_scores_are_of_each_run(blobs):
    points, target = blobs
    found = run_kmeans(points, 6, seeds=range(3))
    expected = [normalized_mutual_info_score(target, clusters) for clusters in found.clusters]
    assert_allclose(found.nmi(target), expected, rtol=1e-12)
    assert found.accuracy(target)[found.tightest] == 1.0
    assert_array_equal(found.clusters, run_kmeans(points, 6, seeds=range(3)).clusters)


def test_samples_that_coincide_give_fewer_clusters_without_a_warning():
    points = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    found = run_kmeans(points, 4, seeds=[0])
    assert len(np.unique(found.clusters)) == 2
    assert_allclose(found.nmi(np.repeat([0, 1], 5)), 1, rtol=1e-12)


SWEEP = {
    "x": {"runs": [[0.1, 0.3], [0.5, 0.7]], "tightest": [0.3, 0.5]},
    "multi-view": {"runs": [[0.4, 0.4], [0.6, 0.8]], "tightest": [0.4, 0.8]},
}


def test_table_has_means_and_the_best_number_of_coordinates():
    table = sweep_table("wide", SWEEP, (3, 7), 3)
    assert [row[0] for row in table.rows] == ["x", "multi-view"]
    assert_allclose(table.rows[0][1:], [0.4, 0.4, 0.2, 0.1, 0.3, 7, 0.6], rtol=1e-12)
    assert_allclose(table.rows[1][1:], [0.55, 0.6, 0.4, 0.0, 0.4, 7, 0.7], rtol=1e-12)


def test_remark_says_whether_multi_view_is_first():
    table = sweep_table("wide", SWEEP, (3, 7), 3)
    assert "multi-view ranks 1 of 2" in rank_remark("wide", table, (3, 7))
    shorter = sweep_table("wide", {**SWEEP, "multi-view, t = 0": SWEEP["multi-view"]}, (3, 7), 3)
    assert "multi-view ranks 1 of 2" in rank_remark("wide", shorter, (3, 7))
    other = Table("", ("a", "b"), (("x", 0.9), ("multi-view", 0.2)))
    assert "multi-view ranks 2 of 2" in rank_remark("w", other, (3, 7))


def test_panels_have_a_line_per_method_and_one_legend():
    figure = sweep_panels((3, 7), {"wide": SWEEP, "narrow": {"multi-view": SWEEP["multi-view"]}})
    left, right = figure.axes
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == ("wide", "narrow")
    assert (len(left.lines), len(right.lines)) == (2, 1)
    assert_allclose(left.lines[0].get_ydata(), [0.2, 0.6], rtol=1e-12)
    assert left.get_xlabel() == right.get_xlabel() == "coordinates per view"
    assert left.get_ylabel()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["x", "multi-view"]
    styles = {(line.get_linestyle(), line.get_marker()) for line in left.lines}
    assert len(styles) == 2


def test_shorter_times_of_multi_view_have_its_colour_and_more_panels_another_row():
    sweep = {**SWEEP, "multi-view, t = 0.5": SWEEP["x"], "multi-view, t = 0": SWEEP["x"]}
    figure = sweep_panels((3, 7), dict.fromkeys("abcde", sweep))
    assert [ax.get_title(loc="left") for ax in figure.axes] == list("abcde")
    lines = figure.axes[0].lines
    assert len({line.get_color() for line in lines}) == 2
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 4
    assert figure.axes[0].get_ylabel() == figure.axes[3].get_ylabel() != ""


@pytest.mark.parametrize("n_clusters", [1, 2, 7])
def test_nmi_is_that_of_scikit_learn(n_clusters):
    rng = np.random.default_rng(n_clusters)
    target = rng.choice([4, 9, 11], size=60)
    clusters = rng.integers(n_clusters, size=(5, 60)).astype(np.int32)
    clusters[0] = target == 4  # agrees in part
    found = Runs(clusters, np.zeros(5)).nmi(target)
    expected = [normalized_mutual_info_score(target, each) for each in clusters]
    assert_allclose(found, expected, atol=1e-12)
    assert Runs(np.zeros((1, 4), dtype=np.int32), np.zeros(1)).nmi([5] * 4) == [1.0]


def test_sweep_finds_blobs_and_reports_every_method(blobs):
    points, target = blobs
    views = vh.Views({"x": points, "y": points[:, ::-1] + 1})
    told = []
    context = Context(trials=3, progress=lambda *each: told.append(each))
    kernels = {"near": dict.fromkeys(views.names, Gaussian(1.5))}
    scores, pieces = sweep_methods(views, kernels, target, (2, 5), n_clusters=6, context=context)
    assert list(scores) == ["near"]
    assert told[-1][1] == told[-1][2] == 7  # de Sa's rows, too: there are two views
    for found in scores["near"].values():
        assert np.shape(found["runs"]) == (2, 3)
        assert all(t in each for t, each in zip(found["tightest"], found["runs"], strict=True))
    assert scores["near"]["multi-view"]["tightest"][1] > 0.95
    assert pieces == []
