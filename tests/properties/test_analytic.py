"""Analytic oracles: shapes whose eigenvectors are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from viewhop.kernels import Gaussian


def circle(n, radius=1.0, shift=0.0):
    angle = 2 * np.pi * np.arange(n) / n + shift
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("solver", ["dense", "krylov", "lanczos"])
@pytest.mark.parametrize("k", [None, 20])
def test_on_circles_eigenvectors_are_harmonics_and_eigenvalues_products(k, solver):
    n = 120
    kernel = Gaussian(bandwidth=0.4, n_neighbors=k)
    est = vh.MultiViewDiffusionMaps(6, kernel=kernel, within_view_weight=0.0, solver=solver)
    est.fit([circle(n), circle(n, 2.0)])
    # Each kernel is circulant: its eigenvalues are the Fourier transform of a row.
    rows = [(a @ np.eye(n))[0] for a in est.walk_.affinities]
    symbols = [np.fft.fft(row).real / row.sum() for row in rows]
    product = symbols[0] * symbols[1]
    expected = np.sort(product[1:])[::-1][:6]
    assert_allclose(est.eigenvalues_, expected, atol=1e-12)
    angle = 2 * np.pi * np.arange(n) / n
    for harmonic in (1, 2, 3):
        basis = np.column_stack([np.cos(harmonic * angle), np.sin(harmonic * angle)])
        basis /= np.linalg.norm(basis, axis=0)
        for psi in np.split(est.spectrum_.eigenvectors[:, 2 * harmonic - 2 : 2 * harmonic], 2):
            unit = psi / np.linalg.norm(psi, axis=0)
            assert_allclose(unit @ unit.T, basis @ basis.T, atol=1e-11)


@pytest.mark.parametrize("estimator", ["one view", "two views"])
def test_on_a_segment_eigenvectors_are_cosines(estimator):
    x = np.linspace(0, 1, 400)[:, None]
    kernel = Gaussian(bandwidth=0.02)
    if estimator == "one view":
        psi = vh.DiffusionMaps(4, kernel=kernel).fit_transform(x)
    else:
        est = vh.MultiViewDiffusionMaps(4, kernel=kernel).fit([x, -x])
        psi = est.view_embeddings_["view1"]
    for k in range(1, 5):
        correlation = np.corrcoef(psi[:, k - 1], np.cos(k * np.pi * x[:, 0]))[0, 1]
        assert abs(correlation) > 0.99


def test_alpha_one_removes_the_density_of_a_segment():
    # With alpha = 1 the limit is the Laplacian, whatever the density; with alpha = 0 it is not.
    x = np.sort(np.random.default_rng(0).beta(2, 5, 1500))[:, None]
    x = (x - x.min()) / np.ptp(x)
    gap = []
    for alpha in (0.0, 1.0):
        psi = vh.DiffusionMaps(1, kernel=Gaussian(0.03, alpha=alpha)).fit_transform(x)[:, 0]
        gap.append(1 - abs(np.corrcoef(psi, np.cos(np.pi * x[:, 0]))[0, 1]))
    assert gap[1] < 0.01 < gap[0]


def test_a_coordinate_common_to_both_views_is_found_under_private_noise():
    # What only one view sees is forgotten by the hop; what both see stays.
    rng = np.random.default_rng(0)
    common = rng.uniform(0, 1, 500)
    views = [np.column_stack([common, rng.uniform(0, 1, 500)]) for _ in range(2)]
    est = vh.MultiViewDiffusionMaps(1, kernel=Gaussian(0.1)).fit(views)
    for Z in est.view_embeddings_.values():
        assert abs(np.corrcoef(Z[:, 0], np.cos(np.pi * common))[0, 1]) > 0.95
