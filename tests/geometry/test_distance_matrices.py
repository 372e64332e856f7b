"""Cross-view distances of all pairs: equal to the pairwise calls, and what they must not see."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop import diffusion
from viewhop.datasets import make_swiss_rolls
from viewhop.kernels import Gaussian, Laplacian

ALPHAS = (0.0, 0.5, 1.0, 1.5, 2.0)


@pytest.fixture(scope="module")
def snapshots():
    """A roll that changes with α along one direction of change per sample."""
    roll = np.asarray(make_swiss_rolls(150, random_state=0).views["x"])
    change = np.random.default_rng(1).standard_normal(roll.shape)
    return {f"{alpha:g}": roll + alpha * change for alpha in ALPHAS}


@pytest.fixture(scope="module")
def incomplete(snapshots):
    """The same with samples that one snapshot, or two of them, lack."""
    holes = {name: np.array(rows) for name, rows in snapshots.items()}
    holes["0"][:20] = np.nan
    holes["0.5"][10:30] = np.nan
    return holes


def pairwise(snapshots, first, second, **params):
    est = vh.MultiViewDiffusionMaps.paper_settings(2, random_state=0, **params)
    est.fit({name: snapshots[name] for name in (first, second)})
    return est.cross_view_distance(first, second)


@pytest.mark.parametrize("params", [{}, {"within_view_weight": 0.3}], ids=str)
def test_one_fit_gives_the_matrix_of_its_pairwise_calls(incomplete, params):
    est = vh.MultiViewDiffusionMaps.paper_settings(3, random_state=0, **params).fit(incomplete)
    found = diffusion.cross_view_distances(est)
    for l, first in enumerate(est.view_names_):
        for m, second in enumerate(est.view_names_):
            assert found[l, m] == (0.0 if l == m else est.cross_view_distance(first, second))
    assert (found[~np.eye(5, dtype=bool)] > 0).all()


def test_snapshots_have_the_distances_of_fits_of_two(snapshots):
    found = diffusion.snapshot_distances(snapshots)
    assert_array_equal(found, found.T)
    assert_array_equal(np.diag(found), 0.0)
    names = [*snapshots]
    for l, m in ((0, 1), (0, 4), (2, 3)):
        assert_allclose(found[l, m], pairwise(snapshots, names[l], names[m]), rtol=1e-8)


def test_kernels_coordinates_and_time_are_those_that_are_passed(snapshots):
    some = {name: snapshots[name] for name in ("0", "1", "2")}
    kernels = {"0": Gaussian(30.0), "1": Laplacian(25.0), "2": Gaussian(40.0)}
    found = diffusion.snapshot_distances(some, n_components=4, n_steps=2.0, kernel=kernels)
    est = vh.MultiViewDiffusionMaps.paper_settings(
        4, n_steps=2.0, kernel=[kernels["1"], kernels["2"]], random_state=0
    ).fit([some["1"], some["2"]])
    assert_allclose(found[1, 2], est.cross_view_distance("view1", "view2"), rtol=1e-8)


def test_distances_grow_with_the_change(snapshots):
    found = diffusion.snapshot_distances(snapshots)
    assert (np.diff(found[0]) > 0).all()
    assert (np.diff(found[-1][::-1]) > 0).all()
    apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    means = [found[apart == step].mean() for step in range(5)]
    assert (np.diff(means) > 0).all()


def test_adding_a_snapshot_changes_no_entry_and_neither_does_their_order(snapshots):
    found = diffusion.snapshot_distances(snapshots)
    fewer = {name: snapshots[name] for name in ("2", "0", "1")}
    places = [4, 0, 2]
    assert_allclose(
        diffusion.snapshot_distances(fewer), found[np.ix_(places, places)], rtol=1e-6, atol=1e-10
    )


def test_rotations_reflections_and_shifts_are_not_seen():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 3))
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    views = [X, X @ R, X * (1, 1, -1), X + 7.0]
    assert diffusion.snapshot_distances(views).max() < 1e-7
    est = vh.MultiViewDiffusionMaps.paper_settings(2, random_state=0).fit(views)
    assert diffusion.cross_view_distances(est).max() < 1e-7


def test_samples_that_neither_snapshot_has_are_left_out(incomplete):
    found = diffusion.snapshot_distances(incomplete)
    assert np.isfinite(found).all()
    seen = ~(np.isnan(incomplete["0"][:, 0]) & np.isnan(incomplete["0.5"][:, 0]))
    assert not seen.all()
    both = {name: incomplete[name][seen] for name in ("0", "0.5")}
    assert_allclose(found[0, 1], pairwise(both, "0", "0.5"), rtol=1e-8)
    assert_allclose(found[0, 2], pairwise(incomplete, "0", "1"), rtol=1e-8)


def test_two_without_a_common_sample_have_no_distance():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 2))
    first, second = X.copy(), X.copy()
    first[:20], second[20:] = np.nan, np.nan
    views = {"first": first, "second": second, "whole": X}
    found = diffusion.snapshot_distances(views)
    assert np.isnan(found[0, 1])
    assert np.isnan(found[1, 0])
    assert np.isfinite(found[2]).all()
    est = vh.MultiViewDiffusionMaps.paper_settings(2, within_view_weight=0.3, random_state=0)
    joint = diffusion.cross_view_distances(est.fit(views))
    assert np.isnan(joint[0, 1])
    assert np.isfinite(joint[2]).all()


def test_what_has_no_distances_is_refused(snapshots):
    with pytest.raises(ValueError, match="at least two snapshots, got 1"):
        diffusion.snapshot_distances({"one": snapshots["0"]})
    with pytest.raises(ValueError, match="n_components must be a whole number"):
        diffusion.snapshot_distances(snapshots, n_components=0)
    fused = vh.MultiViewDiffusionMaps(2, fusion="sum", random_state=0).fit(snapshots)
    one = vh.MultiViewDiffusionMaps.paper_settings(2, random_state=0).fit({"x": snapshots["0"]})
    for est in (fused, one):
        with pytest.raises(ValueError, match="coordinates in each"):
            diffusion.cross_view_distances(est)
