"""Extreme data and parameters: a correct result, or an error that names the cause."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from viewhop.errors import DisconnectedWarning
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

RNG = np.random.default_rng(0)
A = RNG.standard_normal((60, 3))
B = RNG.standard_normal((60, 2))
NAN, INF = np.nan, np.inf


def maps(**params):
    return vh.MultiViewDiffusionMaps(random_state=0, **params)


def short(value):
    return repr(value)[:9]


def refusal(X, **params):
    """The message of the ValueError of a fit, in which numpy warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"\w") as caught:
            maps(**params).fit(X)
    return str(caught.value)


@pytest.mark.parametrize("size", [1e-160, 1e-300, 1e-308, 5e-324])
@pytest.mark.parametrize(
    "kernel",
    [
        "adaptive",
        "gaussian",
        "laplacian",
        Gaussian("log-log"),
        Gaussian("joint"),
        Gaussian("connected"),
        Gaussian("local"),
        Gaussian(n_neighbors=5),
        Gaussian(2.0),
    ],
    ids=str,
)
def test_a_view_whose_distances_underflow_is_refused_by_name(kernel, size):
    message = refusal([A, B * size], kernel=kernel)
    assert "view 'view2' is too small" in message
    assert "rescale the view" in message


def test_single_precision_underflows_earlier():
    tiny = (B * 1e-35).astype(np.float32)
    assert "view 'view2' is too small" in refusal([A.astype(np.float32), tiny])


