"""Every walk is a random walk, and data without variety have a finite result or a clear error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from tests.support import cases
from viewhop.errors import DisconnectedWarning, FarSampleWarning
from viewhop.kernels import Gaussian, Precomputed

WALKS = {
    "weights": {"view_weights": [1.0, 0.3]},
    "eta 0": {"within_view_weight": 0.0},
    "eta 0.3": {"within_view_weight": 0.3},
    "eta 1": {"within_view_weight": 1.0},
    "sum": {"fusion": "sum"},
    "product": {"fusion": "product"},
    "concat": {"fusion": "concat"},
    "alternating": {"fusion": "alternating"},
    "integrated": {"fusion": "integrated"},
    "composite": {"fusion": "composite"},
}
#: Those that are random walks.
CHAINS = [name for name in WALKS if name != "composite"]


def fitted(kernel, walk, X):
    est = vh.MultiViewDiffusionMaps(1, kernel=kernel, random_state=0, **WALKS[walk])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        return est.fit(X)


@pytest.mark.parametrize("walk", CHAINS)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_rows_sum_to_one_and_no_eigenvalue_exceeds_one(name, holding, walk):
    kernel = cases.kernel(name, holding)
    is_joined = walk == "concat" or (walk == "product" and holding == "sparse")
    if is_joined and name not in cases.JOINED:
        pytest.skip("only Euclidean Gaussians are one kernel of all views side by side")
    chain = fitted(kernel, walk, cases.views("generic", 2, kernel)).walk_
    every = np.eye(chain.n_nodes)
    assert_allclose(chain.mass_after_step(every).sum(axis=0), 1.0, rtol=1e-12)
    A = chain.normalized(every)
    values = np.linalg.eigvalsh(0.5 * (A + A.T))
    assert_allclose(values[-1], 1.0, atol=1e-10)
    assert values[0] >= -1.0 - 1e-10
    assert_allclose(A, A.T, atol=1e-14)
    root = np.sqrt(chain.stationary)
    assert_allclose(A @ root, root, atol=1e-12)  # ψ_0 ≡ 1 has λ_0 = 1


@pytest.mark.parametrize("walk", [name for name in WALKS if name != "weights"])
def test_no_steps_give_the_eigenvectors(walk):
    kernel = Gaussian(factor=0.3)
    est = fitted(kernel, walk, cases.views("generic", 2, kernel))
    psi = est.spectrum_.eigenvectors[: cases.N]
    assert_allclose(est.coordinates(0)[:, :1], psi, rtol=1e-8, atol=1e-10)
    for t in (1e-9, 0.5, np.pi, 17.3):
        assert_allclose(est.coordinates(t)[:, :1], psi * est.eigenvalues_**t, rtol=1e-8, atol=1e-10)


#: Views without variety, or with little.
POOR = {
    "constant": lambda X: np.ones_like(X),
    "zero": lambda X: np.zeros_like(X),
    "doubled": lambda X: np.repeat(X[: len(X) // 2], 2, axis=0),
    "two values": lambda X: np.where(np.arange(len(X))[:, None] % 2, 1.0, 2.0) * np.ones_like(X),
    "one other": lambda X: np.where(np.arange(len(X))[:, None] == 3, 1.0, 0.0) * np.ones_like(X),
    "far": lambda X: np.vstack([X[:-1], X[-1:] + 1e6]),
}


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("name", cases.KERNELS)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("data", POOR)
def test_a_view_without_variety_has_a_finite_result_or_an_error_that_names_it(
    data, holding, name, walk
):
    kernel = cases.kernel(name, holding)
    if isinstance(kernel, Precomputed):
        pytest.skip("a kernel matrix is not made of such rows")
    first, second = cases.views("generic", 2, kernel)
    X = {"rich": first, "poor": POOR[data](second)}
    try:
        est = fitted(kernel, walk, X)
    except ValueError as error:
        message = str(error)
        assert "'poor'" in message or "'rich'" in message or f'fusion="{walk}"' in message
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FarSampleWarning)
        for Z in (est.embedding_, est.transform(X)):
            assert np.isfinite(Z).all()


def test_a_sample_apart_is_announced_with_its_view_and_row():
    first, second = cases.views("generic", 2, Gaussian())
    second[7] += 1e6
    with pytest.warns(DisconnectedWarning, match="row 7 in view 'b'"):
        vh.MultiViewDiffusionMaps(2, kernel=Gaussian(3.0), within_view_weight=1.0).fit(
            {"a": first, "b": second}
        )
