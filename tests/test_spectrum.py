"""Spectrum: order, scale and signs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.spectrum import Spectrum, fix_signs


@pytest.fixture
def spectrum():
    rng = np.random.default_rng(0)
    pi = rng.uniform(1, 2, 12)
    pi /= pi.sum()
    vectors = np.linalg.qr(rng.standard_normal((12, 4)))[0]
    values = np.array([0.2, 0.9, -0.3, 0.5])
    # Images that are off by vectors of these lengths.
    images = vectors * values + vectors[:, ::-1] * [2.0, 9.0, 3.0, 5.0]
    return Spectrum.from_symmetric(
        values,
        vectors,
        images,
        stationary=pi,
        solver="dense",
        n_products=7,
    )


def test_pairs_are_sorted_together(spectrum):
    assert_array_equal(spectrum.eigenvalues, [0.9, 0.5, 0.2, -0.3])
    assert_allclose(spectrum.residuals, [9.0, 5.0, 2.0, 3.0], rtol=1e-14)
    assert len(spectrum) == 4


def test_eigenvectors_are_orthonormal_under_the_stationary_distribution(spectrum):
    psi = spectrum.eigenvectors
    assert_allclose(psi.T @ (spectrum.stationary[:, None] * psi), np.eye(4), atol=1e-14)


def test_the_first_of_the_largest_entries_is_positive():
    vectors = np.array([[-1.0, 2.0, -2.0], [1.0 - 1e-9, -2.0 - 1e-9, 2.0 - 1e-5], [0.5, 0.0, 0.0]])
    assert_array_equal(fix_signs(vectors), [-1.0, 1.0, -1.0])
    assert_array_equal(fix_signs(vectors * fix_signs(vectors)), 1.0)


def test_the_first_pairs_are_a_spectrum(spectrum):
    two = spectrum.first(2)
    assert_array_equal(two.eigenvalues, [0.9, 0.5])
    assert two.eigenvectors.shape == (12, 2)


def test_a_spectrum_is_frozen_and_tells_what_matters(spectrum):
    with pytest.raises(dataclasses.FrozenInstanceError):
        spectrum.solver = "other"
    assert "4 pairs of 12 nodes" in repr(spectrum)
    assert "empty" in repr(spectrum.first(0))
