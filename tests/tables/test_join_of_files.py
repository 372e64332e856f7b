"""Joining files: similar ids, rows that are empty in part, files without values, dates."""

from __future__ import annotations

import hashlib
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.io import savemat
from scipy.sparse import coo_array, csr_array, dia_array, save_npz

from viewhop import Views
from viewhop.errors import DroppedRowsWarning, SimilarIdsWarning, TableError
from viewhop.tables import (
    Options,
    ReadingBudget,
    join_tables,
    read,
    read_table,
    read_views,
    write,
)
from viewhop.views._similar_ids import find_similar_ids

ID = Options(id="id")


@pytest.fixture
def put(tmp_path):
    """A function that writes the files of several views and returns their paths."""

    def put(**texts):
        paths = {name: tmp_path / f"{name}.csv" for name in texts}
        for name, text in texts.items():
            paths[name].write_text(text)
        return paths

    return put


# --- similar ids ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "kind"), [("a1 ", "white space"), ("\ta1", "white space"), ("A1", "case"),
                        ("a 1", "white space")]
)  # fmt: skip
def test_ids_that_differ_by_space_or_case_are_announced(put, other, kind):
    paths = put(x="id,a\na1,1\nb2,2\n", y=f'id,b\n"{other}",1\nb2,2\n')
    with pytest.warns(SimilarIdsWarning) as caught:
        views = read_views(paths, options=ID).views
    assert len(views) == 3
    (warning,) = caught
    assert warning.message.n_pairs == 1
    text = str(warning.message)
    assert f"{paths['x']} has the id 'a1' and {paths['y']} {other!r}" in text
    assert f"differ only by {kind};" in text
    assert ("--id-strip" in text) == (other.strip() == "a1")


def test_similar_ids_are_counted(put):
    rows = "".join(f"s{k},1\n" for k in range(50))
    paths = put(x=f"id,a\nboth,1\n{rows}", y=f"id,b\nboth,1\n{rows.upper()}")
    with pytest.warns(SimilarIdsWarning, match=r"by case \(50 such ids\)") as caught:
        read_views(paths, options=ID)
    assert caught[0].message.n_pairs == 50


def test_stripped_ids_are_the_same_samples(put):
    paths = put(x="id,a\na1,1\n b2,2\n", y="id,b\na1 ,3\nb2,4\n")
    views = read_views(paths, options=Options(id="id", id_strip=True)).views
    assert views.ids.tolist() == ["a1", "b2"]
    assert views.is_complete
    with pytest.raises(TableError, match=r"line 3: the id 'a1' also stands in line 2"):
        read_views(put(x="id,a\na1,1\na1 ,2\n"), options=Options(id="id", id_strip=True))


def test_ids_that_one_file_tells_apart_are_no_misspelling(put):
    paths = put(x="id,a\na,1\nA,2\nc,3\n", y="id,b\nA,3\na,4\nd,3\n", z="id,c\na,1\nc,2\nd,1\n")
    assert len(read_views(paths, options=ID).views) == 4


def test_frames_are_checked_for_similar_ids_as_well():
    frames = {
        "x": pd.DataFrame({"a": [1.0, 2.0]}, index=["anna", "ben"]),
        "y": pd.DataFrame({"b": [1.0, 2.0]}, index=["Anna", "ben"]),
    }
    with pytest.warns(SimilarIdsWarning, match="view 'x' has the id 'anna' and view 'y' 'Anna'"):
        Views.from_frames(frames)
    with pytest.warns(SimilarIdsWarning, match="by case"):
        Views.link(frames)
    with pytest.warns(SimilarIdsWarning, match="by white space"):
        Views.link(frames, ids={"x": ["p", "q"], "y": ["q ", "p"]})


@given(
    ids=st.lists(
        st.lists(st.text("aAbB ", min_size=1, max_size=3), max_size=8, unique=True),
        min_size=1,
        max_size=3,
    )
)
def test_similar_ids_are_those_of_a_comparison_of_all_pairs(ids):
    def fold(key):
        return re.sub(r"\s", "", key).casefold()

    views = {f"view{k}": keys for k, keys in enumerate(ids)}
    every = sorted({key for keys in ids for key in keys})
    similar = {
        fold(p)
        for p in every
        for q in every
        if p != q and fold(p) == fold(q) and not any(p in keys and q in keys for keys in ids)
    }
    found = find_similar_ids(views)
    assert (0 if found is None else found.n_ids) == len(similar)
    if found is not None:
        assert found.first in views[found.first_view]
        assert found.second in views[found.second_view]


# --- ids in common -------------------------------------------------------------------------------


def test_files_without_a_common_id_are_refused_with_examples_of_both(put):
    rows = "".join(f"{k},1\n" for k in range(9))
    paths = put(x=f"id,a\n{rows}", y="id,b\ncell_0,1\ncell_1,2\n")
    with pytest.raises(TableError) as caught:
        read_views(paths, options=ID)
    assert str(caught.value) == (
        f"{paths['x']} has no id in common with {paths['y']}: {paths['x']} has '0', '1', '2', …, "
        f"but {paths['y']} has 'cell_0', 'cell_1'; a view must share samples with another"
    )


