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
from viewhop.views._columns import column_groups, frame_groups
from viewhop.views._schema import Schema
from viewhop.views._views import is_collection

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
        ({"a": [0], "b": [2**63]}, "view 'b': column 9223372036854775808 is out of range"),
        ({"a": [0], "b": [True, False]}, "view 'b': a mask of 2 entries"),
        ({"a": [0], "b": [1.5]}, "view 'b': columns must be positions, a slice, a mask or names"),
        ({"a": [0], "b": [True, 2]}, "view 'b': columns must be positions"),
        ({"a": [0], "b": None}, "view 'b': columns must be positions"),
        ({"a": [0], "b": ["b1"]}, "view 'b': columns are selected by name, but X has no"),
        ({0: [0], "b": [1]}, "view names must be strings, not 0"),
        ([2, 2], r"adds up to 4 columns, but X has n_features = 5"),
        ([5, 0], "every view needs at least one column"),
        (6, "views=6 needs at least 6 columns"),
        (0, "at least one view"),
        ({}, "names no view"),
        ([], "names no view"),
        ("ab", "views= must be a number of views"),
        (True, "views= must be a number of views"),
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
    with pytest.raises(ValueError, match="view names must be strings, not 1"):
        frame_groups(pd.DataFrame(np.ones((3, 2)), columns=columns))


@pytest.mark.parametrize("form", ["dok_array", "dok_matrix", "lil_array", "coo_matrix"])
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
    with pytest.raises(TypeError, match=r"view 'b' is a sparse coo_array.*pass its \.tocsr\(\)"):
        Views({"a": pair[0], "b": sparse.coo_array(np.eye(40))})


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


# --- views that missed samples -----------------------------------------------------------------


def with_missing(rng, n=12, n_views=3, dtype=np.float64):
    """Arrays with rows of NaN, and which rows are none; every sample and view has some."""
    while True:
        seen = rng.random((n, n_views)) < 0.6
        if seen.any(axis=0).all() and seen.any(axis=1).all() and not seen.all():
            break
    arrays = {f"v{l}": rng.normal(size=(n, l + 1)).astype(dtype) for l in range(n_views)}
    for l, X in enumerate(arrays.values()):
        X[~seen[:, l]] = np.nan
    return arrays, seen


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_of_nan_is_a_sample_that_the_view_did_not_observe(dtype):
    rng = np.random.default_rng(2)
    for _ in range(10):
        arrays, seen = with_missing(rng, dtype=dtype)
        copies = {name: X.copy() for name, X in arrays.items()}
        views = Views(arrays)
        assert not views.is_complete
        assert (len(views), views.shape, views.dtype) == (12, (12, 6), dtype)
        assert_array_equal(views.observed, seen)
        assert_array_equal(views.nodes.observed, seen)
        assert views.nodes.sizes == tuple(seen.sum(axis=0))
        for l, (name, X) in enumerate(arrays.items()):
            assert_array_equal(views.samples(name), np.flatnonzero(seen[:, l]))
            assert_array_equal(views.rows(name), X[seen[:, l]])
            assert_array_equal(views[name], X)
            assert_array_equal(views.arrays[l], X)
            assert views.rows(name).dtype == views[name].dtype == dtype
            assert_array_equal(X, copies[name])


def test_complete_views_say_so_and_give_every_sample(pair):
    views = Views(pair)
    assert views.is_complete
    assert views.nodes.is_whole
    assert views.observed.all()
    assert_array_equal(views.samples("view2"), np.arange(40))
    assert views.rows("view2") is views["view2"]


def test_repr_tells_how_many_samples_an_incomplete_view_saw(pair):
    X = pair[1].copy()
    X[3:10] = np.nan
    assert repr(Views({"a": pair[0], "b": X})) == "Views(40 samples: a (2), b (3; saw 33))"


def test_rows_and_samples_of_an_unknown_view_list_the_known_ones(pair):
    for ask in (Views(pair).rows, Views(pair).samples):
        with pytest.raises(KeyError, match="no view named 'c'; there are view1, view2"):
            ask("c")


def test_copies_and_pickles_of_incomplete_views_are_the_same():
    arrays, seen = with_missing(np.random.default_rng(3))
    views = Views(arrays)
    for again in (Views(views), pickle.loads(pickle.dumps(views))):  # noqa: S301 - its own bytes
        assert_array_equal(again.observed, seen)
        for name, X in arrays.items():
            assert_array_equal(again[name], X)


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        ((7, 1), np.nan, r"row 7 of view 'b' has NaN in column 1 but values.*impute.*whole row"),
        ((7, 1), np.inf, r"row 7 of view 'b' has an infinite value \(inf\) in column 1"),
        ((7, 1), -np.inf, "row 7 of view 'b' has an infinite value"),
        ((7, 1), -1e160, r"row 7 of view 'b' has a value of 1e\+160.*rescale"),
    ],
)
def test_values_that_cannot_be_measured_are_found_beside_rows_of_nan(pair, where, value, message):
    X = pair[1].copy()
    X[[2, 5]] = np.nan
    X[where] = value
    with pytest.raises(ValueError, match=message):
        Views({"a": pair[0], "b": X})


