"""A view that observed none of the samples: kept without rows, refused by a fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import viewhop as vh
from viewhop import Views
from viewhop.bandwidth import connected, joint
from viewhop.dimension import intrinsic
from viewhop.estimators import DeSaEmbedding, KernelCCA
from viewhop.geometry import Recipe, fit_geometry
from viewhop.solvers import FixedRank
from viewhop.walks import SumWalk

N = 30


@pytest.fixture
def arrays():
    """Two views, of which the second has no value at all."""
    rng = np.random.default_rng(0)
    return {"a": rng.normal(size=(N, 3)), "b": np.full((N, 2), np.nan)}


def frames(arrays):
    return {name: pd.DataFrame(X, index=range(100, 100 + N)) for name, X in arrays.items()}


def empty_forms(arrays):
    """The same two views in every form."""
    stacked = np.hstack([*arrays.values()])
    full = {**arrays, "b": np.ones((N, 2))}
    rows = frames(arrays)
    ids = {name: range(100, 100 + N) for name in arrays}
    return {
        "dict": Views(arrays),
        "list": Views([*arrays.values()]),
        "columns": Views.from_columns(stacked, {"a": [0, 1, 2], "b": [3, 4]}),
        "observed": Views(full, observed={"b": np.zeros(N, dtype=bool)}),
        "masked Views": Views(Views(full), observed={"b": np.zeros(N, dtype=bool)}),
        "frames": Views.from_frames(rows),
        "frames without rows": Views.from_frames({**rows, "b": rows["b"][:0]}),
        "rows by id": Views.link(arrays, ids=ids),
        "no rows by id": Views.link({**arrays, "b": np.ones((0, 2))}, ids={**ids, "b": []}),
        "slice": Views({**arrays, "b": np.r_[arrays["b"][1:], [[1.0, 2.0]]]})[: N - 1],
    }


FORMS = [
    "dict",
    "list",
    "columns",
    "observed",
    "masked Views",
    "frames",
    "frames without rows",
    "rows by id",
    "no rows by id",
    "slice",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_view_without_any_value_is_kept_without_rows(arrays, form):
    views = empty_forms(arrays)[form]
    name = views.names[1]
    assert views.rows(name).shape == (0, 2)
    assert views.samples(name).shape == (0,)
    assert not views.is_complete
    assert_array_equal(views.observed, np.c_[np.ones(len(views), bool), np.zeros(len(views), bool)])
    assert np.isnan(views[name]).all()
    assert "(2; saw 0)" in repr(views)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "fit",
    [
        vh.MultiViewDiffusionMaps().fit,
        vh.MultiViewDiffusionMaps(fusion="sum").fit,
        vh.MultiViewSpectralClustering(2).fit,
        vh.DiffusionMaps().fit,
        KernelCCA().fit,
        DeSaEmbedding().fit,
        vh.advise,
        joint,
        connected,
        intrinsic,
        lambda views: fit_geometry(Recipe(walk=SumWalk, rank=FixedRank(2)), views),
    ],
)
def test_a_fit_refuses_a_view_without_any_value(arrays, form, fit):
    views = empty_forms(arrays)[form]
    with pytest.raises(ValueError, match=f"view '{views.names[1]}' observed no sample"):
        fit(views)


def test_a_fit_refuses_arrays_without_any_value(arrays):
    stacked = np.hstack([*arrays.values()])
    for fit, X in (
        (vh.MultiViewDiffusionMaps().fit, arrays),
        (vh.MultiViewDiffusionMaps(views=[3, 2]).fit, stacked),
        (vh.MultiViewSpectralClustering(2, views=[3, 2]).fit_predict, stacked),
        (vh.MultiViewDiffusionMaps().fit_transform, [*arrays.values()]),
    ):
        with pytest.raises(ValueError, match=r"view '(b|view2)' observed no sample"):
            fit(X)


def test_samples_without_any_view_are_refused_although_views_may_be_empty(arrays):
    nothing = {name: X * np.nan for name, X in arrays.items()}
    with pytest.raises(ValueError, match=r"row 0 is NaN: it was observed by no view \(30 such"):
        Views(nothing)
    with pytest.raises(ValueError, match=r"sample 100 \(row 0\) is NaN.*\(30 such samples"):
        Views.from_frames(frames(nothing))
    with pytest.raises(ValueError, match=r"row 0 is NaN or not in `observed`.*\(30 such rows"):
        Views(arrays, observed={"a": np.zeros(N, dtype=bool)})


def test_frames_that_all_lack_rows_are_refused(arrays):
    empty = {name: frame[:0] for name, frame in frames(arrays).items()}
    for read in (Views.from_frames, Views.link):
        with pytest.raises(ValueError, match="view 'a' is empty: it has 0 samples, and so are all"):
            read(empty)


def test_arrays_without_rows_stay_refused(arrays):
    with pytest.raises(ValueError, match="view 'b' is empty: it has 0 samples"):
        Views({"a": arrays["a"], "b": arrays["b"][:0]})
