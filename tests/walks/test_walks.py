"""Walks: products, degrees, pieces and hop matrices against dense blocks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.support import cases, oracles
from viewhop import affinity
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed
from viewhop.walks import ConcatWalk, HopWalk, ProductWalk, SumWalk, hop_matrix

pytestmark = pytest.mark.usefixtures("small_tiles")


def affinities(kernel, arrays):
    generator = np.random.default_rng(0)
    return [
        affinity.build_affinity(f"view{k}", kernel, X, generator=generator)
        for k, X in enumerate(arrays, start=1)
    ]


def dense(walk):
    return walk @ np.eye(walk.n_nodes)


@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
@pytest.mark.parametrize("eta", cases.ETAS)
@pytest.mark.parametrize("n_views", [1, 2, 3, 4])
def test_hop_walk_equals_dense_blocks(n_views, eta, name, holding, data):
    kernel = cases.kernel(name, holding)
    arrays = cases.views(data, n_views, kernel)
    held = affinities(kernel, arrays)
    walk = HopWalk(held, hop_matrix(n_views, within_view_weight=eta))
    K = [oracles.View(kernel, X, a.scale).K for X, a in zip(arrays, held, strict=True)]
    expected = oracles.hop_kernel(K, oracles.hop_matrix(n_views, eta))
    assert_allclose(dense(walk), expected, rtol=1e-8, atol=1e-300)
    assert_allclose(walk.degrees, expected.sum(axis=1), rtol=1e-8)
    assert_allclose(dense(walk) @ np.ones(walk.n_nodes) / walk.degrees, 1.0, rtol=1e-12)
    assert walk.pieces().max() + 1 == oracles.Chain(expected).n_pieces()


def test_any_symmetric_hop_matrix_equals_dense_blocks():
    rng = np.random.default_rng(0)
    arrays = cases.views("generic", 4, Gaussian())
    H = rng.uniform(0, 1, (4, 4))
    H = np.where(H + H.T > 0.8, H + H.T, 0.0) + np.diag([0, 0.5, 0, 2])
    held = affinities(Gaussian(), arrays)
    expected = oracles.hop_kernel([oracles.View(Gaussian(), X).K for X in arrays], H)
    assert_allclose(dense(HopWalk(held, H)), expected, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("fuse", [HopWalk, SumWalk, ProductWalk, ConcatWalk])
def test_the_normalised_operator_is_symmetric(fuse, holding, dtype):
    kernel = Gaussian(n_neighbors=cases.HOLDINGS[holding])
    walk = fuse(affinities(kernel, cases.views("generic", 3, kernel, dtype)))
    rng = np.random.default_rng(2)
    v, w = rng.standard_normal((2, walk.n_nodes))
    left, right = walk.normalized(v) @ w, v @ walk.normalized(w)
    assert_allclose(left, right, rtol=1e-10 if dtype == np.float64 else 1e-4)
    block = walk.normalized(np.column_stack([v, w]))
    assert_allclose(block[:, 0], walk.normalized(v), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_sum_walk_adds_the_kernels(name, holding, data):
    kernel = cases.kernel(name, holding)
    arrays = cases.views(data, 3, kernel)
    held = affinities(kernel, arrays)
    walk = SumWalk(held)
    expected = sum(oracles.View(kernel, X, a.scale).K for X, a in zip(arrays, held, strict=True))
    assert_allclose(dense(walk), expected, rtol=1e-9, atol=1e-300)
    assert walk.pieces().max() + 1 == oracles.Chain(expected).n_pieces()


@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_dense_product_walk_multiplies_entry_by_entry(name, data):
    kernel = cases.kernel(name, "dense")
    arrays = cases.views(data, 3, kernel)
    held = affinities(kernel, arrays)
    views = [oracles.View(kernel, X, a.scale) for X, a in zip(arrays, held, strict=True)]
    walk = ProductWalk(held)
    assert_allclose(dense(walk), np.prod([v.K for v in views], axis=0), rtol=1e-8, atol=1e-300)
    (rows,) = walk.against(dict(zip(walk.names, arrays, strict=True)))
    weights = rows.weights(np.zeros(cases.N))
    assert_allclose(weights, dense(walk), rtol=1e-7, atol=1e-300)


@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(n_neighbors=5, factor=1.5),
        Gaussian("local", n_neighbors=5, factor=1.5, alpha=1.0),
        Gaussian(2.0, n_neighbors=5, standardize=True),
    ],
    ids=["max-min", "local", "fixed"],
)
def test_sparse_product_walk_is_one_gaussian_of_the_scaled_views(kernel, data):
    arrays = cases.views(data, 3, kernel)
    walk = ProductWalk(affinities(kernel, arrays))
    parts = []
    for X in arrays:
        view = oracles.View(kernel, X)
        local = kernel.bandwidth == "local"
        sigma = np.median(view.sigma) / np.sqrt(kernel.factor) if local else view.sigma
        parts.append(view.F / sigma)
    joint = Gaussian(
        "local" if local else 1.0,
        factor=kernel.factor if local else 1.0,
        n_neighbors=5,
        alpha=kernel.alpha,
    )
    expected = oracles.View(joint, np.hstack(parts)).K
    assert_allclose(dense(walk), expected, rtol=1e-8, atol=1e-300)
    (rows,) = walk.against(dict(zip(walk.names, arrays, strict=True)))
    weights = rows.weights(np.zeros(cases.N))
    assert_allclose(weights @ np.eye(cases.N), expected, rtol=1e-8, atol=1e-300)


def test_dense_gaussian_product_is_the_gaussian_of_the_concatenation():
    arrays = cases.views("generic", 2, Gaussian(1.5))
    walk = ProductWalk(affinities(Gaussian(1.5), arrays))
    joint = oracles.View(Gaussian(1.5), np.hstack(arrays)).K
    assert_allclose(dense(walk), joint, rtol=1e-9)


@pytest.mark.parametrize(
    "kernels",
    [
        [Laplacian(n_neighbors=4), Laplacian(n_neighbors=4)],
        [Gaussian(n_neighbors=4), Correlation(n_neighbors=4)],
        [Gaussian(n_neighbors=4), Gaussian(n_neighbors=5)],
        [Gaussian(n_neighbors=4), Gaussian("local", n_neighbors=4)],
        [Gaussian(n_neighbors=4), Gaussian()],
    ],
)
def test_a_sparse_product_of_unlike_kernels_is_refused(kernels):
    arrays = cases.views("generic", 2, Gaussian())
    held = [affinities(k, [X])[0] for k, X in zip(kernels, arrays, strict=True)]
    with pytest.raises(ValueError, match="needs a Gaussian kernel with the same n_neighbors"):
        ProductWalk(held)


@pytest.mark.parametrize(
    ("H", "message"),
    [
        (np.ones((3, 3)), r"\(2, 2\)"),
        ([[0, 1], [2, 0]], "symmetric"),
        ([[0, -1], [-1, 0]], "non-negative"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([[1, 0], [0, 0]], "row 1 of hops is all zero"),
    ],
)
def test_an_impossible_hop_matrix_is_refused(H, message):
    held = affinities(Gaussian(), cases.views("generic", 2, Gaussian()))
    with pytest.raises(ValueError, match=message):
        HopWalk(held, H)


@pytest.mark.parametrize("H", [None, np.eye(3), np.ones((3, 3)), [[0, 1, 0], [1, 0, 1], [0, 1, 0]]])
def test_the_number_of_positive_eigenvalues_is_bounded_by_the_hop_matrix(H):
    # A kernel close to the identity attains the bound.
    arrays = cases.views("generic", 3, Gaussian())
    walk = HopWalk(affinities(Gaussian(factor=0.1), arrays), H)
    chain = oracles.Chain(dense(walk))
    assert walk.max_coordinates == (chain.eigenvalues > 1e-12).sum()


def test_two_views_that_never_stay_have_a_symmetric_spectrum():
    walk = HopWalk(affinities(Gaussian(), cases.views("generic", 2, Gaussian())))
    values = np.append(oracles.Chain(dense(walk)).eigenvalues, 1.0)
    assert_allclose(np.sort(values), np.sort(-values), atol=1e-12)
    assert walk.is_cross
    assert not HopWalk(walk.affinities, hop_matrix(2, within_view_weight=0.1)).is_cross


def test_cross_is_the_normalised_off_diagonal_block():
    walk = HopWalk(affinities(Gaussian(), cases.views("generic", 2, Gaussian())), [[0, 3], [3, 0]])
    chain = oracles.Chain(dense(walk))
    block = chain.A[: cases.N, cases.N :]
    assert_allclose(walk.reduced.forward(np.eye(cases.N)), block, rtol=1e-10)
    assert_allclose(walk.reduced.backward(np.eye(cases.N)), block.T, rtol=1e-10)
    assert_allclose(walk.reduced.forward(np.ones(cases.N)), block.sum(axis=1), rtol=1e-10)


def test_pieces_are_counted_without_forming_the_kernel():
    # Two clusters that both views keep apart, and a third that only view 1 keeps apart.
    rng = np.random.default_rng(0)
    shift = np.repeat([0.0, 1e3, 2e3], 8)[:, None]
    x = rng.standard_normal((24, 2)) + shift
    y = rng.standard_normal((24, 2)) + np.where(shift == 2e3, 1e3, shift)
    kernel = Gaussian(1.0, n_neighbors=None)
    walk = HopWalk(affinities(kernel, [x, y]))
    labels = walk.pieces()
    assert labels.max() == 1
    assert_array_equal(labels[:24], labels[24:])
    assert_array_equal(labels[:8], 0)
    assert_array_equal(labels[8:24], 1)
    alone = HopWalk(walk.affinities, np.eye(2))
    assert alone.pieces().max() + 1 == 3 + 2


def test_views_of_a_kernel_with_an_empty_diagonal_pattern_are_counted_right():
    # A neighbour kernel may leave out the diagonal of an unnormalised precomputed kernel.
    K = np.array([[0.1, 5, 0, 0], [5, 0.1, 0, 0], [0, 0, 0.1, 7], [0, 0, 7, 0.1]], dtype=float)
    walk = HopWalk(affinities(Precomputed(n_neighbors=1), [K, K]))
    assert walk.pieces().max() + 1 == oracles.Chain(dense(walk)).n_pieces()
