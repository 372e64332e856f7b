"""Counting clusters: the number that was put in comes out, and doubt is admitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop import MultiViewDiffusionMaps, MultiViewSpectralClustering, load
from viewhop.datasets import (
    make_circles,
    make_helices,
    make_mixtures,
    make_noisy_latents,
    make_swiss_rolls,
)
from viewhop.errors import DisconnectedWarning, ModelFileError
from viewhop.estimators import ClusterCount, count_clusters, log_gap
from viewhop.estimators._cluster_count import decode_count, encode_count
from viewhop.estimators._coarse_walk import coarsen_walk
from viewhop.estimators._spectrum_shape import describe_shape
from viewhop.kernels import Gaussian, Precomputed

# Separated clusters on neighbour kernels are pieces of the walk, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")

LOCAL = {"kernel": Gaussian("local", n_neighbors=10, alpha=1.0), "within_view_weight": 0.5}


def count(views, *, max_clusters=20, **params):
    model = MultiViewDiffusionMaps(max_clusters, random_state=0, **(params or LOCAL)).fit(views)
    return count_clusters(model.geometry_, max_clusters=max_clusters, seed=0)


@pytest.mark.parametrize("seed", range(10))
def test_six_mixtures_are_counted_in_every_draw(seed):
    views = make_mixtures(random_state=seed).views
    for params in (LOCAL, {"output": "auto"}):  # equal weights, and the default
        result = count(views, **params)
        assert result.n_clusters == 6
        assert result.is_sure


@pytest.mark.parametrize("n_clusters", [2, 3, 4, 8, 10, 15])
def test_other_numbers_of_mixtures_are_counted_too(n_clusters):
    clusters, n_samples = (n_clusters, n_clusters), 40 * n_clusters
    mixtures = make_mixtures(n_samples, clusters=clusters, random_state=20)
    assert count(mixtures.views).n_clusters == n_clusters


@pytest.mark.parametrize(
    "fusion", ["sum", "product", "concat", "alternating", "integrated", "composite"]
)
def test_every_fusion_counts_the_mixtures(fusion):
    result = count(make_mixtures(300, random_state=0).views, fusion=fusion)
    assert (result.n_clusters, result.is_sure) == (6, True)


def test_single_precision_and_missing_samples_change_no_count():
    mixtures = make_mixtures(300, random_state=2)
    x, y = (np.array(X) for X in mixtures.views.arrays)
    assert count([x.astype(np.float32), y.astype(np.float32)]).n_clusters == 6
    x[::7], y[3::11] = np.nan, np.nan
    y[::7] = mixtures.views["y"][::7]
    assert count([x, y]).n_clusters == 6


def test_a_clear_gap_decides_where_two_clusters_overlap():
    rng = np.random.default_rng(1)
    centers = np.sqrt(8) * rng.standard_normal((2, 9))
    sides = np.repeat([0, 1], 150)
    result = count([centers[sides] + 3.0 * rng.standard_normal((300, 9)) for _ in range(2)])
    assert (result.n_clusters, result.method) == (2, "gap")


@pytest.mark.parametrize("fusion", ["sum", "product"])
def test_a_clear_gap_overrules_modularity(fusion):
    mixtures = make_mixtures(clusters=(2, 2), random_state=20)
    result = count(mixtures.views, fusion=fusion)
    assert (result.n_clusters, result.method) == (2, "gap")
    assert result.is_sure


def test_separation_counts_circles_that_modularity_would_cut():
    result = count(make_circles(800, noise=0.03, random_state=0).views)
    assert (result.n_clusters, result.method) == (2, "separation")
    assert result.confidence > 0.99
    cut = result.candidates[int(np.argmax(result.modularities))]
    assert cut > 2


def test_a_roll_is_counted_without_confidence():
    result = count(make_swiss_rolls(400, noise=0.3, random_state=0).views)
    assert result.method == "modularity"
    assert result.confidence < 0.4
    assert not result.is_sure


def test_pieces_are_the_least_that_is_counted():
    rng = np.random.default_rng(0)
    centers = 200.0 * np.eye(4)
    views = [np.repeat(centers, 40, axis=0) + rng.standard_normal((160, 4)) for _ in range(2)]
    with pytest.warns(DisconnectedWarning):
        result = count(views)
    assert result.candidates[0] == result.n_clusters == 4
    assert_allclose(result.confidence, 1.0, atol=1e-9)
    model = MultiViewDiffusionMaps(3, random_state=0, **LOCAL)
    with pytest.warns(DisconnectedWarning):
        model.fit(views)
    with pytest.raises(ValueError, match="4 pieces, more than max_clusters=3"):
        count_clusters(model.geometry_, max_clusters=3)


def test_order_of_samples_does_not_change_the_count():
    views = make_mixtures(300, random_state=1).views
    order = np.random.default_rng(0).permutation(300)
    first, second = count(views), count(views[order])
    assert first.n_clusters == second.n_clusters
    assert_allclose(first.confidence, second.confidence, atol=1e-6)


def test_a_walk_between_equal_blocks_has_their_eigenvalue_and_modularity():
    block = np.repeat(np.arange(3), 8)
    K = np.where(block[:, None] == block, 1.0, 0.2)
    model = MultiViewDiffusionMaps(2, kernel=Precomputed(), fusion="sum").fit([K, K])
    coarse = coarsen_walk(model.geometry_.walk, block, 3)
    assert_allclose(coarse.flows.sum(), 1.0, atol=1e-12)
    assert_allclose(coarse.eigenvalues, [1.0, 0.8 / 1.4, 0.8 / 1.4], atol=1e-12)
    assert_allclose(coarse.modularity, 1 / 1.4 - 1 / 3, atol=1e-12)
    result = count_clusters(model.geometry_, seed=0)
    assert (result.n_clusters, result.candidates) == (3, (2, 3))


def test_coarse_eigenvalues_never_exceed_those_of_the_walk():
    model = MultiViewDiffusionMaps(5, random_state=0, **LOCAL).fit(
        make_mixtures(120, random_state=1).views
    )
    labels = np.random.default_rng(0).integers(0, 6, 120)
    coarse = coarsen_walk(model.geometry_.walk, labels, 6)
    assert (coarse.eigenvalues[1:] <= model.eigenvalues_ + 1e-9).all()


@pytest.mark.parametrize(
    ("eigenvalues", "expected"),
    [([0.4, 0.3, 0.07, 0.05, 0.001, 0.0008], 5), ([0.9, 0.3, 0.0, 0.0], 3), ([0.2], 2)],
)
def test_log_gap_is_largest_where_eigenvalues_fall_by_the_largest_factor(eigenvalues, expected):
    assert log_gap(eigenvalues) == expected


def test_log_gap_refuses_what_is_no_spectrum():
    with pytest.raises(ValueError, match="largest first"):
        log_gap([0.4, 0.5])


def test_the_count_survives_a_model_file(tmp_path):
    views = make_mixtures(120, random_state=0).views
    model = MultiViewSpectralClustering(max_clusters=8, random_state=0, **LOCAL).fit(views)
    path = tmp_path / "m.viewhop"
    model.save(path)
    assert load(path).cluster_count_ == model.cluster_count_
    assert model.cluster_count_.n_clusters == model.n_clusters_
    model.set_params(n_clusters=3).fit(views).save(path)
    assert load(path).cluster_count_ is None


GOOD = ClusterCount(3, "gap", (2, 3), (0.5, 0.9), (0.2, 0.4))


@pytest.mark.parametrize(
    "damage",
    [
        {"n_clusters": 4},
        {"n_clusters": 2},
        {"method": "magic"},
        {"candidates": [3, 2]},
        {"candidates": [2, 3, 4]},
        {"candidates": "23"},
        {"confidences": [0.5, 1.5]},
        {"confidences": [0.5, float("nan")]},
        {"modularities": [0.2, -2.0]},
        {"modularities": None},
        {"surplus": 1},
    ],
    ids=str,
)
def test_a_damaged_count_is_refused(damage):
    assert decode_count(encode_count(GOOD), 3) == GOOD
    with pytest.raises(ModelFileError):
        decode_count({**encode_count(GOOD), **damage}, 3)


PAPER = {"kernel": Gaussian("max-min"), "within_view_weight": 0.0, "output": "concat"}


@pytest.mark.parametrize(("clusters", "expected"), [((6, 6), 6), ((6, 3), 3)])
def test_the_log_gap_counts_the_mixtures_of_figure_5(clusters, expected):
    """At the paper's scale; the drop is after as many eigenvalues as both views have clusters."""
    found = [
        count(make_mixtures(300, clusters=clusters, random_state=seed).views, **PAPER).log_gap
        for seed in range(10)
    ]
    assert found.count(expected) >= 9


