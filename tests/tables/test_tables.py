"""Tables: what is written is read back unchanged, and faults are reported with their place."""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import os
import random
import sys
import tracemalloc
import zipfile
from contextlib import suppress
from threading import Thread

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy.io import savemat
from scipy.sparse import csr_matrix

from viewhop.errors import TableError
from viewhop.tables import (
    Options,
    check_writable,
    join_tables,
    read,
    read_views,
    write,
    write_embedding,
)

ID = Options(id="id")


@pytest.fixture
def put(tmp_path):
    """A function that writes text or bytes to a file and returns its path."""

    def put(content, name="some.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


# --- reading -------------------------------------------------------------------------------------


def test_columns_rows_ids_labels_and_lines_are_those_of_the_file(put):
    path = put("id,a,kind,b\n007,1,x,2.5\n\n008,-3e2,,4\n")
    table = read(path, options=Options(id="id", label="kind"))
    assert table.path == str(path)
    assert table.columns == ("a", "b")
    assert table.header == ("id", "a", "kind", "b")
    assert table.ids == ("007", "008")
    assert table.labels == ("x", None)
    assert table.lines.tolist() == [2, 4]
    assert_array_equal(table.matrix, [[1, 2.5], [-300, 4]])
    assert table.matrix.dtype == np.float64


def test_row_of_empty_cells_is_a_sample_that_was_not_observed(put):
    table = read(put("id,a,b\nx,1,2\ny,,\nz,NA,nan\n"), options=ID)
    assert table.observed.tolist() == [True, False, False]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiter_is_the_commonest_of_the_first_line(put, mark):
    table = read(put(f"a{mark}b{mark}c\n1{mark}2{mark}3\n"))
    assert table.columns == ("a", "b", "c")


def test_delimiter_in_quotes_does_not_count(put):
    assert read(put('"a,b,c,d";e;f\n1;2;3\n')).columns == ("a,b,c,d", "e", "f")


def test_ending_tsv_means_tabs_whatever_the_first_line_has(put):
    assert read(put("a,b,c\td\n1\t2\n", "some.tsv")).columns == ("a,b,c", "d")


def test_delimiter_that_is_given_comes_first(put):
    assert read(put("a,b,c|d\n1|2\n"), options=Options(delimiter="|")).columns == ("a,b,c", "d")


def test_byte_order_mark_and_windows_lines_are_no_part_of_the_data(put):
    table = read(put(b"\xef\xbb\xbfid,a\r\nx,1\r\ny,2\r\n"), options=ID)
    assert table.ids == ("x", "y")
    assert table.lines.tolist() == [2, 3]


def test_other_encodings_are_read_if_they_are_named(put):
    path = put("id,größe\nä,1\n".encode("latin-1"))
    table = read(path, options=Options(id="id", encoding="latin-1"))
    assert (table.ids, table.columns) == (("ä",), ("größe",))
    path = put("id,größe\nä,1\n".encode("utf-16"))
    assert read(path, options=Options(id="id", encoding="utf-16")).ids == ("ä",)


def test_decimal_commas_are_read_if_they_are_asked_for(put):
    table = read(put("a;b\n1,5;-2,25e1\n;\n3;4\n"), options=Options(decimal=","))
    assert_array_equal(table.matrix, [[1.5, -22.5], [np.nan, np.nan], [3, 4]])
    table = read(put('a,b\n"1,5",2\n'), options=Options(decimal=","))
    assert_array_equal(table.matrix, [[1.5, 2]])


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (Options(keep=("g*",)), ("g1", "g2")),
        (Options(drop=("g*", "note")), ("h[1]",)),
        (Options(keep=("g*", "h[1]"), drop=("g2",)), ("g1", "h[1]")),
        (Options(keep=("h[1]",)), ("h[1]",)),
    ],
)
def test_columns_are_kept_and_dropped_by_name_or_pattern(put, options, left):
    path = put("g1,g2,h[1],note\n1,2,3,some text\n")
    assert read(path, options=options).columns == left


def test_whole_numbers_may_be_names(put):
    assert read(put("0,1\n5,6\n")).columns == ("0", "1")


