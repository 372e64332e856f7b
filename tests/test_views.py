"""Views, column groups and layouts."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from viewhop import MultiViewDiffusionMaps, Views
from viewhop.columns import column_groups, frame_groups
from viewhop.views import is_collection

NAMES = ["a1", "a2", "b1", "b2", "b3"]


@pytest.fixture
def pair():
    """Two views of 40 samples, 2 and 3 features wide."""
    rng = np.random.default_rng(1)
    return rng.normal(size=(40, 2)), rng.normal(size=(40, 3))


def embedding(X, **params):
    return MultiViewDiffusionMaps(2, random_state=0, **params).fit_transform(X)


def two_levels(stacked):
    columns = pd.MultiIndex.from_tuples([(name[0], name) for name in NAMES])
    return pd.DataFrame(stacked, columns=columns)


def test_every_form_of_the_same_views_gives_the_same_embedding(pair):
    X1, X2 = pair
    stacked = np.hstack([X1, X2])
    frame = pd.DataFrame(stacked, columns=NAMES)
    expected = embedding([X1, X2])
    mask = np.array([True, True, False, False, False])
    forms = [
        ((X1, X2), None),
        ([X1.tolist(), X2.tolist()], None),
        ({"a": X1, "b": X2}, None),
        (Views([X1, X2]), None),
        (Views(Views({"a": X1, "b": X2})), None),
        ([pd.DataFrame(X1), pl.DataFrame(X2)], None),
        (stacked, [2, 3]),
        (stacked, [[0, 1], [2, 3, 4]]),
        (stacked, (slice(2), slice(2, None))),
        (stacked, {"a": [0, 1], "b": range(2, 5)}),
        (stacked, {"a": mask, "b": ~mask}),
        (stacked.tolist(), [2, 3]),
        (frame, [2, 3]),
        (frame, {"a": ["a1", "a2"], "b": ["b1", "b2", "b3"]}),
        (pl.DataFrame(stacked, schema=NAMES), {"a": NAMES[:2], "b": NAMES[2:]}),
        (two_levels(stacked), None),
    ]
    for X, groups in forms:
        assert_array_equal(embedding(X, views=groups), expected)


def test_a_number_of_groups_cuts_into_nearly_equal_parts():
    found = column_groups(2, 5)
    assert [*found] == ["view1", "view2"]
    assert_array_equal(found["view1"], [0, 1, 2])
    assert_array_equal(found["view2"], [3, 4])


def test_columns_that_no_group_names_are_left_out(pair):
    X1, X2 = pair
    stacked = np.hstack([X1, np.full((40, 1), 7.0), X2])
    groups = {"a": [0, 1], "b": [3, 4, 5]}
    assert_array_equal(embedding(stacked, views=groups), embedding([X1, X2]))


def test_a_group_may_be_one_column(pair):
    X1, _ = pair
    views = Views.from_columns(
        pd.DataFrame(X1, columns=["width", "height"]), {"a": "height", "b": 0}
    )
    assert_array_equal(views["a"], X1[:, [1]])
    assert_array_equal(views["b"], X1[:, [0]])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": [0, 1], "b": [1, 2]}, "column 1 is in view 'a' and again in view 'b'"),
        ({"a": [0, 0], "b": [1]}, "column 0 is in view 'a' and again in view 'a'"),
        ([[0, 1], slice(1, 3)], "column 1 is in view 'view1' and again in view 'view2'"),
        ({"a": [0], "b": []}, "view 'b' is empty"),
        ({"a": [0], "b": slice(5, None)}, "view 'b' is empty.*n_features = 5"),
        ({"a": [0], "b": [False] * 5}, "view 'b' is empty"),
        ({"a": [0], "b": [5]}, "view 'b': column 5 is out of range"),
        ({"a": [0], "b": [-1]}, "view 'b': column -1 is out of range"),
        ({"a": [0], "b": [True, False]}, "view 'b': a mask of 2 entries"),
        ({"a": [0], "b": [1.5]}, "view 'b': columns are positions, a slice, a mask or names"),
        ({"a": [0], "b": [True, 2]}, "view 'b': columns are positions"),
        ({"a": [0], "b": None}, "view 'b': columns are positions"),
        ({"a": [0], "b": ["b1"]}, "view 'b': columns are given by name, but X has no"),
        ({0: [0], "b": [1]}, "view names are text, not 0"),
        ([2, 2], r"adds up to 4 columns, but X has n_features = 5"),
        ([5, 0], "every view needs at least one column"),
        (6, "views=6 needs at least 6 columns"),
        (0, "at least one view"),
        ({}, "names no view"),
        ([], "names no view"),
        ("ab", "views= takes a number of views"),
        (True, "views= takes a number of views"),
    ],
)
def test_wrong_groups_are_refused_by_view(groups, message):
    with pytest.raises(ValueError, match=message):
        Views.from_columns(np.ones((3, 5)), groups)


def test_unknown_and_ambiguous_column_names_are_refused_by_view():
    with pytest.raises(ValueError, match="view 'b': no column named 'z'"):
        Views.from_columns(np.ones((3, 3)), {"a": ["x"], "b": ["z"]}, names=["x", "y", "y"])
    with pytest.raises(ValueError, match="view 'b': 2 columns are named 'y'"):
        Views.from_columns(np.ones((3, 3)), {"a": ["x"], "b": ["y"]}, names=["x", "y", "y"])


def test_a_frame_groups_itself_by_the_first_of_two_levels():
    frame = two_levels(np.ones((3, 5))).iloc[:, [2, 0, 3, 1]]
    assert frame_groups(frame) == {"b": [0, 2], "a": [1, 3]}
    assert frame_groups(pd.DataFrame(np.ones((3, 5)))) is None
    assert frame_groups(np.ones((3, 5))) is None


def test_number_as_the_first_level_is_refused():
    columns = pd.MultiIndex.from_tuples([(1, "x"), (2, "y")])
    with pytest.raises(ValueError, match="view names are text, not 1"):
        frame_groups(pd.DataFrame(np.ones((3, 2)), columns=columns))


@pytest.mark.parametrize("form", ["dok_array", "dok_matrix", "csr_array", "coo_matrix"])
def test_sparse_input_is_refused_as_sparse(form, pair):
    thin = getattr(sparse, form)(np.eye(40))
    assert not is_collection(thin)
    for attempt in (
        lambda: embedding(thin),
        lambda: embedding([pair[0], thin]),
        lambda: embedding({"b": thin}),
        lambda: Views(thin),
        lambda: Views.from_columns(thin, 2),
    ):
        with pytest.raises(TypeError, match=r"(?i)sparse"):
            attempt()


def test_the_view_that_is_sparse_is_named(pair):
    with pytest.raises(TypeError, match="view 'b' is a sparse matrix"):
        Views({"a": pair[0], "b": sparse.csr_array(np.eye(40))})


def test_views_of_different_length_are_refused_with_both_counts(pair):
    with pytest.raises(ValueError, match="a has 40, b has 39"):
        embedding({"a": pair[0], "b": pair[1][1:]})


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        ([np.ones((3, 2)), None], True),
        ([None, None], True),
        ([], True),
        ((np.ones((3, 2)),), True),
        ({"a": np.ones((3, 2))}, True),
        ([[1.0, 2.0], [3.0, 4.0]], False),
        ([np.ones(3), np.ones(3)], False),
        ([[1.0], [1.0, 2.0]], False),
        (np.ones((3, 2)), False),
        (np.ones((2, 3, 2)), False),
        (pd.DataFrame(np.ones((3, 2))), False),
    ],
)
def test_a_collection_is_told_from_one_array(X, expected):
    assert is_collection(X) is expected


def test_rows_are_chosen_as_in_numpy(pair):
    X1, X2 = pair
    views = Views({"a": X1, "b": X2})
    mask = X1[:, 0] > 0
    rows = [slice(3, 9), slice(None, None, -2), [4, 4, 1], np.array([7, 2]), mask, mask.tolist()]
    for key in [*rows, *((key, ...) for key in rows), pd.Series(mask), pd.Index([3, 5])]:
        chosen = views[key]
        plain = key[0] if isinstance(key, tuple) else key
        assert isinstance(chosen, Views)
        assert_array_equal(chosen["a"], X1[plain])
        assert_array_equal(chosen["b"], X2[plain])
    assert_array_equal(views[-1]["b"], X2[-1:])
    assert_array_equal(views[np.int64(3)]["b"], X2[3:4])


def test_a_row_that_does_not_exist_is_an_index_error(pair):
    with pytest.raises(IndexError):
        Views(pair)[[99]]


def test_an_unknown_view_lists_the_known_ones(pair):
    with pytest.raises(KeyError, match="no view named 'c'; there are view1, view2"):
        Views(pair)["c"]


def test_len_shape_and_repr_tell_the_size(pair):
    views = Views({"rna": pair[0], "protein": pair[1]})
    assert len(views) == 40
    assert views.shape == (40, 5)
    assert views.n_views == 2
    assert repr(views) == "Views(40 samples: rna (2), protein (3))"


def test_views_do_not_turn_into_one_array_by_accident(pair):
    with pytest.raises(TypeError, match="several arrays, not one"):
        np.asarray(Views(pair))


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (("float32", "float32"), "float32"),
        (("float32", "float64"), "float64"),
        (("int64", "float32"), "float64"),
        (("bool", "uint8"), "float64"),
        (("float16", "float16"), "float64"),
        (("object", "float32"), "float64"),
    ],
)
def test_all_views_share_one_precision(dtypes, expected):
    views = Views([np.eye(4).astype(dtype) for dtype in dtypes])
    assert {array.dtype.name for array in views.arrays} == {expected}


def test_a_float_array_is_held_and_not_copied(pair):
    views = Views(pair)
    assert all(np.shares_memory(a, X) for a, X in zip(views.arrays, pair, strict=True))


def test_a_view_that_is_none_is_left_out(pair):
    assert Views([None, pair[1]]).names == ("view2",)
    assert Views({"a": pair[0], "b": None}).names == ("a",)


def test_feature_names_follow_frames_groups_and_rows(pair):
    X1, X2 = pair
    views = Views({"a": pd.DataFrame(X1, columns=["x", "y"]), "b": X2})
    assert views.feature_names == (("x", "y"), None)
    assert views[:3].feature_names == Views(views).feature_names == views.feature_names
    assert Views([pd.DataFrame(X1)]).feature_names == (None,)
    frame = pd.DataFrame(np.hstack([X1, X2]), columns=NAMES)
    assert Views.from_columns(frame, [2, 3]).feature_names == (("a1", "a2"), ("b1", "b2", "b3"))


def test_pickle_keeps_views(pair):
    views = Views({"a": pair[0], "b": pair[1]})
    again = pickle.loads(pickle.dumps(views))  # noqa: S301 - its own bytes
    assert again.names == views.names
    assert_array_equal(again["b"], views["b"])


@pytest.mark.parametrize("kernel", ["adaptive", "gaussian", "precomputed"])
@pytest.mark.parametrize("form", ["plain", "fortran", "read-only memmap"])
def test_input_is_untouched(tmp_path, pair, form, kernel):
    views = []
    for k, X in enumerate(pair):
        if kernel == "precomputed":
            X = np.exp(-np.square(X[:, None] - X).sum(axis=2))
        if form == "fortran":
            X = np.asfortranarray(X)
        elif form == "read-only memmap":
            np.save(tmp_path / f"{k}.npy", X)
            X = np.load(tmp_path / f"{k}.npy", mmap_mode="r")
        views.append(X)
    copies = [np.array(X, order="K") for X in views]
    est = MultiViewDiffusionMaps(2, kernel=kernel, random_state=0).fit(views)
    est.transform(views)
    for X, copy in zip(views, copies, strict=True):
        assert_array_equal(X, copy)
    reference = MultiViewDiffusionMaps(2, kernel=kernel, random_state=0).fit(
        [np.ascontiguousarray(copy) for copy in copies]
    )
    assert_array_equal(est.embedding_, reference.embedding_)


@pytest.mark.parametrize("kernel", ["adaptive", "gaussian", "precomputed"])
def test_changing_the_input_after_fit_changes_nothing(pair, kernel):
    views = [np.array(X) for X in pair]
    if kernel == "precomputed":
        views = [np.exp(-np.square(X[:, None] - X).sum(axis=2)) for X in views]
    est = MultiViewDiffusionMaps(2, kernel=kernel, random_state=0).fit(views)
    new = [X[:5].copy() for X in views]
    before, coordinates = est.transform(new), est.coordinates(2)
    for X in views:
        X[:] = 1.0
    assert_array_equal(est.transform(new), before)
    assert_array_equal(est.coordinates(2), coordinates)


def test_new_views_are_held_to_the_fitted_ones(pair):
    X1, X2 = pair
    est = MultiViewDiffusionMaps(2, random_state=0).fit({"a": X1, "b": X2})
    cases = [
        ([X2, X1], "view 'a' has 3 features, but it had 2 in fit"),
        ({"a": X1, "c": X2}, "unknown view 'c'; this estimator was fitted on a, b"),
        ([X1], r"expected 2 views \(a, b\)"),
        ([None, None], "at least one view"),
        ({}, "at least one view"),
        (np.hstack([X1, X2]), "fitted on the views a, b; pass them as a list or a dict"),
        ([X1, X2[:5]], "a has 40, b has 5"),
        (np.ones((3, 4)), "X has 4 features"),
    ]
    for X, message in cases:
        with pytest.raises(ValueError, match=message):
            est.transform(X)


def test_order_of_new_views_by_name_does_not_matter(pair):
    X1, X2 = pair
    est = MultiViewDiffusionMaps(2, random_state=0).fit({"a": X1, "b": X2})
    assert_array_equal(est.transform({"b": X2, "a": X1}), est.transform([X1, X2]))


def test_a_stacked_fit_takes_any_subset_of_views_later(pair):
    X1, X2 = pair
    stacked = MultiViewDiffusionMaps(2, views=[2, 3], random_state=0).fit(np.hstack([X1, X2]))
    listed = MultiViewDiffusionMaps(2, random_state=0).fit([X1, X2])
    assert_array_equal(stacked.transform([X1, None]), listed.transform([X1, None]))
    assert_array_equal(stacked.transform({"view2": X2}), listed.transform([None, X2]))


def test_columns_of_a_view_in_another_order_are_refused(pair):
    X1, X2 = pair
    frame = pd.DataFrame(X1, columns=["x", "y"])
    est = MultiViewDiffusionMaps(2, random_state=0).fit({"a": frame, "b": X2})
    est.transform({"a": frame})
    with pytest.raises(ValueError, match="column 0 of view 'a' is 'y', but it was 'x' in fit"):
        est.transform({"a": frame[["y", "x"]]})


def test_columns_of_a_stacked_frame_in_another_order_are_refused(pair):
    stacked = np.hstack(pair)
    frame = pd.DataFrame(stacked, columns=NAMES)
    est = MultiViewDiffusionMaps(2, views=[2, 3], random_state=0).fit(frame)
    for wrong in (frame[NAMES[::-1]], frame.rename(columns={"a1": "z"})):
        with pytest.raises(ValueError, match="feature names should match"):
            est.transform(wrong)


def test_columns_of_a_two_level_frame_in_another_order_are_refused(pair):
    frame = two_levels(np.hstack(pair))
    est = MultiViewDiffusionMaps(2, random_state=0).fit(frame)
    assert_array_equal(est.transform(frame[:5]), est.transform([X[:5] for X in pair]))
    with pytest.raises(ValueError, match="column 0 of view 'a' is 'a2'"):
        est.transform(frame.iloc[:, [1, 0, 2, 3, 4]])
    with pytest.raises(ValueError, match="fitted on the views a, b"):
        est.transform(frame.iloc[:, [2, 3, 4, 0, 1]])


def test_groups_together_with_several_views_are_refused(pair):
    with pytest.raises(ValueError, match="X is several views already"):
        embedding([*pair], views=2)
