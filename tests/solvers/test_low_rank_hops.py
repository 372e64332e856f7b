"""Hop matrices H = F Fᵀ of rank p below the number of views, solved on p copies of the samples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from tests.solvers.test_solvers import check_against_oracle
from tests.support import oracles
from tests.walks.test_hub import CASES, dense_hop_kernel, three_views
from viewhop.affinity import build_affinity
from viewhop.kernels import Gaussian
from viewhop.solvers import _auto, solve
from viewhop.views import RowMap
from viewhop.walks import HopWalk, hop_matrix, low_rank_factor

GROUPS = np.kron([[1.0, 0.2], [0.2, 0.5]], np.ones((2, 2)))
TWO_WEIGHTS = np.outer([1.0, 0.5, 0.2], [1.0, 0.5, 0.2]) + np.outer([0, 1, 1], [0, 1, 1])


def walk_over(case, kernel, hops=TWO_WEIGHTS):
    views = three_views()
    rows = CASES[case](np.random.default_rng(0))
    rows = RowMap.whole(3, len(views[0])) if rows is None else rows
    affinities = [build_affinity(f"v{l}", kernel, rows.gathered(l, X)) for l, X in enumerate(views)]
    return HopWalk(affinities, hops, rows)


@pytest.mark.parametrize(
    ("hops", "rank"),
    [
        (np.ones((4, 4)), 1),
        (GROUPS, 2),
        (TWO_WEIGHTS, 2),
        (np.kron(np.eye(3), np.ones((2, 2))), 3),
        (1e-200 * GROUPS, 2),
    ],
)
def test_a_factor_has_as_many_columns_as_the_rank(hops, rank):
    factor = low_rank_factor(hops)
    assert factor.shape == (len(hops), rank)
    assert_allclose(factor @ factor.T, hops, rtol=0, atol=1e-14 * hops.max())


@pytest.mark.parametrize(
    "hops",
    [
        np.eye(2),
        np.ones((1, 1)),
        hop_matrix(3),
        hop_matrix(3, within_view_weight=0.4),
        hop_matrix(3, within_view_weight=0.6),
        np.array([[0.0, 1, 1], [1, 0, 0], [1, 0, 0]]),  # a star of sensors: of rank 2, indefinite
    ],
)
def test_full_rank_and_negative_eigenvalues_have_no_factor(hops):
    assert low_rank_factor(hops) is None


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "kernel",
    [Gaussian(factor=0.5), Gaussian("local", n_neighbors=8, alpha=1.0)],
    ids=["dense", "sparse"],
)
def test_the_factor_is_that_of_the_dense_matrix(case, kernel):
    walk = walk_over(case, kernel)
    K = dense_hop_kernel(walk)
    root = np.sqrt(K.sum(axis=1))
    C = walk.factored.forward(np.eye(walk.factored.shape[1]))
    assert C.shape == (walk.n_nodes, 2 * walk.n_samples)
    assert_allclose(C @ C.T, K / root / root[:, None], rtol=0, atol=1e-13)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov"])
def test_its_spectrum_is_that_of_the_dense_matrix(case, dtype, solver, monkeypatch):
    monkeypatch.setattr(_auto, "DENSE_NODES", 0)
    views = [X.astype(dtype) for X in three_views()]
    rows = CASES[case](np.random.default_rng(0))
    rows = RowMap.whole(3, len(views[0])) if rows is None else rows
    kernel = Gaussian("local", n_neighbors=8)
    affinities = [build_affinity(f"v{l}", kernel, rows.gathered(l, X)) for l, X in enumerate(views)]
    walk = HopWalk(affinities, TWO_WEIGHTS, rows)
    spectrum = solve(walk, 6, solver=solver)
    atol = 1e-8 if dtype == np.float64 else 1e-4
    values = oracles.Chain(dense_hop_kernel(walk).astype(np.float64)).eigenvalues[:6]
    assert_allclose(spectrum.eigenvalues, values, rtol=0, atol=atol)
    assert_allclose(spectrum.residuals, 0, atol=10 * atol)
    if case == "complete":
        check_against_oracle(walk, spectrum, 6, atol=atol)


def test_vectors_have_one_entry_per_sample_and_column(monkeypatch):
    from viewhop.solvers import _krylov

    seen = []
    original = _krylov.BlockKrylov.__init__

    def note(self, operator):
        seen.append(operator.n)
        original(self, operator)

    monkeypatch.setattr(_krylov.BlockKrylov, "__init__", note)
    monkeypatch.setattr(_auto, "DENSE_NODES", 0)
    walk = walk_over("complete", Gaussian("local", n_neighbors=8))
    solve(walk, 3, solver="krylov", tol=1e-6)
    solve(walk_over("complete", Gaussian(factor=0.5)), 3)  # "auto" on full kernels
    assert seen == [2 * walk.n_samples] * 2
    size = HopWalk.size(60, [60] * 3, hops=TWO_WEIGHTS, is_dense=False)
    assert size.n_solved == 2 * walk.n_samples


def test_views_that_few_samples_have_are_solved_on_their_nodes():
    views = three_views()
    rows = RowMap([60, 20, 20], [None, np.arange(20), np.arange(20, 40)], 60)
    kernel = Gaussian("local", n_neighbors=8)
    affinities = [build_affinity(f"v{l}", kernel, rows.gathered(l, X)) for l, X in enumerate(views)]
    assert HopWalk(affinities, TWO_WEIGHTS, rows).factored is None  # 100 nodes, 120 entries


@pytest.mark.parametrize("r", [1, 4])
def test_a_guess_is_carried_over(r):
    walk = walk_over("missing", Gaussian("local", n_neighbors=8))
    cold = solve(walk, r, solver="krylov", tol=1e-8)
    warm = solve(walk, r, solver="krylov", tol=1e-8, start=cold.eigenvectors)
    assert_allclose(warm.eigenvalues, cold.eigenvalues, rtol=1e-10)
    assert warm.n_products < cold.n_products


def test_an_estimator_takes_such_a_matrix():
    views = three_views(n=200)
    kernel = Gaussian("local", n_neighbors=8)
    krylov, dense = (
        vh.MultiViewDiffusionMaps(3, kernel=kernel, hops=TWO_WEIGHTS, solver=solver).fit(views)
        for solver in ("krylov", "dense")
    )
    assert_allclose(krylov.eigenvalues_, dense.eigenvalues_, rtol=1e-10)
    assert_allclose(np.abs(krylov.embedding_), np.abs(dense.embedding_), atol=1e-7)
