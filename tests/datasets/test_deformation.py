"""Deformed digits: what the formula says, and what is left of a digit."""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

from viewhop.datasets import deformed, load_mnist_2_3
from viewhop.datasets._deformation import _random_fields, _shift_images


def strokes(n=5, side=28):
    rng = np.random.default_rng(3)
    images = np.zeros((n, side, side))
    for image in images:
        row, column = rng.integers(8, 16, size=2)
        image[row : row + 6, column : column + 3] = 0.7
    return images


def test_fields_have_mean_0_and_variance_1_at_every_pixel():
    fields = _random_fields((6000, 12, 15), 2.0, np.random.default_rng(0))
    # Deviations of a mean and of a variance over 6,000 fields; five of them.
    assert_allclose(fields.mean(axis=0), 0, atol=5 / np.sqrt(6000))
    assert_allclose(fields.var(axis=0), 1, atol=5 * np.sqrt(2 / 6000))


def test_smoother_fields_have_smaller_slopes():
    rng = np.random.default_rng(0)
    slopes = [np.diff(_random_fields((50, 28, 28), s, rng), axis=1).std() for s in (1.0, 2.0, 4.0)]
    assert slopes[0] > 1.5 * slopes[1] > 2.25 * slopes[2]


@pytest.mark.parametrize("step", [(-1, 0), (0, 1), (1, -1), (0, 0)])
def test_images_move_as_scipy_moves_them(step):
    images = strokes()
    expected = [ndimage.shift(image, step, order=0) for image in images]
    assert_array_equal(_shift_images(images, np.tile(step, (len(images), 1))), expected)


def test_no_amplitude_leaves_a_move_of_at_most_a_pixel():
    images = strokes(40)
    copies = deformed(images, amplitude=0, random_state=0)
    steps = set()
    for image, moved in zip(images, copies, strict=True):
        candidates = [
            (dy, dx)
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if np.abs(ndimage.shift(image, (dy, dx), order=0) - moved).max() < 1e-6
        ]
        assert len(candidates) == 1
        steps.update(candidates)
    assert len(steps) == 9


def test_deformation_is_that_of_the_formula(monkeypatch):
    images = strokes(2)
    constant = iter([np.float32(0.5), np.float32(-0.25)])
    monkeypatch.setattr(
        "viewhop.datasets._deformation._random_fields",
        lambda shape, smoothness, rng: np.full(shape, next(constant)),
    )
    monkeypatch.setattr("viewhop.datasets._deformation._shift_images", lambda images, steps: images)
    copies = deformed(images, amplitude=1.2, blur=0.9, random_state=0)
    for image, bent in zip(images, copies, strict=True):
        down, across = np.gradient(ndimage.gaussian_filter(image, 0.9))
        expected = np.clip(image + 1.2 * (0.5 * across + 0.25 * down), 0, 1)
        assert_allclose(bent, expected, atol=1e-6)


def test_same_seed_gives_the_same_images_and_input_is_untouched():
    images = strokes()
    before = images.copy()
    first = deformed(images, random_state=4)
    assert_array_equal(first, deformed(images, random_state=4))
    assert np.abs(first - deformed(images, random_state=5)).max() > 0.1
    assert_array_equal(images, before)
    assert first.dtype == np.float32
    assert first.min() >= 0
    assert first.max() <= 1


def test_batches_cover_all_images(monkeypatch):
    monkeypatch.setattr("viewhop.datasets._deformation._BATCH", 2)
    copies = deformed(strokes(5), random_state=0)
    assert (copies.reshape(5, -1).max(axis=1) > 0.3).all()


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        (np.zeros((4, 4)), {}, "n_images, height, width"),
        (np.full((1, 4, 4), 7.0), {}, "from 0 to 1"),
        (np.full((1, 4, 4), np.nan), {}, "from 0 to 1"),
        (np.zeros((1, 4, 4)), {"blur": -1}, "blur"),
        (np.zeros((1, 4, 4)), {"amplitude": np.inf}, "amplitude"),
    ],
)
def test_what_cannot_be_deformed_is_refused(images, options, message):
    with pytest.raises(ValueError, match=message):
        deformed(images, **options)


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("VIEWHOP_DATA"), reason="VIEWHOP_DATA names no folder")
def test_deformed_digits_are_still_told_apart_by_their_neighbours():
    from sklearn.neighbors import KNeighborsClassifier

    digits = load_mnist_2_3()
    images = digits.images / 255.0
    chosen = deformed(images[:1000], random_state=0).reshape(1000, -1)
    others = KNeighborsClassifier(3).fit(images[1000:].reshape(-1, 784), digits.target[1000:])
    assert others.score(chosen, digits.target[:1000]) >= 0.96
