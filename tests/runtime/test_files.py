"""Files that are replaced whole."""

from __future__ import annotations

import errno
import os
import stat
import sys

import pytest

from viewhop._runtime.files import replace_file, stage_files, writable_folder


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_new_content_takes_the_place_of_the_old_at_the_end_only(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replace_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_failure_within_leaves_the_old_file_and_nothing_else(tmp_path, failure):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail():
        with replace_file(path) as file:
            file.write(b"half")
            raise failure

    with pytest.raises(type(failure)):
        fail()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_disk_that_fills_up_at_the_end_leaves_the_old_file(tmp_path, monkeypatch, call):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left"), replace_file(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_content_is_on_the_disk_before_the_move(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append("fsync"), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda *args: (calls.append("replace"), replace(*args)))
    with replace_file(tmp_path / "file") as file:
        file.write(b"new")
    assert calls[:2] == ["fsync", "replace"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")
def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    with replace_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="the umask of POSIX")
def test_new_file_has_the_permissions_of_any_other(tmp_path):
    (tmp_path / "other").touch()
    with replace_file(tmp_path / "file") as file:
        file.write(b"new")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("file", "other")}
    assert len(modes) == 1


def test_folder_or_device_in_the_place_of_the_file_is_refused_at_once(tmp_path):
    with pytest.raises(IsADirectoryError), replace_file(tmp_path):
        pytest.fail("too late")
    if os.path.exists("/dev/null"):
        with pytest.raises(OSError, match="not a regular file"), replace_file("/dev/null"):
            pytest.fail("too late")


def test_folder_is_made_and_left_empty(tmp_path):
    folder = writable_folder(tmp_path / "a" / "b")
    assert folder.is_dir()
    assert names(folder) == []


def test_file_in_the_place_of_the_folder_is_an_error(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(FileExistsError):
        writable_folder(tmp_path / "taken")


# --- several files -----------------------------------------------------------------------------


def test_staged_files_take_their_places_together_and_the_last_one_last(tmp_path, monkeypatch):
    for name in ("a", "z", "other"):
        (tmp_path / name).write_text("old")
    moved = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (moved.append(b.name), replace(a, b)))
    with stage_files(tmp_path, last="a") as inside:
        for name in ("a", "m", "z"):
            (inside / name).write_text("new")
        assert (tmp_path / "a").read_text() == "old"
    assert moved == ["m", "z", "a"]
    assert {name: (tmp_path / name).read_text() for name in names(tmp_path)} == {
        "a": "new", "m": "new", "other": "old", "z": "new",
    }  # fmt: skip


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_failure_while_staging_leaves_the_old_files(tmp_path, failure):
    (tmp_path / "a").write_text("old")

    def fail():
        with stage_files(tmp_path, last="b") as inside:
            (inside / "a").write_text("new")
            raise failure

    with pytest.raises(type(failure)):
        fail()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_nothing_is_moved_before_all_is_on_the_disk(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append("fsync"), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append("move"), replace(a, b)))
    with stage_files(tmp_path, last="b") as inside:
        for name in "ab":
            (inside / name).write_text("new")
    assert calls == ["fsync", "fsync", "move", "move", "fsync"]


def test_staged_file_in_the_place_of_a_folder_is_refused_before_any_move(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").mkdir()

    def put():
        with stage_files(tmp_path, last="b") as inside:
            for name in "ab":
                (inside / name).write_text("new")

    with pytest.raises(IsADirectoryError):
        put()
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_staged_files_keep_the_permissions_of_the_old(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    with stage_files(tmp_path, last="a") as inside:
        (inside / "a").write_text("new")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
