"""Sets that are read from a folder: small files made here, and the real ones where they are."""

from __future__ import annotations

import hashlib
import os
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from viewhop.datasets import _remote as remote
from viewhop.datasets import load_caltech101, load_isolet, load_mnist_2_3
from viewhop.errors import DataMissingError

real = [
    pytest.mark.data,
    pytest.mark.skipif(not os.environ.get("VIEWHOP_DATA"), reason="VIEWHOP_DATA names no folder"),
]


def known(monkeypatch, constant, path):
    """Take a file of the test's own for the one that is known."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(remote, constant, (path.name, digest))


@pytest.fixture
def digits(tmp_path, monkeypatch):
    images = np.arange(3 * 28 * 28, dtype=np.uint8).reshape(3, 28, 28)
    np.savez(tmp_path / "mnist_2_3.npz", images=images, label=np.array([2, 3, 3], np.uint8))
    known(monkeypatch, "_MNIST", tmp_path / "mnist_2_3.npz")
    return tmp_path, images


def test_digits_are_read_as_images_and_as_pixels_from_0_to_1(digits):
    folder, images = digits
    data = load_mnist_2_3(folder)
    assert_array_equal(data.images, images)
    assert_array_equal(data.views["pixels"], images.reshape(3, 784) / np.float32(255))
    assert data.views["pixels"].dtype == np.float32
    assert_array_equal(data.target, [2, 3, 3])
    assert "MNIST" in data.DESCR


def test_letters_are_counted_from_0(tmp_path, monkeypatch):
    features = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    np.savez(tmp_path / "isolet5.npz", X=features, label=np.array([1, 2, 26, 26], np.int16))
    known(monkeypatch, "_ISOLET", tmp_path / "isolet5.npz")
    data = load_isolet(tmp_path)
    assert_array_equal(data.views["features"], features.astype(np.float64))
    assert [data.target_names[label] for label in data.target] == ["A", "B", "Z", "Z"]
    assert "CC BY 4.0" in data.DESCR


def archive(tmp_path, monkeypatch, members):
    path = tmp_path / "caltech101_15.zip"
    with ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    known(monkeypatch, "_CALTECH", path)
    return tmp_path


def test_pictures_stand_by_category_and_number(tmp_path, monkeypatch):
    folder = archive(
        tmp_path,
        monkeypatch,
        {
            "owl/image_0002.jpg": b"o2",
            "crab/image_0002.jpg": b"c2",
            "crab/image_0001.jpg": b"c1",
            "owl/image_0001.jpg": b"o1",
        },
    )
    data = load_caltech101(folder)
    assert data.images == [b"c1", b"c2", b"o1", b"o2"]
    assert [data.target_names[label] for label in data.target] == ["crab", "crab", "owl", "owl"]
    assert load_caltech101(folder, per_class=1).images == [b"c1", b"o1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["caltech101_15.zip"]


@pytest.mark.parametrize(
    "name",
    ["../image_0001.jpg", "/etc/image_0001.jpg", "owl/image_0001.png", "a/b/image_0001.jpg"],
)
def test_members_of_other_names_are_refused(tmp_path, monkeypatch, name):
    folder = archive(tmp_path, monkeypatch, {"owl/image_0001.jpg": b"o1", name: b"x"})
    with pytest.raises(ValueError, match=r"expected CATEGORY/image_NNNN\.jpg"):
        load_caltech101(folder)


def test_large_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "_LARGEST", 3)
    folder = archive(tmp_path, monkeypatch, {"owl/image_0001.jpg": b"four"})
    with pytest.raises(ValueError, match=r"\(4 bytes\)"):
        load_caltech101(folder)


@pytest.mark.parametrize("per_class", [0, 16])
def test_other_numbers_of_pictures_are_refused(tmp_path, per_class):
    with pytest.raises(ValueError, match="from 1 to 15"):
        load_caltech101(tmp_path, per_class=per_class)


@pytest.mark.parametrize("load", [load_mnist_2_3, load_isolet, load_caltech101])
def test_missing_file_is_named(tmp_path, load):
    with pytest.raises(DataMissingError, match=r"no \w+\.(npz|zip)"):
        load(tmp_path)


def test_changed_file_is_refused(digits):
    folder, _ = digits
    with (folder / "mnist_2_3.npz").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ValueError, match="SHA-256"):
        load_mnist_2_3(folder)


def test_objects_are_not_unpickled(tmp_path, monkeypatch):
    np.savez(tmp_path / "isolet5.npz", X=np.array([{}], dtype=object), label=np.zeros(1))
    known(monkeypatch, "_ISOLET", tmp_path / "isolet5.npz")
    with pytest.raises(ValueError, match="allow_pickle"):
        load_isolet(tmp_path)


class TestRealFiles:
    pytestmark = real

    def test_digits(self):
        data = load_mnist_2_3()
        assert data.images.shape == (12089, 28, 28)
        assert_array_equal(np.unique(data.target), [2, 3])

    def test_letters(self):
        data = load_isolet()
        assert data.views["features"].shape == (1559, 617)
        assert_array_equal(np.unique(data.target), np.arange(26))

    def test_pictures(self):
        data = load_caltech101(per_class=10)
        assert len(data.images) == 1010
        assert_array_equal(np.bincount(data.target), np.full(101, 10))
        assert all(image.startswith(b"\xff\xd8") for image in data.images)
