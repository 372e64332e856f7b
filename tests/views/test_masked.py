"""Masked arrays: what is masked was not observed, whatever lies under the mask."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop import DiffusionMaps, MultiViewDiffusionMaps, MultiViewSpectralClustering, Views
from viewhop.errors import DroppedRowsWarning
from viewhop.estimators import DeSaEmbedding, KernelCCA

N = 40
LOST = [3, 17, 18]


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 3)), rng.normal(size=(N, 2))


def masked(X, rows=LOST, under=1e6):
    """The array with some rows masked, and something else under the mask."""
    mask = np.zeros(X.shape, dtype=bool)
    mask[rows] = True
    return np.ma.array(np.where(mask, X.dtype.type(under), X), mask=mask)


def with_nan(X, rows=LOST):
    X = X.astype(np.float64 if X.dtype.kind in "iub" else X.dtype)
    X[rows] = np.nan
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, object])
@pytest.mark.parametrize("under", [0, 100, 7])
def test_masked_rows_are_not_observed(pair, dtype, under):
    X = np.abs(10 * pair[1]).astype(dtype)
    views = Views({"a": pair[0], "b": masked(np.array(X), under=under)})
    assert_array_equal(np.flatnonzero(~views.observed[:, 1]), LOST)
    expected = with_nan(X.astype(np.float64 if dtype is object else dtype))
    assert_array_equal(views["b"], expected)
    assert views.precision("b") == (np.float32 if dtype == np.float32 else np.float64)


@pytest.mark.parametrize("under", [np.nan, np.inf, 1e200])
def test_what_lies_under_a_mask_does_not_matter(pair, under):
    views = Views([pair[0], masked(pair[1], under=under)])
    assert_array_equal(views["view2"], with_nan(pair[1]))


def test_text_under_a_mask_does_not_matter():
    X = np.ma.array([["1", "2"], ["x", "y"], ["3", "4"]], mask=[[0, 0], [1, 1], [0, 0]])
    for form in (X, X.astype(object)):
        assert_array_equal(Views([np.eye(3), form])["view2"], [[1, 2], [np.nan, np.nan], [3, 4]])


def test_masks_are_read_and_not_written(pair):
    X = masked(pair[1])
    data, mask = X.data.copy(), X.mask.copy()
    Views([pair[0], X])
    MultiViewDiffusionMaps(random_state=0).fit([pair[0], X])
    assert_array_equal(X.data, data)
    assert_array_equal(X.mask, mask)


def test_a_mask_without_masked_entries_hides_nothing(pair):
    for mask in (False, np.zeros(pair[1].shape, dtype=bool)):
        views = Views([pair[0], np.ma.array(pair[1], mask=mask)])
        assert views.is_complete
        assert_array_equal(views["view2"], pair[1])


def test_every_form_of_a_masked_view_equals_rows_of_nan(pair):
    A, B = pair
    expected = MultiViewDiffusionMaps(random_state=0).fit([A, with_nan(B)])
    new = expected.transform([A, with_nan(B)])
    stacked = np.ma.hstack([A, masked(B)])
    ids = [*range(N)]
    forms = [
        ([A, masked(B)], None),
        ({"view1": A, "view2": masked(B)}, None),
        (Views([A, masked(B)]), None),
        ([A, [*masked(B)]], None),
        (Views.from_columns(stacked, [3, 2]), None),
        (Views.link({"view1": A, "view2": masked(B)}, ids={"view1": ids, "view2": ids}), None),
        (stacked, [3, 2]),
        ([*stacked], [3, 2]),
        (stacked, {"view1": slice(3), "view2": slice(3, 5)}),
    ]
    for X, groups in forms:
        est = MultiViewDiffusionMaps(random_state=0, views=groups).fit(X)
        assert_array_equal(est.embedding_, expected.embedding_)
        assert_array_equal(est.transform(X), new)
        assert_array_equal(
            MultiViewDiffusionMaps(random_state=0, views=groups).fit_transform(X),
            expected.embedding_,
        )


def test_clusters_of_masked_views_are_those_of_rows_of_nan(pair):
    A, B = pair
    found = MultiViewSpectralClustering(3, random_state=0).fit([A, masked(B)])
    expected = MultiViewSpectralClustering(3, random_state=0).fit([A, with_nan(B)])
    assert_array_equal(found.labels_, expected.labels_)
    assert_array_equal(found.predict([A, masked(B)]), expected.labels_)


def test_estimators_that_need_every_row_refuse_masked_ones(pair):
    A, B = pair
    for est in (KernelCCA(rank=10), DeSaEmbedding(kernel="gaussian")):
        with pytest.raises(ValueError, match=r"needs (every|both) views? of every sample"):
            est.fit([A, masked(B)])
    for X in (masked(A), [masked(A)]):
        with pytest.raises(ValueError, match=r"row 3 of view 'view1' is all NaN.*\(3 such rows\)"):
            DiffusionMaps().fit(X)
    with pytest.raises(ValueError, match=r"row 3 of view 'view1' is all NaN"):
        vh.bandwidth.max_min(masked(A))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_a_row_that_is_masked_in_part_is_like_one_that_is_nan_in_part(pair, dtype):
    A, B = pair
    X = np.ma.array((100 * B).astype(dtype))
    X[7, 1] = np.ma.masked
    for read in (Views, MultiViewDiffusionMaps().fit):
        with pytest.raises(ValueError, match="row 7 of view 'view2' has NaN in column 1"):
            read([A, X])
    with pytest.raises(ValueError, match="row 7 of view 'view2' has NaN in column 1"):
        MultiViewDiffusionMaps(views=[3, 2]).fit(np.ma.hstack([A, X]))
    with pytest.warns(DroppedRowsWarning, match=r"1 of view 'view2' \(first: row 7\)"):
        views = Views([A, X], missing="drop")
    assert_array_equal(np.flatnonzero(~views.observed[:, 1]), [7])


def test_masked_entries_of_observed_were_not_observed(pair):
    seen = np.ones((N, 2), dtype=bool)
    mask = np.zeros((N, 2), dtype=bool)
    mask[LOST, 1] = True
    column = np.ma.array(seen[:, 1], mask=mask[:, 1])
    for observed in (np.ma.array(seen, mask=mask), [None, column], {"view2": column}):
        for views in ([*pair], Views(pair)):
            found = Views(views, observed=observed).observed
            assert_array_equal(found, ~mask)


def test_masked_ids_and_times_are_missing(pair):
    A = pair[0]
    ids = np.ma.array(np.arange(N), mask=np.arange(N) == 5)
    with pytest.raises(ValueError, match="the id of row 5 of view 'a' is missing"):
        Views.link({"a": A}, ids={"a": ids})
    for times in (ids, ids.astype(float)):
        with pytest.raises(ValueError, match="times of view 'a' must be one finite number per row"):
            Views.link({"a": A}, times={"a": times})


def test_masked_rows_and_columns_of_a_kernel_are_missing_samples(pair):
    kernels = [np.exp(-np.square(X[:, None] - X).sum(axis=2)) for X in pair]
    mask = np.zeros((N, N), dtype=bool)
    mask[LOST], mask[:, LOST] = True, True
    seen = np.ones((N, 2), dtype=bool)
    seen[LOST, 1] = False
    found = MultiViewDiffusionMaps(kernel="precomputed", random_state=0)
    found.fit([kernels[0], np.ma.array(kernels[1], mask=mask)])
    expected = MultiViewDiffusionMaps(kernel="precomputed", random_state=0)
    expected.fit(Views(kernels, observed=seen))
    assert_array_equal(found.embedding_, expected.embedding_)
    block = [K[:5] for K in kernels]
    assert_allclose(
        found.transform([block[0], np.ma.array(block[1], mask=mask[:5])]),
        expected.embedding_[:5],
        rtol=1e-8,
        atol=1e-12,
    )


def test_a_frame_of_masked_columns_keeps_its_gaps(pair):
    A, B = pair
    frame = pd.DataFrame(masked(B), columns=["x", "y"])
    assert_array_equal(Views([A, frame])["view2"], with_nan(B))
