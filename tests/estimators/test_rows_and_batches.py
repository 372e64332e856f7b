"""Rows one by one equal the batch, whatever is missing and whatever form it comes in."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as array_strategy
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop import MultiViewDiffusionMaps, Views
from viewhop.estimators import DeSaEmbedding, KernelCCA
from viewhop.kernels import Gaussian

N, N_NEW = 60, 9
NAMES = ("a", "b", "c")
COLUMNS = {"a": ["a1", "a2", "a3"], "b": ["b1", "b2"], "c": ["c1", "c2", "c3"]}
GROUPS = {"a": slice(0, 3), "b": slice(3, 5), "c": slice(5, 8)}


def rings(n, seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = np.c_[np.cos(angle), np.sin(angle), 0.3 * np.cos(2 * angle)]
    return {
        name: ring[:, : len(COLUMNS[name])] * (1 + l) + 0.05 * rng.standard_normal((n, width))
        for l, (name, width) in enumerate((name, len(COLUMNS[name])) for name in NAMES)
    }


TRAINING = rings(N, 0)
NEW = rings(N_NEW, 1)

SETTINGS = {
    "default": {},
    "paper": {"within_view_weight": 0.0},
    "paper, side by side": {"within_view_weight": 0.0, "kernel": "gaussian", "output": "concat"},
    "staying": {"within_view_weight": 0.5, "kernel": Gaussian("local", n_neighbors=8)},
    "sum": {"fusion": "sum"},
    "dense sum": {"fusion": "sum", "kernel": "gaussian"},
    "dense": {"kernel": "gaussian"},
    "neighbours": {"kernel": Gaussian(n_neighbors=12), "output": "mean"},
    "no joint view": {"joint_view": False},
    "cosine": {"kernel": Gaussian(metric="cosine")},
}


@pytest.fixture(scope="module")
def fitted():
    """An estimator per setting, fitted on separate views and on stacked ones."""
    stacked = np.hstack([*TRAINING.values()])
    return {
        name: (
            MultiViewDiffusionMaps(2, random_state=0, **how).fit(TRAINING),
            MultiViewDiffusionMaps(2, random_state=0, views=GROUPS, **how).fit(stacked),
        )
        for name, how in SETTINGS.items()
    }


def with_gaps(views, seen):
    return {
        name: np.where(column[:, None], X, np.nan)
        for (name, X), column in zip(views.items(), seen.T, strict=True)
    }


def frame(name, X):
    return pd.DataFrame(X, columns=COLUMNS[name], index=[f"s{k}" for k in range(len(X))])


class Modality:
    """What viewhop needs of an AnnData."""

    def __init__(self, X, names):
        self.X, self.obs_names = X, pd.Index(names)
        self.var_names = pd.Index([f"f{k}" for k in range(X.shape[1])])
        self.obsm = {}


def mudata(views, seen, rows):
    """A MuData of some samples: each modality has only those that it observed."""
    names = np.array([f"s{k}" for k in range(len(seen))])
    modalities = {}
    for (name, X), column in zip(views.items(), seen.T, strict=True):
        kept = rows[column[rows]]
        modalities[name] = Modality(X[kept], names[kept])
    return SimpleNamespace(mod=modalities, obs_names=names[rows])


def joined(views, seen, rows):
    """Frames with rows only for the samples that each view observed."""
    return {
        name: frame(name, X).iloc[rows[column[rows]]]
        for (name, X), column in zip(views.items(), seen.T, strict=True)
    }


#: Some samples of some views, as a user may pass them to transform.
FORMS = {
    "list": lambda gaps, seen, rows: [X[rows] for X in gaps.values()],
    "dict": lambda gaps, seen, rows: {name: X[rows] for name, X in gaps.items()},
    "Views": lambda gaps, seen, rows: Views({name: X[rows] for name, X in gaps.items()}),
    "Views of all, sliced": lambda gaps, seen, rows: Views(gaps)[rows],
    "observed": lambda gaps, seen, rows: Views(
        {name: X[rows] for name, X in NEW.items()}, observed=seen[rows]
    ),
    "pandas": lambda gaps, seen, rows: [frame(name, X).iloc[rows] for name, X in gaps.items()],
    "polars": lambda gaps, seen, rows: {
        name: pl.DataFrame(X[rows], schema=COLUMNS[name]) for name, X in gaps.items()
    },
    "masked": lambda gaps, seen, rows: [
        np.ma.array(X[rows], mask=np.isnan(gaps[name])[rows]) for name, X in NEW.items()
    ],
    "joined": lambda gaps, seen, rows: Views.from_frames(joined(NEW, seen, rows)),
    "MuData": lambda gaps, seen, rows: mudata(NEW, seen, rows),
    "columns": lambda gaps, seen, rows: Views.from_columns(
        np.hstack([X[rows] for X in gaps.values()]), GROUPS
    ),
    "stacked": lambda gaps, seen, rows: np.hstack([X[rows] for X in gaps.values()]),
    "stacked rows": lambda gaps, seen, rows: np.hstack([X[rows] for X in gaps.values()]).tolist(),
}

MASKS = array_strategy(bool, (N_NEW, len(NAMES))).map(
    # Every sample is in some view.
    lambda seen: seen | (~seen.any(axis=1)[:, None] & (np.arange(len(NAMES)) == 1))
)


def place(fitted, setting, form, seen, rows):
    est, stacked = fitted[setting]
    X = FORMS[form](with_gaps(NEW, seen), seen, rows)
    return (stacked if form.startswith("stacked") else est).transform(X)


@pytest.mark.parametrize("setting", SETTINGS)
@settings(max_examples=15, deadline=None)
@given(seen=MASKS, form=st.sampled_from([*FORMS]))
def test_rows_one_by_one_equal_the_batch_whatever_is_missing(fitted, setting, seen, form):
    if form in ("joined", "MuData"):
        # Both have the samples in the order in which the views first name them.
        order = pd.unique(np.concatenate([np.flatnonzero(column) for column in seen.T]))
        order = order if form == "joined" else np.arange(N_NEW)
    else:
        order = np.arange(N_NEW)
    batch = place(fitted, setting, form, seen, np.arange(N_NEW))
    rows = np.vstack([place(fitted, setting, form, seen, np.array([k])) for k in order])
    assert np.isfinite(batch).all()
    assert_allclose(rows, batch, rtol=1e-10, atol=1e-12)
    # Any other form gives the same, and so does any part of the batch.
    listed = place(fitted, setting, "list", seen, order)
    assert_allclose(batch, listed, rtol=1e-10, atol=1e-12)
    half = place(fitted, setting, "list", seen, order[: N_NEW // 2])
    assert_allclose(half, listed[: N_NEW // 2], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("form", FORMS)
def test_a_view_that_a_whole_batch_lacks_is_like_none(fitted, setting, form):
    for lacking in (["a"], ["b"], ["a", "c"]):
        seen = np.array([[name not in lacking for name in NAMES]] * N_NEW)
        given = [None if name in lacking else NEW[name] for name in NAMES]
        expected = fitted[setting][0].transform(given)
        found = place(fitted, setting, form, seen, np.arange(N_NEW))
        assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


# In joined views, a sample without a row is not there.
@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("joined", "MuData")])
def test_a_new_sample_that_no_view_observed_is_refused(fitted, form):
    seen = np.ones((N_NEW, 3), dtype=bool)
    seen[4] = False
    with pytest.raises(ValueError, match=r"row 4 is NaN.*observed by no view \(1 such row\)"):
        place(fitted, "default", form, seen, np.arange(N_NEW))


def test_coverage_of_rows_equals_that_of_the_batch(fitted):
    seen = np.ones((N_NEW, 3), dtype=bool)
    seen[::2, 0] = seen[1::2, 2] = False
    gaps = with_gaps(NEW, seen)
    est = fitted["default"][0]
    batch = est.transform(gaps, return_coverage=True)[1]
    rows = [
        est.transform({name: X[[k]] for name, X in gaps.items()}, return_coverage=True)[1]
        for k in range(N_NEW)
    ]
    assert_allclose(np.concatenate(rows), batch, rtol=1e-10)


def test_clusters_of_rows_equal_those_of_the_batch():
    model = vh.MultiViewSpectralClustering(3, random_state=0).fit(TRAINING)
    seen = np.ones((N_NEW, 3), dtype=bool)
    seen[::2, 0] = seen[1::2, 2] = False
    gaps = with_gaps(NEW, seen)
    rows = [model.predict({name: X[[k]] for name, X in gaps.items()})[0] for k in range(N_NEW)]
    assert_array_equal(rows, model.predict(gaps))


def test_a_training_sample_that_lacks_a_view_is_placed_alone_where_the_fit_put_it():
    seen = np.ones((N, 3), dtype=bool)
    seen[::4, 0] = seen[1::4, 1] = seen[2::4, 2] = False
    gaps = with_gaps(TRAINING, seen)
    for how in ({}, {"within_view_weight": 0.0}, {"fusion": "sum"}):
        est = MultiViewDiffusionMaps(2, random_state=0, **how).fit(gaps)
        rows = [est.transform([X[[k]] for X in gaps.values()]) for k in range(N)]
        assert_allclose(np.vstack(rows), est.embedding_, rtol=1e-8, atol=1e-10)


def test_one_view_without_a_value_is_a_sample_that_no_view_observed():
    est = vh.DiffusionMaps(random_state=0).fit(TRAINING["a"])
    lost = NEW["a"][:1] * np.nan
    for X in (lost, [lost], {"view1": lost}):
        with pytest.raises(ValueError, match=r"row 0 of view 'view1' is all NaN.*no view \(1 such"):
            est.transform(X)


@pytest.mark.parametrize("fusion", ["product", "concat", "alternating", "integrated", "composite"])
def test_fusions_that_need_every_view_say_so_for_a_whole_batch(fusion):
    names = [*TRAINING][: 2 if fusion == "composite" else None]
    est = MultiViewDiffusionMaps(2, fusion=fusion, kernel="gaussian")
    est.fit({name: TRAINING[name] for name in names})
    gaps = {**{name: NEW[name] for name in names}, "a": NEW["a"] * np.nan}
    with pytest.raises(ValueError, match=f'"{fusion}" needs every view of every new sample'):
        est.transform(gaps)


@pytest.mark.parametrize(
    ("est", "message"),
    [
        (KernelCCA(rank=20), "KernelCCA needs every view of every sample, but some are NaN"),
        (DeSaEmbedding(kernel="gaussian"), "DeSaEmbedding needs both views of every sample"),
    ],
)
def test_estimators_that_need_complete_samples_say_so_for_a_whole_batch(est, message):
    views = [TRAINING["a"], TRAINING["b"]]
    est.fit(views)
    new = [NEW["a"] * np.nan, NEW["b"]]
    for rows in (slice(None), slice(0, 1)):
        with pytest.raises(ValueError, match=message):
            est.transform([X[rows] for X in new])
