"""``--quiet``: nothing but results and errors."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.support.command_line import invoked
from viewhop.cli._main import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two views in pieces, with ids that differ by case: a fit warns twice."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("x", "y"):
        rows = rng.normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [1e3, 0.0]], 30, axis=0)
        keys = [f"s{k}" for k in range(60)]
        keys[7] = "S7" if name == "y" else "s7"
        lines = [f"{key},{a},{b},1" for key, (a, b) in zip(keys, rows, strict=True)]
        Path(f"{name}.csv").write_text("id,a,b,extra\n" + "\n".join(lines) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield ["x=x.csv", "y=y.csv", "--id", "id"]


def test_quiet_commands_print_results_only(files, reports):
    given = [*files, "--drop", "extra", "--format", "csv", "-o", "out"]
    loud = invoked("fit", *given)
    assert loud.exit_code == 0, loud.output
    assert "SimilarIds" in {
        entry["kind"].removesuffix("Warning")
        for entry in json.loads(Path("out/run.json").read_text())["warnings"]
    }
    assert loud.stderr.count("warning: ") >= 2
    for command in (
        ["fit", *given, "--quiet"],
        ["cluster", *given, "-k", "2", "--quiet"],
        ["report", "out", "--quiet"],
        ["transform", "out/model.viewhop", *files, "-o", "new.csv", "--quiet"],
    ):
        done = invoked(*command)
        assert (done.exit_code, done.stderr) == (0, ""), command
        assert all(line.startswith("wrote ") for line in done.stdout.splitlines()), done.stdout
    record = json.loads(Path("out/run.json").read_text())
    assert {"SimilarIdsWarning", "DisconnectedWarning"} <= {
        entry["kind"] for entry in record["warnings"]
    }


@pytest.mark.parametrize("command", ["advise", "bandwidth"])
def test_quiet_commands_without_files_print_their_table_only(files, command):
    assert "warning: " in invoked(command, *files, "--drop", "extra").stderr
    done = invoked(command, *files, "--drop", "extra", "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout


def test_errors_are_printed_even_so(files):
    done = invoked("fit", "x=gone.csv", "--quiet", "-o", "out")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: gone.csv: ")


def test_every_command_that_shows_progress_can_be_quiet():
    commands = {**main.commands, **main.commands["seismic"].commands}
    expected = {
        "fit", "cluster", "transform", "report", "advise", "bandwidth", "demo", "reproduce",
        "classify", "detect",
    }  # fmt: skip
    options = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in commands.items()
        if name != "seismic"
    }
    assert {name for name, known in options.items() if "--quiet" in known} == expected
    tables = {"fit", "cluster", "transform", "report", "advise", "bandwidth", "info"}
    for name in tables:
        assert {"--id-strip", "--missing"} <= options[name]
