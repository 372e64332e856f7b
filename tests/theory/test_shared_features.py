"""Eqs. (50)–(52): what eigenvectors of K^x K^y find, and its singular vectors do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop import theory

M = 80


@pytest.fixture(scope="module")
def features():
    """Polynomial features of two noisy views of one parameter, centred, and their kernels."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal(M)
    x, y = latent + 0.4 * rng.standard_normal(M), latent + 0.6 * rng.standard_normal(M)
    maps = [np.column_stack([v, v**2, v**3, np.sin(3 * v)]) for v in (x, y)]
    Gamma, Delta = (each - each.mean(axis=0) for each in maps)
    return Gamma, Delta, Gamma @ Gamma.T / M, Delta @ Delta.T / M


def equation_52_residual(tau, features):
    """Relative residual of Σ̄_δγ Σ̄_γδ u = λ u with u = Δᵀτ and its best λ, the largest over τ."""
    Gamma, Delta, *_ = features
    between = Gamma.T @ Delta / M
    u = Delta.T @ tau
    u /= np.linalg.norm(u, axis=0)
    image = between.T @ between @ u
    values = (u * image).sum(axis=0)
    return (np.linalg.norm(image - u * values, axis=0) / np.linalg.norm(image, axis=0)).max()


def test_directions_are_singular_vectors_of_the_covariance_between_feature_spaces(features):
    Gamma, Delta, Kx, Ky = features
    found = theory.shared_features(Kx, Ky, n_components=3)
    a, s, bt = np.linalg.svd(Gamma.T @ Delta / M)
    assert_allclose(found.covariances, s[:3], rtol=1e-9)
    for scores, expected in ((found.first, Gamma @ a), (found.second, Delta @ bt.T)):
        signs = np.sign((scores * expected[:, :3]).sum(axis=0))
        assert_allclose(scores * signs, expected[:, :3], atol=1e-7 * np.abs(expected).max())
    assert_allclose((found.first * found.second).mean(axis=0), s[:3], rtol=1e-9)


def test_equations_50_to_52_hold_for_eigenvectors_and_not_for_singular_vectors(features):
    *_, Kx, Ky = features
    found = theory.shared_features(Kx, Ky, n_components=3)
    product = Kx @ Ky
    assert_allclose(product @ found.first, found.first * found.covariances**2, atol=1e-9)
    assert_allclose(product.T @ found.second, found.second * found.covariances**2, atol=1e-9)
    assert equation_52_residual(found.first, features) < 1e-9
    left, _, right = np.linalg.svd(product)
    assert equation_52_residual(right[:3].T, features) > 0.1  # the SVD that the text asks for
    assert equation_52_residual(left[:, :3], features) > 0.1


def test_what_is_maximised_is_the_covariance_and_not_the_correlation(features):
    Gamma, Delta, Kx, Ky = features
    found = theory.shared_features(Kx, Ky, n_components=1)
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 4, 2000))
    scores = Gamma @ (a / np.linalg.norm(a, axis=0)), Delta @ (b / np.linalg.norm(b, axis=0))
    assert (np.abs((scores[0] * scores[1]).mean(axis=0)) <= found.covariances[0]).all()
    # CCA: correlation between the whitened feature spaces.
    bases = [np.linalg.qr(each)[0] for each in (Gamma, Delta)]
    canonical = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    assert canonical[0] > found.correlations[0] + 0.01


def test_kernels_that_commute_have_equal_eigenvectors_and_singular_vectors():
    K = np.cov(np.random.default_rng(2).standard_normal((6, 30)))
    found = theory.shared_features(K, K, n_components=2)
    values = np.linalg.eigvalsh(K)[::-1]
    assert_allclose(found.covariances, values[:2], rtol=1e-10)
    assert_allclose(found.first, found.second, atol=1e-10)
    assert_allclose(found.correlations, 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "r", "message"),
    [
        (np.eye(3), np.eye(4), 1, r"differ in shape: \(3, 3\) and \(4, 4\)"),
        (np.ones((2, 3)), np.eye(2), 1, "first kernel must be square"),
        (np.eye(2), [[1.0, 0.5], [0.0, 1.0]], 1, "second kernel must be symmetric"),
        (np.diag([1.0, -1.0]), np.eye(2), 1, "first kernel must be positive semi-definite"),
        (np.eye(2), np.full((2, 2), np.nan), 1, "second kernel must be square and finite"),
        (np.eye(2), np.eye(2), 3, "from 1 to 2, got 3"),
        (np.eye(2), np.eye(2), 0, "from 1 to 2, got 0"),
        (np.diag([1.0, 0.0]), np.eye(2), 2, "share 1 directions beyond rounding"),
    ],
    ids=["sizes", "shape", "symmetry", "sign", "nan", "many", "none", "rank"],
)
def test_what_has_no_feature_space_is_refused(first, second, r, message):
    with pytest.raises(ValueError, match=message):
        theory.shared_features(first, second, n_components=r)
