"""What holds for the spectrum of every walk: rows, the trivial pair, bounds, signs, equal views."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from tests.support import cases, oracles
from viewhop.kernels import Gaussian

pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")

#: Hop matrices by parameters: the default, the paper's, Eq. (49), weights, and a chain of views.
WALKS = {
    "default": {},
    "paper": {"within_view_weight": 0.0},
    "staying": {"within_view_weight": 0.3},
    "weights": {"view_weights": [1.0, 0.2, 0.5]},
    "chain": {"hops": [[0, 1, 0], [1, 0, 3], [0, 3, 0]]},
    "sum": {"fusion": "sum"},
    "product": {"fusion": "product"},
    "concat": {"fusion": "concat"},
}


def matrix(est):
    """The symmetric matrix that the walk's eigenvalues belong to, by products with the identity."""
    return est.walk_.normalized(np.eye(est.walk_.n_nodes))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_rows_sum_to_one_and_no_eigenvalue_exceeds_one(walk, holding, data, dtype):
    kernel = Gaussian(n_neighbors=cases.HOLDINGS[holding])
    est = vh.MultiViewDiffusionMaps(3, kernel=kernel, random_state=0, **walk)
    est.fit(cases.views(data, 3, kernel, dtype))
    mass = est.walk_.mass_after_step(np.eye(est.walk_.n_nodes))
    exact = 1e-12 if dtype == np.float64 else 1e-6
    assert_allclose(mass.sum(axis=0), 1.0, rtol=exact)
    values = np.linalg.eigvalsh(matrix(est).astype(np.float64))
    rounding = 1e-10 if dtype == np.float64 else 1e-5
    assert_allclose(values[-1], 1.0, atol=rounding)
    assert np.abs(values).max() <= 1 + rounding
    assert est.eigenvalues_.max() <= 1 + rounding
    # ψ_0 ≡ 1 is left out, so every coordinate is orthogonal to it.
    pi = est.walk_.stationary
    assert_allclose(pi @ est.spectrum_.eigenvectors, 0, atol=1e-6 if dtype == np.float32 else 1e-8)


@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("data", cases.DATA)
def test_two_views_that_never_stay_have_eigenvalues_in_pairs_of_both_signs(data, holding):
    kernel = Gaussian(n_neighbors=cases.HOLDINGS[holding])
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel, within_view_weight=0.0)
    values = np.linalg.eigvalsh(matrix(est.fit(cases.views(data, 2, kernel))))
    assert_allclose(values, -values[::-1], atol=1e-12)
    assert_allclose(values[0], -1.0, atol=1e-12)


@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov", "svd"])
@pytest.mark.parametrize("data", ["generic", "doubled"])
def test_coordinates_of_two_views_never_use_a_negative_eigenvalue(data, solver):
    kernel = Gaussian(factor=0.05)
    n_distinct = cases.N // 2 if data == "doubled" else cases.N
    r = n_distinct - 3  # by magnitude, half of them would be negative
    est = vh.MultiViewDiffusionMaps(r, kernel=kernel, within_view_weight=0.0, solver=solver)
    est.fit(cases.views(data, 2, kernel))
    assert est.eigenvalues_.min() > 0
    values = np.linalg.eigvalsh(matrix(est))[::-1]
    assert_allclose(est.eigenvalues_, values[1 : r + 1], atol=1e-8)
    assert np.isfinite(est.embedding_).all()


@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("eta", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("n_views", [2, 3, 4])
def test_identical_views_have_the_whole_positive_spectrum_of_the_squared_kernel(
    n_views, eta, holding
):
    kernel = Gaussian(factor=0.3, n_neighbors=cases.HOLDINGS[holding])
    (X,) = cases.views("generic", 1, kernel)
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel, within_view_weight=eta)
    values = np.linalg.eigvalsh(matrix(est.fit([X] * n_views)))[::-1]
    K = oracles.View(kernel, X).K
    step = K @ K / (K @ K).sum(axis=1)[:, None]
    squared = np.sort(np.linalg.eigvals(step).real)[::-1]
    assert squared.min() > 1e-10
    assert (values > 1e-10).sum() == cases.N
    assert_allclose(values[: cases.N], squared, atol=1e-10)