@pytest.mark.parametrize("size", [1e-149, 1e148])
@pytest.mark.parametrize(
    "kernel", ["adaptive", "gaussian", "laplacian", Gaussian("joint")], ids=str
)
def test_a_view_of_extreme_size_gives_the_same_embedding(kernel, size):
    plain = maps(kernel=kernel).fit_transform([A, B])
    assert_allclose(maps(kernel=kernel).fit_transform([A * size, B]), plain, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "kernel", [Gaussian(standardize=True), Gaussian(metric="cosine"), Correlation()], ids=str
)
def test_a_metric_without_size_takes_views_of_any_size(kernel):
    plain = maps(kernel=kernel).fit_transform([A, B if kernel.standardize else A[:, ::-1]])
    other = maps(kernel=kernel).fit_transform([A * 1e-200, B if kernel.standardize else A[:, ::-1]])
    assert_allclose(other, plain, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("rule", ["max_min", "local", "log_log"])
def test_rules_of_one_view_refuse_distances_that_underflow(rule):
    with pytest.raises(ValueError, match="view 'X' is too small"):
        getattr(vh.bandwidth, rule)(A * 1e-200)


def test_rules_of_all_views_refuse_distances_that_underflow():
    with pytest.raises(ValueError, match="view 'view1' is too small"):
        vh.bandwidth.connected([A * 1e-200, B])
    with pytest.raises(ValueError, match="view 'view1' is too small"):
        vh.bandwidth.joint([A * 1e-200, B])


@pytest.mark.parametrize("kind", [Gaussian, Laplacian, Correlation])
@pytest.mark.parametrize("k", [None, 5])
@pytest.mark.parametrize("sigma", [1e-300, 5e-324, 1e-160, 1e-20])
def test_a_tiny_bandwidth_names_view_and_scale(kind, k, sigma):
    message = refusal([A, B], kernel=kind(sigma, n_neighbors=k))
    assert "view 'view1' underflows to the identity" in message
    assert f"scale of {sigma:.3g}" in message
    assert "use a scale of about" in message


@pytest.mark.parametrize("kind", [Gaussian, Laplacian, Correlation])
@pytest.mark.parametrize("rule", ["max-min", "local", "log-log", "joint", "connected", 1.0])
@pytest.mark.parametrize("factor", [1e-300, 5e-324])
def test_a_tiny_factor_names_view_and_remedy(kind, rule, factor):
    message = refusal([A, B], kernel=kind(rule, factor=factor))
    assert "view 'view1' underflows to the identity" in message


def test_a_scale_that_underflows_or_overflows_names_factor_and_bandwidth():
    message = refusal([A, B], kernel=Gaussian(1e-300, factor=1e-300))
    assert "view 'view1'" in message
    assert "underflows to 0 with factor=1e-300 and bandwidth=1e-300" in message
    assert "overflows" in refusal([A, B], kernel=Gaussian(1e300, factor=1e300))


@pytest.mark.parametrize("value", [1e300, 1e308, 1e10, 100])
@pytest.mark.parametrize("k", [None, 5])
@pytest.mark.parametrize("kind", [Gaussian, Laplacian, Correlation])
def test_a_large_alpha_names_view_and_densities(kind, k, value):
    message = refusal([A, B], kernel=kind(alpha=value, n_neighbors=k))
    assert f"alpha={value!r} of the kernel of view 'view1' is too large" in message
    assert "pass a number from 0 to 1" in message


@pytest.mark.parametrize("kind", [Gaussian, Laplacian, Correlation])
@pytest.mark.parametrize("name", ["bandwidth", "factor", "alpha", "taper"])
@pytest.mark.parametrize("value", [INF, NAN, -1.0, 10**400, True, None, []], ids=short)
def test_numbers_of_a_kernel_that_are_no_sizes_are_refused_by_name(kind, name, value):
    message = refusal([A, B], kernel=kind(n_neighbors=5).set_params(**{name: value}))
    assert message.startswith(f"kernel of view 'view1': {name} must be")
    assert len(message) < 200


@pytest.mark.parametrize("kind", [Gaussian, Laplacian, Correlation])
@pytest.mark.parametrize("value", ["x", "true", 1, 0, None, NAN, []])
def test_standardize_is_true_or_false(kind, value):
    message = refusal([A, B], kernel=kind(standardize=value))
    assert message == (f"kernel of view 'view1': standardize must be True or False, not {value!r}")
    maps(kernel=kind(standardize=np.bool_(True))).fit([A, B])


@pytest.mark.parametrize("name", ["metric", "search"])
@pytest.mark.parametrize("value", [[], {}, 1, None, "x"])
def test_choices_of_a_kernel_are_names(name, value):
    message = refusal([A, B], kernel=Gaussian().set_params(**{name: value}))
    assert message.startswith(f"kernel of view 'view1': unknown {name} {value!r}; choose from")


def test_more_neighbours_than_samples_are_all_of_them():
    all_of_them = maps(kernel=Gaussian(n_neighbors=59)).fit_transform([A, B])
    many = maps(kernel=Gaussian(n_neighbors=10**9)).fit_transform([A, B])
    assert_allclose(many, all_of_them, rtol=1e-12)


@pytest.mark.parametrize(
    ("hops", "expected"),
    [
        ([0, 1], r"hops must be (2, 2), one row and one column per view, not of shape (2,)"),
        ([], "not of shape (0,)"),
        ([[0, 1]], "not of shape (1, 2)"),
        ([[0, 1], [1]], "hops must be a matrix of real numbers"),
        ([["a", "b"], ["b", "a"]], "hops must be a matrix of real numbers"),
        ([[0, 1j], [1j, 0]], "hops must be a matrix of real numbers"),
        ([[0, 10**400], [10**400, 0]], "hops must be a matrix of real numbers"),
        ([[0, 1e308], [1e308, 0]], "row 0, column 1 of hops is 1e+308"),
        ([[1e308] * 2] * 2, "row 0, column 0 of hops is 1e+308"),
        ([[1, 1e-300], [1e-300, 1]], "row 0, column 1 of hops is 1e-300"),
        ([[5e-324] * 2] * 2, "only the ratios of entries matter"),
        ([[NAN, 1], [1, 0]], "row 0, column 0 is nan"),
        ([[0, INF], [INF, 0]], "row 0, column 1 is inf"),
        ([[0, -1], [-1, 0]], "row 0, column 1 is -1"),
    ],
)
def test_hops_that_are_no_matrix_of_sizes_name_the_entry(hops, expected):
    assert expected in refusal([A, B], hops=hops)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_only_ratios_of_hops_matter(size):
    plain = maps(hops=[[0.5, 1], [1, 0]]).fit_transform([A, B])
    scaled = maps(hops=[[0.5 * size, size], [size, 0]])
    if size < 1:
        assert "row 0, column 0 of hops is 5e-101" in refusal([A, B], hops=scaled.hops)
        scaled = maps(hops=[[size, 2 * size], [2 * size, 0]])
    assert_allclose(scaled.fit_transform([A, B]), plain, rtol=1e-9)


@pytest.mark.parametrize(
    "weight", [0, -1, 1e308, 1e-308, 5e-324, NAN, INF, 10**400, "a", None, True, 1j]
)
def test_a_weight_that_is_no_size_names_its_view(weight):
    for weights in ([1.0, weight], {"view1": 1.0, "view2": weight}):
        message = refusal([A, B], view_weights=weights)
        assert message.startswith("view_weights of view 'view2' must be a positive number")
        assert len(message) < 200


@pytest.mark.parametrize("weights", [[1], [1, 2, 3], [[1, 2]], {"view1": 1}, {"view1": 1, "x": 2}])
def test_weights_need_one_number_per_view(weights):
    assert "view_weights" in refusal([A, B], view_weights=weights)
    assert "view2" in refusal([A, B], view_weights=weights)


@pytest.mark.parametrize("name", ["within_view_weight", "tol", "n_steps"])
@pytest.mark.parametrize("value", [NAN, INF, -1, "x", 10**400], ids=short)
def test_numbers_of_an_estimator_are_refused_by_name(name, value):
    assert name in refusal([A, B], **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_jobs", 0),
        ("max_memory", "x"),
        ("max_memory", ""),
        ("max_memory", INF),
        ("max_memory", 0),
    ],
)
def test_numbers_of_threads_and_bytes_are_refused_by_name(name, value):
    assert name in refusal([A, B], **{name: value})