@pytest.mark.parametrize("params", [LOCAL, {"output": "auto"}], ids=["local", "default"])
@pytest.mark.parametrize("n_clusters", [2, 4, 6, 10, 15])
def test_compact_clusters_are_called_clusters(n_clusters, params):
    mixtures = make_mixtures(40 * n_clusters, clusters=(n_clusters,) * 2, random_state=5)
    result = count(mixtures.views, **params)
    assert (result.n_clusters, result.log_gap) == (n_clusters, n_clusters)
    assert result.shape == "clusters"
    assert "apart and compact" in result.reason


@pytest.mark.parametrize(
    "params", [LOCAL, PAPER, {"output": "auto"}], ids=["local", "paper", "default"]
)
@pytest.mark.parametrize(
    "views",
    [
        make_swiss_rolls(400, noise=0.3, random_state=0).views,
        make_helices("A", n_samples=400).views,
        make_helices("B", n_samples=400).views,
        make_noisy_latents(400, kind="curves", noise=0.1, random_state=0).views,
    ],
    ids=["roll", "helix A", "helix B", "curves"],
)
def test_a_curve_or_a_surface_is_said_to_have_no_number(views, params):
    result = count(views, **params)
    assert result.shape == "sections"
    assert "no number of clusters is right" in result.reason