def test_one_of_three_files_without_a_common_id_is_refused(put):
    paths = put(x="id,a\np,1\nq,2\n", y="id,b\nq,1\n", z="id,c\n1,1\n2,1\n")
    with pytest.raises(TableError, match=r"z\.csv has no id in common with any other file: .*'1'"):
        read_views(paths, options=ID)


# --- rows that are empty in part -----------------------------------------------------------------


def test_partly_empty_rows_are_dropped_if_asked_for(put):
    paths = put(x="id,a,b\np,1,2\nq,,3\nr,4,5\ns,6,NA\n", y="id,c\np,1\nq,2\nr,3\ns,4\n")
    drop = Options(id="id", missing="drop")
    with pytest.warns(DroppedRowsWarning) as caught:
        joined = read_views(paths, options=drop)
    (warning,) = caught
    assert warning.message.n_rows == 2
    assert str(warning.message) == (
        f"{paths['x']}: 2 rows are empty in part and taken as not observed, the first in line 3"
    )
    assert joined.views.observed[:, 0].tolist() == [True, False, True, False]
    assert [table.n_dropped for table in joined.tables.values()] == [2, 0]
    with pytest.raises(TableError, match=r"line 3, column 'a': the cell is empty .*--missing drop"):
        read_views(paths, options=ID)


@pytest.mark.parametrize("ending", ["npy", "npz", "mat", "parquet"])
def test_rows_are_dropped_from_every_kind_of_file(tmp_path, ending):
    X = np.arange(8.0).reshape(4, 2)
    X[1, 1] = X[3, 0] = np.nan
    path = tmp_path / f"x.{ending}"
    if ending == "npy":
        np.save(path, X)
    elif ending == "npz":
        np.savez(path, X=X)
    elif ending == "mat":
        savemat(path, {"X": X})
    else:
        pytest.importorskip("pyarrow")
        write(path, {"a": X[:, 0], "b": X[:, 1]})
    before = path.read_bytes()
    with pytest.warns(DroppedRowsWarning, match=r"2 rows .* the first in row 2"):
        table = read(path, options=Options(missing="drop"))
    assert table.observed.tolist() == [True, False, True, False]
    assert_array_equal(table.matrix[::2], X[::2])
    assert path.read_bytes() == before
    with pytest.raises(TableError, match=r"row 2, column '.': the cell is empty"):
        read(path)


def test_hash_is_that_of_the_file_even_if_rows_are_dropped(tmp_path):
    np.save(tmp_path / "x.npy", [[1.0, np.nan], [2.0, 3.0]])
    whole = [[1.0, 2.0], [2.0, 3.0]]
    np.save(tmp_path / "y.npy", whole)
    with pytest.warns(DroppedRowsWarning, match="1 row is empty"):
        table = read(tmp_path / "x.npy", options=Options(missing="drop"))
    assert table.sha256 == hashlib.sha256((tmp_path / "x.npy").read_bytes()).hexdigest()


def test_sample_that_no_view_is_left_to_observe_is_refused(put):
    paths = put(x="id,a,b\np,1,2\nq,,3\n")
    with (
        pytest.warns(DroppedRowsWarning),
        pytest.raises(TableError, match=r"line 3: no view has a value .* in part were dropped"),
    ):
        read_views(paths, options=Options(id="id", missing="drop"))


def test_a_file_with_only_partly_empty_rows_is_refused(put):
    paths = put(x="id,a,b\np,1,\nq,,3\n")
    with pytest.warns(DroppedRowsWarning), pytest.raises(TableError, match="none is left"):
        read_views(paths, options=Options(id="id", missing="drop"))


def test_inf_in_a_dropped_row_is_not_observed_either(put):
    paths = put(x="a,b\n1,2\ninf,\n3,4\n")
    with pytest.warns(DroppedRowsWarning):
        assert read(paths["x"], options=Options(missing="drop")).observed.tolist() == [1, 0, 1]


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_an_empty_column_is_named(put, missing):
    paths = put(x="a,b,c\n1,,2\n3,,4\n,,\n")
    with pytest.raises(TableError) as caught:
        read(paths["x"], options=Options(missing=missing))
    assert str(caught.value) == (
        f"{paths['x']}, column 'b': the column has no value in any row; drop it (--drop b), or "
        "fill it in"
    )
    assert caught.value.column == "b"
    paths = put(x="a,b,c\n1,,\n3,,\n")
    with pytest.raises(TableError, match=r"column 'b'.* and 1 more column has none either"):
        read(paths["x"])


def test_missing_must_be_known():
    with pytest.raises(ValueError, match='missing must be "error" or "drop"'):
        Options(missing="impute")


# --- files without values ------------------------------------------------------------------------


