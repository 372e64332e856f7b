"""Connecting a walk by more neighbours, and what is said where that cannot help."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop.errors import DisconnectedWarning, MemoryBudgetError
from viewhop.geometry import ways_to_join
from viewhop.kernels import Gaussian, Precomputed

FUSIONS = ("hop", "sum", "product", "concat", "alternating", "integrated", "composite")


def groups(distance=30.0, sizes=(40, 40, 40), seed=0):
    """Two views of groups of samples at this distance from each other."""
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(len(sizes)), sizes)
    centres = distance * np.eye(len(sizes), 3)
    first = centres[number] + rng.standard_normal((number.size, 3))
    second = centres[number] @ rng.standard_normal((3, 2)) + rng.standard_normal((number.size, 2))
    return [first, second]


def fit(views, *, n_components=2, **parameters):
    return vh.MultiViewDiffusionMaps(n_components, random_state=0, **parameters).fit(views)


def message_of(views, **parameters):
    """The text of the one warning of a fit."""
    with pytest.warns(DisconnectedWarning) as caught:
        fit(views, **parameters)
    (entry,) = caught
    return str(entry.message)


# --- more neighbours ------------------------------------------------------------------------------


@pytest.mark.parametrize("fusion", FUSIONS)
def test_a_walk_in_pieces_is_joined_by_more_neighbours(fusion):
    views = groups()
    with pytest.warns(DisconnectedWarning):
        assert fit(views, fusion=fusion).n_pieces_ == 3
    est = fit(views, fusion=fusion, connect=True)
    assert est.n_pieces_ == 1
    assert est.n_neighbors_ == {"view1": 40, "view2": 40}
    values = est.eigenvalues_
    if fusion == "composite":  # the leading one is among them
        values = values[1:] / values[0]
    assert values.max() < 1 - 1e-8
    assert_allclose(est.transform(views), est.embedding_, rtol=1e-8, atol=1e-10)


def test_no_smaller_number_of_the_sequence_joins_the_pieces():
    views = groups(sizes=(25, 25, 25))
    est = fit(views, connect=True)
    k = est.n_neighbors_["view1"]
    assert k in (20, 40)
    kernel = Gaussian(**{**est.geometry_.kernels["view1"].get_params(), "n_neighbors": k // 2})
    with pytest.warns(DisconnectedWarning):
        assert fit(views, kernel=kernel).n_pieces_ > 1


def test_the_result_is_that_of_a_fit_with_the_kernels_that_were_found():
    views = groups()
    found = fit(views, connect=True)
    direct = fit(views, kernel=found.geometry_.kernels)
    assert_array_equal(found.embedding_, direct.embedding_)


def test_a_connected_walk_is_left_as_it_is():
    views = groups(distance=1.0)
    found, plain = fit(views, connect=True), fit(views)
    assert found.n_neighbors_ == plain.n_neighbors_ == {"view1": 10, "view2": 10}
    assert_array_equal(found.embedding_, plain.embedding_)


def test_scales_grow_only_if_the_groups_are_too_far_apart_for_them():
    near, far = fit(groups(8.0), connect=True), fit(groups(30.0), connect=True)
    assert near.geometry_.kernels["view1"].scale_neighbors == 10
    assert far.geometry_.kernels["view1"].scale_neighbors == 40
    # With its own scale, a group has structure of its own after the coordinates between groups.
    assert fit(groups(8.0), connect=True, n_components=3).eigenvalues_[2] > 0.05


def test_a_scale_of_half_the_neighbours_grows_with_them():
    kernel = Gaussian(bandwidth="local", n_neighbors=10)
    est = fit(groups(), kernel=kernel, connect=True)
    assert est.n_pieces_ == 1
    fitted = est.geometry_.kernels["view1"]
    assert fitted.scale_neighbors == fitted.n_neighbors // 2


@pytest.mark.parametrize("factor", [2, 200])
def test_neighbours_end_at_all_samples(factor):
    views = [np.r_[np.zeros((4, 1)), np.full((4, 1), float(factor))] + np.arange(8)[:, None] * 1e-3]
    est = vh.DiffusionMaps(1, kernel=Gaussian(100.0, n_neighbors=3), connect=True).fit(views)
    assert est.n_neighbors_ == {"view1": 6}
    assert est.n_pieces_ == 1


def test_views_with_missing_samples_are_joined_and_stay_alike():
    views = groups()
    views[0][::7] = np.nan
    views[1][3::7] = np.nan
    est = fit(views, connect=True)
    assert est.n_pieces_ == 1
    assert est.walk_.joint is not None
    assert_allclose(est.transform(views), est.embedding_, rtol=1e-8, atol=1e-10)


def test_samples_that_no_hop_reaches_are_joined_too():
    rng = np.random.default_rng(0)
    first = rng.standard_normal((60, 2))
    first[40:] += 50.0
    second = rng.standard_normal((60, 2))
    second[40:] = np.nan  # a group that only the first view saw
    with pytest.raises(ValueError, match="neither it nor its neighbours there were observed"):
        fit([first, second], within_view_weight=0.0)
    est = fit([first, second], within_view_weight=0.0, connect=True)
    assert est.n_pieces_ == 1


def test_neighbours_of_a_precomputed_kernel_are_added():
    views = groups()
    kernel = vh.DiffusionMaps(1, kernel=Gaussian(30.0)).fit(views[0]).walk_.affinities[0]
    matrix = kernel @ np.eye(120)
    est = vh.DiffusionMaps(1, kernel=Precomputed(n_neighbors=10), connect=True).fit(matrix)
    assert est.n_neighbors_ == {"view1": 40}
    assert est.n_pieces_ == 1


def test_clusterings_connect_the_walk():
    model = vh.MultiViewSpectralClustering(3, connect=True, random_state=0).fit(groups())
    assert model.geometry_.record.n_pieces == 1
    assert model.embedder_.connect is True
    assert_array_equal(np.bincount(model.labels_), [40, 40, 40])


def test_a_model_file_keeps_the_neighbours_and_the_parameter(tmp_path):
    views = groups()
    est = fit(views, connect=True)
    est.save(tmp_path / "m.viewhop")
    again = vh.load(tmp_path / "m.viewhop")
    assert again.connect is True
    assert again.n_neighbors_ == est.n_neighbors_
    assert_array_equal(again.transform(views), est.transform(views))
    assert_array_equal(again.fit(views).embedding_, est.embedding_)


def test_progress_is_reported():
    stages = []
    fit(groups(), connect=True, verbose=lambda *entry: stages.append(entry))
    connecting = [entry for entry in stages if entry[0] == "connecting"]
    assert connecting == [("connecting", 1, 4), ("connecting", 2, 4), ("connecting", 4, 4)]


def test_a_generator_moves_on():
    views, generator = groups(), np.random.default_rng(0)
    vh.MultiViewDiffusionMaps(connect=True, random_state=generator).fit(views)
    assert generator.bit_generator.seed_seq.n_children_spawned > 0


# --- memory ---------------------------------------------------------------------------------------


def test_memory_is_checked_before_neighbours_are_added():
    rng = np.random.default_rng(0)
    view = rng.standard_normal((20_000, 2)) + 1e4 * (np.arange(20_000) < 10_000)[:, None]
    est = vh.DiffusionMaps(connect=True, max_memory="60MB")
    with pytest.raises(MemoryBudgetError, match=r"connect=True tried n_neighbors=(\d+)") as caught:
        est.fit(view)
    assert caught.value.needed > caught.value.budget == 60_000_000
    assert "piece_coordinates" in str(caught.value)
    assert not hasattr(est, "geometry_")


def test_the_expected_memory_is_that_of_the_neighbours_in_use():
    views = groups()
    found = fit(views, connect=True)
    assert found.memory_ == fit(views, kernel=found.geometry_.kernels).memory_


# --- what cannot be joined ------------------------------------------------------------------------


def test_a_walker_that_never_hops_is_not_helped_by_neighbours():
    text = message_of(groups(), within_view_weight=1.0, connect=True)
    assert "connect=True cannot join them, because it adds neighbours within views" in text
    assert "within_view_weight below 1" in text
    assert "n_neighbors" not in text


def test_a_hop_matrix_with_separate_views_is_named():
    a, b = groups(distance=1.0)
    hops = np.zeros((3, 3))
    hops[0, 1] = hops[1, 0] = hops[2, 2] = 1.0
    text = message_of([a, b, a + b[:, :1]], hops=hops, connect=True)
    assert "make an entry of hops between views 'view1' and 'view3' positive" in text


def test_views_without_a_common_sample_are_named():
    a, b = groups(distance=1.0)
    views = [a.copy(), b.copy(), a + 1.0, b + 1.0]
    for l, view in enumerate(views):
        view[:60] = np.nan if l > 1 else view[:60]
        view[60:] = view[60:] if l > 1 else np.nan
    text = message_of(views, connect=True)
    assert "connect=True cannot join them" in text
    assert "samples that both view 'view1' and view 'view3' observed" in text


def test_dense_kernels_have_no_neighbours_to_add():
    text = message_of(groups(), kernel=Gaussian(0.5), connect=True)
    assert "connect=True cannot join them, because it adds neighbours, and no kernel here" in text
    assert "a larger factor in views 'view1', 'view2'" in text


def test_a_scale_that_is_too_small_for_all_neighbours_is_named():
    text = message_of(groups(), kernel=Gaussian(0.5, n_neighbors=10), connect=True)
    assert "all neighbours are in use already" in text
    assert "a larger factor" in text
    # Here the kernel between groups is not 0, but so small that no walker ever goes there.
    text = message_of(groups(), kernel=Gaussian(1.5, n_neighbors=10), connect=True)
    assert "nearly falls into 3 pieces" in text


def test_a_full_precomputed_kernel_must_be_changed_by_its_owner():
    block = np.kron(np.eye(2), np.ones((5, 5))) + np.eye(10)
    with pytest.warns(DisconnectedWarning, match=r"make the kernel of view 'view1' positive"):
        vh.DiffusionMaps(1, kernel="precomputed", connect=True).fit(block)


# --- advice that fits the settings ----------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, 0.0, 0.5])
def test_advice_does_not_mention_a_weight_that_joins_nothing(weight):
    text = message_of(groups(), within_view_weight=weight)
    assert "within_view_weight" not in text
    assert "pass connect=True" in text
    assert "more neighbours than n_neighbors=10" in text
    assert "factor" not in text


def test_advice_names_the_neighbours_of_each_view():
    kernel = [Gaussian(5.0, n_neighbors=10), Gaussian(5.0, n_neighbors=15)]
    text = message_of(groups(), kernel=kernel)
    assert "n_neighbors=10 of 'view1', n_neighbors=15 of 'view2'" in text


def test_advice_for_dense_kernels_names_the_factor_only():
    text = message_of(groups(), kernel=Gaussian(0.5))
    assert "a larger factor in views 'view1', 'view2'" in text
    assert "neighbours" not in text


def test_ways_to_join_are_those_of_the_fitted_walk():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        est = fit(groups())
    assert len(ways_to_join(est.walk_)) == 2