def test_a_sample_that_no_view_observed_is_refused_by_row(pair):
    X1, X2 = (X.copy() for X in pair)
    X1[[4, 9, 11]], X2[[9, 11, 20]] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"row 9 is NaN.*by no view \(2 such rows\); drop"):
        Views([X1, X2])
    with pytest.raises(ValueError, match=r"row 4 of view 'view1' is all NaN.*\(3 such rows\)"):
        Views([X1])


def test_an_incomplete_stacked_array_is_cut_into_incomplete_views():
    arrays, seen = with_missing(np.random.default_rng(4))
    stacked = pd.DataFrame(np.hstack([*arrays.values()]), columns=[*"abcdef"])
    views = Views.from_columns(stacked, [1, 2, 3])
    assert_array_equal(views.observed, seen)
    assert views.feature_names == (("a",), ("b", "c"), ("d", "e", "f"))


def test_missing_values_of_any_table_are_nan():
    expected = [[1.0, 2.0], [np.nan, np.nan], [3.0, 4.0]]
    nullable = pd.DataFrame({"x": [1, None, 3], "y": [2, None, 4]}, dtype="Int64")
    for table in (nullable, pl.DataFrame(nullable.to_dict("list")), [[1, 2], [None, None], [3, 4]]):
        assert_array_equal(Views({"a": np.eye(3), "b": table})["b"], expected)


# --- masks -------------------------------------------------------------------------------------


def test_every_form_of_a_mask_is_the_same_as_rows_of_nan():
    rng = np.random.default_rng(5)
    arrays, seen = with_missing(rng)
    seen[:, 0] = True
    arrays["v0"] = rng.normal(size=(12, 1))
    full = {name: np.where(np.isnan(X), 7.0, X) for name, X in arrays.items()}
    columns = dict(zip(arrays, seen.T, strict=True))
    backwards = pd.DataFrame(dict(reversed(columns.items())))
    forms = [
        seen,
        [*seen.T],
        tuple(seen.T.tolist()),
        columns,
        {"v1": columns["v1"], "v2": columns["v2"].tolist()},
        columns | {"v0": None},
        [None, *seen.T[1:]],
        backwards,
        pl.DataFrame(columns),
    ]
    for views in (full, Views(full), arrays, Views(arrays)):
        for mask in forms:
            found = Views(views, observed=mask)
            assert_array_equal(found.observed, seen)
            for name, X in arrays.items():
                assert_array_equal(found[name], X)
    assert Views(full).is_complete


def test_a_mask_takes_away_from_what_nan_left():
    arrays, seen = with_missing(np.random.default_rng(6))
    first = np.flatnonzero((seen.sum(axis=1) > 1) & seen[:, 2])[0]
    mask = np.arange(12) != first
    for views in (arrays, Views(arrays)):
        assert_array_equal(Views(views, observed={"v2": mask}).observed[:, 2], seen[:, 2] & mask)


def test_a_mask_takes_all_rows_of_a_linked_sample_and_keeps_ids_and_names():
    frames = {
        "a": pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=[*"uvw"]),
        "b": pd.DataFrame({"y": [1.0, 2.0, 3.0, 4.0]}, index=[*"vuvw"]),
    }
    found = Views(Views.link(frames), observed={"b": [True, False, True]})
    assert_array_equal(found.samples("b"), [0, 2])
    assert_array_equal(found.rows("b"), [[2], [4]])
    assert found.ids.tolist() == ["u", "v", "w"]
    assert found.feature_names == (("x",), ("y",))


def test_a_mask_hides_bad_values_and_leaves_the_numbers_of_rows(pair):
    X = pair[1].copy()
    X[3], X[5, 1] = np.inf, np.nan
    mask = np.ones(40, dtype=bool)
    mask[[3, 5]] = False
    assert_array_equal(Views([pair[0], X], observed=[None, mask]).observed[:, 1], mask)
    X[9, 2] = np.nan
    with pytest.raises(ValueError, match="row 9 of view 'view2' has NaN in column 2"):
        Views([pair[0], X], observed=[None, mask])


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        (
            np.ones((3, 4), bool),
            r"observed must have shape \(4, 2\), one column per view, not \(3, 4\)",
        ),
        (np.ones(4, bool), r"observed must have shape \(4, 2\)"),
        (True, r"observed must have shape \(4, 2\)"),
        (np.ones((4, 2), int), "observed of view 'a' must be 4 booleans.*not int64"),
        ([None, [True] * 3], r"observed of view 'b' must be 4 booleans.*not bool of shape \(3,\)"),
        ({"b": ["yes"] * 4}, "observed of view 'b' must be 4 booleans"),
        ({"b": [[True], [True, False]]}, "observed of view 'b' must be 4 booleans"),
        ([[True, True]] * 4, "observed has 4 entries for 2 views; a list needs one mask per view"),
        ({"c": [True] * 4}, "observed names an unknown view 'c'; the views are a, b"),
        (pd.DataFrame({"c": [True] * 4}), "observed names an unknown view 'c'"),
        ({"b": [False] * 4, "a": [True, False, True, True]}, r"row 1 is NaN or not in `observed`"),
        ({"a": [True, False, True, True]}, r"row 1 is NaN or not in `observed`.*\(1 such row\)"),
    ],
)
def test_wrong_masks_are_refused(observed, message):
    X = np.eye(4, 3)
    X[1] = np.nan
    arrays = {"a": np.eye(4, 2), "b": X}
    for views in (arrays, Views(arrays)):
        with pytest.raises(ValueError, match=message):
            Views(views, observed=observed)


