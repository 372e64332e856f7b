"""Theorem 4: when two views put every sample in the same place."""

from __future__ import annotations

import numpy as np
import pytest

import viewhop as vh
from viewhop import theory
from viewhop.kernels import Gaussian

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
ROTATION = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
VIEWS = {"x": X, "turned": X @ ROTATION + 5.0, "other": X**3}


def symmetry_and_distance(views, *, kernel="gaussian", r=6, **parameters):
    est = vh.MultiViewDiffusionMaps(r, kernel=kernel, **parameters).fit(views)
    symmetry = theory.cross_view_symmetry(est, "x", "turned")
    return symmetry, est.cross_view_distance("x", "turned")


@pytest.mark.parametrize("eta", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("kernel", ["gaussian", "adaptive"])
def test_a_rotation_leaves_no_distance_if_the_walker_hops_readily(kernel, count, eta):
    views = dict([*VIEWS.items()][:count])
    symmetry, distance = symmetry_and_distance(views, kernel=kernel, within_view_weight=eta)
    assert symmetry.holds
    assert distance < 1e-7


@pytest.mark.parametrize("count", [2, 3])
def test_a_walker_that_would_rather_stay_tells_rotated_views_apart(count):
    views = dict([*VIEWS.items()][:count])
    symmetry, distance = symmetry_and_distance(views, within_view_weight=0.8)
    assert not symmetry.holds
    assert (symmetry.within, symmetry.between) == (0.8, pytest.approx(0.2))
    assert distance > 0.1


@pytest.mark.parametrize(
    "broken",
    [
        {"views": {"x": X, "turned": X * [1, 2, 1]}, "within_view_weight": 0.0},
        {
            "views": {"x": X, "turned": X @ ROTATION},
            "kernel": [Gaussian(1.0), Gaussian(1.5)],
            "within_view_weight": 0.0,
        },
        {"views": VIEWS, "hops": [[0, 1, 1], [1, 0, 3], [1, 3, 0]]},
    ],
    ids=["no rotation", "two scales", "hops not alike"],
)
def test_each_broken_condition_is_seen_and_leaves_a_distance(broken):
    symmetry, distance = symmetry_and_distance(**broken)
    assert not symmetry.holds
    assert distance > 1e-3


def test_what_has_no_two_views_is_refused():
    est = vh.MultiViewDiffusionMaps(2, fusion="sum").fit(VIEWS)
    with pytest.raises(ValueError, match="about the hop walk"):
        theory.cross_view_symmetry(est, "x", "turned")
    est = vh.MultiViewDiffusionMaps(2).fit(VIEWS)
    with pytest.raises(ValueError, match="no view named 'z'; there are x, turned, other"):
        theory.cross_view_symmetry(est, "x", "z")
    with pytest.raises(ValueError, match="two different views"):
        theory.cross_view_symmetry(est, "x", "x")
