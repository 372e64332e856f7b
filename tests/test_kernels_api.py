"""Kernel objects: what they accept, and how views get them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed, kernels_by_view
from viewhop.neighbours._metric import FeatureMap

EVERY = [Gaussian, Laplacian, Correlation, Precomputed]


@pytest.mark.parametrize("cls", EVERY)
def test_constructor_stores_and_validates_nothing(cls):
    wrong = dict.fromkeys(cls().get_params(), object())
    kernel = cls(**wrong)
    assert kernel.get_params() == wrong


@pytest.mark.parametrize("cls", EVERY)
def test_clone_and_repr_keep_what_was_set(cls):
    kernel = cls(n_neighbors=7, alpha=0.5)
    assert clone(kernel).get_params() == kernel.get_params()
    assert "n_neighbors=7" in repr(kernel)


@pytest.mark.parametrize("cls", EVERY)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_neighbors", 0),
        ("n_neighbors", -3),
        ("n_neighbors", 2.0),
        ("n_neighbors", True),
        ("n_neighbors", "all"),
        ("alpha", -0.1),
        ("alpha", np.nan),
        ("alpha", np.inf),
        ("alpha", "1"),
        ("alpha", None),
    ],
)
def test_neighbours_and_density_are_checked_for_every_kernel(cls, name, value):
    with pytest.raises(ValueError, match=f"kernel of view 'rna': {name} "):
        kernels_by_view(cls(**{name: value}), ["rna"])


@pytest.mark.parametrize("cls", [Gaussian, Laplacian, Correlation])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bandwidth", 0),
        ("bandwidth", -1.0),
        ("bandwidth", np.nan),
        ("bandwidth", np.inf),
        ("bandwidth", None),
        ("bandwidth", True),
        ("bandwidth", [1.0]),
        ("factor", 0),
        ("factor", -2),
        ("factor", np.nan),
        ("factor", np.inf),
        ("factor", "2"),
    ],
)
def test_scales_are_checked_for_every_kernel_of_distances(cls, name, value):
    with pytest.raises(ValueError, match=f"kernel of view 'rna': {name} must be positive"):
        kernels_by_view(cls(**{name: value}), ["rna"])


def test_unknown_rules_and_metrics_list_the_known_ones():
    with pytest.raises(
        ValueError, match="unknown bandwidth 'x'; choose from max-min, log-log, loc"
    ):
        kernels_by_view(Gaussian("x"), ["rna"])
    with pytest.raises(
        ValueError,
        match="unknown metric 'x'; choose from auto, euclidean, cosine, centered-cosine, corr",
    ):
        kernels_by_view(Laplacian(metric="x"), ["rna"])
    with pytest.raises(ValueError, match="unknown search 'x'; choose from auto, exact, faiss"):
        kernels_by_view(Correlation(search="x"), ["rna"])


@pytest.mark.parametrize("value", [np.int64(3), 3])
@pytest.mark.parametrize("scale", [np.float32(2.0), 2, 2.5])
def test_numbers_of_numpy_are_numbers(value, scale):
    kernel = Gaussian(scale, n_neighbors=value, factor=scale, alpha=np.float64(1))
    assert kernels_by_view(kernel, ["a"])["a"].get_params() == kernel.get_params()


def test_the_default_is_a_gaussian_on_ten_neighbours_with_a_local_scale():
    kernel = kernels_by_view("adaptive", ["a"])["a"]
    assert isinstance(kernel, Gaussian)
    expected = Gaussian(
        "local", n_neighbors=10, metric="auto", alpha=1.0, scale_neighbors=10, taper=0.2
    )
    assert kernel.get_params() == expected.get_params()


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("gaussian", Gaussian),
        ("laplacian", Laplacian),
        ("correlation", Correlation),
        ("precomputed", Precomputed),
    ],
)
def test_a_name_is_the_kernel_with_its_defaults(name, cls):
    kernel = kernels_by_view(name, ["a"])["a"]
    assert type(kernel) is cls
    assert kernel.get_params() == cls().get_params()


def test_kernels_are_given_by_place_or_by_name():
    by_place = kernels_by_view(["gaussian", Laplacian(2.0)], ["a", "b"])
    by_name = kernels_by_view({"b": Laplacian(2.0), "a": "gaussian"}, ["a", "b"])
    for found in (by_place, by_name):
        assert [*found] == ["a", "b"]
        assert [type(kernel) for kernel in found.values()] == [Gaussian, Laplacian]


def test_a_view_gets_its_own_copy_of_a_shared_kernel():
    shared = Gaussian(1.0)
    found = kernels_by_view(shared, ["a", "b"])
    shared.bandwidth = 9.0
    assert found["a"] is not found["b"]
    assert found["a"].bandwidth == found["b"].bandwidth == 1.0


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ({"a": "gaussian"}, "missing: b; unknown: none"),
        ({"a": "gaussian", "b": "gaussian", "c": "gaussian"}, "missing: none; unknown: c"),
        (["gaussian"], "lists 1 kernels for 2 views"),
        ([], "lists 0 kernels for 2 views"),
        ("cauchy", "unknown kernel 'cauchy'; choose from adaptive, gaussian"),
        (["gaussian", 3], "unknown kernel 3; choose from adaptive"),
        (Gaussian, "unknown kernel .*choose from adaptive"),
    ],
)
def test_kernels_that_do_not_fit_the_views_are_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernels_by_view(kernel, ["a", "b"])


@pytest.mark.parametrize(("k", "expected"), [(None, 7), (1, 2), (4, 2), (10, 5), (15, 7)])
def test_local_scale_counts_half_the_neighbours_or_seven(k, expected):
    assert Gaussian("local", n_neighbors=k).scale_rank == expected
    assert Gaussian("local", n_neighbors=k, scale_neighbors=3).scale_rank == 3


@pytest.mark.parametrize(
    ("kernel", "power"), [(Gaussian(), 2), (Laplacian(), 1), (Correlation(), 2)]
)
def test_slope_is_the_derivative_of_the_log_kernel(kernel, power):
    u, step = np.array([0.3, 1.0, 2.5]), 1e-6
    # log s grows as log u falls
    rise = (kernel.exponent(u * np.exp(step)) - kernel.exponent(u * np.exp(-step))) / (2 * step)
    assert_allclose(kernel.slope(u), rise, rtol=1e-8)
    assert_allclose(kernel.slope(u), u**power, rtol=1e-12)


def squared(rows):
    return np.square(rows[:, None] - rows).sum(axis=2)


def test_features_of_cosine_and_correlation_give_one_minus_similarity():
    X = np.random.default_rng(0).normal(size=(9, 5))
    cosine = FeatureMap.of(Gaussian(metric="cosine"), X)(X, "a")
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert_allclose(squared(cosine), 1 - unit @ unit.T, atol=1e-14)
    correlation = FeatureMap.of(Correlation(), X)(X, "a")
    assert_allclose(squared(correlation), 1 - np.corrcoef(X), atol=1e-14)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_angles_do_not_depend_on_the_size_of_rows(metric, size):
    X = np.random.default_rng(0).normal(size=(9, 5))
    features = FeatureMap.of(Gaussian(metric=metric), X)
    assert_allclose(features(size * X, "a"), features(X, "a"), rtol=1e-12)


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_standardised_features_have_unit_deviation_and_constants_stay(size):
    X = np.random.default_rng(0).normal(size=(50, 3)) * [size, 2.0, 1.0]
    X[:, 2] = 4.0
    rows = FeatureMap.of(Gaussian(standardize=True), X)(X, "a")
    assert_allclose(rows[:, :2].std(axis=0), 1.0, rtol=1e-12)
    assert_array_equal(rows[:, 2], 4.0)


def test_features_of_a_batch_are_those_of_its_rows():
    X = np.random.default_rng(0).normal(size=(9, 5))
    for kernel in (Gaussian(standardize=True), Gaussian(metric="cosine"), Correlation()):
        features = FeatureMap.of(kernel, X)
        one_by_one = np.vstack([features(row[None], "a") for row in X])
        assert_array_equal(features(X, "a"), one_by_one)


def test_features_leave_the_rows_alone():
    X = np.random.default_rng(0).normal(size=(9, 5))
    copy = X.copy()
    for kernel in (Gaussian(standardize=True), Gaussian(metric="cosine"), Correlation()):
        FeatureMap.of(kernel, X)(X, "a")
    assert_array_equal(X, copy)
