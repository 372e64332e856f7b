"""The incomplete Cholesky factor against LAPACK, and as a kernel of few columns."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg.lapack import dpstrf

from tests.support import oracles
from viewhop import affinity
from viewhop.affinity._cholesky import incomplete_cholesky
from viewhop.affinity._low_rank import factorise_kernel
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

N = 90

SEMIDEFINITE = {
    "max-min": Gaussian(factor=2.0),
    "fixed": Gaussian(2.5),
    "cosine": Gaussian(metric="cosine"),
    "standardized": Gaussian(1.0, standardize=True),
    "laplacian": Laplacian(),
    "correlation": Correlation(factor=0.5),
}


def rows(seed=0, width=4):
    """Shifted and scaled samples with one row twice."""
    X = 30.0 + 2.0 * np.random.default_rng(seed).standard_normal((N, width))
    X[N // 2] = X[3]
    return X


def matrix(seed=0, width=None):
    """A positive semi-definite matrix with a diagonal that is not constant."""
    B = np.random.default_rng(seed).standard_normal((N, N if width is None else width))
    return B @ (B * np.geomspace(1, 1e-3, B.shape[1])).T


def factor(K, **options):
    return incomplete_cholesky(K.diagonal(), lambda j: K[:, j], **options)


def lapack(K, tol=-1.0):
    """Factor in the order of the samples, and pivots, by LAPACK's pstrf."""
    c, order, rank, _ = dpstrf(K, tol=tol, lower=1)
    G = np.zeros_like(K)
    G[order - 1] = np.tril(c)
    return G[:, :rank], order[:rank] - 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", [None, 20])
def test_factor_and_pivots_are_those_of_lapack(seed, width):
    K = matrix(seed, width)
    expected, pivots = lapack(K)
    found = factor(K, rank=N)
    assert found.pivots.size == (width or N)
    assert_array_equal(found.pivots, pivots)
    assert_allclose(found.rows, expected, atol=1e-7 * np.sqrt(K.max()))
    assert_allclose(found.rows @ found.rows.T, K, atol=1e-11 * K.max())


@pytest.mark.parametrize("rank", [1, 7, 40])
def test_lower_rank_is_the_beginning_of_the_whole_factor(rank):
    K = matrix()
    whole, part = factor(K, rank=N), factor(K, rank=rank)
    assert_array_equal(part.pivots, whole.pivots[:rank])
    assert_array_equal(part.rows, whole.rows[:, :rank])
    assert_allclose(part.remainder, np.diag(K - part.rows @ part.rows.T), atol=1e-12 * K.max())


@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_factor_ends_at_the_tolerance_as_lapack_does(tol):
    K = matrix()
    found = factor(K, rank=N, tol=tol)
    expected, pivots = lapack(K, tol=tol * K.diagonal().max())
    assert_array_equal(found.pivots, pivots)
    assert_allclose(found.rows, expected, atol=1e-9)
    assert found.remainder.max() <= tol * K.diagonal().max()
    assert np.sqrt(tol * K.diagonal().max()) < found.rows[found.pivots[-1], -1]


def test_pivots_have_a_lower_triangle_with_falling_diagonal():
    found = factor(matrix(), rank=N)
    triangle = found.rows[found.pivots]
    assert_array_equal(np.triu(triangle, 1), np.zeros_like(triangle))
    assert (np.diff(triangle.diagonal()) <= 0).all()


def test_first_of_equal_diagonal_entries_is_the_pivot():
    assert_array_equal(factor(np.eye(5), rank=3).pivots, [0, 1, 2])
    assert_array_equal(factor(np.diag([1.0, 3.0, 2.0, 3.0]), rank=4).pivots, [1, 3, 2, 0])


def test_only_the_columns_of_the_pivots_are_computed():
    K, asked = matrix(), []

    def column(j):
        asked.append(j)
        return K[:, j]

    found = incomplete_cholesky(K.diagonal(), column, rank=11)
    assert asked == found.pivots.tolist()


def test_a_matrix_that_is_not_semidefinite_is_refused():
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        factor(K, rank=3)


def test_diagonal_and_columns_are_left_as_they_were():
    K = matrix()
    before = K.copy()
    factor(K, rank=20)
    assert_array_equal(K, before)


def held(name, X, **options):
    options = {"rank": len(X), "generator": np.random.default_rng(0)} | options
    return factorise_kernel("rna", SEMIDEFINITE[name], X, **options)


@pytest.mark.parametrize("name", SEMIDEFINITE)
def test_full_rank_gives_the_kernel(name):
    X = rows()
    found = held(name, X)
    K = oracles.View(SEMIDEFINITE[name], X).K
    assert_allclose(found.rows @ found.rows.T, K, atol=1e-12)
    assert found.left_out < 1e-13


