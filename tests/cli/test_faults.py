"""Disks that are full or refuse to be written: every command leaves what was there."""

from __future__ import annotations

import builtins
import errno
import io
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import invoked
from tests.support.commands import (
    COMMANDS,
    OLD,
    hidden,
    make_old,
    remember_results,
    restore,
    state,
    write_input,
)
from viewhop._runtime.locks import hold_lock, lock_path

pytest.importorskip("obspy")

#: Calls that go on failing once the disk is full. A rename needs no space.
LASTING = {"open", "write", "fsync", "mkdir", "link"}


class Faults:
    """The calls by which a command changes its output; one of them fails, and those after it.

    Parameters
    ----------
    folder : Path
        Of the output.
    fails : int or None
        Number of the first call that fails.
    code : int
        The errno of the failure.
    """

    def __init__(self, folder, fails=None, code=errno.ENOSPC):
        self.folder, self.fails, self.code = folder, fails, code
        self.calls = []

    def __enter__(self):
        self.patch = pytest.MonkeyPatch()
        for name in ("fsync", "replace", "link", "mkdir", "write"):
            self.patch.setattr(os, name, self.counted(name, getattr(os, name)))
        for module in (io, builtins):
            self.patch.setattr(module, "open", self.open)
        return self

    def __exit__(self, *error):
        self.patch.undo()

    def step(self, kind):
        self.calls.append(kind)
        number = len(self.calls) - 1
        if self.fails is not None and (
            number == self.fails or (number > self.fails and kind in LASTING)
        ):
            raise OSError(self.code, os.strerror(self.code))

    def counted(self, kind, call):
        def step(*arguments, **options):
            self.step(kind)
            return call(*arguments, **options)

        return step

    def open(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, *more):
        if isinstance(file, int) or not set(mode) & set("wxa+") or not self.is_inside(file):
            return _open(file, mode, buffering, encoding, errors, newline, *more)
        self.step("open")
        raw = _File(file, mode.replace("b", "").replace("t", ""))
        raw.step = self.step
        held = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return held if "b" in mode else io.TextIOWrapper(held, encoding, errors, newline)

    def is_inside(self, file):
        return self.folder in Path(os.path.abspath(os.fsdecode(file))).parents


_open = builtins.open


class _File(io.FileIO):
    """A file whose writes are counted."""

    def write(self, data):
        self.step("write")
        return super().write(data)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    write_input(folder)
    return folder