def test_two_circles_are_apart_and_their_gaps_count_nothing():
    result = count(make_circles(400, noise=0.03, random_state=0).views)
    assert (result.n_clusters, result.shape) == (2, "curves")
    assert result.log_gap > 10
    assert "gaps of the eigenvalues do not count them" in result.reason


@pytest.mark.parametrize(
    ("rates", "k", "sure", "expected"),
    [
        ([0.01, 0.3, 1.0, 1.0, 1.1, 1.1, 1.2, 1.2], 3, True, "clusters"),
        ([0.4, 0.6, 1.0, 1.0, 1.1, 1.1, 1.2, 1.2], 3, False, "overlap"),
        (np.arange(1.0, 20) ** 2 / 400, 4, False, "sections"),  # open curve
        (np.ceil(np.arange(1.0, 20) / 2) ** 2 / 100, 18, True, "sections"),  # closed curve
        (np.arange(1.0, 20) / 20, 5, False, "sections"),  # surface
        ([1e-4, *np.ceil(np.arange(1.0, 20) / 4) ** 2 / 50], 2, True, "curves"),  # two curves
        ([0.0, 0.0, 0.5, 0.5], 3, True, "clusters"),  # pieces, and few eigenvalues
    ],
    ids=["clusters", "overlap", "open", "closed", "surface", "two curves", "pieces"],
)
def test_shapes_of_known_spectra(rates, k, sure, expected):
    assert describe_shape(np.exp(-np.asarray(rates)), k, is_sure=sure) == expected


def test_a_count_of_an_earlier_version_is_read():
    data = encode_count(GOOD)
    del data["log_gap"], data["shape"]
    old = decode_count(data, 3)
    assert (old.log_gap, old.shape) == (None, None)
    assert old.reason == "the clusters are apart and compact"


def test_log_gap_and_shape_survive_and_wrong_ones_are_refused():
    whole = replace(GOOD, log_gap=5, shape="curves")
    assert decode_count(encode_count(whole), 3) == whole
    for damage in ({"log_gap": 1}, {"log_gap": "5"}, {"shape": "round"}):
        with pytest.raises(ModelFileError):
            decode_count({**encode_count(whole), **damage}, 3)
