"""What is left of a run that is stopped: files that are old or new, each whole."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import viewhop as vh
from tests.support.command_line import RUN, environment, invoked, run
from viewhop.errors import ModelFileError
from viewhop.tables import write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")

N = 80
FILES = ["embedding.csv", "embedding.png", "model.viewhop", "report.html", "run.json", "run.toml"]
FIT = ["fit", "x=x.csv", "y=y.csv", "--id", "id", "--format", "csv", "--quiet", "-o", "out"]
#: A report that says which run wrote it; it takes its time, so that the run can be stopped there.
REPORT = """
import sys, time, types

def write(path, est, **more):
    with open(path, 'w') as file:
        file.write(f'<html>{est.n_components_}')
        for _ in range(15):
            file.write(' ' * 100_000)
            time.sleep(0.02)
        file.write('</html>')

fake = sys.modules['viewhop.report'] = types.ModuleType('viewhop.report')
fake.write = write
"""
KILLED = -signal.SIGKILL if sys.platform != "win32" else None


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """A folder with two files and a run of two coordinates on them."""
    folder = tmp_path_factory.mktemp("run")
    made = vh.datasets.make_swiss_rolls(N, noise=0.1, random_state=0).views
    for name, rows in made.items():
        ids = [f"s{k}" for k in range(N)]
        write(folder / f"{name}.csv", {"id": ids, **dict(zip("abc", rows.T, strict=True))})
    done = run(*FIT, cwd=folder, before=REPORT)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(folder / "out")) == FILES
    return folder


@pytest.fixture
def here(earlier, tmp_path, monkeypatch):
    """A copy of it to work in."""
    shutil.copytree(earlier, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def hashes(folder="out"):
    return {name: digest(Path(folder, name)) for name in os.listdir(folder) if name in FILES}


def started(*more):
    """The run of three coordinates, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", REPORT + RUN, *FIT, "--components", "3", *more],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )


def check_files(old):
    """Every file is the old one, or a whole new one; the number of new ones."""
    assert {name for name in os.listdir("out") if not name.startswith(".")} == {*FILES}
    new = [name for name in FILES if digest(Path("out", name)) != old[name]]
    if "embedding.csv" in new:
        table = pd.read_csv("out/embedding.csv")
        assert [*table] == ["id", "consensus_1", "consensus_2", "consensus_3"]
        assert len(table) == N
        assert not table.isna().any(axis=None)
    if "model.viewhop" in new:
        assert vh.load("out/model.viewhop").n_components_ == 3
    if "report.html" in new:
        text = Path("out/report.html").read_text()
        assert text.startswith("<html>3 ")
        assert text.endswith(" </html>")
    if "run.toml" in new:
        assert "components = 3" in Path("out/run.toml").read_text()
    if "run.json" in new:
        assert json.loads(Path("out/run.json").read_text())["n_components"] == 3
    return len(new)


def check_info(n_new):
    """`viewhop info` says that the files belong together if and only if they do."""
    recorded = json.loads(Path("out/run.json").read_text())["outputs"]
    there = hashes()
    belongs = all(there[name] == entry["sha256"] for name, entry in recorded.items())
    assert belongs == (n_new in (0, len(FILES)))
    result = invoked("info", "out", "--json")
    assert result.exit_code == (0 if belongs else 1)
    assert json.loads(result.stdout)["whole"] is belongs


def is_writing():
    return any(name.endswith(".part") for name in os.listdir("out"))


def wait_until_writing(process):
    """Wait until the run begins to write, or ends; the time when it did."""
    while process.poll() is None and not is_writing():
        time.sleep(0.0005)
    return time.perf_counter()