def test_array_files_hold_what_was_saved(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    table = read(tmp_path / "x.npy")
    assert table.matrix.dtype == np.float32
    assert (table.columns, table.ids, table.unit) == (None, None, "row")
    assert_array_equal(table.matrix, X)
    np.savez(tmp_path / "x.npz", X=X.astype(int), cell=["a", "b", "c"], kind=[1, 2, 2])
    table = read(tmp_path / "x.npz", options=Options(id="cell", label="kind"))
    assert_array_equal(table.matrix, X)
    assert table.ids == ("a", "b", "c")
    assert table.labels == (1, 2, 2)
    np.savez_compressed(tmp_path / "two.npz", X=X, Y=-X)
    assert_array_equal(read(f"{tmp_path / 'two.npz'}::Y").matrix, -X)
    names = np.array(["ab", "c", "def"], dtype=object)
    savemat(tmp_path / "x.mat", {"X": X, "cell": names, "kind": [3, 4, 5]})
    table = read(tmp_path / "x.mat", options=Options(id="cell", label="kind"))
    assert_array_equal(table.matrix, X)
    assert table.ids == ("ab", "c", "def")
    assert table.labels == (3, 4, 5)
    savemat(tmp_path / "y.mat", {"X": X, "Y": -X, "cell": ["ab", "c", "def"]})
    table = read(f"{tmp_path / 'y.mat'}::Y", options=Options(id="cell"))
    assert_array_equal(table.matrix, -X)
    assert table.ids == ("ab", "c", "def")


@pytest.mark.parametrize("compressed", [False, True])
def test_mat_files_hold_what_scipy_wrote(tmp_path, compressed):
    rng = np.random.default_rng(0)
    kinds = ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
    arrays = {f"x_{kind}": (40 * rng.random((3, 2))).astype(kind) for kind in kinds}
    arrays["x_bool"] = np.eye(3, 2, dtype=bool)
    others = {
        "cell": np.array(["ab", "", "ä-π"], dtype=object),
        "text": ["a", "bc", "ä"],
        "struct": {"a": 1.0, "b": "text"},
        "mixed": np.array([1.0, "x"], dtype=object),
        "wave": np.eye(2) * 1j,
        "sparse": csr_matrix(np.eye(3)),
        "nothing": np.empty((0, 3)),
    }
    savemat(tmp_path / "x.mat", {**arrays, **others}, do_compression=compressed)
    for name, array in arrays.items():
        assert_array_equal(read(f"{tmp_path / 'x.mat'}::{name}").matrix, array)
    for name in others:
        with pytest.raises(TableError):
            read(f"{tmp_path / 'x.mat'}::{name}")
    for name, ids in (("cell", ("ab", "", "ä-π")), ("text", ("a", "bc", "ä"))):
        path, options = f"{tmp_path / 'x.mat'}::x_f8", Options(label=name)
        assert read(path, options=options).labels == tuple(key or None for key in ids)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.mat", "y.mat", "x.csv", "x.parquet"])
def test_damaged_files_are_read_or_refused(tmp_path, name):
    X = np.random.default_rng(0).standard_normal((5, 3))
    ids = [*"abcde"]
    np.save(tmp_path / "x.npy", X)
    np.savez_compressed(tmp_path / "x.npz", X=X, id=ids)
    for file, compressed in (("x.mat", False), ("y.mat", True)):
        variables = {"X": X, "id": np.array(ids, dtype=object)}
        savemat(tmp_path / file, variables, do_compression=compressed)
    if name == "x.parquet":
        pytest.importorskip("pyarrow")
        write(tmp_path / name, {"id": ids, "x": X[:, 0]})
    write(tmp_path / "x.csv", {"id": ['"a', "b,", "c\n", "d", "=e"], "x": X[:, 0]})
    whole = (tmp_path / name).read_bytes()
    rng = random.Random(name)
    refused = []
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 5)):
            at = rng.randrange(len(damaged) - 30)
            match rng.randrange(4):
                case 0:
                    damaged[at] = rng.randrange(256)
                case 1:
                    del damaged[at : at + rng.randint(1, 10)]
                case 2:
                    damaged[at:at] = rng.randbytes(rng.randint(1, 8))
                case 3:
                    damaged[at:at] = damaged[at : at + 30]
        (tmp_path / name).write_bytes(damaged)
        try:
            read(tmp_path / name, options=ID)
        except TableError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert all(map(str.isprintable, refused))


def test_parquet_holds_what_was_saved(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "id": pa.array([7, 8, 9]),
        "a": pa.array([1, None, 3]),
        "b": pa.array([True, None, False]),
        "kind": pa.array(["x", None, "="]),
    }
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    table = read(tmp_path / "x.parquet", options=Options(id="id", label="kind"))
    assert table.ids == ("7", "8", "9")
    assert table.labels == ("x", None, "=")
    assert table.columns == ("a", "b")
    assert_array_equal(table.matrix, [[1, 1], [np.nan, np.nan], [3, 0]])
    single = {"a": pa.array([0.5], pa.float32())}
    parquet.write_table(pa.table(single), tmp_path / "y.pq")
    assert read(tmp_path / "y.pq").matrix.dtype == np.float32


