"""Shift and invert: crowded spectra, the switch of "auto", and its memory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from tests.solvers.test_solvers import TOLERANCE, check_against_oracle
from tests.support import cases, oracles
from tests.walks.test_walks import affinities, dense
from viewhop.errors import ConvergenceError, MemoryBudgetError
from viewhop.kernels import Gaussian
from viewhop.solvers import _auto, _inverse, _krylov, _lapack, solve
from viewhop.solvers._inverse import Inverse, equivalent_columns
from viewhop.solvers._krylov import Outlook
from viewhop.walks import HopWalk, SumWalk, hop_matrix


def narrow(n=1200, factor=0.02, dtype=np.float64):
    """A walk with tens of eigenvalues close to 1."""
    X = np.random.default_rng(0).random((n, 2)).astype(dtype)
    kernel = Gaussian("max-min", factor=factor)
    return SumWalk(affinities(kernel, [X]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_the_inverse(dtype):
    walk = narrow(300, factor=1.0)
    inverse = Inverse(walk, np.dtype(dtype))
    V = np.random.default_rng(1).standard_normal((300, 5))
    back = inverse.shift * inverse(V) - walk.normalized(inverse(V))
    assert 1 < inverse.shift < 1.001
    assert_allclose(back, V, rtol=0, atol=1e-7 if dtype == np.float64 else 0.05)


def test_crowded_eigenvalues_are_as_accurate_as_lapack():
    walk = narrow()
    spectrum = solve(walk, 8, solver="inverse")
    expected = oracles.Chain(dense(walk)).eigenvalues[:8]
    assert 1 - expected[0] < 2e-3  # crowded indeed
    assert_allclose(spectrum.eigenvalues, expected, rtol=0, atol=5e-15)
    assert spectrum.residuals.max() < 1e-13
    assert spectrum.n_products < 400


@pytest.mark.parametrize(("factor", "single"), [(0.1, True), (0.04, False)])
def test_auto_turns_to_the_inverse_and_keeps_what_it_found(factor, single, monkeypatch):
    used = []

    class Watched(Inverse):
        def __init__(self, walk, dtype):
            used.append(dtype)
            super().__init__(walk, dtype)

    monkeypatch.setattr(_inverse, "Inverse", Watched)
    walk = narrow(factor=factor)
    spectrum = solve(walk, 8)
    assert spectrum.solver == "inverse"
    assert used[-1] == (np.float32 if single else np.float64)
    expected = oracles.Chain(dense(walk)).eigenvalues[:8]
    assert_allclose(spectrum.eigenvalues, expected, rtol=0, atol=5e-15)
    assert spectrum.n_products < 500


def test_auto_leaves_eigenvalues_that_equal_1_to_lapack(monkeypatch):
    walk = narrow(factor=0.005)
    spectrum = solve(walk, 8)
    expected = oracles.Chain(dense(walk)).eigenvalues[:8]
    assert spectrum.solver == "dense"
    assert_allclose(spectrum.eigenvalues, expected, rtol=0, atol=5e-15)
    allowed = walk.affinities[0].nbytes + _inverse._needed_bytes(walk)
    monkeypatch.setattr(_krylov, "MAX_BLOCKS", 50)
    with pytest.raises(ConvergenceError, match="many eigenvalues are close to 1"):
        solve(walk, 8, allowed=allowed)


def test_eigenvalues_that_lapack_loses_are_found_by_its_other_driver(monkeypatch):
    # With many eigenvalues of 1, dsyevr sometimes returns fewer than it was asked for.
    def losing(A, **options):
        values, vectors = eigh(A, **options)
        few = slice(0, 2) if "subset_by_index" in options else slice(None)
        return values[few], vectors[:, few]

    monkeypatch.setattr(_lapack, "eigh", losing)
    walk = narrow(300, factor=0.005)
    spectrum = solve(walk, 8, solver="dense")
    assert_allclose(spectrum.eigenvalues, oracles.Chain(dense(walk)).eigenvalues[:8], atol=5e-15)
    assert spectrum.residuals.max() < 1e-13


def test_auto_goes_on_although_the_first_look_took_all_blocks(monkeypatch):
    walk = narrow(factor=0.1)
    monkeypatch.setattr(_krylov, "MAX_BLOCKS", 40)
    monkeypatch.setattr(_krylov, "SETTLED", 40)
    expected = oracles.Chain(dense(walk)).eigenvalues[:4]
    assert_allclose(solve(walk, 4).eigenvalues, expected, rtol=0, atol=5e-15)


def test_auto_leaves_a_wide_kernel_alone():
    spectrum = solve(narrow(factor=30.0), 4)
    assert spectrum.solver == "krylov"


def test_auto_does_not_invert_beyond_the_allowed_memory():
    walk = narrow(factor=0.1)
    stored = walk.affinities[0].nbytes
    enough = stored + _inverse._needed_bytes(walk)
    assert solve(walk, 4, allowed=enough).solver == "inverse"
    assert solve(walk, 4, tol=1e-4, allowed=enough - 1).solver == "krylov"
    with pytest.raises(MemoryBudgetError, match="factorisation of a 1,200 × 1,200"):
        solve(walk, 4, solver="inverse", allowed=1000)


def test_a_failed_factorisation_moves_the_shift(monkeypatch):
    monkeypatch.setattr(_inverse, "_beyond", lambda dtype: -0.01)  # below the eigenvalue 1
    walk = narrow(300, factor=1.0)

    def nearer(self, A):
        factor = original(self, A)
        if factor is None:
            self.shift = 1.0 + 1e-6
        return factor

    original = Inverse._factorise
    monkeypatch.setattr(Inverse, "_factorise", nearer)
    assert Inverse(walk, np.dtype(np.float64)).shift == 1.0 + 1e-6


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_hop_walk_spectrum_equals_the_dense_one(holding, data, dtype):
    kernel = Gaussian(factor=0.5, n_neighbors=cases.HOLDINGS[holding])
    arrays = cases.views(data, 3, kernel, dtype)
    walk = HopWalk(affinities(kernel, arrays), hop_matrix(3, within_view_weight=0.2))
    spectrum = solve(walk, 5, solver="inverse")
    assert spectrum.solver == "inverse"
    check_against_oracle(walk, spectrum, 5, atol=TOLERANCE[dtype])


def test_a_hop_walk_is_inverted_between_samples(monkeypatch):
    monkeypatch.setattr(_auto, "DENSE_NODES", 0)
    kernel = Gaussian(factor=0.5)
    walk = HopWalk(affinities(kernel, cases.views("generic", 3, kernel)), np.ones((3, 3)))
    assert walk.hub is not None
    spectrum = solve(walk, 5, solver="inverse")
    expected = oracles.Chain(dense(walk)).eigenvalues[:5]
    assert spectrum.solver == "inverse"
    assert_allclose(spectrum.eigenvalues, expected, rtol=0, atol=1e-13)


def test_forming_a_hop_walk_counts():
    kernel = Gaussian(factor=0.5)
    arrays = affinities(kernel, cases.views("generic", 2, kernel))
    one, hub = SumWalk(arrays[:1]), HopWalk(arrays, np.ones((2, 2))).hub
    assert equivalent_columns(hub) > equivalent_columns(one)


@pytest.mark.parametrize(("factor", "expected"), [(0.5, False), (0.99, True)])
def test_the_outlook_extrapolates_a_steady_decrease(factor, expected):
    # From 1e8 to 1 at 8 columns a block: 213 columns at a factor of 1/2, 14,700 at 0.99.
    outlook = Outlook(300)
    seen = [outlook.is_poor(1e8 * factor**k, 8) for k in range(8)]
    assert seen[:5] == [False] * 5
    assert seen[-1] is expected
    assert outlook.was_poor is expected


def test_the_outlook_ignores_rounding_errors():
    outlook = Outlook(10)
    assert not any(outlook.is_poor(50.0, 8) for _ in range(20))
