"""Section 5.9: one view's covariance is biased, that between views is not, by how much at M."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles

from viewhop import theory

TRIALS = 400


def random_covariance(rng, n, strength):
    half = rng.standard_normal((n, n))
    return strength * half @ half.T / n


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((6, 2)), rng.standard_normal((5, 2))
    return theory.additive_noise(
        A,
        B,
        first_noise=random_covariance(rng, 6, 3.0),
        second_noise=random_covariance(rng, 5, 2.0),
        latent_covariance=random_covariance(rng, 2, 1.0) + np.eye(2),
    )


def draw(model, n_samples, rng):
    (A, B), (first, second) = model.loadings, model.noise_covariances
    latent = rng.multivariate_normal(np.zeros(2), model.latent_covariance, n_samples)
    xi = rng.multivariate_normal(np.zeros(len(A)), first, n_samples)
    eta = rng.multivariate_normal(np.zeros(len(B)), second, n_samples)
    return latent @ A.T + xi, latent @ B.T + eta


def test_limits_are_those_of_many_samples(model):
    X, Y = draw(model, 400_000, np.random.default_rng(1))
    n = len(X)
    assert_allclose(X.T @ X / n, model.covariance(0), atol=0.05)
    assert_allclose(Y.T @ Y / n, model.covariance(1), atol=0.05)
    assert_allclose(X.T @ Y / n, model.cross_covariance, atol=0.05)
    plane = np.linalg.svd(X, full_matrices=False)[2][:2].T
    found = np.sin(subspace_angles(plane, model.loadings[0]).max())
    assert_allclose(found, model.principal_angle(0), atol=0.01)
    assert model.principal_angle(0) > 0.3


@pytest.mark.parametrize("n_samples", [30, 300])
def test_errors_at_a_number_of_samples_are_exact(model, n_samples):
    rng = np.random.default_rng(n_samples)
    A, B = model.loadings
    wanted = A @ model.latent_covariance @ A.T, A @ model.latent_covariance @ B.T
    squares = []
    for _ in range(TRIALS):
        X, Y = draw(model, n_samples, rng)
        errors = X.T @ X / n_samples - wanted[0], X.T @ Y / n_samples - wanted[1]
        squares.append([np.square(error).sum() for error in errors])
    mean, deviation = np.mean(squares, axis=0), np.std(squares, axis=0) / np.sqrt(TRIALS)
    expected = (
        model.covariance_error(n_samples, 0) ** 2,
        model.cross_covariance_error(n_samples) ** 2,
    )
    assert (np.abs(mean - expected) < 4 * deviation).all()
    assert (deviation < 0.06 * mean).all()  # the test can see an error of a quarter


def test_the_error_of_one_view_stays_and_that_between_views_vanishes(model):
    bias = np.linalg.norm(model.noise_covariances[0])
    assert_allclose(model.covariance_error(10**12, 0), bias, rtol=1e-6)
    ratio = model.cross_covariance_error(10**12) / model.cross_covariance_error(10**10)
    assert_allclose(ratio, 0.1, rtol=1e-12)


@pytest.mark.parametrize("n_samples", [1000, 4000])
def test_the_angle_is_below_its_bound_which_is_not_vacuous(model, n_samples):
    rng = np.random.default_rng(n_samples)
    squares = []
    for _ in range(100):
        X, Y = draw(model, n_samples, rng)
        U, _, Vt = np.linalg.svd(X.T @ Y / n_samples)
        for plane, loadings in ((U[:, :2], model.loadings[0]), (Vt[:2].T, model.loadings[1])):
            squares.append(np.sin(subspace_angles(plane, loadings).max()) ** 2)
    found, bound = np.sqrt(np.mean(squares)), model.angle_bound(n_samples)
    assert found < bound < 0.8
    assert bound < 12 * found


def test_the_bound_on_an_angle_holds_for_any_error():
    rng = np.random.default_rng(5)
    tightest = np.inf
    for _ in range(300):
        C = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 5))
        E = 10.0 ** rng.uniform(-3, 0.3) * rng.standard_normal((6, 5))
        U = np.linalg.svd(C + E)[0][:, :2]
        sine = np.sin(subspace_angles(U, np.linalg.svd(C)[0][:, :2]).max())
        bound = 2 * np.linalg.norm(E, 2) / np.linalg.svd(C, compute_uv=False)[1]
        assert sine <= bound + 1e-12
        tightest = min(tightest, bound / sine)
    assert tightest < 3


def test_a_bound_is_never_above_1(model):
    assert model.angle_bound(1) == 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first": np.ones((4, 2))}, "first loadings must have full column rank"),
        ({"second": np.ones(4)}, r"second loadings must be \(n_features, d\)"),
        ({"second": np.eye(4)[:, :1]}, "a column per latent parameter, got 2, 1"),
        ({"first_noise": np.eye(3)}, r"first_noise must be \(4, 4\)"),
        ({"second_noise": -np.eye(4)}, "second_noise must be symmetric and positive"),
        ({"second_noise": np.triu(np.ones((4, 4)))}, "second_noise must be symmetric"),
        ({"latent_covariance": np.diag([1.0, 0.0])}, "must be positive definite"),
    ],
    ids=str,
)
def test_what_is_no_model_is_refused(changes, message):
    values = {
        "first": np.eye(4)[:, :2],
        "second": np.eye(4)[:, 1:3],
        "first_noise": np.eye(4),
        "second_noise": np.eye(4),
        **changes,
    }
    with pytest.raises(ValueError, match=message):
        theory.additive_noise(values.pop("first"), values.pop("second"), **values)


def test_a_number_of_samples_is_a_whole_number(model):
    with pytest.raises(ValueError, match="at least 1, got 0"):
        model.angle_bound(0)


def test_without_noise_the_error_of_one_view_is_that_of_a_variance():
    """x = θ a with ‖a‖ = 1: the error is that of (1/M) Σ θ², of variance 2/M."""
    a, none = np.eye(3)[:, :1], np.zeros((3, 3))
    model = theory.additive_noise(a, a, first_noise=none, second_noise=none)
    assert_allclose(model.covariance_error(50, 0), np.sqrt(2 / 50), rtol=1e-12)
    assert_allclose(model.cross_covariance_error(50), np.sqrt(2 / 50), rtol=1e-12)