# --- samples chosen from incomplete views ------------------------------------------------------


def linked(rng):
    """Views with several rows for some samples, none for others, and ids and names."""
    frames = {
        name: pd.DataFrame(
            rng.normal(size=(n, 2)),
            columns=[f"{name}1", f"{name}2"],
            index=rng.integers(0, 10, size=n) * 100,
        )
        for name, n in (("a", 9), ("b", 14), ("c", 3))
    }
    return Views.link(frames)


def keys(rng, n):
    """Ways to choose of n samples."""
    mask = rng.random(n) < 0.5
    return [
        slice(None),
        slice(2, None, 2),
        slice(None, None, -1),
        slice(3, 3),
        rng.integers(-n, n, size=2 * n),
        rng.permutation(n).tolist(),
        mask,
        mask.tolist(),
        pd.Series(mask),
        np.zeros(n, dtype=bool),
        [],
        int(rng.integers(-n, n)),
        np.int64(n - 1),
    ]


def test_chosen_samples_of_incomplete_views_have_their_rows():
    rng = np.random.default_rng(7)
    for _ in range(10):
        for views in (linked(rng), Views(with_missing(rng)[0])):
            for key in keys(rng, len(views)):
                check_chosen(views, views[key], np.atleast_1d(np.arange(len(views))[key]))


def check_chosen(views, found, chosen):
    """Every chosen place has what its sample had, row by row, and there is nothing else."""
    assert len(found) == chosen.size
    assert found.names == views.names
    assert found.feature_names == views.feature_names
    assert found.dtype == views.dtype
    assert_array_equal(found.observed, views.observed[chosen])
    if views.ids is not None:
        assert_array_equal(found.ids, views.ids[chosen])
    for name in views.names:
        rows, places = [], []
        for place, sample in enumerate(chosen):
            own = [
                X for X, s in zip(views.rows(name), views.samples(name), strict=True) if s == sample
            ]
            rows += own
            places += [place] * len(own)
        assert found.rows(name).shape == (len(rows), views.rows(name).shape[1])
        assert_array_equal(found.samples(name), np.array(places, dtype=int))
        assert_array_equal(found.rows(name), np.reshape(rows, found.rows(name).shape))


def test_samples_that_every_view_observed_are_complete_views():
    arrays, seen = with_missing(np.random.default_rng(8))
    both = seen.all(axis=1)
    assert both.any()
    found = Views(arrays)[both]
    assert found.is_complete
    assert found.nodes.is_whole
    for name, X in arrays.items():
        assert_array_equal(found[name], X[both])


def test_a_view_that_saw_none_of_the_chosen_samples_is_kept_without_rows():
    arrays, seen = with_missing(np.random.default_rng(9))
    found = Views(arrays)[~seen[:, 1]]
    assert found.names == ("v0", "v1", "v2")
    assert found.rows("v1").shape == (0, 2)
    assert np.isnan(found["v1"]).all()


def test_rows_are_chosen_in_one_dimension_only(pair):
    for key in (None, np.array([[0, 1]]), np.array(3)):
        with pytest.raises(
            IndexError, match="select rows of Views by one number, slice, list or mask"
        ):
            Views(pair)[key]


# --- layouts -----------------------------------------------------------------------------------


def test_a_layout_holds_new_views_to_the_names_and_features_of_incomplete_ones():
    frames = {
        "a": pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=[*"uv"]),
        "b": pd.DataFrame({"z": [5.0, 6.0]}, index=[*"vw"]),
    }
    layout = Schema.from_views(Views.from_frames(frames))
    assert (layout.names, layout.widths) == (("a", "b"), (2, 1))
    assert layout.feature_names == (("x", "y"), ("z",))
    new = layout.named([[[1.0, 2.0], [np.nan, np.nan]], [[np.nan], [1.0]]])
    layout.check(new)
    assert_array_equal(new.observed, [[True, False], [False, True]])
    layout.check(layout.named([None, [[1.0]]]))
    with pytest.raises(ValueError, match="column 0 of view 'a' is 'y', but it was 'x' in fit"):
        layout.check(Views.from_frames({"a": frames["a"][["y", "x"]]}))
    with pytest.raises(ValueError, match="view 'b' has 2 features, but it had 1 in fit"):
        layout.check(Views.link({"b": np.eye(2)}, ids={"b": [1, 1]}))
