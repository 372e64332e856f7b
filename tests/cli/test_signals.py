"""Signals at any moment: every command leaves what was there, nothing else, and no traceback."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.support.command_line import RUN, environment
from tests.support.commands import COMMANDS, OLD, hidden, make_old, restore, state, write_input
from tests.support.signal_driver import Driver, processes_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals and /proc of Linux")
pytest.importorskip("obspy")

#: Signals that let a command clean up.
GENTLE = (
    [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if sys.platform != "win32" else [signal.SIGINT]
)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    write_input(folder)
    return folder


@pytest.fixture(scope="module")
def driver():
    with Driver() as driver:
        yield driver


class Case:
    """A command whose output an earlier run has left, to be stopped again and again."""

    def __init__(self, name, here, driver):
        self.name, self.here, self.driver = name, here, driver
        self.command = COMMANDS[name]
        self.place = here / self.command.out
        driver.warm([*self.command.arguments], cwd=here)
        whole = self.run()
        assert (whole["code"], whole["left"]) == (0, []), whole
        self.events, self.seconds = whole["events"], whole["seconds"]
        self.new = state(self.place)
        self.old = make_old(self.new, is_run=name == "report of a run")
        self.stopped = self.finished = 0

    def run(self, **moment):
        return self.driver.run([*self.command.arguments], cwd=self.here, **moment)

    def stop(self, number, **moment):
        """Stop the command, and check what is left of it."""
        restore(self.place, self.old)
        answer = self.run(number=number, **moment)
        where = f"{self.name}, {signal.Signals(number).name}, {moment}: {answer}"
        assert answer["left"] == [], where
        assert "Traceback" not in answer["errors"], where
        assert "Exception ignored" not in answer["errors"], where
        if number == signal.SIGKILL:
            assert answer["code"] in (-9, 0), where
            self.check_killed(where)
        else:
            # Python takes its handlers down before it ends; a shell reports the same code then.
            by_system = {-number} if "after" in moment else set()
            assert answer["code"] in {128 + number, 0} | by_system, where
            assert hidden(self.here) == [], where
            left = state(self.place)
            assert left == self.old or self.is_new(left), where
            if left == self.old:
                assert answer["code"] in {128 + number} | by_system, where
        self.stopped += answer["code"] != 0
        self.finished += answer["code"] == 0

    def is_new(self, left):
        if isinstance(left, bytes):
            return left not in (b"", OLD)
        return {*left} == {*self.new} and all(
            left[name] != self.old[name] for name in left if self.old[name] == OLD
        )

    def check_killed(self, where):
        """Every file is old or new and whole, and the next run leaves no trace of this one."""
        left = state(self.place)
        if self.command.is_folder:
            shown = {name: left[name] for name in left if not name.startswith(".")}
            assert {*shown} == {*self.old}, where
            assert all(shown[name] == self.old[name] or shown[name] for name in shown), where
        again = self.run()
        assert again["code"] == 0, (where, again)
        assert hidden(self.here) == [], where


@pytest.fixture
def prepare(given, driver, tmp_path):
    """A function that makes the case of a command."""
    shutil.copytree(given, tmp_path, dirs_exist_ok=True)
    return lambda name: Case(name, tmp_path, driver)


@pytest.mark.parametrize("name", ["fit", "data", "transform", "seismic simulate"])
def test_command_stopped_at_some_events_leaves_what_was_there(prepare, name):
    case = prepare(name)
    rng = random.Random(0)
    for number in GENTLE:
        for at in rng.sample(range(case.events - 1), 2):
            case.stop(number, at=at)
    assert case.stopped >= 5


@pytest.mark.parametrize("name", ["fit", "reproduce"])
def test_killed_command_is_cleaned_up_by_the_next(prepare, name):
    case = prepare(name)
    for at in random.Random(0).sample(range(3, case.events - 1), 4):
        case.stop(signal.SIGKILL, at=at)
    assert case.stopped == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_command_stopped_at_every_event(prepare, name, record_property):
    case = prepare(name)
    for at in range(case.events):
        for number in (*GENTLE, signal.SIGKILL):
            case.stop(number, at=at)
    record_property("stopped", case.stopped)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_command_stopped_at_any_time(prepare, name, record_property):
    case = prepare(name)
    rng = random.Random(1)
    for k in range(40):
        number = rng.choice([*GENTLE, signal.SIGKILL])
        case.stop(number, after=rng.uniform(0, 1.1 * case.seconds), repeat=1 + k % 3)
    assert case.stopped + case.finished == 40
    record_property("stopped", case.stopped)


def test_second_signal_does_not_disturb_the_removal(prepare):
    case = prepare("fit")
    for at in random.Random(1).sample(range(case.events - 1), 4):
        case.stop(signal.SIGINT, at=at, repeat=3)
    assert case.stopped == 4


def test_no_parser_outlives_its_command(given, tmp_path):
    """The seismic reader is stopped or killed while its parser works."""
    shutil.copytree(given, tmp_path, dirs_exist_ok=True)
    hang = tmp_path / "hang.py"
    # The parser hangs as obspy does on some damaged files: in the middle of a file.
    hang.write_text(
        "import pathlib, sys, time\n"
        "from viewhop.seismic.io import _parser_process as parser\n"
        "parser.answer = lambda *request: (pathlib.Path('works').touch(), time.sleep(600))\n"
        "parser.main()\n"
    )
    start = f"import runpy; runpy.run_path({str(hang)!r})"
    before = f"from viewhop.seismic.io import _guard; _guard._START = {start!r};"
    arguments = COMMANDS["seismic detect"].arguments
    for number in (*GENTLE, signal.SIGKILL):
        process = subprocess.Popen(
            [sys.executable, "-c", before + RUN, *arguments],
            cwd=tmp_path,
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        while not (tmp_path / "works").exists() and process.poll() is None:
            time.sleep(0.01)
        (tmp_path / "works").unlink()
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
        assert "Traceback" not in errors
        assert processes_of(process.pid) == []


# --- the first moments and the last ------------------------------------------------------------

IMPORT = """
import os, signal, sys
from viewhop.cli import main
seen = 0

