"""Lemma 2 and Theorem 6: spectral decay against the kernel product."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from tests.theory.walks import fitted
from viewhop import theory
from viewhop.theory import _decay as decay


def definite(rng, n):
    X = rng.standard_normal((n, n + 2))
    return X @ X.T / n


def log_tails(values):
    return np.array([np.log(np.sort(values)[::-1][k:]).sum() for k in range(len(values))])


@pytest.mark.parametrize("seed", range(20))
def test_tails_of_the_product_are_below_those_of_the_hadamard_product(seed):
    rng = np.random.default_rng(seed)
    A, B = (definite(rng, 2 + seed % 12) for _ in range(2))
    product, hadamard = theory.tail_products(A, B)
    assert_allclose(product, log_tails(np.linalg.eigvals(A @ B).real), rtol=1e-6, atol=1e-6)
    assert_allclose(hadamard, log_tails(np.linalg.eigvalsh(A * B)), rtol=1e-8, atol=1e-8)
    assert (product <= hadamard + 1e-9).all()


def test_indefinite_matrices_break_the_lemma_and_are_refused():
    A, B = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[1.0, 0.9], [0.9, 1.0]])
    # With k = 1 of M = 2 the lemma would say λ_1(A·B) ≤ λ_1(A∘B).
    assert np.linalg.eigvals(A @ B).real.min() > np.linalg.eigvalsh(A * B).min() + 0.5
    with pytest.raises(ValueError, match="first matrix is not positive definite beyond rounding"):
        theory.tail_products(A, B)
    with pytest.raises(ValueError, match="second matrix is not positive definite"):
        theory.tail_products(B, A)


@pytest.mark.parametrize("accuracy", [0.05, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("seed", range(5))
def test_the_last_eigenvalues_multiply_to_less_than_the_accuracy_says(seed, accuracy):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((2, 12, 3))
    est = vh.MultiViewDiffusionMaps.paper_settings(2).fit([X, Y])
    decay = theory.spectral_decay(est, accuracy=accuracy)
    A, B = (K @ np.eye(12) for K in est.walk_.affinities)
    assert decay.rank == (np.linalg.eigvalsh(A * B) > accuracy).sum()
    assert decay.log_bound == pytest.approx((12 - decay.rank) * np.log(accuracy))
    last = np.sort(np.linalg.eigvals(A @ B).real)[: 12 - decay.rank]
    assert decay.log_tail == pytest.approx(np.log(last).sum(), rel=1e-4)
    assert decay.log_tail <= decay.log_bound + 1e-12


def test_the_whole_spectrum_above_the_accuracy_leaves_an_empty_product():
    X = np.random.default_rng(0).standard_normal((6, 3))
    est = vh.MultiViewDiffusionMaps.paper_settings(2, kernel=vh.kernels.Gaussian(0.5))
    est.fit([X, X[::-1]])
    assert theory.spectral_decay(est, accuracy=1e-6) == (6, 0.0, 0.0)


def test_kernels_that_are_not_definite_break_the_theorem_and_are_refused():
    A, B = np.array([[1.0, 2.0], [2.0, 1.0]]), np.diag([3.0, 0.5])
    rank = (np.linalg.eigvalsh(A * B) > 0.6).sum()
    assert rank == 1
    assert np.abs(np.linalg.eigvals(A @ B)).min() > 0.6 ** (2 - rank)
    est = vh.MultiViewDiffusionMaps.paper_settings(1, kernel="precomputed")
    est.fit([_wide(A), _wide(np.eye(2))])
    with pytest.raises(ValueError, match="first matrix is not positive definite"):
        theory.spectral_decay(est)


def _wide(A):
    """Two copies of a kernel on two samples."""
    return np.kron(np.eye(2), A) + 0.01


def test_tails_with_a_multiple_of_the_identity_are_those_of_the_other_matrix():
    A, B = 3.0 * np.eye(4), definite(np.random.default_rng(0), 4)
    product, hadamard = theory.tail_products(A, B)
    assert_allclose(product, log_tails(3.0 * np.linalg.eigvalsh(B)), rtol=1e-10)
    assert_allclose(hadamard, log_tails(3.0 * np.diag(B)), rtol=1e-10)


def test_what_has_no_logarithm_is_refused():
    est = fitted(2, kernel=vh.kernels.Gaussian(50.0), r=1)
    with pytest.raises(ValueError, match="take fewer samples or a smaller scale"):
        theory.spectral_decay(est)
    with pytest.raises(ValueError, match="two views"):
        theory.spectral_decay(fitted(3))
    with pytest.raises(ValueError, match="between 0 and 1, not 1"):
        theory.spectral_decay(est, accuracy=1)
    with pytest.raises(ValueError, match=r"must be square, got \(2, 3\)"):
        theory.tail_products(np.ones((2, 3)), np.eye(2))
    with pytest.raises(ValueError, match="must be symmetric"):
        theory.tail_products(np.eye(2), [[1, 0.5], [0.2, 1]])
    with pytest.raises(ValueError, match="differ in shape"):
        theory.tail_products(np.eye(2), np.eye(3))


def test_too_many_samples_are_refused(monkeypatch):
    monkeypatch.setattr(decay, "MAX_SAMPLES", 20)
    with pytest.raises(ValueError, match="take at most 20 samples"):
        theory.spectral_decay(fitted(2))
