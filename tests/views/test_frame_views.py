"""Views from one frame of pandas, polars or pyarrow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import viewhop as vh
from viewhop import Views

COLUMNS = {
    "name": ["anna", "ben", "cleo"],
    "rna_a": [1.0, 2.0, None],
    "rna_b": [4, 5, None],
    "protein.x": [True, False, True],
}
EXPECTED = np.array([[1.0, 4.0], [2.0, 5.0], [np.nan, np.nan]])


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def pyarrow_table(columns):
    return pytest.importorskip("pyarrow").table(columns)


LIBRARIES = pytest.mark.parametrize("make", [pd.DataFrame, polars_frame, pyarrow_table])


@LIBRARIES
def test_prefixes_name_the_views_and_a_column_has_the_ids(make):
    views = Views.from_frame(make(COLUMNS), ["rna_", "protein."], id="name")
    assert views.names == ("rna", "protein")
    assert_array_equal(views["rna"], EXPECTED)
    assert_array_equal(views["protein"], [[1.0], [0.0], [1.0]])
    assert views.feature_names == (("rna_a", "rna_b"), ("protein.x",))
    assert views.ids.tolist() == COLUMNS["name"]
    assert views.observed.tolist() == [[True, True], [True, True], [False, True]]


@LIBRARIES
@pytest.mark.parametrize(
    "groups",
    [
        {"a": ["rna_a", "rna_b"], "b": "protein.x"},
        {"a": [1, 2], "b": [3]},
        {"a": slice(1, 3), "b": slice(3, 4)},
    ],
)
def test_a_dict_gives_the_columns_of_each_view(make, groups):
    views = Views.from_frame(make(COLUMNS), groups, id="name")
    assert views.names == ("a", "b")
    assert_array_equal(views["a"], EXPECTED)
    assert views.feature_names == (("rna_a", "rna_b"), ("protein.x",))


def test_two_levels_of_columns_are_views_and_features():
    columns = pd.MultiIndex.from_tuples([("x", "a"), ("y", "a"), ("x", "b")])
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=columns, index=["p", "q"])
    views = Views.from_frame(frame)
    assert views.names == ("x", "y")
    assert_array_equal(views["x"], [[0, 2], [3, 5]])
    assert views.feature_names == (("a", "b"), ("a",))
    assert views.ids.tolist() == ["p", "q"]
    assert frame.columns is columns
    with pytest.raises(ValueError, match="use the index"):
        Views.from_frame(frame, id="a")


def test_an_index_that_only_counts_is_no_id():
    frame = pd.DataFrame({"a1": [1.0, 2.0], "b1": [3.0, 4.0]})
    assert Views.from_frame(frame, ["a", "b"]).ids is None
    assert Views.from_frame(frame.set_axis([7, 3]), ["a", "b"]).ids.tolist() == [7, 3]


def test_the_longest_prefix_counts():
    frame = pd.DataFrame({"rna_a": [1.0], "rna_raw_a": [2.0]})
    views = Views.from_frame(frame, ["rna_", "rna_raw_"])
    assert views.names == ("rna", "rna_raw")
    assert_array_equal(views["rna_raw"], [[2.0]])


@LIBRARIES
def test_single_precision_is_kept_where_all_columns_have_it(make):
    columns = {"a1": np.array([1.5, 2.5], dtype=np.float32), "b1": np.array([1, 2])}
    views = Views.from_frame(make(columns), {"a": ["a1"]})
    assert views.dtype == np.float32
    assert Views.from_frame(make(columns), ["a", "b"]).dtype == np.float64


def test_every_library_gives_the_same_fit():
    rng = np.random.default_rng(0)
    columns = {f"{view}_{k}": rng.standard_normal(60) for view in "xy" for k in range(3)}
    found = [
        vh.MultiViewDiffusionMaps(2, kernel="gaussian", random_state=0)
        .fit(Views.from_frame(make(columns), ["x_", "y_"]))
        .embedding_
        for make in (pd.DataFrame, polars_frame, pyarrow_table)
    ]
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


@pytest.mark.parametrize(
    ("groups", "id", "message"),
    [
        (["rna_"], "name", "column 'protein.x' begins with none of the prefixes rna_"),
        (["rna_"], None, "column 'name' and 1 more begins with none"),
        (["rna_", "protein", "dna"], "name", "no column begins with 'dna'"),
        (["rna_", "rna_"], "name", "twice"),
        (["rna", "rna_", "protein"], "name", "give the same view name"),
        ([], "name", "no prefix"),
        ([""], "name", "empty"),
        ("rna_", "name", "a dict of columns by view name or a list of prefixes"),
        ([1, 2], "name", "a dict of columns by view name or a list of prefixes"),
        (None, None, "groups= says which columns"),
        ({"a": ["nothing"]}, None, "no column named 'nothing'"),
        ({"a": ["name"]}, None, "view 'a': column 'name' has values of type"),
        ({"a": ["rna_a", "name"]}, "name", "is in view 'a' as well"),
        ({"a": ["rna_a"]}, "who", "there is no column 'who'"),
    ],
)
@LIBRARIES
def test_what_is_not_clear_is_refused(make, groups, id, message):
    with pytest.raises(ValueError, match=message):
        Views.from_frame(make(COLUMNS), groups, id=id)


@LIBRARIES
def test_ids_must_be_there_and_different(make):
    for ids, message in (([None, "b"], "one of them is missing"), (["b", "b"], "appears twice")):
        with pytest.raises(ValueError, match=message):
            Views.from_frame(make({"id": ids, "a": [1.0, 2.0]}), {"a": ["a"]}, id="id")


def test_other_things_are_no_frames():
    with pytest.raises(TypeError, match="got ndarray; pass arrays as a list"):
        Views.from_frame(np.eye(3), ["a"])


def test_rows_that_are_missing_in_part_are_refused_or_dropped():
    frame = pd.DataFrame({"a1": [1.0, np.nan, 3.0], "a2": [1.0, 2.0, 3.0], "b1": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="missing"):
        Views.from_frame(frame, ["a", "b"])
    with pytest.warns(vh.errors.DroppedRowsWarning):
        views = Views.from_frame(frame, ["a", "b"], missing="drop")
    assert views.observed[:, 0].tolist() == [True, False, True]