@pytest.mark.parametrize("n_kills", [8, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_any_moment_each_file_is_the_old_or_the_new_one(here, n_kills):
    old = hashes()
    shutil.copytree("out", "kept")
    start = time.perf_counter()
    process = started()
    begun = wait_until_writing(process)
    while is_writing():
        time.sleep(0.0005)
    writing = time.perf_counter() - begun
    assert process.wait() == 0
    whole = time.perf_counter() - start
    assert check_files(old) == len(FILES)
    rng = random.Random(0)
    killed = within = 0
    n_all_over = 2 * n_kills // 5
    for k in range(n_kills):
        shutil.rmtree("out")
        shutil.copytree("kept", "out")
        process = started()
        # Two in five moments all over the run, most of which is over before it writes; the others
        # from its first file on.
        if k < n_all_over:
            time.sleep(whole * (k + rng.random()) / n_all_over)
        else:
            wait_until_writing(process)
            share = (k - n_all_over + rng.random()) / (n_kills - n_all_over)
            time.sleep(writing * share)
        process.kill()
        is_killed = process.wait() == KILLED
        n_new = check_files(old)
        check_info(n_new)
        assert is_killed or n_new == len(FILES)
        killed += is_killed
        within += is_killed and is_writing()
    assert killed >= n_kills // 2
    assert within >= n_kills // 6


@pytest.mark.parametrize("count", range(7))
def test_killed_between_two_moves_the_folder_is_reported_as_mixed(here, count):
    old = hashes()
    stops = (
        "import os, signal; move = os.replace; moved = [];"
        "os.replace = lambda a, b: ("
        f"os.kill(os.getpid(), signal.SIGKILL) if len(moved) == {count} else None,"
        " move(a, b), moved.append(b) if os.path.basename(os.path.dirname(b)) == 'out' else None);"
    )
    done = run(*FIT, "--components", "3", cwd=here, before=REPORT + stops)
    assert done.returncode == (KILLED if count < len(FILES) else 0)
    n_new = check_files(old)
    assert n_new == count
    check_info(n_new)
    if 0 < count < len(FILES):
        text = invoked("info", "out").stdout
        assert "do NOT all belong together" in text
        assert text.count(": changed") == count
        assert "temporary files of a run that was stopped" in text


def test_run_after_one_that_was_stopped_makes_the_folder_whole(here, reports):
    Path("out/model.viewhop").write_bytes(b"of another run")
    Path("out/.abc.part").mkdir()
    assert invoked("info", "out").exit_code == 1
    assert invoked(*FIT).exit_code == 0
    assert invoked("info", "out").exit_code == 0


def test_interrupted_run_exits_with_130_and_leaves_the_earlier_one(here):
    old = hashes()
    slow = (
        "import time; from viewhop.estimators import MultiViewDiffusionMaps as E; fit = E.fit;"
        "E.fit = lambda self, X: (fit(self, X), time.sleep(60))[0];"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", REPORT + slow + RUN, *[word for word in FIT if word != "--quiet"]],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    for line in process.stderr:
        if line.startswith("neighbours of y"):
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert hashes() == old
    assert sorted(os.listdir("out")) == FILES


@pytest.mark.parametrize("limit", [2000, 20_000, 200_000])
def test_disk_that_fills_up_leaves_the_earlier_run(here, limit):
    old = hashes()
    small = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}));"
    done = run(*FIT, "--components", "3", cwd=here, before=REPORT + small)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: cannot write to out")
    assert "File too large" in done.stderr
    assert done.stderr.count("\n") == 1
    assert hashes() == old
    assert sorted(os.listdir("out")) == FILES


def test_disk_that_fills_up_leaves_the_earlier_table_of_new_samples(here):
    Path("new.csv").write_text("mine")
    small = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
    arguments = ["transform", "out/model.viewhop", "x=x.csv", "--id", "id", "-o", "new.csv"]
    done = run(*arguments, "--quiet", cwd=here, before=small)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: cannot write to new.csv: File too large")
    assert Path("new.csv").read_text() == "mine"
    assert not [name for name in os.listdir() if name.endswith(".part")]


def test_model_of_a_mixed_folder_is_still_one_or_the_other(here):
    data = Path("out/model.viewhop").read_bytes()
    Path("out/model.viewhop").write_bytes(data[:-100])
    assert invoked("info", "out").exit_code == 1
    with pytest.raises(ModelFileError):
        vh.load("out/model.viewhop")
