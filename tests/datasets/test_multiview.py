"""The standard multi-view sets: small files made here, and the real ones where they are."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from viewhop.datasets import _multiview as multiview
from viewhop.datasets import load_multiview, load_scgem
from viewhop.errors import DataMissingError

real = [
    pytest.mark.data,
    pytest.mark.skipif(not os.environ.get("VIEWHOP_DATA"), reason="VIEWHOP_DATA names no folder"),
]
#: Samples, views and classes of each set.
SIZES = {
    "ORL": (400, 4, 40),
    "LandUse": (2100, 3, 21),
    "MNIST4": (4000, 3, 4),
    "PIE": (680, 3, 68),
    "Wiki": (2866, 2, 10),
    "BDGP": (2500, 2, 5),
    "Prokaryotic": (551, 3, 4),
    "Newsgroups": (500, 3, 5),
    "BBC": (685, 4, 5),
    "Reuters": (1200, 5, 6),
    "WebKB": (1051, 2, 2),
    "Movies": (617, 2, 17),
}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def faces(tmp_path, monkeypatch):
    """A file of the test's own in place of ORL; the label stands first, as in some real files."""
    path = tmp_path / "multiview_ORL.npz"
    np.savez(
        path,
        label=np.array([7, 3, 7], np.int16),
        view1=np.arange(6, dtype=np.int16).reshape(3, 2),
        view2=np.ones((3, 4), np.float32),
    )
    monkeypatch.setitem(multiview.MULTIVIEW, "ORL", (digest(path), "three faces"))
    return tmp_path


def test_views_keep_their_order_and_classes_are_counted_from_0(faces):
    data = load_multiview("ORL", faces)
    assert data.views.names == ("view1", "view2")
    assert_array_equal(data.views["view1"], [[0, 1], [2, 3], [4, 5]])
    assert {array.dtype for array in data.views.arrays} == {np.dtype(np.float64)}
    assert_array_equal(data.target, [1, 0, 1])
    assert data.target_names == ["3", "7"]
    assert "three faces" in data.DESCR


def test_the_folder_may_come_from_the_environment(faces, monkeypatch):
    monkeypatch.setenv("VIEWHOP_DATA", str(faces))
    assert len(load_multiview("ORL").views) == 3


def test_cells_have_two_named_views(tmp_path, monkeypatch):
    path = tmp_path / "scgem.npz"
    np.savez(
        path,
        expression=np.eye(4, 3),
        methylation=np.eye(4, 2),
        label=np.array([1, 2, 2, 5], np.int8),
    )
    monkeypatch.setattr(multiview, "_SCGEM", (path.name, digest(path)))
    data = load_scgem(tmp_path)
    assert data.views.names == ("expression", "methylation")
    assert_array_equal(data.target, [0, 1, 1, 2])
    assert data.target_names == ["1", "2", "5"]


def test_unknown_set_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown set 'orl'; choose from ORL, LandUse"):
        load_multiview("orl")


@pytest.mark.parametrize("name", multiview.MULTIVIEW)
def test_missing_file_is_named_with_its_origin(tmp_path, name):
    with pytest.raises(DataMissingError, match=rf"no multiview_{name}\.npz in .*your own copy"):
        load_multiview(name, tmp_path)


def test_no_folder_is_an_error_that_says_how_to_set_one(monkeypatch):
    monkeypatch.delenv("VIEWHOP_DATA", raising=False)
    with pytest.raises(DataMissingError, match="set VIEWHOP_DATA"):
        load_scgem()


def test_changed_file_is_refused(faces):
    with (faces / "multiview_ORL.npz").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ValueError, match="SHA-256"):
        load_multiview("ORL", faces)


def test_objects_are_not_unpickled(tmp_path, monkeypatch):
    path = tmp_path / "multiview_ORL.npz"
    np.savez(path, view1=np.array([[{}]], dtype=object), label=np.zeros(1))
    monkeypatch.setitem(multiview.MULTIVIEW, "ORL", (digest(path), "objects"))
    with pytest.raises(ValueError, match="allow_pickle"):
        load_multiview("ORL", tmp_path)


class TestRealFiles:
    pytestmark = real

    @pytest.mark.parametrize("name", SIZES)
    def test_set(self, name):
        data = load_multiview(name)
        n_samples, n_views, n_classes = SIZES[name]
        assert data.views.shape[0] == n_samples
        assert data.views.names == tuple(f"view{l}" for l in range(1, n_views + 1))
        assert_array_equal(np.unique(data.target), np.arange(n_classes))

    def test_every_set_is_tried(self):
        assert SIZES.keys() == multiview.MULTIVIEW.keys()

    def test_cells(self):
        data = load_scgem()
        assert data.views["expression"].shape == (177, 34)
        assert data.views["methylation"].shape == (177, 27)
        assert_array_equal(np.bincount(data.target), [35, 40, 32, 36, 34])
