"""Features of images, on pictures whose features are known."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

cv2 = pytest.importorskip("cv2", reason="the extra vision is not installed")
pytest.importorskip("skimage", reason="the extra vision is not installed")

from viewhop.experiments import _vision as vision  # noqa: E402


def stripes(angle, side=64, period=8.0, shift=0.0):
    """Bright and dark stripes whose slope points along `angle`, in degrees."""
    y, x = np.mgrid[:side, :side]
    turned = np.deg2rad(angle)
    phase = 2 * np.pi * (x * np.cos(turned) + y * np.sin(turned)) / period + shift
    return np.rint(127.5 + 120 * np.sin(phase)).astype(np.uint8)


def encoded(picture, kind=".png"):
    ok, file = cv2.imencode(kind, picture)
    assert ok
    return file.tobytes()


def test_small_pictures_are_read_as_they_are():
    picture = stripes(30, side=40)
    assert_array_equal(vision.grey([encoded(picture)])[0], picture)


def test_large_pictures_keep_their_shape():
    shapes = [found.shape for found in vision.grey([encoded(np.zeros((200, 500), np.uint8))])]
    assert shapes == [(96, 240)]
    thin = vision.grey([encoded(np.zeros((2, 900), np.uint8), ".jpg")], longest=90)
    assert thin[0].shape == (1, 90)


@pytest.mark.parametrize("content", [b"", b"no picture at all"])
def test_what_is_no_picture_is_named(content):
    with pytest.raises(ValueError, match="picture 1 "):
        vision.grey([encoded(stripes(0)), content])


@pytest.mark.parametrize("angle", [0, 36, 72, 108, 144])
def test_edges_fall_into_the_bin_of_their_direction(angle):
    shares = vision.phog([stripes(angle)], n_levels=1, n_bins=5)[0]
    assert int(np.argmax(shares)) == angle // 36
    assert shares.max() > 0.9


def test_levels_are_sums_of_the_next_where_sides_divide():
    rng = np.random.default_rng(0)
    picture = cv2.GaussianBlur(rng.integers(256, size=(64, 64)).astype(np.uint8), (0, 0), 2)
    shares = vision.phog([picture], n_levels=3, n_bins=6)[0]
    one, four, sixteen = shares[:6], shares[6:30].reshape(2, 2, 6), shares[30:].reshape(4, 4, 6)
    assert_allclose(one, four.sum(axis=(0, 1)), rtol=1e-12)
    assert_allclose(four, sixteen.reshape(2, 2, 2, 2, 6).sum(axis=(1, 3)), rtol=1e-12)
    assert_allclose(shares.sum(), 1, rtol=1e-12)


@pytest.mark.parametrize("part", [(0, 1), (1, 0), (1, 1)])
def test_parts_are_where_the_edges_are(part):
    picture = np.full((64, 96), 128, np.uint8)
    row, column = 8 + 32 * part[0], 16 + 48 * part[1]
    picture[row : row + 16, column : column + 16] = stripes(0)[:16, :16]
    four = vision.phog([picture], n_levels=2, n_bins=4)[0][4:].reshape(2, 2, 4).sum(axis=2)
    assert four[part] > 0.99 * four.sum()


def test_picture_without_an_edge_has_equal_shares():
    shares = vision.phog([np.full((32, 32), 9, np.uint8)], n_levels=2, n_bins=3)[0]
    assert_allclose(shares, 1 / 15, rtol=1e-12)


def test_words_part_textures():
    rng = np.random.default_rng(0)
    pictures = [stripes(angle, shift=rng.uniform(0, 6)) for angle in (0, 45, 90) for _ in range(6)]
    shares = vision.bags_of_words(pictures, n_words=12, random_state=0)
    assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    apart = np.square(np.sqrt(shares)[:, None] - np.sqrt(shares)[None]).sum(axis=2)
    groups = np.repeat(np.arange(3), 6)
    same = groups[:, None] == groups
    assert apart[same].max() < apart[~same].min()


def test_nearest_word_is_the_nearest():
    rng = np.random.default_rng(0)
    found = rng.integers(256, size=(50, 128)).astype(np.uint8)
    words = rng.uniform(0, 255, size=(9, 128)).astype(np.float32)
    apart = np.linalg.norm(found[:, None].astype(float) - words, axis=2)
    assert_array_equal(vision._nearest_words(found, words), apart.argmin(axis=1))


def test_threads_change_nothing_and_progress_is_told():
    pictures = [stripes(angle) for angle in (0, 20, 40, 60)]
    told = []
    one = vision.phog(pictures, n_jobs=1, progress=lambda *each: told.append(each))
    assert_array_equal(one, vision.phog(pictures, n_jobs=2))
    assert told[-1] == ("PHOG", 4, 4)
    words = [vision.bags_of_words(pictures, n_words=6, n_jobs=jobs) for jobs in (1, 2)]
    assert_array_equal(*words)


@pytest.mark.parametrize(
    ("pictures", "told"),
    [
        ([], "at least one picture"),
        ([np.zeros((40, 40, 3), np.uint8)], "picture 0: expected a"),
        ([stripes(0), np.zeros((40, 40))], "picture 1: expected a"),
        ([np.zeros((3, 40), np.uint8)], "3 × 40 pixels"),
    ],
)
def test_what_has_no_features_is_refused(pictures, told):
    for describe in (vision.phog, vision.bags_of_words):
        with pytest.raises(ValueError, match=told):
            describe(pictures)


def test_more_words_than_descriptors_are_refused():
    with pytest.raises(ValueError, match="use fewer words"):
        vision.bags_of_words([stripes(0)], n_words=1000)


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("cv2", lambda: vision.grey([b"x"])),
        ("cv2", lambda: vision.bags_of_words([stripes(0)])),
        ("skimage.feature", lambda: vision.phog([stripes(0)])),
    ],
)
def test_missing_package_names_the_extra(monkeypatch, module, call):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"viewhop\[vision\]"):
        call()
