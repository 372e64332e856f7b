"""``viewhop advise`` on files, and the command that it prints."""

from __future__ import annotations

import json
import shlex
from itertools import pairwise

import numpy as np
import pytest

import viewhop as vh
from tests.support.command_line import invoked
from viewhop.runs import Settings, ViewSettings, advise_files
from viewhop.tables import write


def save(folder, views):
    """The views as files, and the words NAME=PATH."""
    words = []
    for name, rows in views.items():
        columns = {f"x{k}": column for k, column in enumerate(rows.T)}
        path = folder / f"{name.strip('[]')}.csv"
        write(path, {"id": [f"s{k}" for k in range(len(rows))], **columns})
        words.append(f"{name}={path}")
    return words


@pytest.fixture
def rolls():
    made = vh.datasets.make_swiss_rolls(120, noise=0.1, random_state=0).views
    return dict(made.items())


def test_the_command_at_the_end_runs(rolls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoked("advise", *save(tmp_path, rolls), "--id", "id", "--quiet")
    assert done.exit_code == 0, done.output
    assert "no findings" in done.output
    last = done.output.splitlines()[-1]
    words = shlex.split(last.removeprefix("try: "))
    assert words[:2] == ["viewhop", "fit"]
    fitted = invoked(*words[1:], "--no-report")
    assert fitted.exit_code == 0, fitted.output
    n_components = words[words.index("--components") + 1]
    assert f"{n_components} coordinates" in fitted.output


def test_findings_are_in_the_table(rolls, tmp_path):
    rolls["x"][:40] = rolls["x"][0]
    done = invoked("advise", *save(tmp_path, rolls), "--id", "id", "--quiet")
    assert done.exit_code == 0, done.output
    assert "duplicates" in done.output
    assert "Recommendations" in done.output


def test_json_has_everything(rolls, tmp_path):
    done = invoked("advise", *save(tmp_path, rolls), "--id", "id", "--json", "--quiet")
    plain = json.loads(done.stdout)
    assert plain["views"] == ["x", "y"]
    assert plain["n_samples"] == 120
    assert plain["command"][:2] == ["viewhop", "fit"]
    assert plain["parameters"]["n_components"] == int(
        plain["command"][plain["command"].index("--components") + 1]
    )


def test_options_of_tables_and_kernels_are_repeated(rolls, tmp_path):
    words = save(tmp_path, rolls)
    given = ["--id", "id", "--drop", "x2", "--kernel", "y=gaussian", "--bandwidth", "y=3.0"]
    done = invoked("advise", *words, *given, "--json", "--quiet")
    command = json.loads(done.stdout)["command"]
    for option, value in zip(given[::2], given[1::2], strict=True):
        assert (option, value) in {*pairwise(command)}


def test_names_of_views_are_no_markup(rolls, tmp_path):
    words = save(tmp_path, {"[red]": rolls["x"], "y": rolls["y"]})
    done = invoked("advise", *words, "--id", "id", "--quiet")
    assert done.exit_code == 0, done.output
    assert done.output.count("[red]") >= 3


def test_more_neighbours_become_an_option(tmp_path):
    rng = np.random.default_rng(0)
    x = np.r_[rng.standard_normal(188), 6 + 0.1 * rng.standard_normal(12)][:, None]
    words = save(tmp_path, {"x": x, "y": x + 0.01 * rng.standard_normal(x.shape)})
    done = invoked("advise", *words, "--id", "id", "--json", "--quiet")
    command = json.loads(done.stdout)["command"]
    assert "--neighbors x=15 --neighbors y=15" in " ".join(command)


@pytest.mark.parametrize("n_views", [1, 2])
def test_standardised_features_become_an_option_or_a_note(tmp_path, monkeypatch, n_views):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))  # too few samples to compare two views
    views = {"a": X * 10.0 ** np.arange(4), "b": X @ rng.standard_normal((4, 3))}
    words = save(tmp_path, dict([*views.items()][:n_views]))
    paths = dict(word.split("=") for word in words)
    settings = Settings(
        id="id", views={name: ViewSettings(path=path) for name, path in paths.items()}
    )
    result = advise_files(settings)
    assert result.advice.metrics["a"] == "standardized"
    assert ("--standardize" in result.command) == (n_views == 1)
    assert len(result.notes) == n_views - 1
    if n_views == 1:
        assert invoked(*result.command[1:], "--no-report").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["x=nowhere.csv"], 1, "nowhere.csv"),
        ([], 2, "NAME=PATH"),
        (["x=x.csv", "--kernel", "none"], 2, "none"),
    ],
)
def test_faults_take_one_line(arguments, code, message):
    done = invoked("advise", *arguments)
    assert done.exit_code == code
    assert message in done.output
    assert "Traceback" not in done.output


def test_advice_on_pieces_names_the_option(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((90, 2)) + 1e4 * np.repeat([0, 1, 2], 30)[:, None]
    np.save(tmp_path / "a.npy", rows)
    np.save(tmp_path / "b.npy", rows[:, ::-1] + rng.standard_normal((90, 2)))
    done = invoked("advise", f"a={tmp_path / 'a.npy'}", f"b={tmp_path / 'b.npy'}", "--quiet")
    assert done.exit_code == 0, done.output
    words = " ".join(done.stdout.replace("│", " ").split())
    assert "--connect" in words
    assert "connect=True" not in words
