"""Views made worse: which samples they lack, what is added, what is moved."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.quality.perturbations import MISSING, observed_pairs, perturb
from numpy.testing import assert_allclose, assert_array_equal

from tests.quality.toys import make_data


@pytest.mark.parametrize("n_views", [2, 3, 6])
@pytest.mark.parametrize("share", MISSING.values())
def test_every_sample_keeps_a_view(n_views, share):
    observed = observed_pairs(2000, n_views, share, np.random.default_rng(0))
    assert observed.any(axis=1).all()
    # A sample that lost all its views gets one back.
    expected = share - share**n_views / n_views
    assert_allclose(1 - observed.mean(), expected, atol=0.02)


def test_missing_pairs_are_rows_of_nan_and_depend_on_the_seed():
    views = make_data().views
    first, again, other = (perturb(views, "50 % missing", seed) for seed in (0, 0, 1))
    assert not first.is_complete
    assert_array_equal(first.observed, again.observed)
    assert (first.observed != other.observed).any()


def test_a_view_of_noise_is_added_and_the_others_stay():
    views = make_data().views
    noisy = perturb(views, "noise view", 0)
    assert noisy.names == (*views.names, "noise")
    assert noisy["noise"].shape == (len(views), 30)
    for name in views.names:
        assert_array_equal(noisy[name], views[name])


def test_only_the_last_view_is_shuffled():
    views = make_data().views
    shuffled = perturb(views, "shuffled view", 0)
    assert_array_equal(shuffled["view1"], views["view1"])
    assert (shuffled["view2"] != views["view2"]).any()
    assert_array_equal(np.sort(shuffled["view2"], axis=0), np.sort(views["view2"], axis=0))


def test_clean_views_are_the_views():
    views = make_data().views
    assert perturb(views, "clean", 0) is views
