"""Rows joined by ids, by times and by the names of a MuData's observations."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from viewhop import Views
from viewhop.views import is_mudata
from viewhop.views._alignment import align_by_id, align_by_time
from viewhop.views._views import is_collection


def frame(ids, *columns, seed=0):
    """A pandas DataFrame of random numbers."""
    values = np.random.default_rng(seed).normal(size=(len(ids), len(columns)))
    return pd.DataFrame(values, columns=[*columns], index=ids)


# --- ids ---------------------------------------------------------------------------------------


def test_rows_with_one_id_are_one_sample_in_order_of_first_appearance():
    rng = np.random.default_rng(1)
    for _ in range(20):
        ids = {name: rng.integers(0, 12, size=rng.integers(1, 15)).tolist() for name in "abc"}
        order = [*dict.fromkeys(ids["a"] + ids["b"] + ids["c"])]
        found = align_by_id(ids)
        assert found.ids.tolist() == order
        for name, keys in ids.items():
            assert_array_equal(found.samples[name], [order.index(key) for key in keys])


def test_ids_of_one_type_are_an_array_of_it_and_mixed_ones_are_kept_as_they_are():
    assert align_by_id({"a": np.arange(3), "b": [2, 3]}).ids.dtype.kind == "i"
    assert align_by_id({"a": np.array(["p", "q"]), "b": ["q"]}).ids.dtype.kind == "U"
    mixed = [1, "1", (1, 2), (3,), 2.5]
    found = align_by_id({"a": mixed, "b": ["1", 1]})
    assert found.ids.dtype == object
    assert found.ids.tolist() == mixed
    assert_array_equal(found.samples["b"], [1, 0])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, np.float64("nan")])
def test_a_missing_id_is_refused_by_row(missing):
    with pytest.raises(ValueError, match=r"id of row 1 of view 'b' is missing.*give it an id"):
        align_by_id({"a": [0, 1], "b": ["x", missing]})


def test_an_id_that_cannot_be_hashed_is_refused_by_row():
    with pytest.raises(ValueError, match="id of row 1 of view 'a' is a list; ids must be hashable"):
        align_by_id({"a": ["x", [1, 2]]})
    with pytest.raises(ValueError, match="id of row 0 of view 'a' is a ndarray"):
        align_by_id({"a": np.ones((2, 2))})


# --- frames ------------------------------------------------------------------------------------


def test_frames_are_joined_as_pandas_does_in_an_outer_join():
    rng = np.random.default_rng(2)
    for seed in range(10):
        people = np.array([f"p{k}" for k in range(12)])
        frames = {
            name: frame(rng.permutation(people)[: rng.integers(1, 12)], f"{name}1", f"{name}2")
            for name in ("rna", "protein", "image")
        }
        views = Views.from_frames(frames)
        order = [*dict.fromkeys(key for part in frames.values() for key in part.index)]
        assert views.ids.tolist() == order, seed
        for name, part in frames.items():
            assert_array_equal(views[name], part.reindex(order).to_numpy())
            # Rows as in the file, or in the order of the samples where the view has them all.
            kept = part.reindex(order) if len(part) == len(order) else part
            assert_array_equal(views.rows(name), kept.to_numpy())
        assert views.feature_names == tuple((f"{name}1", f"{name}2") for name in frames)


def test_frames_of_the_same_index_are_complete_and_bit_equal():
    a, b = frame(["u", "v", "w"], "x", "y"), frame(["u", "v", "w"], "z", seed=1)
    views = Views.from_frames({"a": a, "b": b})
    assert views.is_complete
    assert_array_equal(views["a"], a.to_numpy())
    assert_array_equal(views["b"], b.to_numpy())
    shuffled = Views.from_frames({"a": a, "b": b.iloc[[2, 0, 1]]})
    assert shuffled.is_complete
    assert shuffled.observed.all()
    assert_array_equal(shuffled["b"], b.to_numpy())


@pytest.mark.parametrize("library", [pd, pl])
def test_a_column_of_ids_joins_like_an_index_and_is_no_feature(library):
    a = library.DataFrame({"x": [1.0, 2.0], "who": ["u", "v"], "y": [3.0, 4.0]})
    b = library.DataFrame({"who": ["w", "v"], "z": [5.0, 6.0]})
    views = Views.from_frames({"a": a, "b": b}, id="who")
    assert views.ids.tolist() == ["u", "v", "w"]
    assert views.feature_names == (("x", "y"), ("z",))
    assert_array_equal(views["a"], [[1, 3], [2, 4], [np.nan, np.nan]])
    assert_array_equal(views["b"], [[np.nan], [6], [5]])


def test_levels_of_an_index_are_one_id():
    index = pd.MultiIndex.from_tuples([("s1", 1), ("s1", 2), ("s2", 1)])
    views = Views.from_frames({"a": frame(index, "x"), "b": frame(index[1:], "y")})
    assert views.ids.tolist() == [*index]
    assert_array_equal(views.samples("b"), [1, 2])


def test_a_row_of_nan_in_a_frame_was_not_observed():
    a, b = frame(["u", "v"], "x"), frame(["v", "w"], "y")
    a.loc["v"] = np.nan
    assert_array_equal(
        Views.from_frames({"a": a, "b": b}).observed, [[True, False], [False, True], [False, True]]
    )
    a.loc[["u", "v"]] = [[np.nan], [1.0]]
    message = r"sample 'u' \(row 0\) is NaN.*by no view \(1 such sample\); drop"
    with pytest.raises(ValueError, match=message):
        Views.from_frames({"a": a, "b": b})


FRAME = pd.DataFrame({"x": [1.0, 2.0], "who": ["u", "v"]})


@pytest.mark.parametrize(
    ("frames", "id", "message"),
    [
        (
            {"a": frame(["u", "u", "v"], "x")},
            None,
            "view 'a' has the id 'u' 2 times; use Views.link",
        ),
        ({"a": np.ones((3, 2))}, None, "view 'a' is a ndarray without an index; pass a pandas"),
        ({"a": pl.DataFrame({"x": [1.0]})}, None, "view 'a' is a DataFrame without an index"),
        ({"a": FRAME, "b": None}, "who", "view 'b' is a NoneType; id='who' needs a DataFrame"),
        ({"a": np.ones((3, 2))}, "who", "view 'a' is a ndarray; id='who' needs a DataFrame"),
        ({"a": FRAME}, "name", "view 'a' has no column 'name'; expected one column of ids"),
        ({"a": pd.concat([FRAME, FRAME], axis=1)}, "who", "view 'a' has 2 columns 'who'"),
        ({"a": FRAME[["who"]]}, "who", "view 'a' is empty: it has 0 features"),
        ({"a": pd.DataFrame()}, None, "view 'a' is empty: it has 0 samples"),
        ({"a": FRAME}, None, "view 'a': column 'who' is not numeric: drop it or encode it"),
        ({"a": pl.DataFrame(FRAME.to_dict("list"))}, "x", "column 'who' is not numeric"),
        ({"a": FRAME.assign(who=pd.Timestamp(0))}, None, "column 'who' is not numeric"),
        ({3: FRAME}, "who", "view names must be strings, not 3"),
        ([FRAME], "who", "expected a dict of DataFrames, got list"),
        ({}, None, "at least one view"),
    ],
)
def test_frames_that_cannot_be_joined_are_refused_with_what_to_do(frames, id, message):
    with pytest.raises(ValueError, match=message):
        Views.from_frames(frames, id=id)


# --- times -------------------------------------------------------------------------------------


def nearest(known, time):
    """The row that is nearest; of equals the earlier, of those at one time the first. By a loop."""
    return min(range(len(known)), key=lambda k: (abs(known[k] - time), known[k], k))


@pytest.mark.parametrize("tolerance", [np.inf, 2, 0.0])
def test_each_row_belongs_to_the_row_of_the_first_view_that_is_nearest_in_time(tolerance):
    rng = np.random.default_rng(3)
    for _ in range(40):
        # Whole numbers, in any order: most rows tie, and times are repeated.
        times = {name: rng.integers(-9, 9, size=rng.integers(1, 9)) for name in "abc"}
        first = times["a"].tolist()
        names = list(first)
        found = align_by_time(times, tolerance)
        assert_array_equal(found.samples["a"], np.arange(len(first)))
        for name in "bc":
            for row, time in enumerate(times[name].tolist()):
                expected = nearest(first, time)
                if abs(first[expected] - time) > tolerance:
                    expected = len(names)
                    names.append(time)
                assert found.samples[name][row] == expected
        assert_array_equal(found.ids, names)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([0.0, np.nan, 1.0], "times of view 'b' must be one finite number per row"),
        ([[0.0], [1.0], [2.0]], "times of view 'b' must be one finite number per row"),
        ([], "view 'b' has no times"),
        (["a", "b", "c"], "times of view 'b' must be numbers"),
        (None, "times of view 'b' must be one finite number"),
        ([[0.0], [1.0, 2.0]], "times of view 'b' must be numbers"),
        (np.arange(3) + 1j, "times of view 'b' must be numbers"),
        (np.arange(3).astype("M8[s]"), "convert dates to seconds since a common start"),
        (pd.date_range("2020", periods=3), "convert dates to seconds since a common start"),
        ([pd.Timestamp(0)] * 3, "convert dates to seconds since a common start"),
    ],
)
def test_times_that_are_no_numbers_are_refused_by_view(times, message):
    with pytest.raises(ValueError, match=message):
        align_by_time({"a": [0.0, 1.0], "b": times}, np.inf)


@pytest.mark.parametrize("tolerance", [-1.0, np.nan, "1", None, np.timedelta64(1, "s")])
def test_a_tolerance_is_a_number_of_at_least_0(tolerance):
    with pytest.raises(ValueError, match="tolerance must be a non-negative number"):
        align_by_time({"a": [0.0]}, tolerance)


# --- links -------------------------------------------------------------------------------------


def test_linked_rows_of_one_id_are_one_sample_and_all_of_them_are_kept():
    patient, scans = np.eye(3, 2), np.arange(10.0).reshape(5, 2)
    ids = {"patient": ["u", "v", "w"], "scans": ["v", "u", "v", "x", "v"]}
    views = Views.link({"patient": patient, "scans": scans}, ids=ids)
    assert views.ids.tolist() == ["u", "v", "w", "x"]
    assert_array_equal(views.rows("scans"), scans)
    assert_array_equal(views.samples("scans"), [1, 0, 1, 3, 1])
    assert_array_equal(views["scans"], scans)
    assert_array_equal(views["patient"], [*patient, [np.nan, np.nan]])
    assert_array_equal(views.observed, [[1, 1], [1, 1], [1, 0], [0, 1]])
    assert repr(views) == "Views(4 samples: patient (2; saw 3), scans (2; saw 3 in 5 rows))"


def test_frames_are_linked_by_their_indices_and_keep_their_feature_names():
    a, b = frame(["u", "v"], "x", "y"), frame(["v", "v", "u"], "z")
    views = Views.link({"a": a, "b": b})
    assert_array_equal(views.samples("b"), [1, 1, 0])
    assert views.feature_names == (("x", "y"), ("z",))
    by_hand = Views.link({"a": a, "b": b}, ids={"b": b.index, "a": pd.Series(a.index)})
    assert by_hand.ids.tolist() == views.ids.tolist()
    assert by_hand.feature_names == views.feature_names
    assert_array_equal(by_hand.samples("b"), views.samples("b"))


def test_rows_without_a_partner_in_time_are_samples_of_their_own():
    left, right = np.eye(3), np.arange(4.0)[:, None] + 1
    times = {"left": [0, 1, 2], "right": [1.9, 0.1, 7.0, 2.2]}
    views = Views.link({"left": left, "right": right}, times=times, tolerance=0.5)
    assert_array_equal(views.samples("right"), [2, 0, 3, 2])
    assert_array_equal(views.samples("left"), [0, 1, 2])
    assert_array_equal(views.ids, [0, 1, 2, 7])
    assert Views.link({"left": left, "right": right}, times=times).observed[:, 0].all()


def test_linked_rows_of_nan_are_left_out():
    rows = {"left": np.eye(2), "right": np.array([[1.0], [np.nan], [3.0]])}
    views = Views.link(rows, ids={"left": ["u", "v"], "right": ["u", "u", "v"]})
    assert views.is_complete
    assert_array_equal(views["right"], [[1], [3]])


PAIR = {"a": np.eye(3), "b": np.eye(2)}
IDS = {"a": [1, 2, 3], "b": [3, 4]}


@pytest.mark.parametrize(
    ("views", "given", "message"),
    [
        (PAIR, {"ids": IDS, "times": IDS}, "pass ids or times, not both"),
        (PAIR, {}, "view 'a' is a ndarray without an index.*ids= in link"),
        (PAIR, {"ids": {"a": [1, 2, 3]}}, "ids are missing for view 'b'"),
        (PAIR, {"times": {"b": [1, 2]}}, "times are missing for view 'a'"),
        (PAIR, {"ids": IDS | {"c": [1]}}, "ids name an unknown view 'c'; the views are a, b"),
        (PAIR, {"ids": [[1, 2, 3], [3, 4]]}, "ids must be a dict by view name, not list"),
        (PAIR, {"ids": IDS | {"b": [3]}}, "view 'b' has 2 rows, but 1 ids or times; pass one per"),
        (PAIR, {"times": IDS | {"a": range(5)}}, "view 'a' has 3 rows, but 5 ids or times"),
        (PAIR, {"ids": IDS | {"b": None}}, "ids of view 'b' must be a sequence, one per row"),
        (PAIR, {"ids": IDS | {"b": "uv"}}, "ids of view 'b' must be a sequence, one per row"),
        (
            PAIR,
            {"times": IDS, "tolerance": -0.5},
            "tolerance must be a non-negative number, not -0.5",
        ),
        ({1: np.eye(3)}, {"ids": {1: [1, 2, 3]}}, "view names must be strings, not 1"),
        ([np.eye(3)], {"ids": [[1, 2, 3]]}, "expected a dict of views, got list"),
        ({}, {"ids": {}}, "at least one view"),
    ],
)
def test_links_that_do_not_say_where_rows_belong_are_refused(views, given, message):
    with pytest.raises(ValueError, match=message):
        Views.link(views, **given)


# --- MuData ------------------------------------------------------------------------------------


#: What these packages themselves call, and newer versions of pandas deprecate.
from_within = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:anndata.*", "ignore::DeprecationWarning:mudata.*"
)


@pytest.fixture
def mudata():
    """The package, in the behaviour of its next version: it warns of that one in the present."""
    mudata = pytest.importorskip("mudata", reason="make test-omics installs it")
    with mudata.set_options(pull_on_update=False):
        yield mudata


@pytest.fixture
def modality(mudata):
    """A function that makes a modality: an AnnData of named observations."""
    from anndata import AnnData

    def made(X, obs, letter="g", **parts):
        features = pd.DataFrame(index=[f"{letter}{k}" for k in range(X.shape[1])])
        return AnnData(X, obs=pd.DataFrame(index=[*obs]), var=features, **parts)

    return made


@pytest.fixture
def omics(mudata, modality):
    """Two modalities that share the observations b and c; the second is sparse."""
    rna = modality(np.arange(1.0, 13).reshape(4, 3), "abcd")
    scores = {"X_pca": np.array([[7.0], [8.0], [9.0]])}
    protein = modality(sparse.csr_matrix(np.eye(3, 2) + 1), "cbe", "p", obsm=scores)
    return mudata.MuData({"rna": rna, "protein": protein})


@from_within
def test_modalities_are_views_joined_by_the_names_of_observations(omics):
    assert is_mudata(omics)
    assert is_collection(omics)
    for views in (Views(omics), Views.from_mudata(omics)):
        assert views.names == ("rna", "protein")
        assert views.ids.tolist() == [*omics.obs_names]
        assert views.feature_names == (("g0", "g1", "g2"), ("p0", "p1"))
        for name, part in omics.mod.items():
            is_sparse = sparse.issparse(part.X)
            X = part.X.toarray() if is_sparse else part.X
            expected = pd.DataFrame(X, index=part.obs_names).reindex(omics.obs_names).to_numpy()
            if is_sparse:
                assert_array_equal(views[name].toarray(), expected[views.samples(name)])
            else:
                assert_array_equal(views[name], expected)


@from_within
def test_obsm_stands_for_the_modality_that_it_names(omics):
    views = Views.from_mudata(omics, obsm={"protein": "X_pca"})
    assert_array_equal(views.rows("protein"), [[7], [8], [9]])
    assert views.feature_names == (("g0", "g1", "g2"), None)
    omics.mod["protein"].obsm["scores"] = pd.DataFrame({"s": [1.0, 2.0, 3.0]}, index=[*"cbe"])
    assert Views.from_mudata(omics, obsm={"protein": "scores"}).feature_names[1] == ("s",)


@from_within
def test_modalities_of_the_same_observations_are_complete_and_stay_single(mudata, modality):
    X = np.eye(4, 3, dtype=np.float32)
    thin = modality(sparse.csr_matrix(X), "uvwx", "h")
    views = Views(mudata.MuData({"a": modality(X, "uvwx"), "b": thin}))
    assert views.is_complete
    assert views.dtype == np.float32
    assert_array_equal(views["b"].toarray(), X)


@from_within
def test_part_of_a_mudata_and_a_mask_are_taken_like_any_views(omics):
    assert_array_equal(Views(omics[["b", "e"]]).observed, [[True, True], [False, True]])
    kept = omics.obs_names != "b"
    assert_array_equal(
        Views(omics, observed={"rna": kept}).observed[:, 0], kept & (omics.obs_names != "e")
    )


@from_within
def test_a_modality_or_key_that_is_not_there_is_refused_by_name(omics):
    for obsm, message in (
        ({"atac": "X_pca"}, "no modality named 'atac'; there are rna, protein"),
        ({"protein": "X_umap"}, "'protein' has no 'X_umap' in its obsm; obsm has X_pca"),
        ({"rna": "X_pca"}, "'rna' has no 'X_pca' in its obsm; obsm is empty"),
        ("X_pca", "obsm must be a dict by modality, not 'X_pca'"),
    ):
        with pytest.raises(ValueError, match=message):
            Views.from_mudata(omics, obsm=obsm)


def test_what_is_no_mudata_is_not_taken_for_one():
    table = pd.DataFrame({"mod": [1.0], "obs_names": [2.0]})  # a frame has a method mod as well
    assert not is_mudata(table)
    assert not is_collection(table)
    with pytest.raises(ValueError, match="expected a MuData, got DataFrame"):
        Views.from_mudata(table)


@from_within
def test_modalities_that_cannot_be_read_are_refused_by_name(mudata, modality, omics):
    rna = omics.mod["rna"]
    bare = modality(np.empty((4, 0)), "abcd")
    with pytest.raises(ValueError, match="view 'bare' is empty: it has 0 features"):
        Views(mudata.MuData({"rna": rna, "bare": bare}))
    del bare.X
    with pytest.raises(ValueError, match="modality 'bare' has no X; choose an obsm entry"):
        Views(mudata.MuData({"rna": rna, "bare": bare}))
    with pytest.raises(ValueError, match="modality 'inner' is itself a MuData"):
        Views(mudata.MuData({"inner": omics}))
    with pytest.raises(ValueError, match="no modalities"):
        Views(mudata.MuData({}))


@from_within
def test_names_of_observations_that_are_stale_or_repeated_are_refused(mudata, modality, omics):
    omics.mod["protein"] = modality(np.eye(2), "cz", "p")
    with pytest.raises(ValueError, match=r"observation 'z' of modality 'protein'.*call its update"):
        Views(omics)
    once = modality(np.eye(3), "uvw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # mudata sees the repeated name as well
        twice = mudata.MuData({"a": once, "b": modality(np.eye(3), "uvv", "h")})
    with pytest.raises(ValueError, match=r"'b' has the id 'v' 2 times.*obs_names_make_unique"):
        Views(twice)
