"""The commands that look at what is there: info, report; and completion in a shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.shell_completion import ShellComplete
from numpy.testing import assert_array_equal

import viewhop as vh
from tests.support.command_line import RUN, environment, invoked
from viewhop.cli._main import main
from viewhop.tables import write

N = 60
FIT = ["fit", "x=x.csv", "y=y.csv", "--id", "id", "--label", "kind", "--quiet", "-o", "out"]


@pytest.fixture
def rolls(tmp_path, monkeypatch, reports):
    """Two files, and a run on them in the folder out."""
    monkeypatch.chdir(tmp_path)
    made = vh.datasets.make_swiss_rolls(N, noise=0.1, random_state=0)
    ids = [f"s{k}" for k in range(N)]
    kinds = ["a" if theta < np.median(made.theta) else "b" for theta in made.theta]
    for name, rows in made.views.items():
        write(f"{name}.csv", {"id": ids, "kind": kinds, **dict(zip("uvw", rows.T, strict=True))})
    result = invoked(*FIT)
    assert result.exit_code == 0, result.output
    reports.clear()
    return made.views


# --- info --------------------------------------------------------------------------------------


def test_info_of_a_run_says_whether_its_files_belong_together(rolls):
    result = invoked("info", "out")
    assert result.exit_code == 0
    assert "its files belong together" in result.stdout
    assert "input x: same" in result.stdout
    Path("x.csv").unlink()
    result = invoked("info", "out")
    assert result.exit_code == 0
    assert "input x: gone" in result.stdout
    with open("out/run.toml", "a") as file:
        file.write("\n")
    result = invoked("info", "out", "--json")
    assert result.exit_code == 1
    facts = json.loads(result.stdout)
    assert facts["whole"] is False
    assert facts["outputs"]["run.toml"] == "changed"
    assert facts["inputs"] == {"x": "gone", "y": "same"}


def test_info_of_a_folder_without_a_record_is_an_error(tmp_path):
    result = invoked("info", tmp_path)
    assert result.exit_code == 1
    assert "there is no run.json" in result.stderr


def test_info_of_a_model_is_that_of_the_model(rolls):
    est = vh.load("out/model.viewhop")
    facts = json.loads(invoked("info", "out/model.viewhop", "--json").stdout)
    assert facts["class"] == "MultiViewDiffusionMaps"
    assert facts["n_samples"] == N
    assert facts["views"]["x"] == {"features": 3, "observed": N, "columns": ["u", "v", "w"]}
    assert facts["eigenvalues"] == est.eigenvalues_.tolist()
    assert facts["coordinates"] == est.get_feature_names_out().tolist()
    assert facts["size"] == os.path.getsize("out/model.viewhop")
    assert facts["format_version"] == 2
    assert "Gaussian" in facts["parameters"]["kernel"]
    text = invoked("info", "out/model.viewhop").stdout
    assert "MultiViewDiffusionMaps" in text
    assert f"{est.eigenvalues_[0]:.6g}" in text


def test_info_of_a_table_is_how_it_would_be_read(rolls):
    facts = json.loads(invoked("info", "x.csv", "--id", "id", "--label", "kind", "--json").stdout)
    assert (facts["rows"], facts["columns"], facts["names"]) == (N, 3, ["u", "v", "w"])
    assert (facts["ids"], facts["labels"], facts["observed"]) == (N, 2, N)
    result = invoked("info", "x.csv")
    assert result.exit_code == 1
    assert "x.csv, line 2, column 'id': expected a number" in result.stderr
    assert invoked("info", "none.csv").exit_code == 1


# --- report ------------------------------------------------------------------------------------


def test_report_of_a_run_is_made_again_and_recorded(rolls, reports):
    Path("out/report.html").write_text("lost")
    assert invoked("info", "out").exit_code == 1
    result = invoked("report", "out")
    assert (result.exit_code, result.stdout) == (0, "wrote out/report.html\n"), result.output
    ((est, more),) = reports
    assert_array_equal(est.embedding_, vh.load("out/model.viewhop").embedding_)
    assert_array_equal(more["features"]["x"], rolls["x"])
    assert more["ids"].tolist() == [f"s{k}" for k in range(N)]
    assert set(more["labels"]) == {"a", "b"}
    assert more["label_name"] == "kind"
    assert Path("out/report.html").read_text() == "<html>1</html>"
    assert invoked("info", "out").exit_code == 0


def test_report_of_a_run_whose_files_are_gone_has_what_the_table_has(rolls, reports):
    Path("x.csv").unlink()
    result = invoked("report", "out", "-o", "other.html")
    assert result.exit_code == 0, result.output
    assert "input files were moved or changed: x (gone)" in result.stdout
    ((_, more),) = reports
    assert more["features"] is None
    assert more["ids"].tolist() == [f"s{k}" for k in range(N)]
    assert set(more["labels"]) == {"a", "b"}
    assert Path("other.html").exists()


def test_report_of_a_run_finds_files_that_were_moved(rolls, reports):
    Path("x.csv").rename("moved.csv")
    assert invoked("report", "out", "x=moved.csv").exit_code == 0
    assert_array_equal(reports[0][1]["features"]["x"], rolls["x"])
    shutil.copy("y.csv", "moved.csv")
    result = invoked("report", "out", "x=moved.csv")
    assert result.exit_code == 1
    assert "not the file that the run read for view 'x'" in result.stderr
    assert invoked("report", "out", "z=y.csv").exit_code == 2


def test_report_of_a_run_needs_its_own_model(rolls, reports):
    old = Path("out/report.html").read_text()
    assert invoked("fit", "x=x.csv", "--drop", "id", "--drop", "kind", "-o", "else").exit_code == 0
    shutil.copy("else/model.viewhop", "out/model.viewhop")
    result = invoked("report", "out")
    assert result.exit_code == 1
    assert "model.viewhop is changed" in result.stderr
    assert Path("out/report.html").read_text() == old


def test_report_of_a_model_takes_the_files_of_its_samples(rolls, reports):
    given = ["x=x.csv", "y=y.csv", "--id", "id", "--label", "kind", "-o", "model.html"]
    assert invoked("report", "out/model.viewhop", *given).exit_code == 0
    assert invoked("report", "out/model.viewhop", "-o", "bare.html").exit_code == 0
    (_, full), (_, bare) = reports
    assert full["features"].names == ("x", "y")
    assert set(full["labels"]) == {"a", "b"}
    assert bare["features"] is None
    assert bare["labels"] is None
    lines = Path("x.csv").read_text().splitlines(keepends=True)
    Path("x.csv").write_text("".join(lines[:20]))
    result = invoked("report", "out/model.viewhop", "x=x.csv", "--id", "id", "-o", "m.html")
    assert result.exit_code == 1
    assert "the files have 19 samples, but the model was fitted on 60" in result.stderr


def test_report_used_wrongly_exits_with_2(rolls):
    assert invoked("report", "out/model.viewhop").exit_code == 2
    assert invoked("report", "out", "--id", "id").exit_code == 2


def test_report_without_plotly_is_an_error(rolls, no_reports):
    old = Path("out/report.html").read_text()
    for arguments in (["out"], ["out/model.viewhop", "-o", "m.html"]):
        result = invoked("report", *arguments)
        assert result.exit_code == 1
        assert (
            result.stderr == 'Error: no report: it needs plotly (pip install "viewhop[report]")\n'
        )
    assert Path("out/report.html").read_text() == old
    assert not Path("m.html").exists()


# --- completion --------------------------------------------------------------------------------


def offered(*words):
    """What click would offer for the last of the words."""
    complete = ShellComplete(main, {}, "viewhop", "_VIEWHOP_COMPLETE")
    return [item.value for item in complete.get_completions([*words[:-1]], words[-1])]


def test_paths_are_offered_behind_the_name_of_a_view(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for name in ("rna.csv", "rnb.csv", "other.csv", ".hidden"):
        Path(name).touch()
    Path("data", "rna.csv").touch()
    assert offered("fit", "rna=r") == ["rna=rna.csv", "rna=rnb.csv"]
    assert offered("fit", "x=y.csv", "rna=da") == [f"rna=data{os.sep}"]
    assert offered("fit", f"rna=data{os.sep}") == [f"rna={os.path.join('data', 'rna.csv')}"]
    assert offered("fit", "rna=none/") == []


def test_words_of_options_and_data_sets_are_offered():
    assert offered("data", "ro") == ["rolls"]
    assert offered("fit", "--kernel", "l") == ["laplacian"]
    assert offered("fit", "--kernel", "rna=l") == ["rna=laplacian"]
    assert offered("fit", "--fusion", "s") == ["sum"]
    assert "transform" in offered("tr")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_are_those_of_click(shell):
    result = invoked("completion", shell)
    assert result.exit_code == 0
    assert f"_VIEWHOP_COMPLETE={shell}_complete" in result.stdout
    assert invoked("completion", "csh").exit_code == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_the_script(tmp_path):
    command = tmp_path / "bin" / "viewhop"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{RUN}" "$@"\n')
    command.chmod(0o755)
    (tmp_path / "rna.csv").touch()
    asks = """
        source <(viewhop completion bash)
        ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
                _viewhop_completion viewhop 2>/dev/null; echo "${COMPREPLY[*]}"; }
        complete -p viewhop
        ask viewhop tr
        ask viewhop data mi
        ask viewhop fit --fusion p
    """
    paths = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "--norc", "-c", asks],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**environment(), "PATH": paths},
        check=True,
    )
    assert done.stdout.splitlines()[1:] == ["transform", "mixtures", "product"]
    assert "-F _viewhop_completion viewhop" in done.stdout


# --- the report of what was moved, mixed up or in the way ---------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["out/model.viewhop", "x=x.csv", "y=y.csv", "--id", "id", "-o", "x.csv"],
        ["out/model.viewhop", "-o", "out/model.viewhop"],
        ["out", "-o", "out/model.viewhop"],
        ["out", "-o", "out/run.json"],
        ["out", "-o", "y.csv"],
    ],
)
def test_a_report_takes_the_place_of_nothing_that_is_read(rolls, arguments):
    before = {path: path.read_bytes() for path in (*Path().glob("*.csv"), *Path("out").iterdir())}
    result = invoked("report", *arguments)
    assert result.exit_code == 2
    assert "would be written over" in result.stderr
    assert {path: path.read_bytes() for path in before} == before


def test_a_report_in_its_own_place_is_recorded(rolls, reports):
    result = invoked("report", "out", "-o", "out/report.html")
    assert result.exit_code == 0, result.output
    assert invoked("info", "out").exit_code == 0


def test_labels_come_back_under_the_name_that_was_free(rolls, reports):
    for name in ("x", "y"):
        text = Path(f"{name}.csv").read_text().replace("id,kind", "id,cluster", 1)
        Path(f"{name}.csv").write_text(text)
    options = ["--id", "id", "--label", "cluster", "-k", "3", "--format", "csv", "--quiet"]
    assert invoked("cluster", "x=x.csv", "y=y.csv", *options, "-o", "groups").exit_code == 0
    expected = reports[-1][1]["labels"].tolist()
    assert set(expected) == {"a", "b"}
    Path("x.csv").unlink()
    result = invoked("report", "groups")
    assert result.exit_code == 0, result.output
    assert reports[-1][1]["labels"].tolist() == expected


def test_views_in_another_order_are_put_in_that_of_the_fit(rolls, reports):
    """After an outer join the order of samples is that in which ids first appear."""
    for name, rows in (("x", slice(0, 50)), ("y", slice(10, 60))):
        head, *lines = Path(f"{name}.csv").read_text().splitlines()
        Path(f"{name}.csv").write_text("\n".join([head, *lines[rows]]) + "\n")
    options = ["--id", "id", "--neighbors", "25", "--drop", "kind"]
    result = invoked("fit", "x=x.csv", "y=y.csv", *options, "--quiet", "-o", "joined")
    assert result.exit_code == 0, result.output
    files = ["y=y.csv", "x=x.csv", "--id", "id", "-o", "r.html"]
    result = invoked("report", "joined/model.viewhop", *files)
    assert result.exit_code == 0, result.output
    assert reports[-1][1]["ids"].tolist() == [f"s{k}" for k in range(N)]


def test_samples_in_another_order_are_refused(rolls):
    for name in ("x", "y"):
        head, *lines = Path(f"{name}.csv").read_text().splitlines()
        lines[3], lines[40] = lines[40], lines[3]
        Path(f"{name}.csv").write_text("\n".join([head, *lines]) + "\n")
    files = ["x=x.csv", "y=y.csv", "--id", "id", "-o", "r.html"]
    result = invoked("report", "out/model.viewhop", *files)
    assert result.exit_code == 1
    assert "not in the same order: sample number 4 ('s40') differs" in result.stderr
    assert not Path("r.html").exists()
