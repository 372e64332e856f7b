"""Small differences on top of a huge number: what the input still holds is not lost."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from viewhop.kernels import Gaussian, Laplacian

KERNELS = {
    "dense": Gaussian(),
    "dense, local": Gaussian("local"),
    "dense, log-log": Gaussian("log-log"),
    "dense, Laplacian": Laplacian(),
    "neighbours": Gaussian(n_neighbors=12),
    "adaptive": Gaussian("local", n_neighbors=12, alpha=1.0, scale_neighbors=10, taper=0.2),
    "all scales together": Gaussian("connected"),
}
WALKS = {"default": {"joint_view": False}, "paper": {"within_view_weight": 0.0}}


def noisy_curves(noise):
    """Two views of a curve, of this size, on top of 1e8."""
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 5, 60))
    plain = [np.c_[np.cos(angle), np.sin(angle)], np.c_[angle, np.sin(angle), np.cos(2 * angle)]]
    return [1e8 + noise * (X + 0.05 * rng.standard_normal(X.shape)) for X in plain]


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
@pytest.mark.parametrize("noise", [1.0, 1e-3])
def test_noise_on_an_offset_of_1e8_keeps_its_embedding(noise, walk, kernel):
    moved = noisy_curves(noise)
    # What the numbers hold after the offset, without it: an exact difference.
    held = [X - 1e8 for X in moved]
    assert min(np.unique(X, axis=0).shape[0] for X in held) == 60
    make = lambda: vh.MultiViewDiffusionMaps(3, kernel=kernel, random_state=0, **walk)  # noqa: E731
    expected, found = make().fit(held), make().fit(moved)
    assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=1e-9, rtol=0)
    assert_allclose(found.embedding_, expected.embedding_, atol=1e-6, rtol=0)
    new = [X[:7] + noise / 16 for X in moved]
    placed = expected.transform([X - 1e8 for X in new])
    assert_allclose(found.transform(new), placed, atol=1e-6, rtol=0)


@pytest.mark.parametrize("noise", [1.0, 1e-3])
def test_standardising_on_an_offset_loses_no_more_than_the_offset_did(noise):
    # The quotient of a number of size 1e8 is rounded, as the number itself was.
    lost = np.spacing(1e8) / noise
    moved = noisy_curves(noise)
    make = lambda: vh.MultiViewDiffusionMaps(3, kernel=Gaussian(standardize=True))  # noqa: E731
    expected, found = make().fit([X - 1e8 for X in moved]), make().fit(moved)
    assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=lost, rtol=0)
    assert_allclose(found.embedding_, expected.embedding_, atol=30 * lost, rtol=0)
