"""Rows that are NaN in part: an error, or dropped with a warning, wherever views are read."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import viewhop as vh
from viewhop import DiffusionMaps, MultiViewDiffusionMaps, MultiViewSpectralClustering, Views
from viewhop.errors import DroppedRowsWarning

N = 40
#: Rows of each view that are NaN in part.
PARTIAL = {"a": [4, 9], "b": [7]}
#: A row that is NaN throughout, which is not counted.
WHOLE = 12
TEXT = (
    r"3 rows are NaN in part and taken as not observed: 2 of view '(a|view1)' \(first: (.*)\), "
    r"1 of view '(b|view2)' \(first: (.*)\)"
)


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(N, 3)), "b": rng.normal(size=(N, 2))}
    for name, rows in PARTIAL.items():
        views[name][rows, 1] = np.nan
    views["b"][WHOLE] = np.nan
    return views


def dropped(arrays):
    """The same with rows of NaN instead."""
    views = {name: X.copy() for name, X in arrays.items()}
    for name, rows in PARTIAL.items():
        views[name][rows] = np.nan
    return views


def frames(arrays):
    return {name: pd.DataFrame(X, index=[f"c{k}" for k in range(N)]) for name, X in arrays.items()}


def mudata(arrays):
    names = [f"c{k}" for k in range(N)]
    parts = {
        name: SimpleNamespace(X=X, obs_names=names, var_names=[*"xyz"][: X.shape[1]], obsm={})
        for name, X in arrays.items()
    }
    return SimpleNamespace(mod=parts, obs_names=names)


IDS = {name: [f"c{k}" for k in range(N)] for name in PARTIAL}
#: Every way to read views, and how the first row is called.
READS = {
    "Views": (Views, "row 4"),
    "list": (lambda arrays, **how: Views([*arrays.values()], **how), "row 4"),
    "Views of a MuData": (lambda arrays, **how: Views(mudata(arrays), **how), r"'c4' \(row 4\)"),
    "columns": (
        lambda arrays, **how: Views.from_columns(np.hstack([*arrays.values()]), [3, 2], **how),
        "row 4",
    ),
    "frames": (lambda arrays, **how: Views.from_frames(frames(arrays), **how), "'c4'"),
    "mudata": (lambda arrays, **how: Views.from_mudata(mudata(arrays), **how), "'c4'"),
    "link": (lambda arrays, **how: Views.link(frames(arrays), **how), "'c4'"),
    "link by id": (lambda arrays, **how: Views.link(arrays, ids=IDS, **how), "'c4'"),
    "link by time": (
        lambda arrays, **how: Views.link(arrays, times=dict.fromkeys(arrays, range(N)), **how),
        "4",
    ),
}


@pytest.mark.parametrize("way", READS)
def test_rows_that_are_nan_in_part_are_refused_unless_they_are_dropped(arrays, way):
    read, first = READS[way]
    for how in ({}, {"missing": "error"}):
        with pytest.raises(ValueError, match=r"of view '(a|view1)' has NaN in column 1.*\"drop\""):
            read(arrays, **how)
    with pytest.warns(DroppedRowsWarning, match=TEXT) as caught:
        views = read(arrays, missing="drop")
    assert [w.message.n_rows for w in caught] == [3]
    assert caught[0].filename == __file__
    assert first.replace("\\", "") in str(caught[0].message)
    expected = read(dropped(arrays))
    assert_array_equal(views.observed, expected.observed)
    for name in views.names:
        assert_array_equal(views.rows(name), expected.rows(name))


@pytest.mark.parametrize("way", READS)
def test_nothing_is_said_where_nothing_is_dropped(arrays, way):
    views = READS[way][0](dropped(arrays), missing="drop")
    assert views.observed.sum() == 2 * N - 4


@pytest.mark.parametrize("way", READS)
@pytest.mark.parametrize("missing", ["ignore", None, True, "DROP"])
def test_another_word_is_refused(arrays, way, missing):
    with pytest.raises(ValueError, match='missing must be "error" or "drop", not'):
        READS[way][0](dropped(arrays), missing=missing)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, 1e200])
def test_values_that_are_not_finite_stay_errors_even_in_rows_that_would_be_dropped(arrays, bad):
    arrays["a"][4, 0] = bad
    with pytest.raises(ValueError, match=r"row 4 of view 'a' has (an infinite value|a value of)"):
        Views(arrays, missing="drop")


def test_a_sample_that_has_no_view_left_is_refused_in_the_usual_words(arrays):
    arrays["b"][4] = np.nan
    usual = r"is NaN at least in part: it was observed by no view \(1 such (row|sample)\); drop"
    for X in (arrays, np.hstack([*arrays.values()]), mudata(arrays)):
        groups = [3, 2] if isinstance(X, np.ndarray) else None
        with pytest.raises(ValueError, match=rf"row 4\)? {usual}"):
            MultiViewDiffusionMaps(missing="drop", views=groups).fit(X)
    for read in (Views.from_frames, Views.link):
        with pytest.raises(ValueError, match=rf"sample 'c4' \(row 4\) {usual}"):
            read(frames(arrays), missing="drop")


def test_rows_outside_observed_are_not_counted(arrays):
    seen = np.ones((N, 2), dtype=bool)
    seen[4, 0] = False
    with pytest.warns(DroppedRowsWarning, match=r"2 rows.*1 of view 'a' \(first: row 9\)"):
        Views(arrays, observed=seen, missing="drop")


def test_linked_rows_are_dropped_one_by_one():
    X = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])
    with pytest.warns(DroppedRowsWarning, match=r"1 of view 'a' \(first: sample 'u' \(row 1\)\)"):
        views = Views.link({"a": X}, ids={"a": ["u", "u", "v"]}, missing="drop")
    assert_array_equal(views.rows("a"), X[[0, 2]])


# --- estimators --------------------------------------------------------------------------------


def forms(arrays):
    stacked = np.hstack([*arrays.values()])
    names = ["a1", "a2", "a3", "b1", "b2"]
    masked = {name: np.ma.masked_invalid(X) for name, X in arrays.items()}
    return {
        "dict": (arrays, None),
        "list": ([*arrays.values()], None),
        "masked": (masked, None),
        "frames": (frames(arrays), None),
        "polars": ([pl.DataFrame(X) for X in arrays.values()], None),
        "MuData": (mudata(arrays), None),
        "stacked": (stacked, [3, 2]),
        "masked stack": (np.ma.masked_invalid(stacked), [3, 2]),
        "stacked frame": (pd.DataFrame(stacked, columns=names), [3, 2]),
    }


FORMS = [
    "dict",
    "list",
    "masked",
    "frames",
    "polars",
    "MuData",
    "stacked",
    "masked stack",
    "stacked frame",
]


@pytest.mark.parametrize("form", FORMS)
def test_an_estimator_drops_rows_in_fit_and_transform(arrays, form):
    X, groups = forms(arrays)[form]
    est = MultiViewDiffusionMaps(2, views=groups, missing="drop", random_state=0)
    for fit in (est.fit, est.fit_transform):
        with pytest.warns(DroppedRowsWarning, match=TEXT) as caught:
            fit(X)
        assert len(caught) == 1
    expected = MultiViewDiffusionMaps(2, random_state=0).fit(dropped(arrays))
    assert_array_equal(est.embedding_, expected.embedding_)
    assert_array_equal(est.observed_, expected.observed_)
    with pytest.warns(DroppedRowsWarning, match=TEXT) as caught:
        found = est.transform(X)
    assert [w.message.n_rows for w in caught] == [3]
    assert caught[0].filename == __file__
    assert_array_equal(found, expected.transform(dropped(arrays)))
    strict = clone(est).set_params(missing="error")
    with pytest.raises(ValueError, match=r"(row 4|'c4' \(row 4\)) of view '(a|view1)' has NaN in"):
        strict.fit(X)
    with pytest.raises(ValueError, match=r"(row 4|'c4' \(row 4\)) of view '(a|view1)' has NaN in"):
        est.set_params(missing="error").transform(X)


def test_the_warning_of_a_fit_points_to_its_caller(arrays):
    for est in (
        MultiViewDiffusionMaps(missing="drop"),
        MultiViewSpectralClustering(2, missing="drop", random_state=0),
    ):
        with pytest.warns(DroppedRowsWarning) as caught:
            est.fit(arrays)
        assert caught[0].filename == __file__


def test_clustering_drops_rows_in_fit_and_predict(arrays):
    model = MultiViewSpectralClustering(3, missing="drop", random_state=0)
    with pytest.warns(DroppedRowsWarning, match=TEXT):
        model.fit(arrays)
    expected = MultiViewSpectralClustering(3, random_state=0).fit(dropped(arrays))
    assert_array_equal(model.labels_, expected.labels_)
    with pytest.warns(DroppedRowsWarning, match=TEXT):
        assert_array_equal(model.predict(arrays), expected.labels_)
    with pytest.raises(ValueError, match="row 4 of view 'a' has NaN in column 1"):
        expected.predict(arrays)


def test_one_view_has_no_other_view_left(arrays):
    X = arrays["a"]
    usual = "row 4 of view 'view1' is NaN at least in part: it was observed by no view"
    with pytest.raises(ValueError, match=rf"{usual} \(2 such rows\)"):
        DiffusionMaps(missing="drop").fit(X)
    with pytest.raises(ValueError, match="row 4 of view 'view1' has NaN in column 1"):
        DiffusionMaps().fit(X)
    est = DiffusionMaps(missing="drop").fit(X[10:])
    with pytest.raises(ValueError, match=usual):
        est.transform(X[:10])


def test_dropped_rows_one_by_one_equal_the_batch(arrays):
    est = MultiViewDiffusionMaps(2, missing="drop", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedRowsWarning)
        batch = est.fit(arrays).transform(arrays)
        rows = [est.transform({name: X[[k]] for name, X in arrays.items()}) for k in range(N)]
    assert_allclose(np.vstack(rows), batch, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "est", [MultiViewDiffusionMaps(), DiffusionMaps(), MultiViewSpectralClustering(2)], ids=repr
)
def test_the_parameter_is_checked_by_fit(arrays, est):
    assert est.get_params()["missing"] == "error"
    for wrong in ("ignore", None, True):
        with pytest.raises(ValueError, match="The 'missing' parameter of"):
            clone(est).set_params(missing=wrong).fit(arrays["a"])


def test_a_model_file_keeps_the_parameter(arrays, tmp_path):
    path = tmp_path / "m.viewhop"
    new = {name: X[:10] for name, X in arrays.items()}
    for est, use in (
        (MultiViewDiffusionMaps(2, missing="drop", random_state=0), "transform"),
        (MultiViewSpectralClustering(3, missing="drop", random_state=0), "predict"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DroppedRowsWarning)
            est.fit(arrays)
            expected = getattr(est, use)(new)
        est.save(path)
        again = vh.load(path)
        assert again.missing == "drop"
        with pytest.warns(DroppedRowsWarning):
            assert_array_equal(getattr(again, use)(new), expected)
    DiffusionMaps(2, missing="drop", random_state=0).fit(dropped(arrays)["a"][10:]).save(path)
    assert vh.load(path).missing == "drop"


def test_views_are_read_already(arrays):
    views = Views(dropped(arrays))
    est = MultiViewDiffusionMaps(2, missing="drop", random_state=0).fit(views)
    assert_array_equal(est.transform(views), est.transform(dropped(arrays)))
