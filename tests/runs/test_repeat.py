"""Repeated runs: the same files give the same bytes, and changed ones are announced."""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support.command_line import invoked
from viewhop import runs
from viewhop.errors import ChangedInputWarning, DroppedRowsWarning
from viewhop.runs import Settings, ViewSettings
from viewhop.tables import write

N = 60
FIT = ["fit", "x=x.csv", "y=y.csv", "--id", "id", "--format", "csv", "--no-report", "-o", "out"]


@pytest.fixture
def rolls(tmp_path, monkeypatch):
    """Two files of a view each, here."""
    monkeypatch.chdir(tmp_path)
    made = vh.datasets.make_swiss_rolls(N, noise=0.1, random_state=0)
    ids = [f"s{k}" for k in range(N)]
    for name, rows in made.views.items():
        write(f"{name}.csv", {"id": ids, **dict(zip("abc", rows.T, strict=True))})
    return made.views


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


#: A default walk, one with settings of its own, and clusters of a given and of an unknown number.
REPEATED = {
    "default": ["fit"],
    "paper's walk": ["fit", "--within-view-weight", "0", "--kernel", "gaussian"],
    "connected": ["fit", "--connect", "--neighbors", "5", "--kernel", "gaussian"],
    "one view": ["fit", "--components", "auto"],
    "sum": ["fit", "--fusion", "sum"],
    "clusters": ["cluster", "-k", "3"],
    "unknown number": ["cluster"],
}


@pytest.mark.parametrize("name", REPEATED)
def test_run_toml_repeats_the_model_file_to_the_last_bit(rolls, name):
    command, *own = REPEATED[name]
    files = FIT[1:2] if name == "one view" else FIT[1:3]
    assert invoked(command, *files, *FIT[3:], *own).exit_code == 0
    for earlier, later in (("out", "again"), ("again", "third")):
        assert invoked(command, "--config", f"{earlier}/run.toml", "-o", later).exit_code == 0
    first, *others = (digests(Path(folder)) for folder in ("out", "again", "third"))
    for repeated in others:
        for file in first.keys() - {"run.json"}:
            assert repeated[file] == first[file], file


def test_a_repeat_has_the_evidence_of_the_run(rolls):
    assert invoked(*FIT).exit_code == 0
    first = vh.load("out/model.viewhop")
    assert first.metric_scores_
    assert invoked("fit", "--config", "out/run.toml", "-o", "again").exit_code == 0
    again = vh.load("again/model.viewhop")
    assert again.metric_scores_ == first.metric_scores_
    assert_array_equal(again.geometry_.record.agreement, first.geometry_.record.agreement)


@pytest.mark.parametrize(
    "edit",
    [
        {"metrics": {"x": "cosine", "y": "euclidean"}},
        {"metric_scores": {"x": {"euclidean": 2.0}}},
        {"metric_scores": {"z": {"euclidean": 0.5}}},
        {"metric_scores": 3},
        {"agreement": [[1.0]]},
        {"agreement": [[1.0, "x"], [0.5, 1.0]]},
        {"agreement": None},
    ],
    ids=str,
)
def test_evidence_that_does_not_belong_to_the_run_is_not_taken_over(rolls, edit):
    assert invoked(*FIT).exit_code == 0
    record = json.loads(Path("out/run.json").read_text())
    Path("out/run.json").write_text(json.dumps(record | edit))
    assert invoked("fit", "--config", "out/run.toml", "-o", "again").exit_code == 0
    assert vh.load("again/model.viewhop").metric_scores_ == {}


def test_evidence_about_other_columns_is_not_taken_over(rolls):
    assert invoked(*FIT).exit_code == 0
    again = invoked("fit", "--config", "out/run.toml", "-o", "again", "--drop", "c")
    assert again.exit_code == 0
    assert vh.load("again/model.viewhop").metric_scores_ == {}


