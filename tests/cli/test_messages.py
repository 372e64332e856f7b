"""Messages name the cause, as a user reads them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from tests.support.command_line import invoked


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Two views of twelve samples, here."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 2)), rng.normal(size=(12, 2))
    Path("x.csv").write_text(
        "id,type,a,b\n" + "".join(f"s{k},t{k % 2},{p},{q}\n" for k, (p, q) in enumerate(x))
    )
    Path("y.csv").write_text("id,c,d\n" + "".join(f"s{k},{p},{q}\n" for k, (p, q) in enumerate(y)))


def error_of(*given, code):
    """The last line of a fit that must fail, after ``Error: ``."""
    done = invoked("fit", *given, "--no-report", "-o", "out")
    assert done.exit_code == code, done.output
    assert not Path("out/run.json").exists()
    return done.stderr.splitlines()[-1].removeprefix("Error: ")


THREADS = "a whole number of threads from 1 to 10,000, or -1 for all cores"
VIEWS = ["x=x.csv", "y=y.csv", "--id", "id", "--label", "type"]


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["--encoding", "rot13"], 1,
         "x.csv: 'rot13' is not an encoding of text files; try utf-8 or latin-1"),
        (["--kernel", "=gaussian"], 2,
         "--kernel =gaussian names no view before =; pass --kernel gaussian for all views, or "
         "NAME=gaussian"),
        (["--scale-neighbors", "=5"], 2,
         "--scale-neighbors =5 names no view before =; pass --scale-neighbors 5 for all views, or "
         "NAME=5"),
        (["--view-weight", "=5"], 2, "--view-weight needs the view: NAME=5"),
        (["--kernel", "xx=gaussian"], 2,
         "view 'xx' (did you mean 'x'?) has no file: pass xx=PATH"),
        (["--jobs", "0"], 2, f"--jobs: expected {THREADS}, got 0"),
        (["--jobs", "-2"], 2, f"--jobs: expected {THREADS}, got -2"),
        (["--jobs", "99999999999999999999"], 2,
         f"--jobs: expected {THREADS}, got 99999999999999999999"),
        (["--steps", "1e308"], 2,
         "--steps: expected a number of at least 0, and at most 1e+300, got 1e+308"),
        (["--drop", "bb"], 1,
         "x.csv, y.csv: no column to drop 'bb' (did you mean 'b'?); there are 'id', 'type', 'a', "
         "'b', 'c', 'd'"),
        (["--keep", "tipe"], 1,
         "x.csv, y.csv: no column to keep 'tipe' (did you mean 'type'?); there are 'id', 'type', "
         "'a', 'b', 'c', 'd'"),
    ],
)  # fmt: skip
def test_error_of_an_option_names_its_cause(given, code, message):
    assert error_of(*VIEWS, *given, code=code) == message


def test_misspelled_label_and_id_are_guessed():
    message = error_of(*VIEWS[:4], "--label", "typ", code=1)
    assert message == (
        "x.csv, y.csv: no label column 'typ' (did you mean 'type'?); there are 'id', 'type', 'a', "
        "'b', 'c', 'd'"
    )
    message = error_of(*VIEWS[:2], "--id", "Ids", "--label", "type", code=1)
    assert message.startswith("x.csv: no id column 'Ids' (did you mean 'id'?); there are 'id'")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("steps = 1e308", "steps: expected a number of at least 0, and at most 1e+300, got 1e+308"),
        ("steps = inf", "steps: expected a number of at least 0, and at most 1e+300, got inf"),
        (
            "jobs = 0",
            f"jobs: expected {THREADS}, got 0",
        ),
        (
            "jobs = 1.5",
            f"jobs: expected {THREADS}, got 1.5",
        ),
        (
            "jobs = true",
            f"jobs: expected {THREADS}, got True",
        ),
        ("kernal = 'x'", "kernal: there is no such setting (did you mean 'kernel'?); the"),
        ("missing = 'impute'", "missing: expected one of error, drop, got 'impute'"),
        ("id_strip = 1", "id_strip: expected true or false, got 1"),
    ],
)
def test_error_of_a_configuration_names_its_cause(line, message):
    Path("c.toml").write_text(f"{line}\n")
    assert error_of(*VIEWS, "--config", "c.toml", code=2).startswith(f"c.toml: {message}")


def test_error_of_a_file_names_its_cause():
    Path("empty.csv").write_text("id,a,b\ns0,1,\ns1,2,\n")
    assert error_of("x=empty.csv", "--id", "id", code=1) == (
        "empty.csv, column 'b': the column has no value in any row; drop it (--drop b), or fill it "
        "in"
    )
    Path("big.csv").write_text('id,a\ns0,"1,000"\ns1,2\n')
    assert error_of("x=big.csv", "--id", "id", code=1) == (
        "big.csv, line 2, column 'a': expected a number, got '1,000', with separators between "
        "thousands; remove them, or set decimal to ',' (--decimal) if the comma is a decimal comma"
    )
    save_npz("sparse.npz", csr_array(np.eye(12)))
    assert error_of("x=sparse.npz", code=1).startswith(
        "sparse.npz: it is a sparse matrix of scipy.sparse.save_npz, and viewhop needs a dense"
    )
    Path("z.csv").write_text("id,c\n1,2\n2,3\n")
    assert error_of("x=x.csv", "y=z.csv", *VIEWS[2:], code=1) == (
        "x.csv has no id in common with z.csv: x.csv has 's0', 's1', 's2', …, but z.csv has '1', "
        "'2'; a view must share samples with another"
    )


@pytest.mark.parametrize("fusion", ["hop", "sum"])
def test_transform_takes_a_file_of_empty_rows(fusion):
    done = invoked(
        "fit", *VIEWS, "--fusion", fusion, "--neighbors", "6", "--no-report", "-o", "out"
    )
    assert done.exit_code == 0, done.output
    rows = Path("y.csv").read_text().splitlines()
    Path("whole.csv").write_text("\n".join([*rows[:4], "s3,,", "s4,,"]) + "\n")
    Path("gone.csv").write_text("\n".join([rows[0], "s4,,", "s3,,"]) + "\n")
    head, *lines = Path("x.csv").read_text().splitlines()
    Path("all.csv").write_text("\n".join([head, *lines[:5]]) + "\n")
    Path("two.csv").write_text("\n".join([head, *lines[3:5]]) + "\n")
    options = ["--id", "id", "--quiet"]
    for first, second, out in (("all", "whole", "both"), ("two", "gone", "alone")):
        done = invoked(
            "transform", "out/model.viewhop", f"x={first}.csv", f"y={second}.csv", *options,
            "-o", f"{out}.csv",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
    both = Path("both.csv").read_text().splitlines()
    alone = Path("alone.csv").read_text().splitlines()
    assert alone == [both[0], *both[-2:]]
    done = invoked("transform", "out/model.viewhop", "y=gone.csv", *options, "-o", "none.csv")
    assert done.exit_code == 1
    assert "gone.csv, line 2: no view has a value for this sample" in done.stderr


def test_transform_drops_partly_empty_rows_if_asked_for():
    assert invoked("fit", *VIEWS, "--no-report", "-o", "out").exit_code == 0
    Path("new.csv").write_text("id,c,d\ns0,1,\ns1,1,1\n")
    given = ["transform", "out/model.viewhop", "x=x.csv", "y=new.csv", "--id", "id", "--quiet"]
    done = invoked(*given, "-o", "new_out.csv")
    assert (done.exit_code, "--missing drop" in done.stderr) == (1, True)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = invoked(*given[:-1], "--missing", "drop", "-o", "new_out.csv")
    assert done.exit_code == 0, done.output
    assert "warning: new.csv: 1 row is empty in part" in done.stderr


def test_negative_ids_come_back_as_they_were():
    text = Path("x.csv").read_text().replace("s3,", "-30,").replace("s4,", "-1.5e3,")
    Path("x.csv").write_text(text.replace("s5,", "-1+2,"))
    given = ["x=x.csv", "--id", "id", "--label", "type", "--format", "csv", "--no-report"]
    assert invoked("fit", *given, "-o", "out").exit_code == 0
    ids = [line.split(",")[0] for line in Path("out/embedding.csv").read_text().splitlines()]
    assert ids[4:7] == ["-30", "-1.5e3", "'-1+2"]


def test_new_rows_with_an_empty_column_are_dropped_alone_as_together():
    assert invoked("fit", *VIEWS, "--no-report", "-o", "out").exit_code == 0
    Path("two.csv").write_text("id,c,d\ns0,1,\ns1,2,\n")
    given = ["transform", "out/model.viewhop", "x=x.csv", "y=two.csv", "--id", "id"]
    assert "line 2, column 'd': the cell is empty" in invoked(*given, "-o", "n.csv").stderr
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = invoked(*given, "--missing", "drop", "-o", "n.csv")
    assert done.exit_code == 0, done.output
    alone = invoked(*given[:3], "--id", "id", "-o", "x_only.csv")
    assert alone.exit_code == 0
    assert Path("n.csv").read_text() == Path("x_only.csv").read_text()
