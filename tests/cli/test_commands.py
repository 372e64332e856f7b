"""The commands on files, as a user runs them."""

from __future__ import annotations

import errno
import json
import re
import shlex
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support.command_line import invoked, run
from viewhop.cli._command import Command
from viewhop.cli._main import main
from viewhop.tables import Options, read, read_views, write

BUG = "this is a bug in viewhop; rerun with --debug for the traceback"


@pytest.fixture
def rolls(tmp_path):
    """Two files of a view each, 60 samples."""
    made = vh.datasets.make_swiss_rolls(60, noise=0.1, random_state=0)
    ids = [f"s{k}" for k in range(60)]
    for name, rows in made.views.items():
        write(tmp_path / f"{name}.csv", {"id": ids, **dict(zip("abc", rows.T, strict=True))})
    return made.views


# --- all commands ------------------------------------------------------------------------------


def leaves(group, before=()):
    """Every command that is no group, as the words that name it."""
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from leaves(command, (*before, name))
        else:
            yield (*before, name), command


LEAVES = dict(leaves(main))


@pytest.mark.parametrize("arguments", [(), ("seismic",), *LEAVES], ids=" ".join)
def test_help_needs_none_of_the_heavy_packages(arguments, tmp_path):
    heavy = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "rich", "pyarrow", "joblib"}
    check = (
        "import atexit, sys;"
        f"atexit.register(lambda: print('heavy', sorted({heavy!r} & set(sys.modules))));"
    )
    done = run(*arguments, "--help", cwd=tmp_path, before=check)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: viewhop")
    assert done.stdout.endswith("heavy []\n")


@pytest.mark.parametrize("command", sorted(set(LEAVES) - {("demo",)}), ids=" ".join)
def test_examples_of_the_help_run(command, tmp_path, monkeypatch, reports):
    if command[0] == "seismic" and find_spec("obspy") is None:
        pytest.skip("obspy is not installed")
    monkeypatch.chdir(tmp_path)
    help = invoked(*command, "--help").stdout
    examples = re.findall(r"^ +viewhop (.*)$", help.split("Example")[1], flags=re.M)
    assert examples
    for example in examples:
        result = invoked(*shlex.split(example))
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", LEAVES, ids=" ".join)
def test_every_command_has_an_example_and_debug(name):
    assert isinstance(LEAVES[name], Command)
    help = invoked(*name, "-h").stdout
    assert re.search(rf"^ +viewhop {' '.join(name)}", help.split("Example")[1], flags=re.M)
    assert "--debug" in help


def failing(error):
    @click.command(cls=Command)
    def fails():
        raise error

    return fails


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("two\nlines"), 1, "Error: two lines\n"),
        (MemoryError("too much"), 1, "Error: too much\n"),
        (OSError(28, "No space left", "a.csv"), 1, "Error: a.csv: No space left\n"),
        (OSError("odd"), 1, f"Error: OSError: odd; {BUG}\n"),
        (KeyError("x"), 1, f"Error: KeyError: 'x'; {BUG}\n"),
        (KeyboardInterrupt(), 130, ""),
        (click.ClickException("no"), 1, "Error: no\n"),
    ],
)
def test_every_error_is_a_line_with_its_code(error, code, message):
    result = CliRunner().invoke(failing(error), [])
    assert result.exit_code == code
    assert result.stderr == message


def test_debug_lets_the_error_through():
    error = ValueError("no")
    assert CliRunner().invoke(failing(error), ["--debug"]).exception is error


def test_reader_that_went_away_is_left_to_click():
    error = BrokenPipeError(errno.EPIPE, "Broken pipe")
    assert CliRunner().invoke(failing(error), []).stderr == ""