def test_repeat_with_changed_inputs_says_which(rolls):
    assert invoked(*FIT).exit_code == 0
    with open("y.csv", "a") as file:
        file.write("new,1,2,3\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = invoked("fit", "--config", "out/run.toml", "-o", "again")
    assert result.exit_code == 0, result.output
    assert "y.csv has changed since the run that is repeated" in result.stderr
    assert "x.csv" not in result.stderr
    (warning,) = json.loads(Path("again/run.json").read_text())["warnings"]
    assert warning["kind"] == "ChangedInputWarning"
    # A repeat of the repeat has its files, and other files are no repeat.
    assert invoked("fit", "--config", "again/run.toml").exit_code == 0
    shutil.copy("x.csv", "z.csv")
    assert invoked("fit", "--config", "again/run.toml", "y=z.csv").exit_code == 0


def test_changed_inputs_are_an_attribute_of_the_warning(rolls):
    views = {name: ViewSettings(path=f"{name}.csv") for name in ("x", "y")}
    settings = Settings(views=views, id="id", out="out", format="csv", report=False)
    runs.execute(settings)
    runs.execute(settings, repeats="out")
    runs.execute(settings, repeats="nowhere")
    for name in ("x", "y"):
        write(f"{name}.csv", {"id": [f"s{k}" for k in range(N)], "a": rolls[name][:, 0]})
    with pytest.warns(ChangedInputWarning, match="have changed") as caught:
        runs.execute(settings, repeats="out")
    assert [Path(file).name for file in caught[0].message.files] == ["x.csv", "y.csv"]


def test_report_that_is_asked_for_needs_plotly(rolls, no_reports):
    given = [word for word in FIT if word != "--no-report"]
    result = invoked(*given, "--report")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == 'Error: no report: it needs plotly (pip install "viewhop[report]")\n'
    assert not Path("out/run.json").exists()
    Path("c.toml").write_text("report = true\n")
    assert invoked(*given, "--config", "c.toml").exit_code == 1
    # By default it is a note, also in a repeat.
    assert "note: no report: it needs plotly" in invoked(*given).stdout
    assert "report" not in tomllib.loads(Path("out/run.toml").read_text())
    assert "note: no report" in invoked("fit", "--config", "out/run.toml").stdout


def test_settings_of_reading_are_recorded_and_repeated(rolls):
    lines = Path("x.csv").read_text().splitlines()
    lines[3] = ",".join([*lines[3].split(",")[:3], ""])
    lines[5] = " " + lines[5]
    Path("x.csv").write_text("\n".join(lines) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = invoked(*FIT, "--missing", "drop", "--id-strip")
    assert result.exit_code == 0, result.output
    assert "warning: x.csv: 1 row is empty in part" in result.stderr
    assert "the first in line 4" in result.stderr
    record = json.loads(Path("out/run.json").read_text())
    assert record["settings"]["missing"] == "drop"
    assert record["settings"]["id_strip"] is True
    assert [entry["dropped"] for entry in record["inputs"].values()] == [1, 0]
    assert record["observed"] == {"x": N - 1, "y": N}
    assert {entry["kind"] for entry in record["warnings"]} == {DroppedRowsWarning.__name__}
    stated = tomllib.loads(Path("out/run.toml").read_text())
    assert (stated["missing"], stated["id_strip"]) == ("drop", True)
    before = Path("out/embedding.csv").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert invoked("fit", "--config", "out/run.toml").exit_code == 0
        assert Path("out/embedding.csv").read_bytes() == before
        # The report of the run reads the files as the run did.
        result = invoked("fit", "--config", "out/run.toml", "--missing", "error")
    assert result.exit_code == 1
    assert "x.csv, line 4, column 'c': the cell is empty" in result.stderr


def test_defaults_of_reading_are_stated(rolls):
    assert invoked(*FIT).exit_code == 0
    stated = tomllib.loads(Path("out/run.toml").read_text())
    assert (stated["missing"], stated["id_strip"]) == ("error", False)


def test_a_mean_is_that_of_scaled_views_times_the_eigenvalues(rolls):
    x, y = (rolls[name].copy() for name in ("x", "y"))
    x[:10] = np.nan
    y[-5:] = np.nan
    est = vh.MultiViewDiffusionMaps(
        3, within_view_weight=0.5, output="mean", n_steps=2, random_state=0
    ).fit([x, y])
    scaled = []
    for block in est.view_embeddings_.values():
        rows = block[~np.isnan(block[:, 0])]
        scaled.append((block - rows.mean(axis=0)) / rows.std(axis=0))
    expected = np.nanmean(scaled, axis=0) * est.eigenvalues_**2
    assert_allclose(est.embedding_, expected, rtol=1e-9, atol=1e-12)
