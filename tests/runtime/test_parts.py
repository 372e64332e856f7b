"""Unfinished files: whose they are, and which of them are swept away."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.command_line import environment
from viewhop._runtime import leftovers, locks, owner, parts
from viewhop._runtime.files import lock_folder, replace_file, stage_files, writable_folder
from viewhop._runtime.leftovers import Leftover, remove_leftovers
from viewhop._runtime.owner import HOST, is_running
from viewhop._runtime.parts import find_stale_parts, is_part_name, sweep

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

#: A process that writes a file, stages two, and waits to be killed.
WRITER = """
import sys, time
from viewhop._runtime.files import lock_folder, replace_file, stage_files
with lock_folder("."), replace_file("file") as file, stage_files(".", last="b") as inside:
    file.write(b"half")
    (inside / "a").write_text("half")
    print("ready", flush=True)
    time.sleep(600)
"""


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def part_name(host=HOST, pid=1, begin=""):
    return f".{begin}{host}-{pid}-0123456789ab.part"


@pytest.fixture
def writer(tmp_path):
    """A living process that writes in the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(),
    )
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


@posix
def test_parts_of_a_living_process_are_left_and_those_of_a_dead_one_removed(writer, tmp_path):
    begun = names(tmp_path)
    assert len([name for name in begun if is_part_name(name)]) == 2
    assert all(f"-{writer.pid}-" in name for name in begun if is_part_name(name))
    assert find_stale_parts(tmp_path) == []
    sweep(tmp_path)
    assert names(tmp_path) == begun
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert names(tmp_path) == begun
    assert [path.name for path in find_stale_parts(tmp_path)] == [
        name for name in begun if is_part_name(name)
    ]
    assert names(tmp_path) == begun  # to look is not to remove
    with replace_file(tmp_path / "new") as file:
        file.write(b"new")
    assert names(tmp_path) == ["new"]


@posix
def test_a_stopped_process_is_alive(writer, tmp_path):
    writer.send_signal(signal.SIGSTOP)
    sweep(tmp_path)
    assert len(names(tmp_path)) == 3
    writer.send_signal(signal.SIGCONT)


def make_part(folder, name, is_folder, age=0.0):
    path = folder / name
    if is_folder:
        (path / "files").mkdir(parents=True)
        (path / "files" / "a").write_text("half")
        (path / "lock").touch()
    else:
        path.write_text("half")
    for each in (path, *path.rglob("*")):
        os.utime(each, (time.time() - age,) * 2)
    return path


