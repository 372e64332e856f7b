"""Precomputed kernels with missing samples: a row and a column of NaN, in fit and transform."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop import DiffusionMaps, MultiViewDiffusionMaps, MultiViewSpectralClustering, Views
from viewhop.errors import DroppedRowsWarning
from viewhop.estimators import DeSaEmbedding, KernelCCA
from viewhop.kernels import Gaussian, Precomputed

N, N_NEW = 50, 8
LOST = {"a": [2, 3, 30], "b": [7, 31]}
KERNELS = [Precomputed(), Precomputed(n_neighbors=8), Precomputed(alpha=1.0)]
SETTINGS = [{}, {"within_view_weight": 0.0}, {"fusion": "sum"}, {"output": "concat", "hops": None}]


def rings(n, seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = np.c_[np.cos(angle), np.sin(angle)]
    return {"a": ring + 0.05 * rng.standard_normal((n, 2)), "b": ring[:, ::-1] * 2}


TRAINING, NEW = rings(N, 0), rings(N_NEW, 1)


def similarity(X, Y):
    return np.exp(-np.square(X[:, None] - Y).sum(axis=2))


@pytest.fixture
def kernels():
    return {name: similarity(X, X) for name, X in TRAINING.items()}


@pytest.fixture
def blocks():
    return {name: similarity(NEW[name], X) for name, X in TRAINING.items()}


def with_gaps(kernels):
    """Kernels with NaN in the rows and columns of samples that a view lost."""
    found = {}
    for name, K in kernels.items():
        found[name] = K.copy()
        found[name][LOST[name]] = np.nan
        found[name][:, LOST[name]] = np.nan
    return found


def observed(n=N):
    seen = np.ones((n, 2), dtype=bool)
    for l, rows in enumerate(LOST.values()):
        seen[rows, l] = False
    return seen


def fitted(X, **how):
    return MultiViewDiffusionMaps(2, random_state=0, **{"kernel": "precomputed", **how}).fit(X)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_row_and_column_of_nan_is_a_sample_that_was_not_observed(kernels, how, kernel):
    expected = fitted(Views(kernels, observed=observed()), kernel=kernel, **how)
    gaps = with_gaps(kernels)
    stacked = np.hstack([*gaps.values()])
    forms = [
        (gaps, None),
        ([*gaps.values()], None),
        (Views(gaps, pairwise=["a", "b"]), None),
        ({name: pd.DataFrame(K) for name, K in gaps.items()}, None),
        (stacked, 2),
        (Views.from_columns(stacked, 2, pairwise=["view1", "view2"]), None),
    ]
    for X, groups in forms:
        est = fitted(X, kernel=kernel, views=groups, **how)
        assert_array_equal(est.embedding_, expected.embedding_)
        assert_array_equal(est.observed_, observed())
        assert_allclose(est.transform(X), est.embedding_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_a_kernel_equals_the_features_that_it_was_computed_from(kernels, how):
    seen = observed()
    features = {
        name: np.where(column[:, None], X, np.nan)
        for (name, X), column in zip(TRAINING.items(), seen.T, strict=True)
    }
    gaussian = Gaussian(bandwidth=np.sqrt(0.5))
    expected = fitted(features, kernel=gaussian, **{"joint_view": False, **how})
    if not how:  # the weights of neighbours by kernel values are those by distances
        assert expected.view_weights_ == fitted(with_gaps(kernels)).view_weights_
    found = fitted(with_gaps(kernels), **how)
    assert_allclose(found.embedding_, expected.embedding_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_columns_of_training_samples_that_a_view_lost_may_contain_anything(
    kernels, blocks, how, kernel
):
    est = fitted(with_gaps(kernels), kernel=kernel, **how)
    expected = est.transform(blocks)
    for anything in (np.nan, np.inf, -1.0, 0.0):
        new = {name: K.copy() for name, K in blocks.items()}
        for name, K in new.items():
            K[:, LOST[name]] = anything
        assert_array_equal(est.transform(new), expected)
        assert_array_equal(est.transform([*new.values()]), expected)
    new["a"][1, LOST["a"][0]] = np.nan  # in one row only
    assert_array_equal(est.transform(new), expected)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_rows_of_a_block_one_by_one_equal_the_block(kernels, blocks, how):
    est = fitted(with_gaps(kernels), **how)
    for name, K in blocks.items():
        K[:, LOST[name]] = np.nan
    blocks["a"][3] = blocks["b"][5] = np.nan  # new samples that a view did not observe
    batch = est.transform(blocks)
    rows = [est.transform({name: K[[k]] for name, K in blocks.items()}) for k in range(N_NEW)]
    assert_allclose(np.vstack(rows), batch, rtol=1e-10, atol=1e-12)
    assert_allclose(rows[3], est.transform({"b": blocks["b"][[3]]}), rtol=1e-10, atol=1e-12)
    views = Views(with_gaps(kernels), pairwise=["a", "b"])
    alone = [est.transform(views[k : k + 1]) for k in range(N)]
    assert_allclose(np.vstack(alone), est.embedding_, rtol=1e-8, atol=1e-10)


def test_clusters_of_kernels_with_gaps_are_predicted_again(kernels):
    gaps = with_gaps(kernels)
    model = MultiViewSpectralClustering(3, kernel="precomputed", random_state=0).fit(gaps)
    assert_array_equal(model.predict(gaps), model.labels_)
    assert_array_equal(
        [model.predict({name: K[[k]] for name, K in gaps.items()})[0] for k in range(N)],
        model.labels_,
    )


def test_saved_and_pickled_models_ignore_the_same_columns(kernels, blocks, tmp_path):
    est = fitted(with_gaps(kernels))
    for name, K in blocks.items():
        K[:, LOST[name]] = np.nan
    expected = est.transform(blocks)
    est.save(tmp_path / "m.viewhop")
    for again in (vh.load(tmp_path / "m.viewhop"), pickle.loads(pickle.dumps(est))):  # noqa: S301
        assert_array_equal(again.transform(blocks), expected)


def test_a_gap_outside_rows_and_columns_of_missing_samples_is_refused(kernels, blocks):
    gaps = with_gaps(kernels)
    gaps["b"][4, 9] = gaps["b"][9, 4] = np.nan
    with pytest.raises(ValueError, match="row 4 of view 'b' has NaN in column 9"):
        fitted(gaps)
    est = fitted(with_gaps(kernels))
    blocks["b"][2, 11] = np.nan
    for rows in (slice(None), slice(2, 3)):
        row = 2 - (rows.start or 0)
        with pytest.raises(ValueError, match=f"row {row} of view 'b' has NaN in column 11"):
            est.transform({name: K[rows] for name, K in blocks.items()})


def test_a_column_of_nan_without_its_row_is_the_fault_of_that_sample(kernels):
    kernels["b"][:, 12] = np.nan
    with pytest.raises(ValueError, match="row 12 of view 'b' has NaN in column 12"):
        fitted(kernels)
    with pytest.warns(DroppedRowsWarning, match=r"1 of view 'b' \(first: row 12\)"):
        est = fitted(kernels, missing="drop")
    assert_array_equal(np.flatnonzero(~est.observed_[:, 1]), [12])


def test_rows_with_other_gaps_are_dropped_alike_alone_and_in_a_batch(kernels, blocks):
    est = fitted(with_gaps(kernels), missing="drop")
    for name, K in blocks.items():
        K[:, LOST[name]] = np.nan
    blocks["b"][2, 11] = np.nan
    with pytest.warns(DroppedRowsWarning, match=r"1 of view 'b' \(first: row 2\)"):
        batch = est.transform(blocks)
    with pytest.warns(DroppedRowsWarning, match=r"1 of view 'b' \(first: row 0\)"):
        alone = est.transform({name: K[2:3] for name, K in blocks.items()})
    assert_allclose(alone[0], batch[2], rtol=1e-10, atol=1e-12)
    assert_allclose(alone, est.transform({"a": blocks["a"][2:3]}), rtol=1e-10, atol=1e-12)


def test_views_of_other_missing_samples_are_refused_by_transform(kernels):
    est = fitted(with_gaps(kernels))
    kernels["a"][20], kernels["a"][:, 20] = np.nan, np.nan
    views = Views(kernels, pairwise=["a"])
    with pytest.raises(ValueError, match=r"row 0 of the precomputed kernel of view 'a' has NaN"):
        est.transform(views)


def test_square_features_with_the_same_gaps_are_refused_with_a_hint(kernels):
    gaps = with_gaps(kernels)
    for how in ({"kernel": "gaussian"}, {"kernel": ["precomputed", "gaussian"]}):
        with pytest.raises(ValueError, match=r"row 0 of view '.' has NaN in column \d+ but values"):
            fitted(gaps, **how)
    with pytest.raises(ValueError, match=r"has NaN in column 2 .*pass pairwise=\['a'\] to Views"):
        Views(gaps)


def test_views_read_as_kernels_are_not_used_as_features(kernels):
    views = Views(with_gaps(kernels), pairwise=["a", "b"])
    assert set(views.kernels_with_gaps) == {"a", "b"}
    with pytest.raises(ValueError, match="was read as a precomputed kernel with missing"):
        fitted(views, kernel="gaussian")
    est = fitted({name: K[:, :N] for name, K in kernels.items()}, kernel="gaussian")
    with pytest.raises(ValueError, match="was read as a precomputed kernel with missing"):
        est.transform(views)


def test_unknown_pairwise_views_are_refused(kernels):
    for pairwise in (["c"], "a"):
        with pytest.raises(ValueError, match="pairwise must be a list of views, of a, b, not"):
            Views(kernels, pairwise=pairwise)
        with pytest.raises(ValueError, match="pairwise must be a list of views, of a, b, not"):
            Views(Views(kernels), pairwise=pairwise)


def test_kernels_of_every_view_of_every_sample_stay_required_where_they_were(kernels):
    gaps = with_gaps(kernels)
    with pytest.raises(ValueError, match="KernelCCA needs every view of every sample"):
        KernelCCA(kernel="precomputed", rank=10).fit(gaps)
    with pytest.raises(ValueError, match="DeSaEmbedding needs both views of every sample"):
        DeSaEmbedding(kernel="precomputed").fit(gaps)
    with pytest.raises(ValueError, match=r"row 2 of view 'view1' is all NaN.*no view \(3 such"):
        DiffusionMaps(kernel="precomputed").fit(gaps["a"])


def test_advice_takes_kernels_with_gaps(kernels, monkeypatch):
    gaps = with_gaps(kernels)
    full = Views(kernels, observed=observed())
    advice = vh.advise(gaps, kernel="precomputed")
    assert advice.weights == vh.advise(full, kernel="precomputed").weights
    monkeypatch.setattr("viewhop.advice._subset.SAMPLES", 40)
    assert vh.advise(gaps, kernel="precomputed").n_examined == 40
