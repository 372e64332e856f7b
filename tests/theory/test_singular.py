"""Theorem 3: eigenpairs from singular triplets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.support import cases, oracles
from tests.theory.walks import fitted
from viewhop import theory
from viewhop.kernels import Gaussian
from viewhop.theory import _singular as singular

pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")


@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_triplets_of_the_normalised_product_are_all_eigenpairs(holding):
    est = fitted(2, kernel=Gaussian(factor=0.3, n_neighbors=cases.HOLDINGS[holding]))
    walk = est.walk_
    values, psi = theory.singular_eigenpairs(est)
    chain = oracles.Chain(walk @ np.eye(walk.n_nodes))
    assert_allclose(chain.P @ psi, psi * values, atol=1e-10)
    assert_allclose(psi.T @ (chain.pi[:, None] * psi), np.eye(walk.n_nodes), atol=1e-10)
    assert_allclose(np.sort(values), np.sort([1, *chain.eigenvalues]), atol=1e-10)
    if est.n_pieces_ == 1:
        assert_allclose(psi[:, 0], 1, atol=1e-9)


def test_triplets_of_the_product_as_printed_are_not():
    est = fitted(2, kernel=Gaussian(factor=0.3))
    walk = est.walk_
    Kx, Ky = (K @ np.eye(walk.n_samples) for K in walk.affinities)
    V, _, rows = np.linalg.svd(Kx @ Ky)
    psi = np.vstack([V, rows.T]) / np.sqrt(walk.degrees)[:, None]
    stepped = theory.walk_step(walk, psi)
    along = (stepped * psi).sum(axis=0) / (psi**2).sum(axis=0)
    off = np.linalg.norm(stepped - psi * along, axis=0) / np.linalg.norm(stepped, axis=0)
    assert off[1:4].min() > 0.05
    values, good = theory.singular_eigenpairs(walk)
    assert np.abs(theory.walk_step(walk, good) - good * values).max() < 1e-10


@pytest.mark.parametrize("est", [fitted(2, 0.3), fitted(3), fitted(2, fusion="sum")])
def test_other_walks_are_refused(est):
    with pytest.raises(ValueError, match="two views that never stays in a view"):
        theory.singular_eigenpairs(est)


def test_too_many_samples_are_refused(monkeypatch):
    monkeypatch.setattr(singular, "MAX_NODES", 40)
    with pytest.raises(ValueError, match=r"24 samples; take at most 20, or use solvers\.solve"):
        theory.singular_eigenpairs(fitted(2))
