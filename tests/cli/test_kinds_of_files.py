"""Every command reads every kind of file alike, with options of single views."""

from __future__ import annotations

import csv
import gzip
import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zstandard
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support.command_line import invoked
from tests.support.data_files import (
    SharedParser,
    write_h5ad,
    write_h5mu,
    write_workbook,
    write_zarr,
)
from viewhop.runs import verify
from viewhop.tables import write

N = 60
IDS = [f"s{k}" for k in range(N)]
KINDS = [*"ab"] * (N // 2)
PLAIN = {"x": "x.csv", "y": "y.csv"}
#: Pairs of files with the same numbers as x.csv and y.csv.
MIXED = [
    {"x": "cells.h5ad", "y": "x.zarr::y"},
    {"x": "cells.h5mu::one", "y": "book.xlsx::y"},
    {"x": "x.feather", "y": "y.csv.zst"},
    {"x": "x.csv.gz", "y": "cells.h5ad::layers/y"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All files, here."""
    place = tmp_path_factory.mktemp("kinds")
    views = vh.datasets.make_swiss_rolls(N, noise=0.1, random_state=0).views
    rows = {name: values.round(6) for name, values in views.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name, values in rows.items():
            columns = {"id": IDS, "kind": KINDS, **dict(zip("abc", values.T, strict=True))}
            write(f"{name}.csv", columns)
            pd.DataFrame(columns).to_feather(f"{name}.feather")
        Path("x.csv.gz").write_bytes(gzip.compress(Path("x.csv").read_bytes()))
        Path("y.csv.zst").write_bytes(zstandard.compress(Path("y.csv").read_bytes()))
        cells = {"names": IDS, "genes": [*"abc"], "obs": {"kind": KINDS}}
        write_h5ad("cells.h5ad", rows["x"], layers={"y": rows["y"]}, **cells)
        write_h5mu("cells.h5mu", {"one": {"X": rows["x"], **cells}})
        named = zip(IDS, KINDS, rows["y"].tolist(), strict=True)
        table = [[name, kind, *row] for name, kind, row in named]
        write_workbook("book.xlsx", {"x": [["a"], [1]], "y": [["id", "kind", *"abc"], *table]})
        write_zarr("x.zarr", {"y": rows["y"], "id": np.array(IDS), "kind": np.array(KINDS)})
    return place


@pytest.fixture(autouse=True)
def here(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("viewhop.tables._foreign_files.Parser", SharedParser)
    return tmp_path


@pytest.fixture(scope="module", autouse=True)
def parser_ends():
    yield
    SharedParser.close()


def words(paths):
    return [f"{name}={path}" for name, path in paths.items()]


def ran(*arguments):
    result = invoked(*arguments)
    assert result.exit_code == 0, result.output
    return result


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [*csv.reader(file)]


FIT = ("--id", "id", "--label", "kind", "--format", "csv", "--no-report", "--quiet")


@pytest.mark.parametrize("paths", MIXED, ids=str)
def test_commands_give_the_same_for_every_kind(here, paths):
    for name, files in (("plain", PLAIN), ("mixed", paths)):
        ran("fit", *words(files), *FIT, "--no-picture", "-o", here / name)
        # Of an AnnData file alone, obs_names are the ids.
        by_id = () if "cells.h5" in files["x"] else ("--id", "id")
        new = (f"x={files['x']}", *by_id, "--label", "kind")
        ran("transform", here / name, *new, "-o", here / f"{name}.csv")
    assert rows_of(here / "plain/embedding.csv") == rows_of(here / "mixed/embedding.csv")
    assert rows_of(here / "plain.csv") == rows_of(here / "mixed.csv")
    assert set(verify(here / "mixed").inputs.values()) == {"same"}
    before = rows_of(here / "mixed/embedding.csv")
    ran("fit", "--config", here / "mixed/run.toml", "--quiet")
    assert rows_of(here / "mixed/embedding.csv") == before


def test_other_commands_read_them_too(here):
    paths = {"x": "cells.h5ad", "y": "book.xlsx::y"}
    out = {}
    for name, files in (("plain", PLAIN), ("mixed", paths)):
        ran("cluster", *words(files), *FIT, "-k", "3", "-o", here / name)
        out[name] = [
            rows_of(here / name / "clusters.csv"),
            ran("bandwidth", *words(files), "--id", "id", "--label", "kind").stdout,
            json.loads(ran("advise", *words(files), *FIT[:4], "--json").stdout)["findings"],
        ]
    assert out["plain"] == out["mixed"]


# --- options of one view -------------------------------------------------------------------------


def put_other_csv():
    rows = rows_of("y.csv")
    lines = (";".join(cell.replace(".", ",") for cell in (*row, "1")) for row in rows)
    text = "\n".join(lines).replace("c;1", "größe;extra", 1)
    Path("other.csv").write_text(text, encoding="latin-1")


def test_options_of_one_view_on_the_command_line_and_in_toml(here):
    put_other_csv()
    own = ("--decimal", "y=,", "--delimiter", "y=;", "--encoding", "y=latin-1", "--drop", "y=extra",
           "--keep", "x=*")  # fmt: skip
    ran("fit", "x=x.csv", "y=other.csv", *own, *FIT, "--no-picture", "-o", here / "own")
    ran("fit", *words(PLAIN), *FIT, "--no-picture", "-o", here / "plain")
    assert rows_of(here / "own/embedding.csv") == rows_of(here / "plain/embedding.csv")
    values = tomllib.loads((here / "own/run.toml").read_text(encoding="utf-8"))
    assert values["decimal"] == "."
    y = values["views"]["y"]
    assert (y["decimal"], y["delimiter"], y["encoding"]) == (",", ";", "latin-1")
    assert y["drop"] == ["extra"]
    assert "decimal" not in values["views"]["x"]
    before = rows_of(here / "own/embedding.csv")
    ran("fit", "--config", here / "own/run.toml", "--quiet")
    assert rows_of(here / "own/embedding.csv") == before
    ran("transform", here / "own", "y=other.csv", *own[:6], "--id", "id", "--label", "kind",
        "-o", here / "new.csv")  # fmt: skip
    ran("transform", here / "plain", "y=y.csv", *FIT[:4], "-o", here / "old.csv")
    assert rows_of(here / "new.csv") == rows_of(here / "old.csv")
    ran("bandwidth", "x=x.csv", "y=other.csv", *own, *FIT[:4])
    advised = ran("advise", "x=x.csv", "y=other.csv", *own, *FIT[:4]).stdout.splitlines()[-1]
    assert "--decimal y=, " in advised
    assert "--keep 'x=*'" in advised


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (("--decimal", "z=,"), "there is no view 'z'"),
        (("--decimal", ";"), "';' is not one of '.', ','"),
        (("--decimal", "y=,", "--decimal", "y=."), "--decimal is given twice for 'y'"),
        (("--encoding", "utf-8", "--encoding", "latin-1"), "--encoding is given twice."),
        (("--delimiter", "y=ab"), "delimiter must be one character"),
        (("--keep", "y=none"), "y.csv: no column to keep 'none'"),
        (("--drop", "z=a"), "no column to drop 'z=a'"),
        (("--encoding", "y=nope"), "y.csv: unknown encoding 'nope'"),
    ],
)
def test_wrong_options_of_one_view_are_one_line(here, options, fragment):
    result = invoked("fit", *words(PLAIN), *FIT, *options, "-o", here / "out")
    assert result.exit_code in (1, 2)
    assert fragment in result.stderr
    assert not (here / "out").exists()


def test_a_column_with_an_equals_sign_is_kept_by_its_name(here):
    rows = "".join(f"{name},{k},1\n" for k, name in enumerate(IDS))
    Path("odd.csv").write_text(f"id,a=b,c\n{rows}")
    result = invoked("info", "odd.csv", "--id", "id", "--keep", "a=b", "--json")
    assert json.loads(result.stdout)["names"] == ["a=b"]


# --- hops and weights ----------------------------------------------------------------------------


def test_hops_are_those_of_the_library_from_text_or_file(here):
    matrix = [[0.2, 1.0], [1.0, 0.4]]
    frames = {name: pd.read_csv(path, index_col="id")[[*"abc"]] for name, path in PLAIN.items()}
    est = vh.MultiViewDiffusionMaps(hops=matrix, random_state=0).fit(vh.Views.from_frames(frames))
    (here / "plain.csv").write_text("0.2,1\n1,0.4\n")
    (here / "named.csv").write_text("y,x\n0.4,1\n1,0.2\n")
    for given in ("0.2,1;1,0.4", here / "plain.csv", here / "named.csv"):
        ran("fit", *words(PLAIN), *FIT, "--no-picture", "--hops", given, "-o", here / "out")
        model = vh.load(here / "out/model.viewhop")
        assert_array_equal(model.embedding_, est.embedding_)
    values = tomllib.loads((here / "out/run.toml").read_text())
    assert values["hops"] == matrix
    assert "weight" not in values["views"]["x"]
    before = (here / "out/model.viewhop").read_bytes()
    ran("fit", "--config", here / "out/run.toml", "--quiet")
    assert (here / "out/model.viewhop").read_bytes() == before
    ran("fit", "--config", here / "out/run.toml", "--within-view-weight", "0.5", "--quiet")


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (("--hops", "0,1;2,0"), "--hops must be symmetric, but goes from 'y' to 'x' with 2"),
        (("--hops", "0,1,2"), "expected 2 rows of 2 numbers, one for each of x, y"),
        (("--hops", "0,a;1,0"), "expected a number in row 1, got 'a'"),
        (("--hops", "none.csv"), "neither a matrix like '0,1;1,0' nor a file"),
        (("--hops", "x.csv"), "its first line names id, kind, a, b, c, but the views are x, y"),
        (("--hops", "0,1;1,0", "--view-weight", "x=1", "--view-weight", "y=1"), "not both"),
        (("--view-weights", "1,2,3"), "has 3 weights, expected one for each of x, y"),
        (("--view-weights", "1"), "--view-weight needs the view: NAME=1"),
    ],
)
def test_wrong_hops_and_weights_are_one_line(here, options, fragment):
    result = invoked("fit", *words(PLAIN), *FIT, *options, "-o", here / "out")
    assert result.exit_code == 2
    assert fragment in result.stderr
    assert result.stderr.count("Error: ") == 1


def test_weights_in_the_order_of_the_views_are_those_by_name(here):
    by_name = ("--view-weight", "x=1", "--view-weight", "y=0.5")
    for name, options in (("a", ("--view-weights", "1,0.5")), ("b", by_name)):
        ran("fit", *words(PLAIN), *FIT, "--no-picture", *options, "-o", here / name)
    assert rows_of(here / "a/embedding.csv") == rows_of(here / "b/embedding.csv")
    record = json.loads((here / "a/run.json").read_text())
    assert_allclose([record["view_weights"][name] for name in "xy"], [1, 0.5], rtol=1e-12)


# --- the picture ---------------------------------------------------------------------------------


def test_a_fit_draws_its_embedding_and_records_it(here):
    for name in ("one", "two"):
        ran("fit", *words(PLAIN), *FIT, "-o", here / name)
    data = (here / "one/embedding.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert (here / "two/embedding.png").read_bytes() == data
    assert verify(here / "one").outputs["embedding.png"] == "as recorded"
    ran("fit", *words(PLAIN), *FIT, "--components", "1", "-o", here / "one")
    ran("fit", *words(PLAIN), *FIT, "--no-picture", "-o", here / "one")
    assert verify(here / "one").outputs["embedding.png"] == "of another run"


def test_without_matplotlib_a_note_says_what_to_install(here, monkeypatch):
    monkeypatch.setattr("viewhop.runs._picture.find_spec", lambda name: None)
    result = ran("fit", *words(PLAIN), *FIT[:-1], "-o", here / "out")
    assert 'note: no embedding.png: it requires matplotlib (pip install "viewhop[plot]")' in (
        result.stdout.splitlines()
    )
    assert not (here / "out/embedding.png").exists()
    result = invoked("fit", *words(PLAIN), *FIT, "--picture", "-o", here / "new")
    assert result.exit_code == 1
    assert "it requires matplotlib" in result.stderr
    assert not (here / "new").exists()


# --- info ----------------------------------------------------------------------------------------


def test_info_lists_what_a_file_holds(here):
    facts = {
        path: json.loads(ran("info", path, "--json").stdout)["contents"]
        for path in ("cells.h5ad", "cells.h5mu", "x.zarr", "book.xlsx")
    }
    assert facts["cells.h5ad"]["layers/y"]["shape"] == "60 × 3"
    assert facts["cells.h5mu"]["one/X"]["id_candidates"] == ["kind"]
    assert facts["x.zarr"]["y"] == {
        "shape": "60 × 3", "dtype": "float64", "columns": None, "id_candidates": None
    }  # fmt: skip
    assert facts["book.xlsx"]["y"]["columns"] == ["id", "kind", "a", "b", "c"]
    assert "layers/y: shape 60 × 3; dtype float64" in ran("info", "cells.h5ad").stdout
    assert "rows      60" in ran("info", "cells.h5ad::layers/y").stdout
    result = invoked("info", "x.csv.gz")
    assert result.exit_code == 1
    assert "  id_candidates  id" in result.stdout.splitlines()
    assert "x.csv.gz, line 2, column 'id': expected a number" in result.stderr
