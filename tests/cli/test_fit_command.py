"""The commands that fit and apply models, as a user runs them."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shlex
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support.command_line import invoked, run
from viewhop.errors import DisconnectedWarning, FarSampleWarning
from viewhop.kernels import Correlation, Gaussian
from viewhop.scores import agreement
from viewhop.tables import write

N = 60
OUTPUTS = ["embedding.csv", "embedding.png", "model.viewhop", "report.html", "run.json", "run.toml"]
FIT = ["fit", "x=x.csv", "y=y.csv", "--id", "id", "--label", "kind", "--format", "csv", "-o", "out"]


@pytest.fixture
def rolls(tmp_path, monkeypatch):
    """Two files of a view each, here."""
    monkeypatch.chdir(tmp_path)
    made = vh.datasets.make_swiss_rolls(N, noise=0.1, random_state=0)
    ids = [f"s{k}" for k in range(N)]
    kinds = ["=low" if theta < np.median(made.theta) else "high" for theta in made.theta]
    for name, rows in made.views.items():
        write(f"{name}.csv", {"id": ids, "kind": kinds, **dict(zip("abc", rows.T, strict=True))})
    return made.views


def hashes(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path(folder).iterdir()
        if path.is_file()
    }


def read_csv(path, delimiter=","):
    """The table of a file, with numbers as Python reads them."""
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file, delimiter=delimiter)
    columns = dict(zip(head, zip(*rows, strict=True), strict=True))
    texts = {"id", "kind", "sample"} & {*head}
    return pd.DataFrame(
        {
            name: [*cells] if name in texts else [*map(float, cells)]
            for name, cells in columns.items()
        }
    )


# --- fit ---------------------------------------------------------------------------------------


def test_fit_is_the_fit_of_the_library(rolls, reports):
    result = invoked(*FIT, "--components", "3", "--seed", "4", "--steps", "2")
    assert result.exit_code == 0, result.output
    assert sorted(entry.name for entry in Path("out").iterdir()) == OUTPUTS
    est = vh.MultiViewDiffusionMaps(3, n_steps=2, random_state=4).fit(rolls)
    table = read_csv("out/embedding.csv")
    assert [*table.columns] == ["id", "kind", *est.get_feature_names_out()]
    assert table["id"].tolist() == [f"s{k}" for k in range(N)]
    assert set(table["kind"]) == {"'=low", "high"}
    assert_array_equal(table.iloc[:, 2:].to_numpy(), est.embedding_)
    model = vh.load("out/model.viewhop")
    assert_array_equal(model.embedding_, est.embedding_)
    assert model.random_state == 4


def test_record_says_what_went_in_and_what_came_out(rolls, reports, tmp_path):
    assert invoked(*FIT).exit_code == 0
    text = Path("out/run.json").read_text()
    assert str(tmp_path) not in text
    record = json.loads(text)
    assert record["command"] == "fit"
    assert record["viewhop"] == vh.__version__
    assert record["versions"]["numpy"] == np.__version__
    assert set(record["versions"]) == {"python", "numpy", "scipy", "scikit-learn", "pandas"}
    for name in "xy":
        assert record["inputs"][name] == {
            "path": f"../{name}.csv",
            "sha256": hashlib.sha256(Path(f"{name}.csv").read_bytes()).hexdigest(),
            "size": Path(f"{name}.csv").stat().st_size,
            "rows": N,
            "dropped": 0,
            "columns": 3,
        }
    there = hashes("out")
    del there["run.json"]
    assert {name: entry["sha256"] for name, entry in record["outputs"].items()} == there
    model = vh.load("out/model.viewhop")
    assert_allclose(record["eigenvalues"], model.eigenvalues_, rtol=0, atol=0)
    assert record["n_samples"] == N
    assert record["bandwidths"]["x"]["median"] == np.median(model.bandwidths_["x"])
    stages = [f"fit: {stage}" for stage in ("selection", "kernels", "solve", "extension")]
    last = ["table", "model", "picture", "report"]
    assert [*record["timings"]] == ["reading", "fit", *stages, *last]
    assert all(seconds >= 0 for seconds in record["timings"].values())


def test_report_is_asked_for_with_all_that_is_known(rolls, reports):
    assert invoked(*FIT).exit_code == 0
    ((est, more),) = reports
    assert_array_equal(est.embedding_, vh.load("out/model.viewhop").embedding_)
    assert more["ids"].tolist() == [f"s{k}" for k in range(N)]
    assert set(more["labels"]) == {"=low", "high"}
    assert more["label_name"] == "kind"
    assert more["features"].feature_names == (("a", "b", "c"),) * 2
    assert more["clusters"] is None
    assert more["repeat"] == "viewhop fit --config run.toml"
    assert all(isinstance(text, str) for pair in more["about"].items() for text in pair)


def test_fit_without_plotly_leaves_the_report_out(rolls, no_reports):
    result = invoked(*FIT)
    assert result.exit_code == 0
    assert "note: no report: it needs plotly" in result.stdout
    assert not Path("out/report.html").exists()
    assert invoked("info", "out").exit_code == 0


def test_failing_report_leaves_the_earlier_run(rolls, monkeypatch, reports):
    assert invoked(*FIT).exit_code == 0
    before = hashes("out")

    def fails(*given, **more):
        raise RuntimeError("no ink")

    monkeypatch.setattr(sys.modules["viewhop.report"], "write", fails)
    result = invoked(*FIT, "--seed", "1")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, "Error: no ink")
    assert hashes("out") == before
    assert len([*Path("out").iterdir()]) == len(before)


def test_run_toml_repeats_the_run_to_the_last_bit(rolls, reports, monkeypatch):
    more = ["--kernel", "gaussian", "--bandwidth", "x=joint", "--bandwidth", "y=joint", "--jobs", 1]
    assert invoked(*FIT, *more, "--seed", 9).exit_code == 0
    before = hashes("out")
    monkeypatch.chdir("out")
    assert invoked("fit", "--config", "run.toml").exit_code == 0
    monkeypatch.chdir("..")
    after = hashes("out")
    for name in ("embedding.csv", "run.toml"):
        assert after[name] == before[name]
    assert invoked("fit", "--config", "out/run.toml", "-o", "deeper/again").exit_code == 0
    assert hashes("deeper/again")["embedding.csv"] == before["embedding.csv"]
    assert tomllib.loads(Path("deeper/again/run.toml").read_text())["views"]["x"] == {
        "path": "../../x.csv", "kernel": "gaussian", "bandwidth": "joint", "factor": 1.0,
        "neighbors": "all", "metric": "euclidean", "standardize": False, "alpha": 0.0,
        "search": "auto", "taper": 0.0, "weight": 1.0,
    }  # fmt: skip


def test_each_view_can_have_its_own_kernel(rolls, reports):
    kernels = ["--kernel", "gaussian", "--kernel", "y=correlation", "--neighbors", "y=20"]
    assert invoked(*FIT, *kernels, "--standardize").exit_code == 0
    est = vh.load("out/model.viewhop")
    assert repr(est.kernel) == repr(
        {"x": Gaussian(standardize=True), "y": Correlation(n_neighbors=20, standardize=True)}
    )


def test_samples_that_a_file_lacks_are_missing_from_its_view(rolls, reports):
    path = Path("y.csv")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-10]))
    result = invoked(*FIT)
    assert result.exit_code == 0, result.output
    assert "y  50 samples (10 missing), 3 features" in result.stdout
    assert json.loads(Path("out/run.json").read_text())["observed"] == {"x": 60, "y": 50}
    seen = np.ones((N, 2), dtype=bool)
    seen[-10:, 1] = False
    est = vh.MultiViewDiffusionMaps(random_state=0).fit(vh.Views(rolls, observed=seen))
    assert_array_equal(read_csv("out/embedding.csv").iloc[:, 2:].to_numpy(), est.embedding_)


def test_one_view_is_the_ordinary_diffusion_map(rolls, reports):
    given = ["--drop", "id", "--drop", "kind", "--format", "tsv", "-o", "out"]
    assert invoked("fit", "x=x.csv", *given, "--components", 3).exit_code == 0
    est = vh.DiffusionMaps(3, random_state=0).fit(rolls["x"])
    table = read_csv("out/embedding.tsv", "\t")
    assert [*table.columns] == ["x_1", "x_2", "x_3"]
    assert_array_equal(table.to_numpy(), est.embedding_)
    assert invoked("transform", "out/model.viewhop", "x=x.csv", "-o", "new.csv").exit_code == 0


def test_parquet_is_the_format_where_pyarrow_is(rolls, reports, monkeypatch):
    given = [*FIT[:-4], "-o", "out"]
    assert invoked(*given).exit_code == 0
    table = pd.read_parquet("out/embedding.parquet")
    assert_array_equal(table.iloc[:, 2:], vh.load("out/model.viewhop").embedding_)
    monkeypatch.setattr("viewhop.runs._execute.find_spec", lambda name: None)
    result = invoked(*given)
    assert result.exit_code == 0
    assert "note: embedding.parquet was written by another run" in result.stdout
    assert Path("out/embedding.csv").exists()
    assert invoked("info", "out").exit_code == 1


def test_warnings_are_shown_and_recorded(rolls, reports):
    a = np.r_[np.random.default_rng(0).normal(size=(30, 2)), np.full((30, 2), 1e3)]
    a[30:] += np.random.default_rng(1).normal(size=(30, 2))
    np.save("a.npy", a)
    np.save("b.npy", 2 * a)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = invoked("fit", "a=a.npy", "b=b.npy", "-o", "out")
    assert result.exit_code == 0, result.output
    (warning,) = json.loads(Path("out/run.json").read_text())["warnings"]
    assert warning["kind"] == DisconnectedWarning.__name__
    shown = warning["text"].replace("connect=True", "--connect")
    shown = shown.replace("n_neighbors=10", "--neighbors 10")
    assert f"warning: {shown}\n" in result.stderr
    assert "the walk falls into 2 pieces" in result.stdout


def test_quiet_says_only_what_was_written(rolls, reports):
    result = invoked(*FIT, "--quiet")
    assert result.stderr == ""
    assert all(line.startswith("wrote ") for line in result.stdout.splitlines())


def test_columns_with_names_of_ours_are_told_apart(rolls, reports):
    for name in "xy":
        text = Path(f"{name}.csv").read_text().replace("id,kind", "x_1,cluster", 1)
        Path(f"{name}.csv").write_text(text)
    given = ["x=x.csv", "y=y.csv", "--id", "x_1", "--label", "cluster", "--format", "csv"]
    given += ["--output", "concat"]
    assert invoked("fit", *given, "-o", "out").exit_code == 0
    head = Path("out/embedding.csv").read_text().splitlines()[0]
    assert head == "x_1_,cluster,x_1,x_2,y_1,y_2"
    assert invoked("cluster", *given, "-k", 2, "-o", "groups").exit_code == 0
    head = Path("groups/clusters.csv").read_text().splitlines()[0]
    assert head == "x_1_,cluster_,cluster,x_1,y_1"


def test_columns_with_the_name_of_a_consensus_are_told_apart(rolls, reports):
    for name in "xy":
        text = Path(f"{name}.csv").read_text().replace("id,kind", "consensus_1,cluster", 1)
        Path(f"{name}.csv").write_text(text)
    given = ["x=x.csv", "y=y.csv", "--id", "consensus_1", "--label", "cluster", "--format", "csv"]
    assert invoked("fit", *given, "-o", "out").exit_code == 0
    head = Path("out/embedding.csv").read_text().splitlines()[0]
    assert head == "consensus_1_,cluster,consensus_1,consensus_2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "at least one view"),
        (["x=x.csv"], "missing output folder: pass -o DIR"),
        (["x.csv", "-o", "o"], "expected NAME=PATH"),
        (["x=x.csv", "x=y.csv", "-o", "o"], "given twice"),
        (["x=x.csv", "-o", "o", "--kernel", "cosine"], "--kernel: expected one of adaptive"),
        (["x=x.csv", "-o", "o", "--kernel", "z=gaussian"], "view 'z' has no file"),
        (
            ["x=x.csv", "-o", "o", "--factor", "x=0"],
            "--factor of view 'x': expected",
        ),
        (["x=x.csv", "-o", "o", "--alpha", "1", "--alpha", "2"], "--alpha is given twice"),
        (["x=x.csv", "-o", "o", "--bandwidth", "-1"], "--bandwidth: expected one of max-min"),
        (["x=x.csv", "-o", "o", "--bandwidth", "joint"], "use --kernel gaussian"),
        (["x=x.csv", "-o", "o", "--components", "many"], "--components: expected a whole"),
        (["x=x.csv", "-o", "o", "--components", "0"], "--components: expected a whole"),
        (["x=x.csv", "-o", "o", "--accuracy", "0.1"], "--accuracy requires --components auto"),
        (["x=x.csv", "-o", "o", "--fusion", "sum"], "needs two views"),
        (["x=x.csv", "-o", "o", "--fusion", "mix"], "--fusion"),
        (["x=x.csv", "-o", "o", "--seed", "-1"], "--seed: expected 0 to"),
        (["x=x.csv", "-o", "o", "--memory", "much"], "--memory: expected bytes"),
        (["x=x.csv", "-o", "o", "--id", "a", "--label", "a"], "both the ids and the labels"),
        (["x=x.csv", "-o", "o", "--delimiter", "abc"], "one character"),
        (["x=x.csv", "-o", "o", "--config", "none.toml"], "none.toml: cannot be read"),
        (["x=o/embedding.csv", "-o", "o", "--format", "csv"], "would be written over"),
    ],
)
def test_wrong_usage_exits_with_2_before_anything_is_read(
    tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    result = invoked("fit", *arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert message in result.stderr
    assert not [*tmp_path.iterdir()]


def test_configuration_of_another_command_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text('command = "cluster"\n[views.x]\npath = "x.csv"\n')
    result = invoked("fit", "--config", "c.toml", "-o", "o")
    assert result.exit_code == 2
    assert "c.toml: these are settings for viewhop cluster, not fit" in result.stderr
    Path("c.toml").write_text("sed = 1\n")
    result = invoked("fit", "--config", "c.toml", "-o", "o")
    assert result.exit_code == 2
    assert "c.toml: sed: there is no such setting" in result.stderr


# --- transform ---------------------------------------------------------------------------------


@pytest.fixture
def model(rolls, reports):
    assert invoked(*FIT, "--quiet").exit_code == 0
    return vh.load("out/model.viewhop")


def test_transform_is_the_transform_of_the_library(rolls, model):
    arguments = ["out/model.viewhop", "y=y.csv", "--id", "id", "-o", "new.csv"]
    result = invoked("transform", *arguments)
    assert result.exit_code == 0, result.output
    assert "note: y.csv: ignored 'kind'\n" in result.stderr
    embedding, coverage = model.transform({"y": rolls["y"]}, return_coverage=True)
    table = read_csv("new.csv")
    assert [*table.columns] == ["id", "coverage", *model.get_feature_names_out()]
    assert table["id"].tolist() == [f"s{k}" for k in range(N)]
    assert_array_equal(table["coverage"], coverage)
    assert_array_equal(table.iloc[:, 2:].to_numpy(), embedding)


def test_transform_takes_columns_in_any_order_and_views_with_other_samples(rolls, model):
    table = pd.read_csv("x.csv")
    table[["c", "kind", "b", "id", "a"]].iloc[20:50].to_csv("x2.csv", index=False)
    pd.read_csv("y.csv").iloc[:40].to_csv("y2.csv", index=False)
    given = ["x=x2.csv", "y=y2.csv", "--id", "id", "--label", "kind", "-o", "new.parquet"]
    result = invoked("transform", "out/model.viewhop", *given)
    assert result.exit_code == 0, result.output
    new = pd.read_parquet("new.parquet")
    order = [*range(20, 50), *range(20)]
    assert new["id"].tolist() == [f"s{k}" for k in order]
    assert set(new["kind"]) == {"=low", "high"}
    seen = np.ones((N, 2), dtype=bool)
    seen[:20, 0] = seen[40:, 1] = False
    expected = model.transform(vh.Views(rolls, observed=seen)[order])
    assert_allclose(new.iloc[:, 3:].to_numpy(), expected, rtol=0, atol=1e-12)


def test_far_samples_are_a_warning(rolls, model):
    np.save("far.npy", np.full((3, 3), 1e6))
    with warnings.catch_warnings():
        warnings.simplefilter("default", FarSampleWarning)
        result = invoked("transform", "out/model.viewhop", "x=far.npy", "-o", "new.csv")
    assert result.exit_code == 0
    assert "warning: " in result.stderr
    assert read_csv("new.csv")["coverage"].max() < 1e-6


def test_transform_takes_the_folder_of_a_run_and_prints_to_standard_output(rolls, model):
    given = ["y=y.csv", "--id", "id"]
    assert invoked("transform", "out/model.viewhop", *given, "-o", "new.csv").exit_code == 0
    before = sorted(os.listdir())
    result = invoked("transform", "out", *given, "-o", "-")
    assert result.exit_code == 0, result.stderr
    assert result.stdout_bytes == Path("new.csv").read_bytes()
    assert "note: y.csv: ignored 'kind'" in result.stderr
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["out/model.viewhop", "x=x.csv"], 2, "-o"),
        (["out/model.viewhop", "-o", "n.csv"], 2, "NAME=PATH"),
        (["out/model.viewhop", "x=x.csv", "--drop", "kind", "-o", "n.csv"], 2, "by name"),
        (["out/model.viewhop", "z=x.csv", "-o", "n.csv"], 2, "the model has no view 'z'"),
        (["out/model.viewhop", "x=x.csv", "-o", "n.xlsx"], 2, "n.xlsx: tables are written as"),
        (["out/model.viewhop", "x=x.csv", "-o", "out"], 1, "cannot write to out: Is a directory"),
        (["out/model.viewhop", "x=x.csv", "-o", "x.csv/n.csv"], 1, "cannot write to x.csv/n.csv"),
        (["out/model.viewhop", "x=x.csv", "-o", "x.csv"], 2, "x.csv would be written over"),
        (["out/model.viewhop", "x=x.csv", "-o", "out/model.viewhop"], 2, "would be written over"),
        (["none.viewhop", "x=x.csv", "-o", "n.csv"], 1, "Error: none.viewhop: No such file"),
        (["x.csv", "x=x.csv", "-o", "n.csv"], 1, "Error: x.csv: "),
        ([".", "x=x.csv", "-o", "n.csv"], 2, "the folder '.' has no model.viewhop"),
        (["none.viewhop", "x=x.csv", "-o", "-"], 1, "Error: none.viewhop: No such file"),
    ],
)
def test_transform_used_wrongly_writes_nothing(rolls, model, arguments, code, message):
    before = sorted(os.listdir())
    result = invoked("transform", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert BUG not in result.stderr
    assert sorted(os.listdir()) == before


BUG = "this is a bug in viewhop"


# --- cluster -----------------------------------------------------------------------------------


def test_cluster_is_the_clustering_of_the_library(tmp_path, monkeypatch, reports):
    monkeypatch.chdir(tmp_path)
    assert invoked("data", "mixtures", "--samples", 240, "-o", ".").exit_code == 0
    made = vh.datasets.make_mixtures(240, random_state=0)
    given = ["x=x.csv", "y=y.csv", "--id", "sample", "--label", "cluster", "--format", "csv"]
    result = invoked("cluster", *given, "-k", 6, "--seed", 2, "-o", "out")
    assert result.exit_code == 0, result.output
    model = vh.MultiViewSpectralClustering(6, random_state=2).fit(made.views)
    table = pd.read_csv("out/clusters.csv")
    assert_array_equal(table["cluster"], model.labels_)
    assert_array_equal(table["cluster_"], made.target)
    scores = agreement(made.target, model.labels_)
    assert f"NMI {scores.nmi:.3f}, AMI {scores.ami:.3f}, accuracy {scores.accuracy:.3f}" in (
        result.stdout
    )
    ((est, more),) = reports
    assert_array_equal(more["clusters"], model.labels_)
    assert isinstance(est, vh.MultiViewDiffusionMaps)
    assert json.loads(Path("out/run.json").read_text())["n_clusters"] == 6
    arguments = ["y=y.csv", "--id", "sample", "-o", "new.csv"]
    assert invoked("transform", "out/model.viewhop", *arguments).exit_code == 0
    assert_array_equal(pd.read_csv("new.csv")["cluster"], model.predict({"y": made.views["y"]}))
    again = invoked("cluster", "--config", "out/run.toml", "-o", "again")
    assert again.exit_code == 0
    assert hashes("again")["clusters.csv"] == hashes("out")["clusters.csv"]


# --- bad input, by the real command ------------------------------------------------------------

HEAD = "id,kind,a,b,c\n"
ROWS = "".join(f"s{k},t,{k}.5,{k * k % 7}.25,1.5\n" for k in range(20))
BAD = {
    "ragged": (HEAD + ROWS + "s20,t,1,2\n", "bad.csv, line 22: 4 cells"),
    "encoding": ((HEAD + ROWS).encode() + b"\xff,t,1,2,3\n", "bad.csv, line 22: byte"),
    "NUL": (HEAD + ROWS + "s20,t,\0,2,3\n", "bad.csv, line 22: a NUL"),
    "decimal comma": (
        (HEAD + ROWS).replace(",", ";") + "s20;t;1,5;2;3\n",
        "bad.csv, line 22, column 'a': '1,5' has a decimal comma",
    ),
    "duplicate ids": (HEAD + ROWS + "s3,t,1,2,3\n", "bad.csv, line 22: the id 's3' also stands"),
    "text": (HEAD + ROWS + "s20,t,1,tall,3\n", "bad.csv, line 22, column 'b': expected a number"),
    "half empty": (HEAD + ROWS + "s20,t,1,,3\n", "bad.csv, line 22, column 'b': the cell is empty"),
    "no id": ((HEAD + ROWS).replace("id", "name", 1), "bad.csv: no id column 'id'"),
    "empty": ("", "bad.csv: it is empty"),
    "folder": (None, "bad.csv: it is a folder"),
}


def put_bad(content):
    if content is None:
        Path("bad.csv").mkdir()
    else:
        Path("bad.csv").write_bytes(content.encode() if isinstance(content, str) else content)


def check_refused(done, message, code=1):
    assert done.returncode == code
    assert done.stdout == ""
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("Error: "))
    assert message in line
    assert "Traceback" not in done.stderr
    assert BUG not in done.stderr


@pytest.mark.parametrize("case", BAD)
def test_error_of_a_bad_file_names_its_place_and_the_earlier_run_stays(rolls, model, case):
    content, message = BAD[case]
    put_bad(content)
    before = hashes("out")
    check_refused(run(*FIT, "z=bad.csv", cwd="."), message)
    assert hashes("out") == before
    assert not [entry for entry in os.listdir("out") if entry.endswith(".part")]
    # The same file as a new one of the model; a column that it does not know may hold text.
    Path("new.csv").write_text("mine")
    done = invoked("transform", "out/model.viewhop", "x=bad.csv", "--id", "id", "-o", "new.csv")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {message}")
    assert done.stderr.count("\n") == 1
    assert Path("new.csv").read_text() == "mine"


@pytest.mark.parametrize("case", ["ragged", "text", "folder"])
def test_bad_file_of_new_samples_is_refused_by_the_real_command(rolls, model, case):
    content, message = BAD[case]
    put_bad(content)
    Path("new.csv").write_text("mine")
    arguments = ["transform", "out/model.viewhop", "x=bad.csv", "--id", "id", "-o", "new.csv"]
    check_refused(run(*arguments, cwd="."), message)
    assert Path("new.csv").read_text() == "mine"


def test_missing_column_of_new_samples_is_refused_by_the_real_command(rolls, model):
    Path("bad.csv").write_text("id,a,b\ns1,1,2\n")
    Path("new.csv").write_text("mine")
    arguments = ["transform", "out/model.viewhop", "x=bad.csv", "--id", "id", "-o", "new.csv"]
    check_refused(run(*arguments, cwd="."), "bad.csv: no column 'c'; there are 'id', 'a', 'b'")
    assert Path("new.csv").read_text() == "mine"
    done = run(*arguments, "--debug", cwd=".")
    assert "Traceback" in done.stderr
    assert "TableError: bad.csv" in done.stderr


def test_byte_order_mark_changes_nothing(rolls, model):
    before = hashes("out")["embedding.csv"]
    for name in "xy":
        Path(f"{name}.csv").write_bytes(b"\xef\xbb\xbf" + Path(f"{name}.csv").read_bytes())
    assert invoked(*FIT).exit_code == 0
    assert hashes("out")["embedding.csv"] == before


def test_unwritable_folder_is_an_error_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("taken").touch()
    check_refused(run("fit", "x=none.csv", "-o", "taken", cwd="."), "cannot write to taken: ")


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_cannot_be_replaced_is_an_error_before_anything_is_read(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    if kind == "folder":
        Path("out/run.json").mkdir()
    else:
        Path("out/run.json").symlink_to("elsewhere")
    result = invoked("fit", "x=none.csv", "-o", "out")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: cannot write to out (run.json): ")


def test_advice_of_the_commands_runs(tmp_path, monkeypatch, reports):
    monkeypatch.chdir(tmp_path)
    advice = invoked("data", "rolls", "--samples", 60, "--noise", 0.1, "-o", "in here").stdout
    result = invoked(*shlex.split(advice.splitlines()[-1].removeprefix("try: viewhop ")))
    assert result.exit_code == 0, result.output
    advice = result.stdout.splitlines()[-1].removeprefix("try: viewhop ")
    result = invoked(*shlex.split(advice.replace("x=NEW", "'x=in here/x.csv'")))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("fusion", ["product", "concat", "composite"])
def test_fusions_of_every_view_are_fitted_and_applied_to_every_view(rolls, fusion):
    result = invoked(*FIT, "--fusion", fusion, "--no-report")
    assert result.exit_code == 0, result.output
    known = read_csv("out/embedding.csv")
    words = shlex.split(result.stdout.splitlines()[-1].removeprefix("try: viewhop "))
    assert words[2:4] == ["x=NEW", "y=NEW"]
    result = invoked(*(word.replace("=NEW", f"={word[0]}.csv") for word in words))
    assert result.exit_code == 0, result.output
    columns = ["fused_1", "fused_2"]
    assert_allclose(read_csv("new.csv")[columns], known[columns], atol=1e-8)
    result = invoked("transform", "out/model.viewhop", "x=x.csv", "--id", "id", "-o", "one.csv")
    assert result.exit_code == 1
    assert f'fusion="{fusion}" needs every view of a new sample; missing: y' in result.stderr


def test_integrated_diffusion_is_fitted_and_applied_to_the_first_view(rolls):
    result = invoked(*FIT, "--fusion", "integrated", "--no-report")
    assert result.exit_code == 0, result.output
    known = read_csv("out/embedding.csv")
    result = invoked("transform", "out/model.viewhop", "x=x.csv", "--id", "id", "-o", "new.csv")
    assert result.exit_code == 0, result.output
    columns = ["fused_1", "fused_2"]
    assert_allclose(read_csv("new.csv")[columns], known[columns], atol=1e-8)
    result = invoked("transform", "out/model.viewhop", "y=y.csv", "--id", "id", "-o", "one.csv")
    assert result.exit_code == 1
    assert "fusion=\"integrated\" starts in view 'x', which new samples must have" in result.stderr


@pytest.mark.parametrize("command", ["fit", "cluster"])
def test_the_composite_operator_of_three_files_is_refused(rolls, command):
    files = ["x=x.csv", "y=y.csv", "z=x.csv", "--id", "id", "--label", "kind"]
    result = invoked(command, *files, "--fusion", "composite", "--no-report", "-o", "out")
    assert result.exit_code == 1
    assert "fusion=\"composite\" is for two views, got 3: 'x', 'y', 'z'" in result.stderr
    assert not Path("out").exists()


def test_a_column_to_keep_that_no_array_has_is_an_error_of_transform_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(40, 3))
    np.save("a.npy", rows)
    assert invoked("fit", "a=a.npy", "--no-report", "--quiet", "-o", "out").exit_code == 0
    result = invoked("transform", "out/model.viewhop", "a=a.npy", "--keep", "none", "-o", "n.csv")
    assert result.exit_code == 1
    assert "no column to keep 'none'" in result.stderr
    assert not Path("n.csv").exists()


def test_an_uncertain_number_of_clusters_is_announced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("rolls", "mixtures"):
        assert invoked("data", name, "--samples", 240, "-o", name).exit_code == 0
        views = [f"{view}={name}/{view}.csv" for view in "xy"]
        arguments = [*views, "--id", "sample", "-o", f"{name}-out"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedWarning)
            result = invoked("cluster", *arguments)
        assert result.exit_code == 0, result.output
        confidence = json.loads(Path(f"{name}-out/run.json").read_text())["cluster_confidence"]
        doubt = f"their number is uncertain (confidence {confidence:.2f})"
        assert (doubt in result.stdout) == (name == "rolls")
        assert ("sections of it" in result.stdout) == (name == "rolls")
        assert (confidence > 0.5) == (name == "mixtures")


def far_groups():
    """Two files of two groups of samples, far apart."""
    rng = np.random.default_rng(0)
    for name in "ab":
        rows = rng.standard_normal((60, 2))
        rows[30:] += 1e3
        np.save(f"{name}.npy", rows)


def test_a_walk_is_connected_and_the_run_repeats_to_the_last_bit(rolls):
    far_groups()
    result = invoked("fit", "a=a.npy", "b=b.npy", "--connect", "--no-report", "-o", "out")
    assert result.exit_code == 0, result.output
    assert "the walk is in one piece, with 40 neighbours" in result.stdout
    assert "warning" not in result.stderr
    record = json.loads(Path("out/run.json").read_text())
    assert record["settings"]["connect"] is True
    assert record["n_neighbors"] == {"a": 40, "b": 40}
    (table,) = [
        name for name in record["outputs"] if name.startswith("embedding.") and "png" not in name
    ]
    before = Path("out", table).read_bytes()
    assert tomllib.loads(Path("out/run.toml").read_text())["connect"] is True
    assert invoked("fit", "--config", "out/run.toml").exit_code == 0
    assert Path("out", table).read_bytes() == before


def test_an_option_takes_the_connection_of_a_file_back(rolls):
    far_groups()
    Path("run.toml").write_text("connect = true\nreport = false\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = invoked(
            "fit", "a=a.npy", "b=b.npy", "--config", "run.toml", "--no-connect", "-o", "out"
        )
    assert result.exit_code == 0, result.output
    assert "the walk falls into 2 pieces" in result.stdout
    assert "pass --connect, which adds neighbours" in result.stderr


def test_messages_name_options_but_leave_names_of_views_alone(rolls):
    far_groups()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = invoked("fit", "n_neighbors=a.npy", "--no-report", "-o", "out")
    assert result.exit_code == 0, result.output
    assert "of view 'n_neighbors'" in result.stderr
    assert "--neighbors 10" in result.stderr
