"""Files that are replaced whole."""

from __future__ import annotations

import errno
import os
import stat
import sys

import pytest

from viewhop.files import replaced, writable_folder


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_new_content_takes_the_place_of_the_old_at_the_end_only(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replaced(path) as file:
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
        with replaced(path) as file:
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
    with pytest.raises(OSError, match="No space left"), replaced(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_content_is_on_the_disk_before_the_move(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append("fsync"), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda *args: (calls.append("replace"), replace(*args)))
    with replaced(tmp_path / "file") as file:
        file.write(b"new")
    assert calls[:2] == ["fsync", "replace"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")
def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    with replaced(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="the umask of POSIX")
def test_new_file_has_the_permissions_of_any_other(tmp_path):
    (tmp_path / "other").touch()
    with replaced(tmp_path / "file") as file:
        file.write(b"new")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("file", "other")}
    assert len(modes) == 1


def test_folder_or_device_in_the_place_of_the_file_is_refused_at_once(tmp_path):
    with pytest.raises(IsADirectoryError), replaced(tmp_path):
        pytest.fail("too late")
    if os.path.exists("/dev/null"):
        with pytest.raises(OSError, match="no regular file"), replaced("/dev/null"):
            pytest.fail("too late")


def test_folder_is_made_and_left_empty(tmp_path):
    folder = writable_folder(tmp_path / "a" / "b")
    assert folder.is_dir()
    assert names(folder) == []


def test_file_in_the_place_of_the_folder_is_an_error(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(FileExistsError):
        writable_folder(tmp_path / "taken")