# --- refusals ------------------------------------------------------------------------------------

REFUSED = {
    "row too long": ("a,b\n1,2\n1,2,3\n", Options(), 3, None, "3 cells, but the header has 2"),
    "row too short": ("a,b\n1,2\n5\n", Options(), 3, None, "1 cell, but the header has 2"),
    "rows over several lines": (
        'id,a\n"x\n\ny",1\nz\n', ID, 5, None, "1 cell, but the header has 2"
    ),
    "decimal commas in a comma file": ("a,b\n1,5,2,5\n", Options(), 2, None, "decimal comma"),
    "wrong encoding": ("id,a\nü,1\n".encode("latin-1"), ID, 2, None, "byte 5 (0xfc) is not utf-8"),
    "wrong encoding after a mark": (
        b"\xef\xbb\xbfid,a\n\xfc,1\n", ID, 2, None, "byte 8 (0xfc) is not utf-8"
    ),
    "unknown encoding": (
        "a\n1\n", Options(encoding="elvish"), None, None, "unknown encoding 'elvish'"
    ),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), Options(), None, None, "UTF-16"),
    "NUL": ("id,a\nx,1\ny,\0\n", ID, 3, None, "NUL character (byte 11)"),
    "decimal comma": ("a;b\n1;1,5\n", Options(), 2, "b", "'1,5' has a decimal comma"),
    "decimal point among commas": (
        "a;b\n1;1.5\n", Options(decimal=","), 2, "b", "'1.5' has a decimal point"
    ),
    "thousands": ("a;b\n1;1.234,5\n", Options(decimal=","), 2, "b", "'1.234,5'"),
    "duplicate ids": ("id,a\nx,1\ny,2\nx,3\n", ID, 4, None, "'x' also stands in line 2"),
    "empty id": ("id,a\nx,1\n,2\n", ID, 3, None, "id is empty"),
    "text": ("a,b\n1,2\n3,tall\n4,short\n", Options(), 3, "b", "got 'tall'"),
    "underscores": ("a\n1_000\n", Options(), 2, "a", "got '1_000'"),
    "other digits": ("a\n\u0661\n", Options(), 2, "a", "expected a number"),
    "long text": (f"a\n{'x' * 500}\n", Options(), 2, "a", f"got '{'x' * 39}…'"),
    "text with escapes": ("a\n\x1b[31mred\n", Options(), 2, "a", r"got '\x1b[31mred'"),
    "lines inside a number": ('a;b\n"1\n2";3\n', Options(decimal=","), 2, "a", r"'1\n2'"),
    "no id column": ("cell_id,a\nx,1\n", Options(id="cellid"), None, None, "are 'cell_id'"),
    "no label column": ("Type,a\nx,1\n", Options(label="type"), None, None, "are 'Type'"),
    "no column to keep": ("aa,b\n1,2\n", Options(keep=("ab",)), None, None, "column to keep 'ab'"),
    "no column to drop": ("aa,b\n1,2\n", Options(drop=("c*",)), None, None, "column to drop 'c*'"),
    "duplicate names": ("a,b,a\n1,2,3\n", Options(), 1, "a", "columns 1 and 3 have the same name"),
    "unnamed column": (",a\n0,1\n", Options(), 1, "", "column 1 has no name"),
    "no feature": ("id,a\nx,1\n", Options(id="id", drop=("a",)), None, None, "none of its 2"),
    "no names": ("1.5,2\n3,4\n", Options(), 1, None, "expected column names, got numbers"),
    "empty file": ("", Options(), None, None, "it is empty"),
    "blank file": (" \n\n  \n", Options(), None, None, "it is empty"),
    "only a mark": (b"\xef\xbb\xbf", Options(), None, None, "it is empty"),
    "header only": ("a,b\n", Options(), None, None, "no row of data"),
    "infinite": ("a,b\n1,2\n3,-inf\n", Options(), 3, "b", "a finite number, got -inf"),
    "beyond all numbers": ("a,b\n1,2\n1e999,2\n", Options(), 3, "a", "a finite number, got inf"),
    "square overflows": ("a,b\n1,2\n1e200,2\n", Options(), 3, "a", "square of 1e+200 overflows"),
    "empty in part": ("a,b\n1,2\n,3\n", Options(), 3, "a", "the cell is empty"),
    "empty throughout": ("a,b\n,\n,\n", Options(), None, None, "no row has a value"),
    "quote left open": ('id,a\nx,1\n"y,2\nz,3\n', ID, 3, None, "never closed"),
    "text after a quote": ('id,a\n"x"y,1\n', ID, 2, None, "follows a closing quote"),
    "huge cell": (f"id,a\nx,1\n{'y' * 10_000_000},2\n", ID, 3, None, "longer than 131,072"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_text_is_refused_with_its_place(put, case):
    content, options, line, column, fragment = REFUSED[case]
    path = put(content)
    with pytest.raises(TableError) as caught:
        read(path, options=options)
    error = caught.value
    assert (error.path, error.line, error.column) == (str(path), line, column)
    message = str(error)
    place = str(path)
    if line is not None:
        place += f", line {line}"
    if column is not None:
        place += f", column {column!r}"
    assert message.startswith(f"{place}: ")
    assert fragment in message
    assert len(message) - len(place) < 250
    assert message.isprintable()


NUMBERS = np.eye(3, 2)


def saved(array, **more):
    file = io.BytesIO()
    np.save(file, array, **more)
    return file.getvalue()


def zipped(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def matlab(**variables):
    file = io.BytesIO()
    savemat(file, variables)
    return file.getvalue()


def lying():
    """An array of 72 TiB in 200 bytes."""
    return saved(NUMBERS).replace(b"(3, 2), }", b"(4947802324992, 2), }")[:200]


def lying_in_a_zip():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.npy", lying())
    return file.getvalue()


OBJECTS = np.array([[1, None]], dtype=object)
UNREAD = {
    "csv that is a zip": ("x.csv", zipped(x=NUMBERS), Options(), "those of a zip file"),
    "csv that is an array": ("x.csv", saved(NUMBERS), Options(), "those of an NPY file"),
    "csv that is gzip": ("x.csv", b"\x1f\x8b\x08", Options(), "those of a gzip file"),
    "npy that is text": ("x.npy", b"a,b\n1,2\n", Options(), "not an NPY file"),
    "npz that is text": ("x.npz", b"a,b\n1,2\n", Options(), "not a zip file"),
    "npz that is an array": ("x.npz", saved(NUMBERS), Options(), "those of an NPY file"),
    "parquet that is text": ("x.parquet", b"a,b\n1,2\n", Options(), "not a Parquet file"),
    "mat that is an array": ("x.mat", saved(NUMBERS), Options(), "those of an NPY file"),
    "mat that is text": ("x.mat", b"a,b\n1,2\n", Options(), "not a valid MAT file"),
    "mat that is cut": ("x.mat", matlab(X=NUMBERS)[:200], Options(), "(it is cut short)"),
    "mat of version 7.3": (
        "x.mat", b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n", Options(), "-v7"
    ),
    "unknown kind": ("x.ods", b"PK\x03\x04", Options(), "extension .ods are not supported"),
    "empty npy": ("x.npy", b"", Options(), "it is empty"),
    "pickle": ("x.npy", saved(OBJECTS, allow_pickle=True), Options(), "Python objects"),
    "pickle in npz": ("x.npz", zipped(x=OBJECTS), Options(), "Python objects"),
    "npy cut short": ("x.npy", saved(NUMBERS)[:-8], Options(), "cut short"),
    "npy cut in its header": ("x.npy", saved(NUMBERS)[:20], Options(), "not a valid NPY file"),
    "npy that lies": ("x.npy", lying(), Options(), "cut short"),
    "npz that lies": ("x.npz", lying_in_a_zip(), Options(), "cut short"),
    "npz cut short": ("x.npz", zipped(x=NUMBERS)[:-40], Options(), "not a valid NPZ file"),
    "one dimension": ("x.npy", saved(np.ones(3)), Options(), "of shape (3,)"),
    "complex": ("x.npy", saved(NUMBERS * 1j), Options(), "complex128"),
    "text": ("x.npy", saved(NUMBERS.astype(str)), Options(), "expected numbers"),
    "no row": ("x.npy", saved(NUMBERS[:0]), Options(), "its shape is (0, 2)"),
    "infinite": (
        "x.npy",
        saved(np.diag([1, np.inf])),
        Options(),
        "row 2, column '2': expected a finite number, got inf",
    ),
    "infinite float32": (
        "x.npy",
        saved(np.diag([1, np.inf]).astype(np.float32)),
        Options(),
        "column '2': expected a finite number, got inf",
    ),
    "empty in part": ("x.npy", saved(np.diag([1, np.nan])), Options(), "column '2': the cell is"),
    "ids of an array": ("x.npy", saved(NUMBERS), ID, "no id column 'id'"),
    "labels of an array": ("x.npy", saved(NUMBERS), Options(label="k"), "no label column 'k'"),
    "columns of an array": ("x.npy", saved(NUMBERS), Options(drop=("a",)), "no names"),
    "key of an array": ("x.npy::X", saved(NUMBERS), Options(), "only .npz, .mat, .xlsx, "),
    "two arrays": ("x.npz", zipped(X=NUMBERS, Y=NUMBERS), Options(), "choose one with PATH::NAME"),
    "no array": ("x.npz", zipped(X=np.ones(3)), Options(), "got 0 (none)"),
    "no such array": ("x.npz::Z", zipped(X=NUMBERS, Y=NUMBERS), Options(), "are 'X', 'Y'"),
    "no ids": ("x.npz", zipped(X=NUMBERS), ID, "no id array 'id'"),
    "too few ids": ("x.npz", zipped(X=NUMBERS, id=["a"]), ID, "1 ids for 3 rows"),
    "ids that are fractions": (
        "x.npz", zipped(X=NUMBERS, id=[0.5, 1, 2]), ID, "row 1: the id '0.5' is neither"
    ),
    "duplicate ids": ("x.npz", zipped(X=NUMBERS, id=[1, 2, 1]), ID, "row 3: the id '1' also"),
    "ids in a square": ("x.npz::X", zipped(X=NUMBERS, id=NUMBERS), ID, "not a vector"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREAD)
def test_bad_array_file_is_refused_by_name(tmp_path, case):
    name, content, options, fragment = UNREAD[case]
    (tmp_path / name.partition("::")[0]).write_bytes(content)
    with pytest.raises(TableError) as caught:
        read(str(tmp_path / name), options=options)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / name.partition("::")[0]))
    assert fragment in message


def test_path_that_is_no_readable_file_is_refused(tmp_path):
    with pytest.raises(TableError, match="it is a folder"):
        read(tmp_path)
    with pytest.raises(TableError, match="No such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(TableError, match="cannot be read"):
        read("a\0b.csv")


def test_file_without_permission_is_refused(put, monkeypatch):
    path = put("a\n1\n")

    def refuse(path, *how):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(TableError, match=r"some\.csv: it cannot be read: Permission denied"):
        read(path)


def test_a_device_is_refused_before_it_is_read():
    with pytest.raises(TableError, match=r"/dev/zero: it is a device"):
        read("/dev/zero")


def test_a_pipe_is_read_up_to_the_budget(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for size, most in ((3, "1MB"), (400, 1000)):
        text = "a,b\n" + "1,2\n" * size
        writer = Thread(target=_pour, args=(tmp_path / "pipe.csv", text))
        writer.start()
        if most == "1MB":
            assert len(read(tmp_path / "pipe.csv", max_memory=most)) == size
        else:
            with pytest.raises(TableError, match="the budget is"):
                read(tmp_path / "pipe.csv", max_memory=most)
        writer.join()


def _pour(path, text):
    with suppress(BrokenPipeError), open(path, "w") as file:
        file.write(text)


def test_parquet_without_pyarrow_names_the_extra(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TableError, match=r"viewhop\[data\]"):
        read(put(b"PAR1", "x.parquet"))
    with pytest.raises(TableError, match=r"viewhop\[data\]"):
        check_writable("x.parquet")


def test_bad_parquet_is_refused_with_its_place(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def refused(columns, options=Options()):  # noqa: B008
        parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
        with pytest.raises(TableError) as caught:
            read(tmp_path / "x.parquet", options=options)
        return str(caught.value)

    assert "row 2, column 'a': expected a number, got 'tall'" in refused({"a": [None, "tall"]})
    assert "row 2, column 'b': the cell is empty" in refused({"a": [1, 2], "b": [1.5, None]})
    assert "row 2: the id is empty" in refused({"id": ["x", None], "b": [1, 2]}, ID)
    assert "no name" in refused({"__index_level_0__": [1, 2], "b": [1, 2]})
    content = (tmp_path / "x.parquet").read_bytes()
    (tmp_path / "x.parquet").write_bytes(content[:-30])
    with pytest.raises(TableError, match="not a valid Parquet file"):
        read(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decimal": "x"}, "decimal must be"),
        ({"delimiter": ",,"}, "one character"),
        ({"delimiter": "a"}, "one character"),
        ({"id": "a", "label": "a"}, "both the ids and the labels"),
    ],
)
def test_options_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Options(**settings)


# --- joining -----------------------------------------------------------------------------------


def test_ids_join_files_whatever_their_order(put):
    paths = {
        "rna": put("cell,g\n007,1\n8,2\n", "rna.csv"),
        "protein": put("cell;p;q\n9;3;4\n007;5;6\n", "protein.csv"),
    }
    joined = read_views(paths, options=Options(id="cell"))
    assert joined.views.names == ("rna", "protein")
    assert joined.views.ids.tolist() == ["007", "8", "9"]
    assert joined.views.feature_names == (("g",), ("p", "q"))
    assert_array_equal(joined.views["rna"], [[1], [2], [np.nan]])
    assert_array_equal(joined.views["protein"], [[5, 6], [np.nan, np.nan], [3, 4]])
    assert joined.labels is None


def test_files_without_ids_are_joined_by_row(put):
    paths = {"a": put("x,y\n1,2\n,\n5,6\n", "a.csv"), "b": put("z\n1\n2\n3\n", "b.csv")}
    joined = read_views(paths)
    assert joined.views.ids is None
    assert joined.views.observed.tolist() == [[True, True], [False, True], [True, True]]
    assert joined.views.feature_names == (("x", "y"), ("z",))


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        (("2", "-1", "10"), [2, -1, 10]),
        (("2.5", "-1", "1e3"), [2.5, -1.0, 1000.0]),
        (("01", "2", "3"), ["01", "2", "3"]),
        (("x", "", "3"), ["x", None, "3"]),
    ],
)
def test_labels_are_numbers_only_where_all_are_written_so(put, written, labels):
    rows = "".join(f"{k},{label}\n" for k, label in enumerate(written))
    joined = read_views({"a": put(f"x,kind\n{rows}")}, options=Options(label="kind"))
    assert joined.labels.tolist() == labels
    assert [type(x) for x in joined.labels.tolist()] == [type(x) for x in labels]


def test_label_of_one_file_serves_all(put):
    paths = {"a": put("id,x\np,1\nq,2\n", "a.csv"), "b": put("id,y,kind\nq,1,B\nr,2,C\n", "b.csv")}
    joined = read_views(paths, options=Options(id="id", label="kind"))
    assert joined.labels.tolist() == [None, "B", "C"]


def test_array_agrees_with_the_text_of_its_labels(put):
    paths = {
        "a": put("id,x,kind\np,1,1\nq,2,2\n", "a.csv"),
        "b": put(zipped(X=np.eye(2), id=["q", "p"], kind=[2.0, 1.0]), "b.npz"),
    }
    joined = read_views(paths, options=Options(id="id", label="kind"))
    assert joined.labels.tolist() == [1, 2]


def test_labels_that_differ_are_refused_with_both_places(put):
    a, b = put("id,x,k\np,1,A\n", "a.csv"), put("id,y,k\nq,1,A\np,2,B\n", "b.csv")
    with pytest.raises(TableError) as caught:
        read_views({"a": a, "b": b}, options=Options(id="id", label="k"))
    assert str(caught.value) == (f"{b}, line 3: sample 'p' is labelled 'B', but 'A' in {a}, line 2")


def test_different_lengths_without_ids_are_refused_with_both_counts(put):
    a, b = put("x\n1\n2\n", "a.csv"), put("y\n1\n2\n3\n", "b.csv")
    with pytest.raises(TableError) as caught:
        read_views({"a": a, "b": b})
    assert f"{a} has 2, {b} has 3" in str(caught.value)


@pytest.mark.parametrize("options", [Options(), ID])
def test_sample_without_any_value_is_refused_with_its_line(put, options):
    a, b = put("id,x\n1,1\n2,\n", "a.csv"), put("id,y\n1,2\n2,\n", "b.csv")
    drop = Options(drop=("id",)) if options.id is None else options
    with pytest.raises(TableError, match=r"a\.csv, line 3: no view has a value"):
        read_views({"a": a, "b": b}, options=drop)


def test_column_must_stand_in_one_of_the_files_only(put):
    paths = {"a": put("x,note\n1,t\n", "a.csv"), "b": put("y\n1\n", "b.csv")}
    assert read_views(paths, options=Options(drop=("note",))).views.shape == (1, 2)
    with pytest.raises(TableError, match=r"a\.csv.*b\.csv: no column to drop 'nota'.*'note'"):
        read_views(paths, options=Options(drop=("nota", "note")))
    with pytest.raises(TableError, match="no label column 'kind'"):
        read_views(paths, options=Options(drop=("note",), label="kind"))


def test_tables_with_and_without_ids_do_not_join(put):
    path = put("id,x\n1,1\n")
    with pytest.raises(TableError, match="has no ids, but other files do"):
        join_tables({"a": read(path, options=ID), "b": read(path)})
    with pytest.raises(ValueError, match="at least one table"):
        join_tables({})


# --- writing -----------------------------------------------------------------------------------

#: Text that UTF-8 has; a NUL is refused in a text file.
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
SPECIAL = st.sampled_from(
    ["007", "=1+1", "'=x", "''-", "'", "+", "-5", "@a", "\tt", "\r", 'a"b', "a,b", "a\nb", "a\r\nb",
     " a ", "NA", "ä", "\u2028", "1e5", "\ufeffx", "a\tb"]
)  # fmt: skip
FINITE = hnp.arrays(
    np.float64, (3, 2), elements=st.floats(-1e150, 1e150, allow_subnormal=True).map(float)
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ids=st.lists(TEXTS | SPECIAL, min_size=3, max_size=3, unique=True),
    labels=st.lists(TEXTS | SPECIAL, min_size=3, max_size=3),
    names=st.lists(TEXTS | SPECIAL, min_size=4, max_size=4, unique=True),
    X=FINITE,
    ending=st.sampled_from(["csv", "tsv"]),
)
def test_what_is_written_is_read(tmp_path, ids, labels, names, X, ending):
    path = tmp_path / f"x.{ending}"
    called = [name + "n" for name in names]  # neither blank nor a number
    columns = {called[0]: ids, called[1]: labels, called[2]: X[:, 0], called[3]: X[:, 1]}
    write(path, columns)
    options = Options(id=called[0], label=called[1], delimiter={"csv": ","}.get(ending))
    table = read(path, options=options)
    assert table.ids == tuple(ids)
    assert table.labels == tuple(labels)
    assert table.columns == tuple(called[2:])
    assert table.matrix.tobytes() == X.tobytes()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS | SPECIAL)
