"""Coordinates that come back on subsamples, mix with each other, or do not come back."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

import viewhop as vh
from viewhop.advice._stability import _find_groups, _standardised

WIDE = vh.kernels.Gaussian(factor=30.0)


def line(n=120):
    """Two views of a line with noise."""
    rng = np.random.default_rng(0)
    s = rng.uniform(size=n)
    return {
        "x": np.column_stack([2 * s, 0.01 * rng.standard_normal(n)]),
        "y": np.column_stack([s**2 + s, 0.01 * rng.standard_normal(n)]),
    }


def circle(n=200):
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return [np.column_stack([np.cos(angle), np.sin(angle)])]


def test_a_line_is_stable():
    views = line()
    est = vh.MultiViewDiffusionMaps(2, kernel=WIDE).fit(views)
    found = vh.stability(est, views, n_repeats=8)
    assert found.verdict == "coordinates 1–2 are stable"
    assert found.groups == [(0, 0, "stable"), (1, 1, "stable")]
    assert found.similarity.shape == (8, 2)
    assert found.similarity[:, 0].min() > 0.98
    assert found.similarity.min() > 0.9
    frame = found.frame
    assert frame["kind"].tolist() == ["stable", "stable"]
    assert_allclose(frame["came_back"], 1.0)
    assert_allclose(found.embedding, est.transform(views), atol=1e-12)


def test_intervals_hold_the_coordinates_of_repeated_fits():
    views = line()
    est = vh.MultiViewDiffusionMaps(2, kernel=WIDE, output="concat").fit(views)
    found = vh.stability(est, views, n_repeats=10, level=0.8)
    assert found.low.shape == found.high.shape == est.embedding_.shape
    assert (found.low <= found.high).all()
    width = (found.high - found.low) / est.embedding_.std(axis=0)
    assert 0 < np.median(width) < 0.3
    wider = vh.stability(est, views, n_repeats=10, level=0.99)
    assert (wider.low <= found.low + 1e-12).all()
    assert (wider.high >= found.high - 1e-12).all()
    inside = (found.low <= found.embedding) & (found.embedding <= found.high)
    assert inside.mean() > 0.5


def test_on_a_circle_two_coordinates_mix_and_their_plane_is_stable():
    X = circle()
    est = vh.DiffusionMaps(2, kernel=WIDE).fit(X)
    found = vh.stability(est, X, n_samples=0.5, n_repeats=20)
    assert found.verdict == "coordinates 1–2 mix, but what they span is stable"
    assert found.frame["kind"].tolist() == ["mixed", "mixed"]
    assert found.similarity.min() < 0.9


def test_coordinates_of_noise_are_not_stable():
    X = [np.random.default_rng(0).standard_normal((80, 40))]
    est = vh.DiffusionMaps(2, kernel="gaussian").fit(X)
    found = vh.stability(est, X, n_samples=0.5, n_repeats=6)
    assert "not stable" in found.verdict


def test_it_does_not_depend_on_signs_and_order():
    rng = np.random.default_rng(0)
    Z = _standardised(rng.standard_normal((50, 6)), 3)
    turned = Z[:, :, [1, 0, 2]] * [1, 1, -1]
    similarity = np.array([[0.1, 0.2, 1.0]] * 4)
    groups = _find_groups(similarity, Z, [turned] * 4)
    assert groups == [(0, 1, "mixed"), (2, 2, "stable")]
    other = [_standardised(rng.standard_normal((50, 6)), 3)] * 4
    assert _find_groups(similarity, Z, other)[0] == (0, 0, "unstable")


def test_the_same_seed_gives_the_same_bits_and_leaves_the_estimator_alone():
    views = line()
    est = vh.MultiViewDiffusionMaps(2, kernel=WIDE).fit(views)
    before = est.embedding_.copy()
    one, two = (vh.stability(est, views, n_repeats=3, random_state=1) for _ in range(2))
    assert_array_equal(one.low, two.low)
    assert_array_equal(one.similarity, two.similarity)
    other = vh.stability(est, views, n_repeats=3, random_state=2)
    assert (one.similarity != other.similarity).any()
    assert_array_equal(est.embedding_, before)


def test_incomplete_views_and_progress():
    views = line()
    views["y"][::4] = np.nan
    est = vh.MultiViewDiffusionMaps(1, kernel=WIDE).fit(views)
    told = []
    found = vh.stability(est, views, n_repeats=3, progress=lambda *seen: told.append(seen))
    assert np.isfinite(found.low).all()
    assert told == [("stability", k, 3) for k in (1, 2, 3)]


def test_a_stacked_array_and_automatic_numbers_of_coordinates():
    views = line()
    X = np.hstack([*views.values()])
    est = vh.MultiViewDiffusionMaps(2, views=2, kernel=WIDE).fit(X)
    found = vh.stability(est, vh.Views.from_columns(X, 2), n_repeats=2)
    assert found.similarity.shape == (2, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 120}, "from 10 to 119"),
        ({"n_samples": 1.0}, "share below 1"),
        ({"n_samples": 3}, "from 10 to 119"),
        ({"n_samples": True}, "number of samples or a share"),
        ({"n_samples": "many"}, "number of samples or a share"),
        ({"n_repeats": 1}, "at least 2"),
        ({"n_repeats": 2.5}, "at least 2"),
        ({"level": 1.0}, "between 0 and 1"),
    ],
)
def test_numbers_out_of_range_are_refused(options, message):
    views = line()
    est = vh.MultiViewDiffusionMaps(1, kernel=WIDE).fit(views)
    with pytest.raises(ValueError, match=message):
        vh.stability(est, views, **options)


def test_precomputed_kernels_and_estimators_that_are_not_fitted_are_refused():
    s = np.random.default_rng(0).uniform(size=60)
    K = np.exp(-np.square(s[:, None] - s) / 0.1)
    est = vh.DiffusionMaps(1, kernel="precomputed").fit([K])
    with pytest.raises(ValueError, match="precomputed kernel"):
        vh.stability(est, [K])
    with pytest.raises(NotFittedError):
        vh.stability(vh.DiffusionMaps(1), [K])