def count(event, details):
    global seen
    if event == "import":
        seen += 1
        if seen == {at}:
            os.kill(os.getpid(), signal.{name})

sys.addaudithook(count)
main(prog_name="viewhop")
"""


@pytest.mark.parametrize(
    ("at", "name", "code"),
    [
        *[(at, "SIGINT", 130) for at in (1, 2, 5, 10, 25, 60, 150)],
        (60, "SIGTERM", 143),
        (150, "SIGTERM", 143),
        (150, "SIGHUP", 129),
    ],
)
def test_signal_during_an_import_shows_no_traceback(given, at, name, code):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(at=at, name=name), "info", "run"],
        capture_output=True,
        text=True,
        cwd=given,
        env=environment(),
        check=False,
    )
    assert done.returncode == code
    assert done.stderr in ("", f"Stopped by {name}.\n")
    assert done.stdout == ""


def run_python(code, *arguments, cwd):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(),
        check=False,
    )


def test_signal_at_the_end_of_the_interpreter_shows_no_traceback(given):
    code = "import atexit, os, signal, time; atexit.register(os.kill, os.getpid(), signal.SIGINT);"
    done = run_python(code + RUN, "info", "run", cwd=given)
    assert done.returncode == 130
    assert done.stderr == ""
    assert "viewhop fit" in done.stdout


def test_signal_where_python_drops_exceptions_stops_the_command(given):
    code = """
import os, signal
from viewhop.cli import _info_command as command

class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)

describe = command._describe_run

def slow(path):
    import time
    Dropped()
    time.sleep(60)

command._describe_run = slow
"""
    done = run_python(code + RUN, "info", "run", cwd=given)
    assert done.returncode == 143
    assert done.stderr == "Stopped by SIGTERM.\n"


def test_signal_in_a_callback_of_an_option_shows_no_traceback(given):
    code = """