def test_no_text_cell_begins_like_a_formula(tmp_path, text):
    write(tmp_path / "x.csv", {text: [text]})
    with open(tmp_path / "x.csv", encoding="utf-8", newline="") as file:
        for (cell,) in csv.reader(file):
            assert cell[0] not in "=+-@\t\r" or (cell == text and is_plain_number(text))
            assert cell in (text, f"'{text}")


def is_plain_number(text):
    """Whether a text is nothing but a decimal number."""
    if not text.isascii() or {*text.lower()} - {*"0123456789+-.e"}:
        return False
    try:
        return bool(text == text.strip() and np.isfinite(float(text.partition("e")[0] or "x")))
    except ValueError:
        return False


@pytest.mark.parametrize(
    "text", ["-30", "+7", "-1.5e3", "-.5", "-2.", "+0", "-1E-05", "-30000000000000000000"]
)
def test_negative_ids_are_written_as_they_are(tmp_path, text):
    write(tmp_path / "x.csv", {"id": [text, f"'{text}"], "a": [1.0, 2.0]})
    assert (tmp_path / "x.csv").read_text().splitlines()[1:] == [f"{text},1.0", f"''{text},2.0"]
    assert read(tmp_path / "x.csv", options=ID).ids == (text, f"'{text}")


@pytest.mark.parametrize(
    "text",
    ["-1+cmd|' /C calc'!A0", "-30=A1", "+SUM(A1:A9)", "=1", "@A1", "\t-30", "\r-30", "-inf", "-30 ",
     "-1e", "+", "-\u0661", "--1", "-1\n", "-nan", "-0x10"],
)  # fmt: skip
def test_what_is_no_plain_number_is_still_defused(tmp_path, text):
    write(tmp_path / "x.csv", {"id": [text], "a": [1.0]})
    with open(tmp_path / "x.csv", encoding="utf-8", newline="") as file:
        assert [*csv.reader(file)][1] == [f"'{text}", "1.0"]
    assert read(tmp_path / "x.csv", options=ID).ids == (text,)