@pytest.mark.parametrize("name", SEMIDEFINITE)
@pytest.mark.parametrize("rank", [5, N])
def test_training_samples_get_their_own_factor_rows(name, rank):
    X = rows()
    found = held(name, X, rank=rank)
    again, far = found.pivots.against(X)
    assert_allclose(again, found.rows, atol=1e-8)
    assert not far.any()
    single = np.vstack([found.pivots.against(X[i : i + 1])[0] for i in range(N)])
    assert_allclose(single, again, atol=1e-8)


@pytest.mark.parametrize("name", SEMIDEFINITE)
def test_rows_of_new_samples_reproduce_the_kernel_at_the_pivots(name):
    X, new = rows(), rows(seed=1)[:9]
    found = held(name, X, rank=12)
    expected = oracles.View(SEMIDEFINITE[name], X).rows(new)
    G = found.pivots.against(new)[0]
    whole = factor(oracles.View(SEMIDEFINITE[name], X).K, rank=12)
    assert_allclose(G @ found.rows[whole.pivots].T, expected[:, whole.pivots], atol=1e-11)


def test_log_log_scale_is_that_of_the_dense_kernel():
    X, kernel = rows(), Gaussian("log-log")
    found = factorise_kernel("rna", kernel, X, rank=N, generator=np.random.default_rng(0))
    dense = affinity.build_affinity("rna", kernel, X, generator=np.random.default_rng(0))
    assert_allclose(found.pivots.scale, dense.scale, rtol=1e-12)
    assert_allclose(found.rows @ found.rows.T, dense.full(), atol=1e-10)


def test_precomputed_kernel_gives_the_same_factor():
    X, new = rows(), rows(seed=1)[:9]
    kernel = Gaussian(2.5)
    direct = held("fixed", X, rank=20)
    view = oracles.View(kernel, X)
    given = factorise_kernel(
        "rna", Precomputed(), view.K, rank=20, generator=np.random.default_rng(0)
    )
    assert_allclose(given.rows, direct.rows, atol=1e-10)
    block = view.rows(new)
    assert_allclose(given.pivots.against(block)[0], direct.pivots.against(new)[0], atol=1e-10)
    assert np.isnan(given.pivots.scale)


def test_fixed_bandwidth_looks_for_no_neighbours(monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("a neighbour search")

    monkeypatch.setattr("viewhop.affinity._low_rank.find_neighbourhoods", never)
    assert held("fixed", rows(), rank=10).pivots.scale == 2.5
    with pytest.raises(AssertionError, match="a neighbour search"):
        held("max-min", rows(), rank=10)


def test_share_of_the_trace_that_is_left_out_falls_with_the_rank():
    X = rows()
    shares = [held("max-min", X, rank=rank).left_out for rank in (1, 5, 20, 60)]
    K = oracles.View(SEMIDEFINITE["max-min"], X).K
    G = held("max-min", X, rank=20).rows
    assert_allclose(shares[2], 1 - (G**2).sum() / np.trace(K), atol=1e-12)
    assert (np.diff(shares) < 0).all()


def test_sample_far_from_all_pivots_is_told():
    X = rows()
    far = held("fixed", X, rank=30).pivots.against(np.vstack([X[:2], X[:1] + 1e3]))[1]
    assert_array_equal(far, [False, False, True])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(n_neighbors=5), "'rna' keeps 5 neighbours.*not positive semi-definite"),
        (Precomputed(n_neighbors=5), "'rna' keeps 5 neighbours.*not positive semi-definite"),
        (Gaussian("local"), "'rna' has a scale per sample.*not positive semi-definite"),
        (Gaussian(alpha=1.0), "'rna' divides by densities.*alpha=0"),
        (Gaussian(1e-9), "'rna' underflows to the identity.*larger bandwidth"),
    ],
)
def test_a_kernel_without_a_useful_factor_is_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        factorise_kernel("rna", kernel, rows(), rank=5, generator=np.random.default_rng(0))


def test_constant_view_is_refused_whatever_the_bandwidth():
    for kernel in (Gaussian(), Gaussian(2.0)):
        with pytest.raises(ValueError, match="'rna' is constant"):
            factorise_kernel(
                "rna", kernel, np.ones((9, 2)), rank=5, generator=np.random.default_rng(0)
            )


def test_given_kernel_that_is_not_semidefinite_is_refused():
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    with pytest.raises(ValueError, match="kernel of view 'rna': it is not positive semi-def"):
        factorise_kernel("rna", Precomputed(), K, rank=3, generator=np.random.default_rng(0))


def test_progress_counts_columns():
    told = []
    held("fixed", rows(), rank=6, progress=lambda *step: told.append(step))
    assert told == [("kernel of rna", k, 6) for k in range(1, 7)]
