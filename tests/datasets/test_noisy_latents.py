"""Two views of latent parameters with noise of their own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.datasets import make_noisy_latents


def test_linear_views_are_frames_times_latents_plus_noise_of_the_stated_covariance():
    drawn = make_noisy_latents(200_000, noise=2.0, n_features=4, random_state=0)
    for view in "xy":
        frame = drawn.frames[view]
        assert_allclose(frame.T @ frame, np.eye(2), atol=1e-12)
        assert_allclose(drawn.clean[view], drawn.latent @ frame.T, atol=1e-12)
        noise = drawn.views[view] - drawn.clean[view]
        assert_allclose(noise.T @ noise / len(noise), drawn.noise_covariances[view], atol=0.05)
        values = np.linalg.eigvalsh(drawn.noise_covariances[view])
        assert_allclose(values, [0.04, 0.04, 0.04, 4.04], rtol=1e-10)
    own = [drawn.views[view] - drawn.clean[view] for view in "xy"]
    assert np.abs(own[0].T @ own[1] / len(own[0])).max() < 0.05


def test_curves_keep_the_order_of_the_latent_parameter():
    drawn = make_noisy_latents(50, kind="curves", noise=0.0, random_state=1)
    order = np.argsort(drawn.latent[:, 0])
    arc, wave = (drawn.clean[view] @ drawn.frames[view] for view in "xy")
    assert_allclose(np.hypot(*arc.T), 1, rtol=1e-12)
    assert (np.diff(arc[order, 0]) < 0).all()
    assert (np.diff(wave[order, 0]) > 0).all()
    assert_array_equal(drawn.views["x"], drawn.clean["x"])


def test_a_seed_gives_the_same_draw_and_noise_scales_it():
    one, other = (make_noisy_latents(20, noise=size, random_state=3) for size in (1.0, 3.0))
    assert_array_equal(one.clean["y"], other.clean["y"])
    assert_allclose(
        3 * (one.views["y"] - one.clean["y"]), other.views["y"] - other.clean["y"], atol=1e-12
    )


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "round"}, {"n_samples": 1}, {"n_features": 1}, {"noise": -1.0}, {"noise": np.nan}],
    ids=str,
)
def test_arguments_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        make_noisy_latents(**{"n_samples": 10, **wrong})