def test_warning_is_a_line_on_standard_error():
    @click.command(cls=Command)
    def warns():
        warnings.warn("look\nhere", UserWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = CliRunner().invoke(warns, [])
    assert (result.exit_code, result.stderr) == (0, "warning: look here\n")


# --- bandwidth ---------------------------------------------------------------------------------


def test_bandwidth_finds_the_scales_of_the_library(rolls, tmp_path):
    done = run("bandwidth", "x=x.csv", "y=y.csv", "--id", "id", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    expected = vh.bandwidth.joint(rolls)
    printed = dict(line.split() for line in done.stdout.splitlines()[:2])
    assert printed == {name: f"{sigma:.6g}" for name, sigma in expected.scales.items()}
    record = json.loads((tmp_path / "out" / "bandwidth.json").read_text())
    assert record["files"] == {"x": "x.csv", "y": "y.csv"}
    assert record["n_samples"] == 60
    assert record["viewhop"] == vh.__version__
    assert record["linear_range"] == "minimal"
    for name, sigma in expected.scales.items():
        assert_allclose(record["scales"][name], sigma, rtol=1e-12)
    (surface,) = record["surfaces"]
    assert surface["views"] == ["x", "y"]
    assert_allclose(surface["log_sums"], expected.surfaces["x", "y"].values, rtol=1e-12)
    assert sorted(entry.name for entry in (tmp_path / "out").iterdir()) == [
        "bandwidth.json",
        "slices.png",
        "surfaces.png",
    ]
    for name in ("slices.png", "surfaces.png"):
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path) not in json.dumps(record)


def test_bandwidth_without_a_folder_writes_nothing(rolls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    result = invoked("bandwidth", "x=x.csv", "y=y.csv", "--drop", "id", "--grid", "20")
    assert result.exit_code == 0
    assert sorted(tmp_path.iterdir()) == before
    expected = vh.bandwidth.joint(rolls, 20).scales
    assert result.stdout == "".join(f"{name}  {sigma:.6g}\n" for name, sigma in expected.items())


@pytest.mark.parametrize("rule", ["minimal", "steepest"])
def test_bandwidth_takes_the_linear_range_by_either_rule(rolls, tmp_path, monkeypatch, rule):
    monkeypatch.chdir(tmp_path)
    result = invoked("bandwidth", "x=x.csv", "y=y.csv", "--drop", "id", "--rule", rule)
    expected = vh.bandwidth.joint(rolls, rule=rule).scales
    assert result.stdout == "".join(f"{name}  {sigma:.6g}\n" for name, sigma in expected.items())
    assert "minimal" in invoked("bandwidth", "--help").stdout


def test_bandwidth_without_matplotlib_leaves_the_pictures_out(rolls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = invoked("bandwidth", "x=x.csv", "y=y.csv", "--id", "id", "-o", "out")
    assert result.exit_code == 0
    assert "viewhop[plot]" in result.stdout
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["bandwidth.json"]


def test_bandwidth_draws_names_as_they_are_and_no_more_pairs_than_fit(rolls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("viewhop.cli._bandwidth_command._MOST_PAIRS", 2)
    views = [r"$\nonsense{$=x.csv", "../up=y.csv", "c=x.csv"]
    result = invoked("bandwidth", *views, "--id", "id", "--grid", "10", "-o", "out")
    assert result.exit_code == 0, result.output
    assert "2 of 3 pairs" in result.stdout
    assert len([*(tmp_path / "out").iterdir()]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "NAME=PATH"),
        (["x.csv"], "expected NAME=PATH"),
        (["=x.csv"], "expected NAME=PATH"),
        (["x="], "expected NAME=PATH"),
        (["x\x1b=x.csv", "y=y.csv"], "expected NAME=PATH"),
        (["x=x.csv"], "at least two"),
        (["x=x.csv", "x=y.csv"], "given twice"),
        (["x=x.csv", "y=y.csv", "--grid", "3"], "--grid"),
        (["x=x.csv", "y=y.csv", "--seed", "-1"], "--seed"),
        (["x=x.csv", "y=y.csv", "--decimal", "x"], "--decimal"),
        (["x=x.csv", "y=y.csv", "--delimiter", "abc"], "one character"),
        (["x=x.csv", "y=y.csv", "--id", "a", "--label", "a"], "both the ids and the labels"),
        (["x=x.csv", "y=y.csv", "--what"], "--what"),
    ],
)
def test_bandwidth_used_wrongly_exits_with_2(rolls, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = invoked("bandwidth", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


BAD = {
    "ragged": ("id,a\ns0,1,2\n", "bad.csv, line 2: 3 cells"),
    "encoding": (b"id,a\n\xff,1\n", "bad.csv, line 2: byte 5"),
    "NUL": ("id,a\ns0,\0\n", "bad.csv, line 2: a NUL"),
    "decimal comma": ("id;a\ns0;1,5\n", "bad.csv, line 2, column 'a': '1,5' has a decimal comma"),
    "duplicate ids": ("id,a\ns0,1\ns0,2\n", "bad.csv, line 3: the id 's0' also stands in line 2"),
    "text": ("id,a\ns0,tall\n", "bad.csv, line 2, column 'a': expected a number, got 'tall'"),
    "no id": ("name,a\ns0,1\n", "bad.csv: no id column 'id'"),
    "empty": ("", "bad.csv: it is empty"),
    "folder": (None, "bad.csv: it is a folder"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_file_is_a_line_that_names_it_and_exits_with_1(rolls, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    content, message = BAD[case]
    path = tmp_path / "bad.csv"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "bandwidth.json").write_text("old")
    result = invoked("bandwidth", "x=x.csv", "y=bad.csv", "--id", "id", "-o", "out")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {message}")
    assert result.stderr.count("\n") == 1
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["bandwidth.json"]
    assert (tmp_path / "out" / "bandwidth.json").read_text() == "old"


def test_real_command_has_a_traceback_with_debug_only(rolls, tmp_path):
    arguments = ["bandwidth", "x=x.csv", "y=none.csv", "--id", "id"]
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "Error: none.csv: it cannot be read: No such file or directory\n"
    done = run(*arguments, "--debug", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "TableError: none.csv" in done.stderr
    assert run("bandwidth", "x=x.csv", cwd=tmp_path).returncode == 2


def test_ids_in_one_file_only_are_samples_that_the_other_view_did_not_see(
    rolls, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "y.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-10]))
    result = invoked("bandwidth", "x=x.csv", "y=y.csv", "--id", "id", "-o", "out")
    assert result.exit_code == 0
    assert json.loads(Path("out", "bandwidth.json").read_text())["n_samples"] == 60
    expected = vh.bandwidth.joint(rolls[:50]).scales
    assert f"x  {expected['x']:.6g}\n" in result.stdout


def test_different_lengths_without_ids_exit_with_1(rolls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "y.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-10]))
    result = invoked("bandwidth", "x=x.csv", "y=y.csv", "--drop", "id")
    assert result.exit_code == 1
    assert "x.csv has 60, y.csv has 50" in result.stderr


def test_unwritable_folder_is_found_before_files_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("taken").touch()
    result = invoked("bandwidth", "x=none.csv", "y=none.csv", "-o", "taken")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: cannot write to taken: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX")
def test_disk_that_fills_up_leaves_the_old_files(rolls, tmp_path):
    arguments = ["bandwidth", "x=x.csv", "y=y.csv", "--id", "id", "-o", "out"]
    assert run(*arguments, cwd=tmp_path).returncode == 0
    old = {entry.name: entry.read_bytes() for entry in (tmp_path / "out").iterdir()}
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
    done = run(*arguments, "--grid", "80", cwd=tmp_path, before=limit)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: cannot write to out: File too large")
    assert {entry.name: entry.read_bytes() for entry in (tmp_path / "out").iterdir()} == old


# --- data --------------------------------------------------------------------------------------


def test_data_lists_every_set(tmp_path):
    done = run("data", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert names == [
        "mfeat", "rolls", "gapped-rolls", "helices-a", "helices-b", "circles", "mixtures",
    ]  # fmt: skip


def test_data_writes_the_digits_with_all_their_digits(tmp_path):
    done = run("data", "mfeat", "-o", "digits", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    digits = vh.datasets.load_mfeat()
    paths = {name: tmp_path / "digits" / f"{name}.csv" for name in digits.views.names}
    joined = read_views(paths, options=Options(id="sample", label="digit"))
    assert joined.views.names == digits.views.names
    for name, rows in digits.views.items():
        assert_array_equal(joined.views[name], rows)
    assert_array_equal(joined.labels, digits.target)
    assert joined.views.ids[0] == "s0001"


@pytest.mark.parametrize("name", ["rolls", "gapped-rolls", "helices-a", "helices-b", "circles"])
def test_data_writes_what_its_own_advice_reads(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    result = invoked("data", name, "--samples", "40", "--seed", "3", "-o", "here")
    assert result.exit_code == 0
    assert len(read("here/x.csv", options=Options(id="sample", keep=("x*",)))) == 40
    advice = result.stdout.splitlines()[-1].removeprefix("try: viewhop ")
    assert invoked(*shlex.split(advice)).exit_code == 0


def test_data_is_that_of_its_seed_and_noise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for noise in (0.0, 0.3):
        arguments = ["data", "circles", "--samples", 20, "--seed", 5, "--noise", noise, "--force"]
        assert invoked(*arguments, "-o", ".", "--format", "tsv").exit_code == 0
        made = vh.datasets.make_circles(20, noise=noise, random_state=5)
        table = read("y.tsv", options=Options(id="sample", label="circle"))
        assert_array_equal(table.matrix, made.views["y"])
        assert np.array(table.labels, dtype=int).tolist() == made.target.tolist()


def test_data_is_described_without_a_folder():
    result = invoked("data", "mfeat")
    assert result.exit_code == 0
    assert "CC BY 4.0" in result.stdout


def test_data_does_not_replace_files_unless_forced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("y.csv").write_text("mine")
    result = invoked("data", "rolls", "-o", ".")
    assert result.exit_code == 1
    assert result.stderr == "Error: y.csv already exists; replace it with --force.\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["y.csv"]
    assert Path("y.csv").read_text() == "mine"
    assert invoked("data", "rolls", "-o", ".", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["roles"], "there are mfeat, rolls"),
        (["-o", "here"], "missing name of a data set"),
        (["mfeat", "--samples", "5"], "--samples does not apply to mfeat"),
        (["mixtures", "--noise", "1"], "--noise does not apply to mixtures"),
        (["rolls", "--noise", "-1"], "--noise"),
        (["rolls", "--format", "xlsx"], "--format"),
    ],
)
def test_data_used_wrongly_exits_with_2(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = invoked("data", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not [*tmp_path.iterdir()]


def test_data_with_a_number_of_samples_that_the_set_refuses_exits_with_1(tmp_path):
    result = invoked("data", "mixtures", "--samples", "7", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "multiple" in result.stderr
    assert not [*tmp_path.iterdir()]