@pytest.fixture
def here(given, tmp_path, monkeypatch):
    """A folder with the input of all commands, in which long computations run once."""
    shutil.copytree(given, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    remember_results(monkeypatch.setattr)
    return tmp_path


def run_once(here, name):
    """The state of the output after a run, what an earlier run may have left, and the calls."""
    command = COMMANDS[name]
    with Faults(here) as faults:
        done = invoked(*command.arguments)
    assert done.exit_code == 0, done.output
    new = state(here / command.out)
    return new, make_old(new, is_run=name == "report of a run"), faults.calls


def check_fault(here, name, old, number, kind, code):
    """Whether a command fails in one line and leaves everything, or succeeds."""
    command = COMMANDS[name]
    place = here / command.out
    with Faults(here, number, code):
        done = invoked(*command.arguments)
    where = f"{name}: call {number} ({kind})"
    assert hidden(here) == [], where
    if done.exit_code == 0:
        # A folder that cannot be flushed or a link that cannot be made has another way.
        assert kind in ("fsync", "link"), where
        if old is not None:
            restore(place, old)
        else:
            shutil.rmtree(place) if place.is_dir() else place.unlink()
        return False
    assert done.exit_code == 1, f"{where}\n{done.output}"
    error = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert len(error) == 1, f"{where}\n{done.output}"
    assert error[0] == done.stderr.splitlines()[-1]
    assert f"cannot write to {command.out}" in error[0], error
    assert os.strerror(code) in error[0]
    assert ".part" not in error[0]
    assert state(place) == old, where
    return True


def choose_calls(calls, most):
    """All calls, or one of each kind, drawn at random."""
    if most is None:
        return [*enumerate(calls)]
    rng = random.Random(0)
    kinds = sorted({*calls}, key=lambda kind: (kind != "write", kind != "replace", kind))
    return [
        (rng.choice([k for k, each in enumerate(calls) if each == kind]), kind)
        for kind in kinds[:most]
    ]


def check_faults(here, name, code, most=None):
    """The number of faults that a command met; they leave its earlier output."""
    new, old, calls = run_once(here, name)
    assert {"open", "write", "fsync", "replace"} <= {*calls}
    place = here / COMMANDS[name].out
    restore(place, old)
    chosen = choose_calls(calls, most)
    failed = sum(check_fault(here, name, old, number, kind, code) for number, kind in chosen)
    assert failed
    done = invoked(*COMMANDS[name].arguments)
    assert done.exit_code == 0
    assert [*state(place)] == [*new] if COMMANDS[name].is_folder else state(place) == new
    return failed


QUICK = [name for name, command in COMMANDS.items() if not command.is_slow]


@pytest.mark.parametrize("name", QUICK)
def test_full_disk_leaves_the_earlier_output(here, name):
    check_faults(here, name, errno.ENOSPC, most=5 if name in ("fit", "data") else 2)


def test_output_that_may_not_be_written_is_left(here):
    check_faults(here, "data", errno.EACCES, most=4)


@pytest.mark.slow
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_call_may_fail(here, name, code, record_property):
    failed = check_faults(here, name, code)
    record_property("faults", failed)


@pytest.mark.parametrize("name", ["data", "transform"])
def test_first_run_that_fails_leaves_nothing(here, name):
    _, _, calls = run_once(here, name)
    place = here / COMMANDS[name].out
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    for number, kind in enumerate(calls):
        check_fault(here, name, None, number, kind, errno.ENOSPC)


def test_move_that_fails_puts_the_files_moved_before_it_back(here):
    _, old, calls = run_once(here, "fit")
    restore(here / "out", old)
    moves = [number for number, kind in enumerate(calls) if kind == "replace"]
    assert len(moves) >= 4
    for number in moves:
        assert check_fault(here, "fit", old, number, "replace", errno.EIO)


# --- real file systems -------------------------------------------------------------------------


@pytest.fixture
def mount(tmp_path):
    """A function that mounts a file system in memory, if this user may."""
    mounted = []

    def mount(size):
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except FileNotFoundError:
            pytest.skip("no mount")
        if done.returncode:
            pytest.skip("only root may mount")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", str(place)], check=True)


def on_disk(name, disk):
    """The arguments of a command whose output is on a disk, and the output."""
    command = COMMANDS[name]
    where = disk / "out" if command.is_folder else disk / "out" / command.out
    return [*command.arguments[:-1], str(where)], where


@pytest.mark.skipif(sys.platform != "linux", reason="file systems of Linux")
@pytest.mark.parametrize("name", ["fit", "data", "transform", "seismic simulate"])
def test_disk_that_is_really_full_leaves_the_earlier_output(here, mount, name):
    disk = mount("8m")
    arguments, where = on_disk(name, disk)
    done = invoked(*arguments)
    assert done.exit_code == 0, done.output
    old = make_old(state(where))
    restore(where, old)
    filler = disk / "filler"
    for free in (0, 4096, 16384):
        with filler.open("wb") as file:
            space = os.statvfs(disk)
            file.write(bytes(space.f_bavail * space.f_frsize - free))
        done = invoked(*arguments)
        filler.unlink()
        if done.exit_code:
            assert f"cannot write to {where}" in done.stderr
            assert "No space left on device" in done.stderr
            assert state(where) == old
            assert hidden(disk) == []
    assert invoked(*arguments).exit_code == 0
    assert OLD not in (state(where).values() if where.is_dir() else [state(where)])


@pytest.mark.skipif(sys.platform != "linux", reason="file systems of Linux")
@pytest.mark.parametrize("name", ["fit", "data", "transform", "seismic sonogram"])
def test_disk_that_is_read_only_is_named(here, mount, name):
    disk = mount("8m")
    arguments, where = on_disk(name, disk)
    assert invoked(*arguments).exit_code == 0
    old = state(where)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    done = invoked(*arguments)
    assert done.exit_code == 1
    assert f"Error: cannot write to {where}: Read-only file system" in done.stderr
    assert state(where) == old


# --- two processes -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_second_process_with_the_same_output_is_refused(here, monkeypatch, name):
    command = COMMANDS[name]
    place = here / command.out
    if command.is_folder:
        place.mkdir(exist_ok=True)
    before = state(place)
    with hold_lock(lock_path(place)):
        done = invoked(*command.arguments)
        assert done.exit_code == 1
        said = done.stderr.splitlines()[-1]
        assert said.startswith(f"Error: cannot write to {command.out}: process {os.getpid()} (this")
        assert "has been writing there since 20" in said
    assert state(place) == before
    assert hidden(here) == []


def test_processes_with_other_outputs_do_not_wait_for_each_other(here):
    with hold_lock(lock_path(here / "other.csv")), hold_lock(lock_path(here / "run")):
        assert invoked(*COMMANDS["transform"].arguments).exit_code == 0


def test_command_that_only_reads_needs_no_lock_and_writes_nothing(here):
    before = state(here / "run")
    with hold_lock(lock_path(here / "run")):
        held = sorted(os.listdir(here / "run"))
        assert invoked("info", "run").exit_code == 0
        assert invoked("advise", "x=x.csv", "y=y.csv", "--id", "id", "--quiet").exit_code == 0
        assert sorted(os.listdir(here / "run")) == held
    assert state(here / "run") == before
