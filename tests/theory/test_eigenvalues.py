"""Theorem 5: the ends of the spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse.linalg import ArpackNoConvergence

from tests.support import cases, oracles
from tests.theory.walks import MatrixWalk, fitted
from viewhop import theory
from viewhop.errors import ConvergenceError
from viewhop.kernels import Gaussian
from viewhop.solvers import _bounds as eigenvalues

pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
WALKS = [{"n_views": n, "eta": eta} for n in (1, 2, 3, 4) for eta in cases.ETAS]
WALKS += [{"n_views": 3, "fusion": "sum"}, {"n_views": 3, "fusion": "product"}]


@pytest.mark.parametrize("dense_nodes", [1000, 5], ids=["LAPACK", "Lanczos"])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("case", WALKS, ids=str)
def test_both_ends_are_those_of_the_whole_spectrum_and_within_one(
    case, holding, dense_nodes, monkeypatch
):
    monkeypatch.setattr(eigenvalues, "DENSE_NODES", dense_nodes)
    est = fitted(kernel=Gaussian(n_neighbors=cases.HOLDINGS[holding]), **case)
    chain = oracles.Chain(est.walk_ @ np.eye(est.walk_.n_nodes))
    low, high = theory.eigenvalue_range(est)
    assert_allclose([low, high], [chain.eigenvalues.min(), 1.0], atol=eigenvalues.TOLERANCE)
    assert -1 - 1e-12 <= low <= high <= 1 + 1e-12


def test_two_views_that_must_change_reach_minus_one():
    assert_allclose(theory.eigenvalue_range(fitted(2))[0], -1.0, rtol=1e-12)
    assert theory.eigenvalue_range(fitted(3))[0] > -0.9


def test_the_smallest_is_near_its_residual_by_either_route(monkeypatch):
    walk = fitted(3, kernel=Gaussian(n_neighbors=4)).walk_
    exact = theory.eigenvalue_range(walk)[0]
    monkeypatch.setattr(eigenvalues, "DENSE_NODES", 5)
    smallest = eigenvalues.extreme_eigenvalue(walk, end="smallest")
    assert 0 < smallest.residual < 1e-3
    assert smallest.value - smallest.residual <= exact <= smallest.value + 1e-12


def test_the_same_call_gives_the_same_bits(monkeypatch):
    monkeypatch.setattr(eigenvalues, "DENSE_NODES", 5)
    walk = fitted(3).walk_
    assert theory.eigenvalue_range(walk) == theory.eigenvalue_range(walk)


def test_a_kernel_with_negative_entries_breaks_the_theorem():
    K = np.array([[1.0, -0.8, 1.0], [-0.8, 1.0, 1.0], [1.0, 1.0, -1.5]])
    assert (K.sum(axis=1) > 0).all()
    low, high = theory.eigenvalue_range(MatrixWalk(K))
    assert high > 1.2 or low < -1.2
    low, high = theory.eigenvalue_range(MatrixWalk(np.abs(K)))
    assert_allclose(high, 1.0, rtol=1e-12)
    assert low > -1


def test_an_iteration_that_does_not_end_says_so(monkeypatch):
    def stopped(*args, **kwargs):
        raise ArpackNoConvergence("%s", np.empty(0), np.empty((48, 0)))

    monkeypatch.setattr(eigenvalues, "DENSE_NODES", 5)
    monkeypatch.setattr(eigenvalues, "eigsh", stopped)
    with pytest.raises(ConvergenceError, match="smallest eigenvalue was not found"):
        theory.eigenvalue_range(fitted(2))
