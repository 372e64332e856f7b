"""Saving: the same bytes for the same fit, and errors that name the path of the user."""

from __future__ import annotations

import builtins
import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import viewhop as vh
from tests.support.model_files import put_together, taken_apart
from viewhop._runtime import files

DATA = Path(__file__).parents[1] / "data"

FIT = """
import sys
import numpy as np
import viewhop as vh

rng = np.random.default_rng(0)
A = rng.standard_normal((60, 3))
B = np.column_stack([A[:, 0] ** 2, A[:, 1] + 0.1 * rng.standard_normal(60)])
C = np.vstack([A[:30], A[30:] + 9.0])
folder = sys.argv[1]
vh.MultiViewDiffusionMaps(3, random_state=0).fit({"a": A, "b": B}).save(f"{folder}/auto.viewhop")
vh.MultiViewDiffusionMaps(
    2, kernel="gaussian", fusion="product", random_state=0
).fit([A, B]).save(f"{folder}/product.viewhop")
vh.MultiViewSpectralClustering("auto", random_state=0).fit([C, C**2]).save(
    f"{folder}/clusters.viewhop"
)
vh.DeSaEmbedding(2, kernel="gaussian", random_state=0).fit([A, B]).save(f"{folder}/desa.viewhop")
vh.DiffusionMaps(2, random_state=0).fit(A).save(f"{folder}/one.viewhop")
"""


def test_the_same_fit_in_two_processes_gives_the_same_bytes(tmp_path):
    found = []
    for seed in ("1", "2"):  # of hashes of text, which must not matter
        folder = tmp_path / seed
        folder.mkdir()
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", FIT, str(folder)],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"},
        )
        found.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert len(found[0]) == 5
    assert [*found[0]] == [*found[1]]
    for name, content in found[0].items():
        assert content == found[1][name], name


@pytest.fixture(scope="module")
def fitted():
    X = np.random.default_rng(0).standard_normal((30, 3))
    return vh.MultiViewDiffusionMaps(2, kernel="gaussian", random_state=0).fit([X, X**2])


def test_seconds_are_not_saved(tmp_path, fitted):
    assert set(fitted.timings_) == {"selection", "kernels", "solve", "extension"}
    fitted.save(tmp_path / "m.viewhop")
    content = (tmp_path / "m.viewhop").read_bytes()
    assert "timings" not in taken_apart(content)[0]["model"]["learned"]["geometry"]["record"]
    again = vh.load(tmp_path / "m.viewhop")
    assert again.timings_ == {}
    again.save(tmp_path / "n.viewhop")
    assert (tmp_path / "n.viewhop").read_bytes() == content


def test_a_refit_of_a_loaded_model_has_seconds(tmp_path, fitted):
    fitted.save(tmp_path / "m.viewhop")
    X = np.random.default_rng(0).standard_normal((30, 3))
    again = vh.load(tmp_path / "m.viewhop").fit([X, X**2])
    assert all(seconds > 0 for seconds in again.timings_.values())
    assert len(again.timings_) == 4


@pytest.mark.parametrize("version", [1, 2])
def test_files_with_seconds_go_on_loading(version):
    est = vh.load(DATA / f"golden-{version}.viewhop")
    assert set(est.timings_) == {"selection", "kernels", "solve", "extension"}
    assert est.timings_["solve"] > 0


def test_seconds_of_a_file_are_checked(tmp_path):
    manifest, members = taken_apart((DATA / "golden-2.viewhop").read_bytes())
    manifest["model"]["learned"]["geometry"]["record"]["timings"]["solve"] = -1
    (tmp_path / "m.viewhop").write_bytes(put_together(manifest, members))
    with pytest.raises(vh.errors.ModelFileError, match="the timings: -1 is too small"):
        vh.load(tmp_path / "m.viewhop")


def message_of(fitted, path):
    with pytest.raises(OSError, match=r"\w") as caught:
        fitted.save(path)
    assert caught.value.filename == str(path)
    assert ".part" not in str(caught.value)
    assert "None" not in str(caught.value)
    return caught.value


def test_a_missing_folder_names_the_path(tmp_path, fitted):
    error = message_of(fitted, tmp_path / "none" / "m.viewhop")
    assert isinstance(error, FileNotFoundError)


def test_a_relative_path_is_named_as_it_was_given(tmp_path, fitted, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error = message_of(fitted, Path("none", "m.viewhop"))
    assert "'none/m.viewhop'" in str(error).replace("\\\\", "/")


def test_a_folder_in_place_of_a_file_is_named(tmp_path, fitted):
    (tmp_path / "m.viewhop").mkdir()
    assert isinstance(message_of(fitted, tmp_path / "m.viewhop"), IsADirectoryError)


def test_a_file_in_place_of_a_folder_is_named(tmp_path, fitted):
    (tmp_path / "m").write_text("x")
    assert isinstance(message_of(fitted, tmp_path / "m" / "m.viewhop"), NotADirectoryError)


def test_a_name_that_is_too_long_is_named(tmp_path, fitted):
    assert message_of(fitted, tmp_path / ("m" * 300)).errno == errno.ENAMETOOLONG


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO])
def test_a_full_or_locked_disk_names_the_path(tmp_path, fitted, monkeypatch, call, code):
    path = tmp_path / "m.viewhop"
    path.write_bytes(b"old")
    owner = builtins if call == "open" else os
    plain = getattr(owner, call)

    def fail(first, *others, **named):
        if call == "fsync" or str(first).endswith(".part"):
            raise OSError(code, os.strerror(code), None if call == "fsync" else str(first))
        return plain(first, *others, **named)

    monkeypatch.setattr(owner, call, fail)
    assert message_of(fitted, path).errno == code
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [path]


def test_errors_of_something_else_keep_their_names(tmp_path):
    def write():
        with files.replace_file(tmp_path / "m"):
            (tmp_path / "other").read_bytes()

    with pytest.raises(FileNotFoundError) as caught:
        write()
    assert caught.value.filename == str(tmp_path / "other")