import os, signal
from viewhop.cli import _options
split = _options._split_names

def stopped(*arguments):
    os.kill(os.getpid(), signal.SIGINT)

_options._split_names.__code__ = stopped.__code__
_options._split_names.__globals__.update(os=os, signal=signal)
"""
    done = run_python(code + RUN, "advise", "x=x.csv", cwd=given)
    assert done.returncode == 130
    assert done.stderr == "Stopped by SIGINT.\n"


def test_signal_that_the_parent_ignores_stays_ignored(given):
    code = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from viewhop.cli import _info_command as command; say = command._print_run;"
        "command._print_run = lambda *given: (os.kill(os.getpid(), signal.SIGHUP), say(*given));"
    )
    done = run_python(code + RUN, "info", "run", cwd=given)
    assert done.returncode == 0
    assert "viewhop fit" in done.stdout


def test_terminal_that_hangs_up_is_no_traceback(given):
    """SIGHUP when nobody reads standard output and error any more."""
    code = (
        "import os, signal, time;"
        "from viewhop.cli import _info_command as command;"
        "command._print_run = lambda *given: (print('x'), time.sleep(60));"
    )
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code + RUN, "info", "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=given,
        env=environment(),
    )
    assert process.stdout.readline() == b"x\n"
    process.stdout.close()
    process.stderr.close()
    process.send_signal(signal.SIGHUP)
    assert process.wait(30) == 129


def test_library_installs_no_handlers(given):
    code = """
import signal
import viewhop as vh
from viewhop.runs import transform_files

names = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
before = [signal.getsignal(name) for name in names]
model = vh.load("run/model.viewhop")
transform_files(model, {"x": "x.csv"}, "library.csv", options=vh.tables.Options(id="id"))
assert [signal.getsignal(name) for name in names] == before
from viewhop.cli import main
main(["info", "run"], standalone_mode=False)
assert [signal.getsignal(name) for name in names] == before
"""
    done = run_python(code, cwd=given)
    assert done.returncode == 0, done.stderr
    os.remove(given / "library.csv")


# --- resuming ----------------------------------------------------------------------------------

EXPERIMENTS = ("decay-over-time", "spectral-decay")


@pytest.mark.slow
def test_killed_reproduction_resumes_to_the_same_bytes(driver, tmp_path, record_property):
    arguments = ["reproduce", *EXPERIMENTS, "--quick", "--out", "out"]
    driver.warm([*arguments, "--force"], cwd=tmp_path)
    (tmp_path / "whole").mkdir()
    whole = driver.run(arguments, cwd=tmp_path / "whole")
    assert whole["code"] == 0
    expected = state(tmp_path / "whole" / "out")
    killed = 0
    for at in range(whole["events"]):
        place = tmp_path / str(at)
        place.mkdir()
        killed += driver.run(arguments, cwd=place, number=signal.SIGKILL, at=at)["code"] == -9
        assert driver.run(arguments, cwd=place)["code"] == 0
        assert state(place / "out") == expected, at
        shutil.rmtree(place)
    record_property("killed", killed)
    assert killed >= 40


def test_reproduction_killed_at_some_events_resumes_to_the_same_bytes(driver, tmp_path):
    arguments = ["reproduce", EXPERIMENTS[0], "--quick", "--out", "out"]
    driver.warm([*arguments, "--force"], cwd=tmp_path)
    (tmp_path / "whole").mkdir()
    whole = driver.run(arguments, cwd=tmp_path / "whole")
    expected = state(tmp_path / "whole" / "out")
    for at in random.Random(0).sample(range(3, whole["events"] - 1), 4):
        place = tmp_path / str(at)
        place.mkdir()
        assert driver.run(arguments, cwd=place, number=signal.SIGKILL, at=at)["code"] == -9
        assert driver.run(arguments, cwd=place)["code"] == 0
        assert state(place / "out") == expected
