"""Samples at equal distances of two centres: rounding does not choose between them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import viewhop as vh
from viewhop.estimators._clusters import _nearest_centers
from viewhop.kernels import Gaussian


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_centres_in_the_same_place_give_the_first(dtype):
    place = np.array([[1.1, -0.9, 0.3]])
    eps = np.finfo(dtype).eps
    centers = np.concatenate([place * (1 + 3 * eps), place])
    rows = np.concatenate([place, place * (1 + 3 * eps), place * (1 - eps)])
    assert_array_equal(_nearest_centers(rows, centers, np.dtype(dtype)), [0, 0, 0])


def test_clusters_of_samples_in_the_same_place_do_not_depend_on_the_batch():
    rng = np.random.default_rng(556)
    X = [rng.standard_normal((8, width)) for width in (5, 2, 6)]
    model = vh.MultiViewSpectralClustering(
        2, kernel=Gaussian(metric="cosine"), within_view_weight=1.0, n_init=1, random_state=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three pieces, and fewer places than clusters
        model.fit(X)
        new = [view[[5, 5, 3]] * 1.01 for view in X]
        new[0][0] = np.nan
        batch = model.predict(new)
        rows = [model.predict([view[k : k + 1] for view in new])[0] for k in (1, 2)]
    assert_array_equal(rows, batch[1:])
