"""The alternating walk against the product of dense transition matrices."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from tests.support import cases, oracles
from tests.walks.test_walks import affinities, dense
from viewhop.kernels import Gaussian
from viewhop.solvers import choose_solver, solve
from viewhop.walks import AlternatingWalk

TOLERANCE = {np.float64: 1e-8, np.float32: 1e-4}
pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")


def chained(kernel, X, scales=None):
    """P = P^1 … P^L, with dense matrices."""
    P = np.eye(len(X[0]))
    for k, x in enumerate(X):
        K = oracles.View(kernel, x, None if scales is None else scales[k]).K
        P = P @ (K / K.sum(axis=1)[:, None])
    return P


@pytest.mark.parametrize("n_views", [1, 2, 3])
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_the_walk_is_the_product_of_the_views_walks(holding, data, n_views):
    kernel = Gaussian(n_neighbors=cases.HOLDINGS[holding])
    X = cases.views(data, n_views, kernel)
    walk = AlternatingWalk(affinities(kernel, X))
    P = chained(kernel, X)
    n = cases.N
    block = P / n
    expected = np.block([[np.zeros((n, n)), block], [block.T, np.zeros((n, n))]])
    assert_allclose(dense(walk), expected, rtol=1e-8, atol=1e-300)
    q = P.sum(axis=0) / n
    assert_allclose(walk.degrees, np.concatenate([np.full(n, 1 / n), q]), rtol=1e-9)
    B = P / np.sqrt(n) / np.sqrt(q)
    assert_allclose(walk.reduced.forward(np.eye(n)), B, rtol=1e-8, atol=1e-300)
    assert_allclose(walk.reduced.backward(np.ones(n)), B.sum(axis=0), rtol=1e-8)
    assert walk.pieces().max() + 1 == oracles.Chain(expected).n_pieces()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov", "svd"])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_coordinates_are_weighted_singular_vectors(holding, solver, dtype):
    kernel = Gaussian(n_neighbors=cases.HOLDINGS[holding])
    X = cases.views("generic", 3, kernel, dtype)
    est = vh.MultiViewDiffusionMaps(
        3, kernel=kernel, fusion="alternating", solver=solver, random_state=0
    ).fit(X)
    P = chained(kernel, X)
    q = P.mean(axis=0)
    U, sigma, _ = np.linalg.svd(P / np.sqrt(cases.N) / np.sqrt(q))
    atol = TOLERANCE[dtype]
    assert_allclose(sigma[0], 1.0, atol=1e-12)
    assert_allclose(est.eigenvalues_, sigma[1:4], atol=atol)
    psi = U[:, 1:4] * np.sqrt(cases.N)
    signs = np.sign((psi * est.embedding_).sum(axis=0))
    assert_allclose(est.embedding_, psi * signs * sigma[1:4], atol=100 * atol)
    assert [*est.get_feature_names_out()] == ["fused_1", "fused_2", "fused_3"]
    for Z in est.view_embeddings_.values():
        assert_allclose(Z, est.embedding_, atol=0)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_transform_from_the_first_view_repeats_the_embedding(name, holding, data, dtype):
    kernel = cases.kernel(name, holding)
    X = cases.views(data, 2, kernel, dtype)
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel, fusion="alternating", random_state=0).fit(X)
    size = np.abs(est.embedding_).max()
    assert_allclose(est.transform([X[0], None]), est.embedding_, atol=TOLERANCE[dtype] * size)


def test_a_new_sample_needs_the_first_view():
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps(2, fusion="alternating").fit({"a": X[0], "b": X[1]})
    with pytest.raises(ValueError, match="starts in view 'a'"):
        est.transform({"b": X[1]})


def test_the_order_of_the_views_matters():
    X = cases.views("generic", 2, Gaussian())
    one, other = (
        vh.MultiViewDiffusionMaps(1, kernel="gaussian", fusion="alternating").fit(x)
        for x in (X, X[::-1])
    )
    assert np.abs(one.embedding_ - other.embedding_).max() > 1e-3


def test_auto_takes_the_svd_for_neighbours():
    X = [np.random.default_rng(k).standard_normal((600, 3)) for k in range(3)]
    walk = AlternatingWalk(affinities(Gaussian(n_neighbors=8), X))
    assert choose_solver(walk, 3) == "svd"
    spectrum = solve(walk, 3)
    assert_allclose(spectrum.residuals, 0, atol=1e-10)


def test_what_only_one_view_sees_is_forgotten():
    # The common variable is kept, the private ones of both views are averaged away.
    rng = np.random.default_rng(0)
    common = rng.uniform(0, 1, 500)
    X = [np.column_stack([common, rng.uniform(0, 1, 500)]) for _ in range(2)]
    Z = vh.MultiViewDiffusionMaps(1, kernel=Gaussian(0.1), fusion="alternating").fit_transform(X)
    assert abs(np.corrcoef(Z[:, 0], np.cos(np.pi * common))[0, 1]) > 0.95
