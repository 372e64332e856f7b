"""The loader of COIL-20."""

from __future__ import annotations

import hashlib
import os
from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.datasets import _coil as coil
from viewhop.datasets import load_coil20
from viewhop.errors import DataMissingError


def test_missing_file_is_named_with_its_origin(tmp_path):
    with pytest.raises(DataMissingError, match=r"coil20_64\.npz.*Columbia") as caught:
        load_coil20(tmp_path)
    assert caught.value.file == "coil20_64.npz"


def test_images_come_by_object_and_angle(tmp_path, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (2, 8, 4, 4), dtype=np.uint8)
    path = tmp_path / "coil20_64.npz"
    np.savez(path, images=images)
    with pytest.raises(ValueError, match="SHA-256"):
        load_coil20(tmp_path)
    monkeypatch.setattr(coil, "_SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    data = load_coil20(tmp_path)
    assert_array_equal(data.images, images)
    assert_allclose(data.phase, pi / 4 * np.arange(8), rtol=1e-12)


@pytest.mark.data
@pytest.mark.skipif(
    not os.path.isfile(os.path.join(os.environ.get("VIEWHOP_DATA", ""), "coil20_64.npz")),
    reason="coil20_64.npz is not in the folder that VIEWHOP_DATA names",
)
def test_neighbouring_poses_are_alike():
    data = load_coil20()
    assert data.images.shape == (20, 72, 64, 64)
    pictures = data.images.reshape(20, 72, -1).astype(float)
    near = np.linalg.norm(pictures - np.roll(pictures, 1, axis=1), axis=2)
    far = np.linalg.norm(pictures - np.roll(pictures, 18, axis=1), axis=2)
    assert np.all(near.mean(axis=1) < far.mean(axis=1))