def test_a_guard_before_a_number_of_an_older_file_is_removed(put):
    assert read(put("id,a\n'-30,1\n"), options=ID).ids == ("-30",)


def test_numbers_are_untouched_and_missing_values_empty(tmp_path):
    path = tmp_path / "x.csv"
    write(
        path,
        {
            "f": [-0.1, np.nan, 1e300],
            "i": [-1, 2, 3],
            "s": np.array([0.1, -2, np.nan], np.float32),
            "o": [-1, None, "-1"],
        },
    )
    assert path.read_text() == "f,i,s,o\n-0.1,-1,0.1,-1\n,2,-2.0,\n1e+300,3,,-1\n"


def test_row_of_one_empty_cell_is_still_a_row(tmp_path):
    write(tmp_path / "x.csv", {"a": [1.0, np.nan, 2.0]})
    assert_array_equal(read(tmp_path / "x.csv").matrix, [[1.0], [np.nan], [2.0]])


def test_embedding_stands_behind_ids_and_what_else_is_known(tmp_path):
    Z = np.array([[0.1, 0.2], [0.3, -0.4]])
    write_embedding(
        tmp_path / "z.csv",
        Z,
        names=["rna_0", "rna_1"],
        ids=np.array(["a", "b"]),
        id_name="cell",
        extra={"cluster": np.array([0, 1]), "coverage": [0.5, 1.0]},
    )
    lines = (tmp_path / "z.csv").read_text().splitlines()
    assert lines == [
        "cell,cluster,coverage,rna_0,rna_1",
        "a,0,0.5,0.1,0.2",
        "b,1,1.0,0.3,-0.4",
    ]
    with pytest.raises(ValueError, match="two columns would have the name 'rna_0'"):
        write_embedding(tmp_path / "z.csv", Z, names=["rna_0", "rna_1"], extra={"rna_0": [1, 2]})
    with pytest.raises(ValueError, match="2 coordinates, but 1 names"):
        write_embedding(tmp_path / "z.csv", Z, names=["rna_0"])