def test_a_file_without_values_is_refused_by_its_name(put):
    paths = put(x="id,a\np,1\nq,2\n", y="id,b\np,\nq,\n")
    with pytest.raises(TableError, match=r"y\.csv: no row has a value"):
        read_views(paths, options=ID)


# --- dates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "day", ["2020-01-31", "31.01.2020", "1/31/2020", "2020-01-31T10:00:00Z", "2020/1/31 10:00"]
)
def test_dates_in_text_are_refused_with_their_column(put, day):
    paths = put(x=f"a,day\n1,{day}\n", y=f"day\n{day}\n")
    for name in paths:
        with pytest.raises(TableError, match=r"column 'day': expected a number.*convert dates"):
            read(paths[name])


@pytest.mark.parametrize("kind", ["datetime64[D]", "datetime64[ns]", "timedelta64[s]"])
def test_dates_in_arrays_are_refused(tmp_path, kind):
    days = np.array([[1, 2], [3, 4]], dtype=kind)
    np.save(tmp_path / "x.npy", days)
    with pytest.raises(TableError, match=rf"x\.npy: .* got {re.escape(kind)} .*convert dates"):
        read(tmp_path / "x.npy")
    np.savez(tmp_path / "x.npz", days=days, kind=[1, 2])
    with pytest.raises(TableError, match=rf"got 0 \(none\); there are days \({re.escape(kind)}"):
        read(tmp_path / "x.npz")
    with pytest.raises(TableError, match=r"x\.npz::days: .*convert dates"):
        read(f"{tmp_path / 'x.npz'}::days")


@pytest.mark.parametrize("kind", ["timestamp", "date32", "date64", "time64", "duration"])
@pytest.mark.parametrize("alone", [True, False])
def test_dates_in_parquet_are_refused_with_their_column(tmp_path, kind, alone):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    make = {
        "timestamp": pa.timestamp("ns"),
        "date32": pa.date32(),
        "date64": pa.date64(),
        "time64": pa.time64("us"),
        "duration": pa.duration("s"),
    }
    days = pa.array([None, 86_400_000, 172_800_000], pa.int64())
    if kind == "date32":
        days = pa.array([None, 1, 2], pa.int32())
    columns = {"day": days.cast(make[kind])} | ({} if alone else {"a": [1.0, 2.0, 3.0]})
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    with pytest.raises(TableError, match=r"row 2, column 'day': expected a number.*convert dates"):
        read(tmp_path / "x.parquet")


# --- sparse matrices -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [csr_array, coo_array, dia_array])
def test_sparse_matrix_is_called_what_it_is(tmp_path, kind):
    save_npz(tmp_path / "x.npz", kind(np.eye(3)))
    for path in (tmp_path / "x.npz", f"{tmp_path / 'x.npz'}::data"):
        with pytest.raises(TableError, match=r"sparse matrix of scipy.*load_npz\(path\)\.toarray"):
            read(path)


# --- thousands -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "decimal"),
    [("1,000", "."), ("-1,234,567.5", "."), ("1 000", "."), ("1'000", "."), ("1.000,5", ","),
     ("1.000.000", ",")],
)  # fmt: skip
def test_separators_between_thousands_are_called_so(put, cell, decimal):
    paths = put(x=f'a;b\n1;"{cell}"\n')
    with pytest.raises(TableError, match=r"line 2, column 'b': .*separators between thousands"):
        read(paths["x"], options=Options(decimal=decimal))


def test_text_codecs_that_are_no_encodings_are_refused(put):
    paths = put(x="a\n1\n")
    for codec in ("rot13", "hex", "zip", "base64"):
        with pytest.raises(TableError, match=f"'{codec}' is not an encoding of text files; try"):
            read(paths["x"], options=Options(encoding=codec))
    for name in ("nope", "\0", "undefined"):
        with pytest.raises(TableError):
            read(paths["x"], options=Options(encoding=name))


def test_the_nearest_column_is_suggested(put):
    paths = put(x="type,a,b\nu,1,2\n", y="c,d\n1,2\n")
    with pytest.raises(TableError, match=r"no label column 'typ' \(did you mean 'type'\?\)"):
        read(paths["x"], options=Options(label="typ"))
    with pytest.raises(TableError, match=r"no label column 'typ' \(did you mean 'type'\?\)"):
        read_views(paths, options=Options(label="typ"))
    with pytest.raises(TableError, match=r"column to drop 'tipe' \(did you mean 'type'\?\)"):
        read(paths["x"], options=Options(drop=("tipe",)))


def test_tables_without_values_are_left_out_only_where_allowed(put):
    paths = put(x="id,a\nq,\np,\n", y="id,b\np,1\nq,2\n")
    tables = {
        name: read_table(path, ID, ReadingBudget(None), is_new=True) for name, path in paths.items()
    }
    joined = join_tables(tables, is_new=True)
    assert joined.views.names == ("y",)
    assert joined.views.ids.tolist() == ["q", "p"]  # as they first appear in any file
    assert_array_equal(joined.views["y"], [[2.0], [1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert join_tables({"y": tables["y"]}).views.ids.tolist() == ["p", "q"]
