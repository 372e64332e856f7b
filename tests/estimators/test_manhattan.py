"""The metric "manhattan" from end to end: scales, fusions, files and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import viewhop as vh
from viewhop.kernels import Gaussian, Laplacian
from viewhop.selection import CANDIDATES

RULES = ["max-min", "log-log", "local", "joint", "connected", 4.0]


def views(n=60, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, 2))
    return [
        np.tanh(hidden @ rng.standard_normal((2, width))) + 0.1 * rng.standard_normal((n, width))
        for width in (5, 4)
    ]


def maps(X, **params):
    return vh.MultiViewDiffusionMaps(2, random_state=0, **params).fit(X)


@pytest.mark.parametrize("k", [None, 8], ids=["dense", "neighbours"])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("kind", [Gaussian, Laplacian])
def test_every_rule_scales_with_the_data_and_places_training_rows(kind, rule, k):
    X = views()
    kernel = kind(rule, metric="manhattan", n_neighbors=k)
    est = maps(X, kernel=kernel)
    assert_allclose(est.transform(X), est.embedding_, atol=1e-8)
    one_by_one = np.vstack([est.transform([x[i : i + 1] for x in X]) for i in (0, 7, 33)])
    assert_allclose(one_by_one, est.embedding_[[0, 7, 33]], atol=1e-8)
    times = 16.0  # a power of two, so that no bit changes but the exponent's
    if not isinstance(rule, str):
        kernel = kind(times * rule, metric="manhattan", n_neighbors=k)
    larger = maps([times * x for x in X], kernel=kernel)
    for name, scale in est.bandwidths_.items():
        assert_allclose(larger.bandwidths_[name], times * scale, rtol=1e-3)
    assert_allclose(larger.eigenvalues_, est.eigenvalues_, rtol=1e-3)


def test_a_dense_laplacian_is_the_product_of_one_per_feature():
    X = views()[0]
    est = vh.DiffusionMaps(2, kernel=Laplacian(3.0, metric="manhattan")).fit(X)
    K = np.prod([np.exp(-np.abs(x[:, None] - x) / 3.0) for x in X.T], axis=0)
    assert_allclose(est.degrees_["view1"], K.sum(axis=1), rtol=1e-12)


def test_max_min_is_that_of_the_sums_of_absolute_differences():
    X = views()
    D = cdist(X[0], X[0], "cityblock")
    np.fill_diagonal(D, np.inf)
    for k in (None, 8):
        est = maps(X, kernel=Gaussian(metric="manhattan", n_neighbors=k))
        assert_allclose(est.bandwidths_["view1"], D.min(axis=1).max(), rtol=1e-14)


@pytest.mark.parametrize("k", [None, 8], ids=["dense", "neighbours"])
def test_an_offset_of_1e8_changes_no_more_than_its_rounding(k):
    X = [np.round(256 * x) / 256 for x in views()]
    kernel = Laplacian(metric="manhattan", n_neighbors=k)
    plain, moved = maps(X, kernel=kernel), maps([x + 2.0**27 for x in X], kernel=kernel)
    assert_allclose(moved.embedding_, plain.embedding_, atol=1e-8)
    assert_allclose(moved.eigenvalues_, plain.eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize("k", [None, 8], ids=["dense", "neighbours"])
def test_single_precision_in_and_out(k):
    X = [x.astype(np.float32) for x in views()]
    kernel = Laplacian(metric="manhattan", n_neighbors=k)
    est = maps(X, kernel=kernel)
    assert est.embedding_.dtype == np.float32
    assert_allclose(est.transform(X), est.embedding_, atol=1e-4)
    double = maps([x.astype(np.float64) for x in X], kernel=kernel)
    assert_allclose(est.eigenvalues_, double.eigenvalues_, rtol=1e-4)


@pytest.mark.parametrize("k", [None, 6], ids=["dense", "neighbours"])
@pytest.mark.parametrize("fusion", ["hop", "sum"])
def test_samples_may_miss_views(fusion, k):
    X = views()
    X[0][:5], X[1][20:24] = np.nan, np.nan
    est = maps(X, fusion=fusion, kernel=Gaussian("local", metric="manhattan", n_neighbors=k))
    assert np.isfinite(est.embedding_).all()
    assert_allclose(est.transform(X), est.embedding_, atol=1e-8)


@pytest.mark.parametrize("k", [None, 8], ids=["dense", "neighbours"])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_model_file_keeps_every_bit(tmp_path, standardize, k):
    X, new = views(), views(9, seed=1)
    kernel = Laplacian("local", metric="manhattan", standardize=standardize, n_neighbors=k)
    est = maps(X, kernel=kernel)
    est.save(tmp_path / "m.viewhop")
    again = vh.load(tmp_path / "m.viewhop")
    assert again.metrics_ == est.metrics_
    assert_array_equal(again.embedding_, est.embedding_)
    assert_array_equal(again.transform(new), est.transform(new))


def test_the_product_of_dense_kernels_is_entry_by_entry():
    X = views()
    kernel = Laplacian(3.0, metric="manhattan")
    together = vh.DiffusionMaps(2, kernel=kernel).fit(np.hstack(X))
    product = maps(X, fusion="product", kernel=kernel)
    assert_allclose(product.eigenvalues_, together.eigenvalues_, rtol=1e-10)


def test_the_product_of_neighbour_kernels_is_refused():
    kernel = Gaussian("local", metric="manhattan", n_neighbors=8)
    kernels = [Gaussian("local", n_neighbors=8), kernel]
    with pytest.raises(ValueError, match="Euclidean distances, but the kernel of view 'view2' has"):
        maps(views(), fusion="product", kernel=kernels)


def test_there_is_no_joint_view_of_manhattan_distances():
    X = views()
    euclidean = Gaussian("local", n_neighbors=8)
    manhattan = Gaussian("local", n_neighbors=8, metric="manhattan")
    with_joint = maps(X, kernel=euclidean, joint_view=True)
    assert with_joint.geometry_.walk.joint is not None
    with pytest.raises(ValueError, match="joint_view"):
        maps(X, kernel=[euclidean, manhattan], joint_view=True)
    assert maps(X, kernel=[euclidean, manhattan]).geometry_.walk.joint is None


def test_auto_never_chooses_it():
    assert not any(metric == "manhattan" for metric, _ in CANDIDATES.values())
    est = maps(views(), kernel=Gaussian("local", n_neighbors=8, metric="auto"))
    assert "manhattan" not in str(est.metrics_)
    assert all("manhattan" not in scores for scores in est.metric_scores_.values())


def test_its_name_says_whether_features_are_standardised():
    kernels = [Gaussian(metric="manhattan"), Gaussian(metric="manhattan", standardize=True)]
    est = maps(views(), kernel=kernels)
    assert est.metrics_ == {"view1": "manhattan", "view2": "manhattan, standardized"}


def test_kernel_cca_takes_the_laplacian_and_refuses_the_gaussian():
    X = views()
    est = vh.KernelCCA(1, kernel=Laplacian(metric="manhattan"), rank=30).fit(X)
    assert_allclose(est.transform(X), est.embedding_, atol=1e-8)
    with pytest.raises(ValueError, match=r"not positive semi-definite.*Laplacian\(metric='manh"):
        vh.KernelCCA(1, kernel=Gaussian(metric="manhattan"), rank=30).fit(X)


def test_a_gaussian_of_manhattan_distances_is_not_positive_semidefinite():
    X = np.array([[x, y] for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)])
    K = np.exp(-np.square(cdist(X, X, "cityblock")) / 2 / 4.0)
    assert np.linalg.eigvalsh(K).min() < -1e-3
    assert np.linalg.eigvalsh(np.exp(-cdist(X, X, "cityblock") / 2.0)).min() > 0