def test_parquet_is_read_as_it_was_written(tmp_path):
    pytest.importorskip("pyarrow")
    X = np.array([[0.1, -1e-300], [np.nan, np.nan], [1 / 3, 5]])
    ids = ["=1", "007", "ä\n"]
    write_embedding(
        tmp_path / "x.parquet", X, names=["a", "b"], ids=ids, extra={"k": ["x", None, "-"]}
    )
    table = read(tmp_path / "x.parquet", options=Options(id="id", label="k"))
    assert table.ids == tuple(ids)
    assert table.labels == ("x", None, "-")
    assert_array_equal(table.matrix, X)


def test_unknown_kind_and_uneven_columns_are_not_written(tmp_path):
    with pytest.raises(TableError, match=r"\.csv, \.tsv or \.parquet"):
        write(tmp_path / "x.xlsx", {"a": [1]})
    with pytest.raises(ValueError, match="same length"):
        write(tmp_path / "x.csv", {"a": [1], "b": [1, 2]})
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_full_disk_leaves_the_old_table(tmp_path, monkeypatch, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"x.{ending}"
    path.write_text("old")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(path, {"a": np.arange(10_000.0)})
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


# --- memory ------------------------------------------------------------------------------------


def test_array_that_would_not_fit_is_refused_before_it_is_unpacked(put, tmp_path):
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, x=np.zeros((4000, 2000)))
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match=r"zeros\.npz::x: the array takes 64 MB, and the budg"):
            read(path, max_memory="1MB")
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()
    assert len(read(path, max_memory="65MB")) == 4000