def test_a_tolerance_of_the_whole_eigenvalue_is_refused():
    for tol in (1, 10, 1e300):
        assert "'tol' parameter" in refusal([A, B], tol=tol)


def gram(X):
    return np.exp(-np.square(X[:, None] - X).sum(axis=-1))


@pytest.mark.parametrize("size", [1e-308, 1e-300, 1e-160, 1e149])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("k", [None, 5])
@pytest.mark.parametrize(
    "fusion", ["hop", "sum", "product", "alternating", "integrated", "composite"]
)
def test_a_precomputed_kernel_of_extreme_size_names_view_and_row(size, alpha, k, fusion):
    kernel = Precomputed(n_neighbors=k, alpha=alpha)
    message = refusal([gram(A), gram(B) * size], kernel=kernel, fusion=fusion)
    assert "row 0 of the precomputed kernel of view 'view2' has a largest value of" in message
    assert "divide the kernel by a constant" in message


@pytest.mark.parametrize("size", [1e-90, 1e90])
@pytest.mark.parametrize("k", [None, 5])
@pytest.mark.parametrize("fusion", ["hop", "alternating", "integrated", "composite"])
def test_a_precomputed_kernel_may_be_multiplied_by_a_number(size, k, fusion):
    kernel = Precomputed(n_neighbors=k)
    params = {"kernel": kernel, "fusion": fusion}
    plain = maps(**params).fit_transform([gram(A), gram(B)])
    scaled = maps(**params).fit_transform([gram(A), gram(B) * size])
    assert_allclose(scaled, plain, rtol=1e-6, atol=1e-10)


def test_a_precomputed_kernel_in_single_precision_has_a_smaller_range():
    kernels = [gram(A).astype(np.float32), (gram(B) * 1e20).astype(np.float32)]
    assert "precomputed kernel of view 'view2'" in refusal(kernels, kernel="precomputed")


def test_negative_and_asymmetric_kernels_name_view_and_entry():
    for place, expected in (((3, 4), "not symmetric"), ((3, 3), "row 3")):
        K = gram(B)
        K[place] = -1.0 if place[0] == place[1] else 2 * K.max()
        message = refusal([gram(A), K], kernel="precomputed")
        assert expected in message
        assert "view 'view2'" in message


def test_kernel_cca_names_the_cause_as_well():
    for kernel, expected in (
        (Gaussian(1e-300), "view 'view1' underflows to the identity"),
        (Gaussian(standardize="x"), "standardize must be True or False"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=expected):
                vh.KernelCCA(kernel=kernel, rank=10).fit([A, B])
    with pytest.raises(ValueError, match="view 'view2' is too small"):
        vh.KernelCCA(rank=10).fit([A, B * 1e-200])


@pytest.mark.filterwarnings(f"ignore::{DisconnectedWarning.__module__}.DisconnectedWarning")
def test_kernels_validate_in_fit_and_not_before():
    kernel = Gaussian(bandwidth=-1, factor=NAN, standardize="x", alpha=1e300)
    assert kernel.get_params()["standardize"] == "x"
    assert "bandwidth" in refusal([A, B], kernel=kernel)
