"""Running experiments: what is written, what is kept, what is skipped."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

import viewhop
from viewhop import experiments
from viewhop.cli._main import main
from viewhop.errors import DataMissingError, RunFileError
from viewhop.experiments import NAMES, Context, Experiment, Picture, Result, Table, Trials
from viewhop.experiments import _reproduce as running
from viewhop.experiments import _results_page as page
from viewhop.experiments import _results_store as recording
from viewhop.experiments import _resume as resuming
from viewhop.experiments._experiment import files_in_data_home

HOSTILE = "</script><script>alert(1)</script> | *b* _i_ [x](javascript:alert(1)) \u2028 \"'&"


def found(context):
    context.progress("counting", 1, 2)
    return Result(
        ran={"samples": 10, "trials": context.trials, "sizes": (1, 2.5), "text": HOSTILE},
        paper={"samples": 1000, "trials": 100},
        tables=(Table(HOSTILE, ("method", "NMI", "paper"), (("ours", 0.12345, None),)),),
        numbers={
            "curve": np.array([1.0, np.nan, 3.0]),
            "draw": int(context.generator(1).integers(100)),
        },
        remarks=(HOSTILE,),
    )


def drawn(result):
    figure = Figure()
    figure.subplots().plot(np.array(result.numbers["curve"], dtype=float))
    return {"": Picture(figure, HOSTILE), "again": Picture(figure, "the same")}


GOOD = Experiment(
    "good", "Fig. 9", "A good one", "What it shows.", found, drawn, Trials(20, 2, 100)
)


@pytest.fixture
def known(monkeypatch):
    """Experiments by name, which take the place of the real ones; tests add to them."""
    held = {"good": GOOD}
    for module in (running, experiments):
        monkeypatch.setattr(module, "find", lambda name: held[name])
    monkeypatch.setattr(page, "NAMES", ("good", "other"))
    monkeypatch.setattr(experiments, "NAMES", ("good", "other"))
    return held


def test_pictures_numbers_and_page_are_written(known, tmp_path):
    said = []
    [outcome] = running.reproduce(["good"], out=tmp_path, progress=lambda *at: said.append(at))
    assert (outcome.name, outcome.status, outcome.error) == ("good", "done", None)
    assert {file.name for file in tmp_path.iterdir()} == {
        "claims.md",
        "good.json",
        "good.png",
        "good-again.png",
        "report.md",
        "report.html",
    }
    assert ("good: counting", 1, 2) in said
    assert said[-1] == ("experiments", 1, 1)


def test_the_file_holds_every_number_seed_and_version(known, tmp_path):
    running.reproduce(["good"], out=tmp_path, seed=7)
    held = json.loads((tmp_path / "good.json").read_text("utf-8"))
    assert held["record"]["settings"] == {"quick": False, "trials": 20, "seed": 7}
    assert set(held["record"]["versions"]) >= {"viewhop", "python", "numpy", "scipy"}
    assert held["result"]["numbers"]["curve"] == [1.0, None, 3.0]
    assert held["result"]["tables"][0]["rows"] == [["ours", 0.12345, None]]
    assert held["result"]["ran"]["trials"] == 20


def test_a_result_read_back_is_the_stored_one(known, tmp_path):
    running.reproduce(["good"], out=tmp_path)
    result, record = recording.read(tmp_path / "good.json")
    assert result == recording.as_stored(found(Context(trials=20)))
    assert record["experiment"] == "good"


@pytest.mark.parametrize(
    ("asked", "trials"), [({}, 20), ({"quick": True}, 2), ({"quick": True, "trials": 5}, 5)]
)
def test_trials_are_those_asked_for(known, tmp_path, asked, trials):
    running.reproduce(["good"], out=tmp_path, **asked)
    result, _ = recording.read(tmp_path / "good.json")
    assert result.ran["trials"] == trials


def test_an_experiment_without_trials_takes_no_notice_of_them(known, tmp_path):
    known["good"] = replace(GOOD, trials=None)
    running.reproduce(["good"], out=tmp_path, trials=50)
    result, _ = recording.read(tmp_path / "good.json")
    assert result.ran["trials"] == 1


def test_seeds_differ_by_key_and_repeat():
    context = Context(seed=3)
    draws = [context.generator(k).integers(2**31) for k in (0, 1)] + [context.integer(2)]
    assert len({*map(int, draws)}) == 3
    assert context.generator(1).integers(2**31) == draws[1]
    assert Context(seed=4).integer(2) != draws[2]


def counting(known):
    runs = []

    def run(context):
        runs.append(context)
        return found(context)

    known["good"] = replace(GOOD, run=run)
    return runs


def test_what_is_finished_is_not_run_again(known, tmp_path):
    runs = counting(known)
    for _ in range(2):
        [outcome] = running.reproduce(["good"], out=tmp_path)
    assert outcome.status == "kept"
    assert len(runs) == 1


def held_files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, "seed was 0 and is now 1"),
        ({"quick": True}, "quick was False and is now True; trials was 20 and is now 2"),
        ({"trials": 3}, "trials was 20 and is now 3"),
    ],
)
def test_resume_with_other_settings_is_refused_before_anything_is_run(
    known, tmp_path, change, said
):
    runs = counting(known)
    known["other"] = replace(known["good"], name="other")
    running.reproduce(["good"], out=tmp_path)
    before = held_files(tmp_path)
    with pytest.raises(RunFileError, match=rf"^good\.json is of another run: {said}\. To keep"):
        running.reproduce(["other", "good"], out=tmp_path, **change)
    assert len(runs) == 1
    assert held_files(tmp_path) == before


@pytest.mark.parametrize("change", [{}, {"seed": 1}, {"quick": True}, {"trials": 3}])
def test_force_replaces_a_result_whatever_its_settings(known, tmp_path, change):
    runs = counting(known)
    running.reproduce(["good"], out=tmp_path)
    [outcome] = running.reproduce(["good"], out=tmp_path, force=True, **change)
    assert outcome.status == "done"
    assert len(runs) == 2


def test_resume_with_other_data_is_refused(known, tmp_path):
    known["good"] = replace(GOOD, find_data=files_in_data_home("a.npz", "b.npz"))
    home, out = tmp_path / "data", tmp_path / "out"
    home.mkdir()
    (home / "a.npz").write_bytes(b"one")
    for _ in range(2):
        [outcome] = running.reproduce(["good"], out=out, data_home=home)
    assert outcome.status == "kept"
    (home / "a.npz").write_bytes(b"two")
    with pytest.raises(RunFileError, match=r"data a\.npz was 7692c3ad3540… and is now 3fc4"):
        running.reproduce(["good"], out=out, data_home=home)
    (home / "a.npz").write_bytes(b"one")
    (home / "b.npz").write_bytes(b"new")
    with pytest.raises(RunFileError, match=r"data b\.npz was missing and is now 11507a0e2f5e…\. "):
        running.reproduce(["good"], out=out, data_home=home)
    with pytest.raises(RunFileError, match=r"data a\.npz was 7692c3ad3540… and is now missing\. "):
        running.reproduce(["good"], out=out, data_home=out)


@pytest.mark.parametrize(
    ("file", "why"),
    [("good.json", ""), ("good-again.png", "run again because good-again.png is missing")],
)
def test_half_a_result_is_made_anew(known, tmp_path, file, why):
    runs = counting(known)
    running.reproduce(["good"], out=tmp_path)
    before = held_files(tmp_path)
    (tmp_path / file).unlink()
    [outcome] = running.reproduce(["good"], out=tmp_path)
    assert (outcome.status, outcome.reason) == ("done", why)
    assert len(runs) == 2
    assert held_files(tmp_path) == before


def _truncate(content):
    return content[: len(content) // 2]


def _change_number(content):
    assert content.count(b"0.12345") == 1
    return content.replace(b"0.12345", b"0.12346")


def _flip_bit(content):
    return content[:-40] + bytes([content[-40] ^ 1]) + content[-39:]


@pytest.mark.parametrize(
    ("file", "damage", "why"),
    [
        ("good.json", _truncate, "good.json is damaged: it is not the JSON of a result"),
        ("good.json", lambda content: b"", "good.json is damaged: it is not the JSON"),
        ("good.json", lambda content: b"[]", "good.json is damaged: it is not the JSON"),
        ("good.json", _change_number, "good.json is damaged: its checksum differs"),
        ("good-again.png", _truncate, "good-again.png is damaged: its checksum differs"),
        ("good.png", _flip_bit, "good.png is damaged: its checksum differs"),
    ],
)
def test_damaged_result_is_found_by_its_checksum_and_made_anew(known, tmp_path, file, damage, why):
    runs = counting(known)
    running.reproduce(["good"], out=tmp_path)
    before = held_files(tmp_path)
    (tmp_path / file).write_bytes(damage(before[file]))
    done = invoked("good", "--out", tmp_path)
    assert re.match(rf"good: done, \d+\.\d s, run again because {re.escape(why)}", done.stdout)
    assert len(runs) == 2
    assert held_files(tmp_path) == before


def test_damaged_result_that_is_not_run_again_is_named_on_the_page(known, tmp_path):
    known["other"] = replace(GOOD, name="other", title="Another")
    running.reproduce(["other"], out=tmp_path)
    (tmp_path / "other.json").write_bytes(b"{")
    running.reproduce(["good"], out=tmp_path)
    said = "Not shown: other.json is damaged: it is not the JSON of a result; run viewhop reproduce"
    assert said in "".join(Page((tmp_path / "report.html").read_text("utf-8")).shown)
    assert said in (tmp_path / "report.md").read_text("utf-8")


def test_resume_with_another_version_is_refused(known, tmp_path, monkeypatch):
    runs = counting(known)
    running.reproduce(["good"], out=tmp_path)
    monkeypatch.setattr(resuming, "__version__", "999")
    with pytest.raises(RunFileError, match=r"version of viewhop was .* and is now 999\. To keep"):
        running.reproduce(["good"], out=tmp_path)
    monkeypatch.undo()
    path = tmp_path / "good.json"
    path.write_bytes(path.read_bytes().replace(b'"format": 3', b'"format": 2'))
    with pytest.raises(RunFileError, match=r"good\.json has format 2 of another version of vi"):
        recording.read(path)
    assert len(runs) == 1


def test_refused_resume_is_an_error_of_one_line(known, tmp_path):
    assert invoked("good", "--out", tmp_path).exit_code == 0
    done = invoked("good", "--out", tmp_path, "--seed", "7")
    assert (done.exit_code, done.stdout) == (1, "")
    line = done.stderr.splitlines()[-1]
    assert line.startswith("Error: good.json is of another run: seed was 0 and is now 7. ")
    assert str(tmp_path) in line
    assert "--force" in line


def test_two_runs_write_the_same_bytes(known, tmp_path):
    for name in "ab":
        running.reproduce(["good"], out=tmp_path / name)
    assert held_files(tmp_path / "a") == held_files(tmp_path / "b")


def test_the_file_comes_last(known, tmp_path):
    def failing(result):
        raise KeyboardInterrupt

    known["good"] = replace(GOOD, draw=failing)
    with pytest.raises(KeyboardInterrupt):
        running.reproduce(["good"], out=tmp_path)
    assert not (tmp_path / "good.json").exists()


def test_missing_data_skip_an_experiment_and_not_the_next(known, tmp_path):
    def run(context):
        raise DataMissingError("no digits.npz in the folder; get it from there", "digits.npz")

    known["other"] = replace(GOOD, name="other", run=run)
    outcomes = running.reproduce(["other", "good"], out=tmp_path)
    assert [(each.status, each.reason) for each in outcomes] == [
        ("skipped", "no digits.npz in the folder; get it from there"),
        ("done", ""),
    ]
    assert not (tmp_path / "other.json").exists()


def test_a_missing_extra_skips_an_experiment(known, tmp_path, monkeypatch):
    known["good"] = replace(GOOD, extras=("vision",))
    monkeypatch.setattr(running, "find_spec", lambda name: None)
    [outcome] = running.reproduce(["good"], out=tmp_path)
    assert (outcome.status, outcome.reason) == (
        "skipped",
        'a package is missing; pip install "viewhop[vision]"',
    )


def test_an_error_does_not_stop_the_others(known, tmp_path):
    def run(context):
        raise ZeroDivisionError("one over\nnothing")

    known["other"] = replace(GOOD, name="other", run=run)
    first, second = running.reproduce(["other", "good"], out=tmp_path)
    assert (first.status, first.reason) == ("failed", "ZeroDivisionError: one over nothing")
    assert isinstance(first.error, ZeroDivisionError)
    assert second.status == "done"


def test_without_matplotlib_there_are_numbers_and_no_pictures(known, tmp_path, monkeypatch):
    runs = counting(known)
    with monkeypatch.context() as patch:
        for module in (running, resuming):
            patch.setattr(module, "find_spec", lambda name: None)
        running.reproduce(["good"], out=tmp_path)
        assert [file.name for file in tmp_path.glob("*.png")] == []
        running.reproduce(["good"], out=tmp_path)
        assert len(runs) == 1
    [outcome] = running.reproduce(["good"], out=tmp_path)
    assert (outcome.status, outcome.reason) == ("done", "run again because it has no pictures")


def test_data_home_is_that_of_the_environment_unless_given(known, tmp_path, monkeypatch):
    runs = counting(known)
    monkeypatch.setenv("VIEWHOP_DATA", "/somewhere")
    running.reproduce(["good"], out=tmp_path)
    running.reproduce(["good"], out=tmp_path, data_home=tmp_path, force=True)
    monkeypatch.delenv("VIEWHOP_DATA")
    running.reproduce(["good"], out=tmp_path, force=True)
    assert [context.data_home and str(context.data_home) for context in runs] == [
        "/somewhere",
        str(tmp_path),
        None,
    ]


def test_results_hold_plain_data_only():
    with pytest.raises(TypeError, match="got object"):
        recording.plain({"a": [object()]})
    assert recording.plain({1: (np.float32(0.5), np.inf, np.int8(3), True)}) == {
        "1": [0.5, None, 3, True]
    }


def test_a_ragged_table_is_refused():
    with pytest.raises(ValueError, match="expected 2 cells per row, got 1"):
        Table("t", ("a", "b"), (("x",),))


class Page(HTMLParser):
    """The elements of a page, and whether they nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.shown = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in {"meta", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.shown.append(data)


def test_the_page_shows_text_as_text_and_our_sizes_beside_the_papers(known, tmp_path):
    running.reproduce(["good"], out=tmp_path, quick=True)
    found_page = Page((tmp_path / "report.html").read_text("utf-8"))
    tags = [tag for tag, _ in found_page.seen]
    assert "script" not in tags
    assert [a["src"] for tag, a in found_page.seen if tag == "img"] == [
        "good.png",
        "good-again.png",
    ]
    assert not any(key.startswith("on") for _, a in found_page.seen for key in a)
    assert all(a["href"].startswith("#") for tag, a in found_page.seen if tag == "a")
    shown = found_page.shown
    assert HOSTILE in shown
    at = shown.index("samples")
    assert shown[at : at + 3] == ["samples", "10", "1,000"]
    at = shown.index("trials")
    assert shown[at : at + 3] == ["trials", "2", "100"]
    assert "0.123" in shown
    assert any("Toy size" in each for each in shown)


def test_only_toy_runs_are_called_toys(known, tmp_path):
    running.reproduce(["good"], out=tmp_path)
    for name in ("report.html", "report.md"):
        assert "Toy size" not in (tmp_path / name).read_text("utf-8")


def test_markdown_shows_text_as_text(known, tmp_path):
    running.reproduce(["good"], out=tmp_path, quick=True)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert not re.search(r"(?<!\\)<script", text)
    assert not re.search(r"(?<!\\)\]\(javascript", text)
    assert "](good-again.png)" in text
    assert "| samples | 10 | 1,000 |" in text
    assert "**Toy size" in text


def test_the_page_has_earlier_experiments_too(known, tmp_path):
    known["other"] = replace(GOOD, name="other", title="Another")
    running.reproduce(["other"], out=tmp_path)
    running.reproduce(["good"], out=tmp_path)
    shown = Page((tmp_path / "report.html").read_text("utf-8")).shown
    assert shown.count("A good one") == shown.count("Another") == 2  # in the list and above


# --- the command -------------------------------------------------------------------------------


def invoked(*arguments):
    return CliRunner().invoke(main, ["reproduce", *map(str, arguments)])


def test_the_command_says_how_each_ended(known, tmp_path):
    def run(context):
        raise DataMissingError("no digits.npz")

    known["other"] = replace(GOOD, name="other", run=run)
    done = invoked("--out", tmp_path)
    assert done.exit_code == 0
    assert re.match(
        r"good: done, (\d+\.\d s)\nother: skipped, no digits\.npz\nall: \1\nwrote .*html and .*md",
        done.stdout,
    )


def test_the_command_fails_with_an_experiment(known, tmp_path):
    def run(context):
        raise ZeroDivisionError("nothing")

    known["good"] = replace(GOOD, run=run)
    done = invoked("good", "--out", tmp_path)
    assert done.exit_code == 1
    assert "good: failed, ZeroDivisionError: nothing" in done.stdout
    assert "1 of 1 experiments failed" in done.stderr
    assert isinstance(invoked("good", "--out", tmp_path, "--debug").exception, ZeroDivisionError)


def test_the_command_lists(known):
    known["other"] = replace(GOOD, name="other", title="Another")
    done = invoked("--list")
    assert done.stdout.splitlines() == [
        "good   Fig. 9       A good one",
        "other  Fig. 9       Another",
    ]


def test_an_unknown_name_is_wrong_usage(tmp_path):
    done = invoked("nonsense", "--out", tmp_path)
    assert done.exit_code == 2
    assert "unknown experiment 'nonsense'" in done.stderr


def test_a_folder_that_cannot_be_made_is_named(known, tmp_path):
    (tmp_path / "file").touch()
    done = invoked("good", "--out", tmp_path / "file" / "folder")
    assert done.exit_code == 1
    assert "cannot write to" in done.stderr


# --- the real ones -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_name_has_its_experiment(name):
    each = experiments.find(name)
    assert each.name == name
    assert re.match(r"(Figs?\.|Table|Theorems?|Lemma|Section) ", each.where)
    assert each.title
    assert each.about.endswith(".")


def test_only_known_names_are_found():
    with pytest.raises(ValueError, match="unknown experiment 'demo'; expected one of smoothing, "):
        experiments.find("demo")


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    """SIGKILL when the first of two is finished: it is kept, and the second is run."""
    names = ("decay-over-time", "spectral-decay")
    paths = [str(Path(viewhop.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from viewhop.cli import main; main()",
            *("reproduce", *names, "--quick", "--out", str(tmp_path)),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    first = tmp_path / f"{names[0]}.json"
    deadline = monotonic() + 120
    while not first.exists() and process.poll() is None and monotonic() < deadline:
        sleep(0.002)
    process.kill()
    process.wait()
    before = first.read_bytes()
    assert not (tmp_path / f"{names[1]}.json").exists()
    outcomes = experiments.reproduce(names, out=tmp_path, quick=True)
    assert [outcome.status for outcome in outcomes] == ["kept", "done"]
    assert first.read_bytes() == before


def test_every_extra_of_an_experiment_has_its_modules():
    extras = {extra for name in NAMES for extra in experiments.find(name).extras}
    assert extras <= set(running._MODULES_BY_EXTRA)
