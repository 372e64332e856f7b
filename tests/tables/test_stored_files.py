"""Excel, Arrow and Zarr: the numbers that were written, and one line for what is wrong."""

from __future__ import annotations

import datetime
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from numpy.testing import assert_array_equal

from tests.support.data_files import SharedParser, write_workbook, write_zarr
from viewhop.errors import TableError
from viewhop.tables import Options, digest_path, list_contents, read, read_views

ROWS = np.random.default_rng(0).standard_normal((12, 3))
#: openpyxl writes 16 digits of a number, where some need 17.
SHORT = ROWS.round(4)
IDS = [f"s{k}" for k in range(12)]


@pytest.fixture(autouse=True)
def shared(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("viewhop.tables._foreign_files.Parser", SharedParser)
    yield
    monkeypatch.undo()


@pytest.fixture(scope="module", autouse=True)
def parser_ends():
    yield
    SharedParser.close()


def refused(path, *fragments, options=None, **more):
    with pytest.raises(TableError) as caught:
        read(path, options=options or Options(), **more)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(path.partition("::")[0])
    for fragment in fragments:
        assert fragment in message
    return message


# --- Excel ---------------------------------------------------------------------------------------


def sheet(rows=SHORT):
    return [["cell", "a", "b", "c"], *([name, *row] for name, row in zip(IDS, rows, strict=True))]


def test_a_sheet_is_its_numbers_ids_and_lines():
    rows = [["007", 1, 2.5], [], ["8", None, None], [9, "1.5", True], [10, "NA", "n/a"]]
    write_workbook("x.xlsx", {"rna": [[], ["cell", "a", "b"], *rows]})
    table = read("x.xlsx", options=Options(id="cell"))
    assert_array_equal(table.matrix, [[1, 2.5], [np.nan, np.nan], [1.5, 1], [np.nan, np.nan]])
    assert table.ids == ("007", "8", "9", "10")
    assert (table.columns, table.lines.tolist(), table.unit) == (("a", "b"), [3, 5, 6, 7], "row")
    assert table.sha256 == digest_path("x.xlsx")


def test_one_of_several_sheets_is_chosen_by_name():
    write_workbook("x.xlsx", {"one": sheet(), "two": sheet(2 * SHORT)})
    assert_array_equal(read("x.xlsx::two", options=Options(id="cell")).matrix, 2 * SHORT)
    refused("x.xlsx", "it has 2 sheets", "x.xlsx::one")
    refused("x.xlsx::tow", "no sheet 'tow' (did you mean 'two'?)")
    assert [(entry.name, entry.columns) for entry in list_contents("x.xlsx")] == [
        ("one", ("cell", "a", "b", "c")),
        ("two", ("cell", "a", "b", "c")),
    ]


@pytest.mark.parametrize(
    ("rows", "fragments"),
    [
        (
            [["a", "b"], [1, datetime.datetime(2010, 5, 27)]],
            ("row 2, column 'b'", "the date '2010"),
        ),
        ([["a", "b"], [1, "x"]], ("row 2, column 'b'", "expected a number, got 'x'")),
        ([["a", "b"], [1, 2, 3]], ("row 2", "a cell beyond the last column name: '3'")),
        ([["a", "b"], [1, "2,5"]], ("row 2, column 'b'", "has a decimal comma")),
        ([["a", "a"], [1, 2]], ("have the same name",)),
        ([["a", None, "b"], [1, 2, 3]], ("column 2 has no name",)),
        ([], ("the sheet 'x' is empty",)),
        ([["a"]], ("no row of data",)),
    ],
)
def test_what_is_wrong_in_a_sheet_is_said_with_its_place(rows, fragments):
    write_workbook("x.xlsx", {"x": rows})
    refused("x.xlsx", *fragments)


def test_notes_beside_a_table_are_left_alone():
    write_workbook("x.xlsx", {"x": [["a", "b"], [1, 2, None, "a note"]]})
    assert_array_equal(read("x.xlsx").matrix, [[1, 2]])


def test_rows_far_below_take_no_time_and_a_packed_sheet_no_memory():
    write_workbook("x.xlsx", {"x": [["a"], [1]]})
    with zipfile.ZipFile("x.xlsx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    place = "xl/worksheets/sheet1.xml"
    far = parts[place]
    for row in (b"1", b"2"):
        far = far.replace(b'<row r="' + row, b'<row r="9999999999' + row)
        far = far.replace(b'r="A' + row + b'"', b"")
    for content, fragment in (
        (far, "the sheet 'x' is empty"),
        (parts[place] + b" " * 3 * 10**7, "more than 200 times"),
    ):
        with zipfile.ZipFile("y.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in parts.items():
                archive.writestr(name, content if name == place else part)
        refused("y.xlsx", fragment)


# --- Arrow ---------------------------------------------------------------------------------------


def arrow_table(rows=ROWS):
    named = dict(zip("abc", rows.T, strict=True))
    return pa.table({"cell": IDS, "kind": pa.array([*"xyz"] * 4).dictionary_encode(), **named})


@pytest.mark.parametrize("packing", ["uncompressed", "lz4", "zstd"])
def test_feather_equals_what_was_written(packing):
    feather.write_feather(arrow_table(), "x.feather", compression=packing, chunksize=5)
    table = read("x.feather", options=Options(id="cell", label="kind"))
    assert_array_equal(table.matrix, ROWS)
    assert (table.ids, table.labels) == (tuple(IDS), (*"xyz",) * 4)


def test_stream_float32_gaps_and_types_are_read():
    single = ROWS.astype("f4")
    schema = pa.schema([("a", pa.float32()), ("b", pa.float32())])
    with pa.ipc.new_stream("x.arrow", schema) as sink:
        for part in (single[:7], single[7:]):
            sink.write_table(pa.table({"a": part[:, 0], "b": part[:, 1]}, schema=schema))
    table = read("x.arrow")
    assert table.matrix.dtype == np.float32
    assert_array_equal(table.matrix, single[:, :2])
    mixed = pa.table({"a": [1, None, 3], "b": [True, None, False], "c": [1.5, None, 2.0]})
    feather.write_feather(mixed, "y.feather")
    expected = [[1, 1, 1.5], [np.nan] * 3, [3, 0, 2]]
    assert_array_equal(read("y.feather").matrix, expected)


def test_what_is_no_number_in_an_arrow_file_is_said():
    feather.write_feather(pa.table({"a": [1.0], "b": ["x"]}), "x.feather")
    refused("x.feather", "row 1, column 'b'", "expected a number, got 'x' (string)")
    feather.write_feather(pa.table({"a": [[1.0]]}), "x.feather")
    refused("x.feather", "column 'a'", "(list<")
    feather.write_feather(pa.table({"a": [datetime.date(2010, 5, 27)]}), "x.feather")
    refused("x.feather", "convert dates to numbers")
    Path("x.feather").write_bytes(b"FEA1" + bytes(40))
    refused("x.feather", "Feather file of version 1")
    Path("x.feather").write_bytes(b"ARROW1\0\0" + bytes(40))
    refused("x.feather", "cannot be read as an Arrow file")


def test_columns_and_candidates_of_an_arrow_file_are_listed():
    feather.write_feather(arrow_table(), "x.feather")
    (entry,) = list_contents("x.feather")
    assert (entry.shape, entry.columns) == ((12, 5), ("cell", "kind", "a", "b", "c"))
    assert entry.ids == ("cell",)


# --- Zarr ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("is_zip", [False, True])
def test_zarr_array_equals_what_was_written(version, is_zip):
    import zarr

    path = "x.zarr.zip" if is_zip else "x.zarr"
    store = zarr.storage.ZipStore(path, mode="w") if is_zip else path
    write_zarr(store, {"deep/x": ROWS, "deep/n": np.arange(12)}, version=version)
    if is_zip:
        store.close()
    for key in ("deep", "deep/x", "/deep/"):
        assert_array_equal(read(f"{path}::{key}").matrix, ROWS)
    table = read(f"{path}::deep/x", options=Options(id="n"))
    assert table.ids == tuple(map(str, range(12)))
    listed = {entry.name: (entry.shape, entry.dtype) for entry in list_contents(path)}
    assert listed == {"deep/x": ((12, 3), "float64"), "deep/n": ((12,), "int64")}


def test_zarr_texts_chunks_and_gaps():
    write_zarr("x.zarr", {"x": ROWS.astype("f4"), "ids": np.array(IDS)}, chunks=None)
    table = read("x.zarr", options=Options(id="ids"))
    assert (table.ids, table.matrix.dtype) == (tuple(IDS), np.float32)
    write_zarr("y.zarr", {"x": ROWS}, chunks=(5, 2))
    assert_array_equal(read("y.zarr").matrix, ROWS)


def test_what_is_no_zarr_node_is_one_line():
    write_zarr("x.zarr", {"a/x": ROWS, "b": np.arange(3.0)})
    refused("x.zarr::none", "no group or array 'none'", "there are 'a', 'b'")
    write_zarr("y.zarr", {"x": ROWS})
    refused("x.zarr::../y.zarr/x", "no group or array '../y.zarr/x'")
    refused("x.zarr", "expected one array of samples × features, got 0")
    refused("x.zarr::b", "expected numbers (samples × features), got float64 of shape (3,)")
    os.mkdir("empty.zarr")
    refused("empty.zarr", "it is no Zarr group or array")
    refused("gone.zarr", "No such file")
    os.symlink("/etc", "x.zarr/a/link")
    refused("x.zarr::a", "is a link")


@pytest.mark.parametrize("above", [None, "x"])
def test_an_array_is_read_where_what_is_above_it_is_no_group(above):
    write_zarr("x.zarr", {"a/x": ROWS, "x": ROWS})
    place = Path("x.zarr/a/zarr.json")
    if above is None:
        place.unlink()
    else:
        place.write_text(Path(f"x.zarr/{above}/zarr.json").read_text())
    assert_array_equal(read("x.zarr::a/x").matrix, ROWS)


def test_zarr_that_would_run_code_is_refused():
    os.makedirs("x.zarr/x")
    Path("x.zarr/.zgroup").write_text('{"zarr_format": 2}')
    metadata = {
        **{"zarr_format": 2, "shape": [1, 1], "chunks": [1, 1], "dtype": "|O", "order": "C"},
        **{"compressor": None, "fill_value": None, "filters": [{"id": "pickle", "protocol": 5}]},
    }
    Path("x.zarr/x/.zarray").write_text(json.dumps(metadata))
    marker = Path("ran")
    code = b"cos\nsystem\n(S'touch " + str(marker.resolve()).encode() + b"'\ntR."
    Path("x.zarr/x/0.0").write_bytes(code)
    refused("x.zarr::x", "Python objects, which are never loaded")
    metadata["filters"] = [{"id": "vlen-utf8"}, {"id": "pickle"}]
    Path("x.zarr/x/.zarray").write_text(json.dumps(metadata))
    refused("x.zarr::x", "'pickle'")
    assert not marker.exists()


def test_zarr_larger_than_the_budget_is_refused_before_it_is_read():
    write_zarr("x.zarr", {"x": np.zeros((3, 2))})
    place = Path("x.zarr/x/zarr.json")
    facts = json.loads(place.read_text())
    facts["shape"] = [10**9, 2]
    place.write_text(json.dumps(facts))
    refused("x.zarr", "takes 16 GB", max_memory="100MB")
    facts["shape"], facts["chunk_grid"]["configuration"]["chunk_shape"] = [3, 2], [10**9, 2]
    place.write_text(json.dumps(facts))
    refused("x.zarr", "a chunk of 'x' takes 16 GB", max_memory="100MB")


def test_a_store_has_a_hash_that_its_files_make():
    write_zarr("x.zarr", {"x": ROWS})
    before = read("x.zarr").sha256
    assert before == digest_path("x.zarr")
    write_zarr("x.zarr", {"x": 2 * ROWS})
    assert digest_path("x.zarr") != before


# --- all ------------------------------------------------------------------------------------------


def test_signatures_are_compared_with_extensions():
    Path("x.xlsx").write_bytes(b"a,b\n1,2\n")
    refused("x.xlsx", "it is not a zip file, despite its extension")
    Path("x.feather").write_bytes(b"PK\x03\x04")
    refused("x.feather", "it is not an Arrow file", "those of a zip file")
    Path("x.h5ad").write_bytes(b"\x93NUMPY")
    refused("x.h5ad", "it is not an HDF5 file", "those of an NPY file")
    Path("x.arrow").write_bytes(b"")
    refused("x.arrow", "it is empty")
    os.mkdir("y.h5ad")
    refused("y.h5ad", "it is a folder")


def test_missing_libraries_are_named_with_their_extra(monkeypatch):
    monkeypatch.setattr("viewhop.tables._foreign_files.find_spec", lambda name: None)
    write_workbook("x.xlsx", {"x": [["a"], [1]]})
    refused("x.xlsx", 'need openpyxl: pip install "viewhop[excel]"')
    write_zarr("x.zarr", {"x": ROWS})
    refused("x.zarr", 'need zarr: pip install "viewhop[zarr]"')
    Path("x.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n")
    refused("x.h5ad", 'need h5py: pip install "viewhop[omics]"')


def test_kinds_join_by_id_and_keep_their_own_options():
    write_workbook("x.xlsx", {"x": sheet()})
    feather.write_feather(arrow_table(), "y.feather")
    Path("z.csv").write_text("cell;a;z\n" + "".join(f"{name};1;2,5\n" for name in IDS))
    own = {"y": {"drop": ("kind",)}, "z": {"decimal": ",", "delimiter": ";", "keep": ("z",)}}
    paths = {"x": "x.xlsx", "y": "y.feather", "z": "z.csv"}
    views = read_views(paths, options=Options(id="cell", by_view=own)).views
    assert views.ids.tolist() == IDS
    assert views.feature_names == (("a", "b", "c"), ("a", "b", "c"), ("z",))
    wrong = {**own, "z": {**own["z"], "keep": ("none",)}}
    with pytest.raises(TableError, match=r"^z.csv: no column to keep 'none'"):
        read_views(paths, options=Options(id="cell", by_view=wrong))