def test_matlab_variable_that_would_not_fit_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "zeros.mat"
    savemat(path, {"x": np.zeros((4000, 1000))}, do_compression=True)
    assert path.stat().st_size < 200_000
    with pytest.raises(
        TableError, match=r"zeros\.mat: its variables would take 32 MB.*budget is 1 MB"
    ):
        read(path, max_memory="1MB")
    assert len(read(path, max_memory="33MB")) == 4000


def test_parquet_that_would_not_fit_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "zeros.parquet"
    write(path, {f"c{k}": np.zeros(20_000) for k in range(10)})
    assert path.stat().st_size < 100_000
    with pytest.raises(TableError, match=r"a table of 200,000 cells takes 1\.6 MB"):
        read(path, max_memory="1MB")
    assert len(read(path, max_memory="2MB")) == 20_000


def test_file_that_would_not_fit_is_refused_before_it_is_read(put):
    with pytest.raises(TableError, match=r"some\.csv: it takes 2 kB, and the budget is 1 kB"):
        read(put("x\n" + "1\n" * 999), max_memory=1000)


def test_hash_and_size_are_those_of_the_file(put):
    path = put("x\n1\n")
    table = read(path)
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert table.size == 4


def test_columns_by_name_are_taken_in_their_order_and_others_passed_over(put):
    path = put("a,text,b,c*\n1,t,2,3\n4,u,5,6\n")
    table = read(path, options=Options(columns=("c*", "a")))
    assert table.columns == ("c*", "a")
    assert_array_equal(table.matrix, [[3, 1], [6, 4]])
    with pytest.raises(TableError, match=r"no column 'd'; there are 'a', 'text', 'b', 'c\*'"):
        read(path, options=Options(columns=("a", "d")))
    with pytest.raises(ValueError, match="cannot be combined with keep or drop"):
        Options(columns=("a",), keep=("a",))