@pytest.mark.parametrize("is_folder", [False, True])
def test_number_of_a_living_process_does_not_save_a_dead_ones_part(tmp_path, is_folder):
    """The process of the part is dead, and another has got its number."""
    make_part(tmp_path, part_name(pid=os.getppid(), begin="x.csv."), is_folder)
    sweep(tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("is_folder", [False, True])
def test_parts_of_another_host_are_left_until_they_are_old(tmp_path, is_folder):
    young = make_part(tmp_path, part_name(host="elsewhere"), is_folder, age=3600.0)
    old = make_part(tmp_path, part_name(host="faraway"), is_folder, age=8 * 24 * 3600.0)
    assert find_stale_parts(tmp_path) == [old]
    sweep(tmp_path)
    assert names(tmp_path) == [young.name]


USER = [
    ".part",
    "video.mkv.part",
    ".video.mkv.part",
    ".abc.part",
    f".{HOST}-1.part",
    f".{HOST}-1-0123456789AB.part",
    f"{HOST}-1-0123456789ab.part",
    f".{HOST}-1-0123456789ab.part.bak",
    ".mine.viewhop-lock",
]


@pytest.mark.parametrize("name", USER)
def test_files_of_the_user_are_left(tmp_path, name):
    (tmp_path / name).write_text("mine")
    os.utime(tmp_path / name, (0, 0))
    sweep(tmp_path)
    with stage_files(tmp_path, last="a") as inside:
        (inside / "a").touch()
    assert (tmp_path / name).read_text() == "mine"


@posix
def test_links_and_devices_with_the_name_of_a_part_are_left(tmp_path):
    (tmp_path / "kept").write_text("mine")
    (tmp_path / part_name()).symlink_to(tmp_path / "kept")
    os.mkfifo(tmp_path / part_name(pid=2))
    before = names(tmp_path)
    sweep(tmp_path)
    assert names(tmp_path) == before
    assert (tmp_path / "kept").read_text() == "mine"


def test_folder_whose_process_died_before_it_was_locked_is_swept(tmp_path):
    (tmp_path / part_name()).mkdir()
    sweep(tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("target", ["open_part", "open_part_folder"])
def test_sweep_between_creation_and_lock_makes_the_writer_try_again(tmp_path, monkeypatch, target):
    take, swept = locks.acquire, []

    def sweep_first(handle, *, wait=False):
        if wait and not swept:
            swept.append(True)
            sweep(tmp_path)
            assert names(tmp_path) == []
        return take(handle, wait=wait)

    monkeypatch.setattr(locks, "acquire", sweep_first)
    if target == "open_part":
        with replace_file(tmp_path / "a") as file:
            file.write(b"new")
    else:
        with stage_files(tmp_path, last="a") as inside:
            (inside / "a").write_text("new")
    assert swept
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "new"


def test_sweep_before_the_folder_is_locked_makes_the_writer_try_again(tmp_path, monkeypatch):
    make, swept = os.mkdir, []

    def mkdir(path, *mode):
        make(path, *mode)
        if not swept:
            swept.append(True)
            sweep(tmp_path)

    monkeypatch.setattr(os, "mkdir", mkdir)
    with stage_files(tmp_path, last="a") as inside:
        (inside / "a").write_text("new")
    assert swept
    assert names(tmp_path) == ["a"]


def test_longest_names_can_be_written(tmp_path):
    for name in ("é" * 120 + ".csv", "x" * 251 + ".csv"):
        with replace_file(tmp_path / name) as file:
            file.write(b"new")
        with locks.hold_lock(locks.lock_path(tmp_path / name)):
            pass
        assert (tmp_path / name).read_bytes() == b"new"


# --- without the locks of POSIX ----------------------------------------------------------------


class Msvcrt:
    """The locks of Windows, as far as they are used."""

    LK_LOCK, LK_NBLCK = 1, 2

    def __init__(self):
        self.held = set()

    def locking(self, handle, mode, size):
        assert os.lseek(handle, 0, os.SEEK_CUR) == 2**40
        key = (os.fstat(handle).st_ino, handle)
        if any(inode == key[0] and other != handle for inode, other in self.held):
            raise PermissionError(errno.EACCES, "Permission denied")
        self.held.add(key)


@pytest.fixture
def windows(monkeypatch):
    fake = Msvcrt()
    monkeypatch.setattr(locks, "_fcntl", None)
    monkeypatch.setattr(locks, "_msvcrt", fake)
    return fake


def test_locks_of_windows_are_used_where_there_are_no_others(windows, tmp_path):
    with replace_file(tmp_path / "a") as file:
        file.write(b"new")
        assert len(windows.held) == 1
        windows.held.clear()  # closing the file releases the lock
    assert (tmp_path / "a").read_bytes() == b"new"
    with stage_files(tmp_path, last="a") as inside:
        (inside / "a").write_bytes(b"newer")
        windows.held.clear()
    assert (tmp_path / "a").read_bytes() == b"newer"
    with lock_folder(tmp_path):
        assert names(tmp_path) == [".viewhop-lock", "a"]
        with pytest.raises(BlockingIOError), lock_folder(tmp_path):
            pytest.fail("two at once")
        windows.held.clear()
    assert names(tmp_path) == ["a"]


def test_young_parts_are_left_on_windows(windows, tmp_path):
    """There a file is closed, and so unlocked, just before it takes its place."""
    make_part(tmp_path, part_name(pid=1), False)
    old = make_part(tmp_path, part_name(pid=2), False, age=120.0)
    assert find_stale_parts(tmp_path) == [old]


@posix
def test_without_locks_the_number_of_the_process_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_fcntl", None)
    monkeypatch.setattr(locks, "_msvcrt", None)
    alive = make_part(tmp_path, part_name(pid=os.getpid()), False)
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    make_part(tmp_path, part_name(pid=done.pid), False)
    make_part(tmp_path, part_name(pid=9_999_999_999), True)
    sweep(tmp_path)
    assert names(tmp_path) == [alive.name]


@posix
@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_file_system_without_locks_is_told_and_used(tmp_path, monkeypatch, code):
    def flock(handle, mode):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(
        locks, "_fcntl", SimpleNamespace(flock=flock, LOCK_EX=2, LOCK_NB=4), raising=True
    )
    with (
        pytest.warns(locks.NoLockWarning, match="has no locks: nothing stops another process"),
        lock_folder(tmp_path),
        replace_file(tmp_path / "a") as file,
    ):
        file.write(b"new")
    assert names(tmp_path) == ["a"]


def test_other_failures_of_a_lock_are_errors(tmp_path, monkeypatch):
    def flock(handle, mode):
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(locks, "_fcntl", SimpleNamespace(flock=flock, LOCK_EX=2, LOCK_NB=4))
    with pytest.raises(OSError, match="broken"), lock_folder(tmp_path):
        pytest.fail("no lock")
    assert names(tmp_path) == []


def test_processes_of_others_and_of_windows_count_as_running(monkeypatch):
    assert is_running(os.getpid())

    def refuse(pid, number):
        raise PermissionError(errno.EPERM, "not yours")

    monkeypatch.setattr(owner.os, "kill", refuse)
    assert is_running(1)
    monkeypatch.setattr(owner.os, "name", "nt")
    monkeypatch.setattr(owner.os, "kill", lambda *given: pytest.fail("it would be ended"))
    assert is_running(1)


# --- the lock of an output ---------------------------------------------------------------------


@posix
def test_lock_ends_with_its_process(writer, tmp_path):
    with (
        pytest.raises(BlockingIOError, match=f"process {writer.pid} on {HOST} has been writing"),
        lock_folder(tmp_path),
    ):
        pytest.fail("two at once")
    writer.kill()
    writer.wait()
    with lock_folder(tmp_path):
        assert names(tmp_path) == [".viewhop-lock"]
    assert names(tmp_path) == []


def test_two_threads_exclude_each_other(tmp_path):
    refused = []

    def try_it():
        try:
            with lock_folder(tmp_path):
                pass
        except BlockingIOError as error:
            refused.append(error.strerror)

    with lock_folder(tmp_path):
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
    assert refused[0].startswith(f"process {os.getpid()} (this one) on ")


def test_lock_without_content_is_of_another_process(tmp_path):
    with lock_folder(tmp_path):
        (tmp_path / ".viewhop-lock").write_text("")
        with (
            pytest.raises(BlockingIOError, match="another process is writing there"),
            lock_folder(tmp_path),
        ):
            pytest.fail("two at once")


@posix
def test_lock_file_that_its_owner_removes_meanwhile_is_made_again(tmp_path, monkeypatch):
    take, removed = locks.acquire, []

    def remove_first(handle, *, wait=False):
        if not removed:
            removed.append(True)
            (tmp_path / ".viewhop-lock").unlink()
        return take(handle, wait=wait)

    monkeypatch.setattr(locks, "acquire", remove_first)
    with lock_folder(tmp_path):
        assert names(tmp_path) == [".viewhop-lock"]
    assert names(tmp_path) == []


def test_file_of_the_user_in_the_place_of_the_lock_is_named(tmp_path):
    (tmp_path / ".viewhop-lock").write_text("mine")
    with (
        pytest.raises(FileExistsError, match=r"\.viewhop-lock is not a lock of viewhop; remove it"),
        lock_folder(tmp_path),
    ):
        pytest.fail("not ours")
    assert (tmp_path / ".viewhop-lock").read_text() == "mine"


@posix
def test_parallel_writers_never_lose_a_file(tmp_path):
    """Ten threads write and sweep the same folder; every write takes its place."""
    failures = []

    def work(number):
        try:
            for k in range(15):
                with replace_file(tmp_path / f"{number}") as file:
                    file.write(b"%d" % k)
                with stage_files(tmp_path, last="x") as inside:
                    (inside / f"s{number}").write_text(str(k))
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert names(tmp_path) == sorted(f"{s}{number}" for number in range(10) for s in ("", "s"))
    assert {path.read_text() for path in tmp_path.iterdir()} == {"14"}


# --- what must not stay ------------------------------------------------------------------------


def test_leftovers_are_removed_even_if_a_signal_interrupts_it():
    calls = []

    def remove():
        calls.append(len(calls))
        if len(calls) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Leftover(remove):
        pass
    assert calls == [0, 1]
    assert not leftovers._PENDING


def test_open_blocks_are_left_from_the_last_to_the_first(monkeypatch):
    calls = []
    blocks = [Leftover(lambda k=k: calls.append(k)) for k in range(3)]
    for block in blocks:
        block.__enter__()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)  # a fork must not remove what its parent holds
        remove_leftovers()
    assert calls == []
    remove_leftovers()
    remove_leftovers()
    assert calls == [2, 1, 0]


def test_context_manager_that_was_entered_but_never_left_leaves_nothing(tmp_path):
    """A signal may strike between the two; the command then removes all leftovers."""
    entered = [replace_file(tmp_path / "a"), stage_files(tmp_path, last="b")]
    for each in entered:
        each.__enter__()
    assert len(names(tmp_path)) == 2
    remove_leftovers()
    assert names(tmp_path) == []
    for each in entered:
        assert not each.__exit__(RuntimeError, RuntimeError(), None)


def test_created_folders_go_with_a_failure_and_stay_with_a_success(tmp_path):
    def fail():
        with lock_folder(tmp_path / "a" / "b"):
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    assert names(tmp_path) == []
    with lock_folder(tmp_path / "a" / "b") as folder:
        (folder / "c").touch()
    assert names(tmp_path / "a" / "b") == ["c"]


def test_errors_name_the_file_of_the_user(tmp_path, monkeypatch):
    def full(*paths):
        raise OSError(errno.ENOSPC, "No space left on device", *map(str, paths[:1]))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left") as failed, replace_file(tmp_path / "a"):
        pass
    assert failed.value.filename == str(tmp_path / "a")
    with (
        pytest.raises(OSError, match="No space left") as failed,
        stage_files(tmp_path, last="a") as inside,
    ):
        (inside / "a").touch()
    assert failed.value.filename == str(tmp_path / "a")
    monkeypatch.setattr(os, "fsync", lambda handle: full())
    with pytest.raises(OSError, match="No space left") as failed, replace_file(tmp_path / "a"):
        pass
    assert failed.value.filename == str(tmp_path / "a")


def test_old_files_come_back_where_a_file_has_one_name_only(tmp_path, monkeypatch):
    """Some file systems have no hard links."""

    def refuse(*paths):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    for name in "ab":
        (tmp_path / name).write_text("old")
    move = os.replace

    def fail(source, target):
        if Path(target) == tmp_path / "b" and "files" in Path(source).parts:
            raise KeyboardInterrupt
        move(source, target)

    monkeypatch.setattr(os, "replace", fail)

    def put():
        with stage_files(tmp_path, last="b") as inside:
            for name in "abn":
                (inside / name).write_text("new")

    with pytest.raises(KeyboardInterrupt):
        put()
    assert {name: (tmp_path / name).read_text() for name in names(tmp_path)} == {
        "a": "old", "b": "old",
    }  # fmt: skip


def test_writable_folder_sweeps(tmp_path):
    make_part(tmp_path, part_name(), True)
    writable_folder(tmp_path)
    assert names(tmp_path) == []
    assert parts.PART == ".part"
