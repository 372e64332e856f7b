"""Coarse to fine: the same spectrum, from fewer passes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from viewhop import affinity, solvers
from viewhop.errors import ConvergenceError
from viewhop.kernels import Gaussian, Precomputed
from viewhop.solvers import _multilevel as coarse
from viewhop.views._rows import RowMap
from viewhop.walks import (
    AlternatingWalk,
    CompositeWalk,
    ConcatWalk,
    HopWalk,
    IntegratedWalk,
    ProductWalk,
    SumWalk,
)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(coarse, "LEAST_SAMPLES", 60)
    monkeypatch.setattr(coarse, "FEWEST", 40)
    monkeypatch.setattr("viewhop.affinity._tiles.SIDE", 64)


def square(n, seed=0):
    """Two maps of a square."""
    u = np.random.default_rng(seed).uniform(0, 1, (n, 2))
    return [u, np.column_stack([np.exp(u[:, 0]), u[:, 1] + 0.2 * u[:, 0]])]


def affinities(kernel, views, dtype=np.float64):
    return [
        affinity.build_affinity(
            f"view{l}", kernel, X.astype(dtype), generator=np.random.default_rng(0)
        )
        for l, X in enumerate(views)
    ]


def projector(walk, spectrum, r):
    unit = spectrum.eigenvectors[:, :r] * np.sqrt(walk.stationary)[:, None]
    return unit @ unit.T


WALKS = {
    "hop": HopWalk,
    "staying hop": lambda K: HopWalk(K, np.ones((2, 2))),
    "three views": lambda K: HopWalk([*K, K[0]]),
    "sum": SumWalk,
    "product": ProductWalk,
    "concat": ConcatWalk,
    "alternating": AlternatingWalk,
    "integrated": lambda K: IntegratedWalk(K, (2, 1)),
    "composite": CompositeWalk,
}


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("k", [None, 8])
def test_the_spectrum_is_the_one_without_a_coarse_start(name, k):
    kernel = Gaussian(0.15, n_neighbors=k)
    walk = WALKS[name](affinities(kernel, square(400)))
    expected = solvers.solve(walk, 6, solver="dense")
    found = coarse.solve_multilevel(walk, 6, solver="krylov", generator=np.random.default_rng(1))
    assert found.solver == "krylov"
    assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-10)
    assert_allclose(projector(walk, found, 6), projector(walk, expected, 6), atol=1e-7)
    assert_allclose(found.stationary, walk.stationary, rtol=1e-12)
    assert found.residuals.max() < 1e-11
    # The sign rule holds in the order of the samples, not in that of the levels.
    size = np.abs(found.eigenvectors)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    assert (found.eigenvectors[first, np.arange(6)] > 0).all()


@pytest.mark.parametrize("k", [None, 8])
def test_a_walk_in_pieces_keeps_its_ones(k):
    views = square(300)
    views = [np.vstack([X, X + 50.0]) for X in views]
    walk = HopWalk(affinities(Gaussian(0.15, n_neighbors=k), views))
    found = coarse.solve_multilevel(walk, 5, solver="krylov", pieces=walk.pieces())
    expected = solvers.solve(walk, 5, solver="dense")
    assert found.eigenvalues[0] == 1.0
    assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-9)
    assert_allclose(projector(walk, found, 5), projector(walk, expected, 5), atol=1e-6)


def blocks_until_found(solve, **how):
    told = []
    solve(progress=lambda *step: told.append(step), **how)
    return len(told)


@pytest.mark.parametrize("k", [None, 10])
def test_a_coarse_start_saves_passes_over_the_kernels(k):
    walk = HopWalk(affinities(Gaussian(0.06, n_neighbors=k), square(2000)))

    def plain(progress):
        solvers.solve(walk, 6, solver="krylov", tol=1e-3, progress=progress)

    def started(progress):
        coarse.solve_multilevel(walk, 6, solver="krylov", tol=1e-3, progress=progress)

    assert blocks_until_found(started) < blocks_until_found(plain)


def test_the_same_seed_gives_the_same_bits():
    walk = HopWalk(affinities(Gaussian(0.15, n_neighbors=8), square(400)))
    one, two = (
        coarse.solve_multilevel(walk, 4, solver="krylov", generator=np.random.default_rng(3))
        for _ in "ab"
    )
    assert_array_equal(one.eigenvectors, two.eigenvectors)


def test_other_solvers_and_known_pairs_need_no_coarse_start(monkeypatch):
    def refuse(*args):
        raise AssertionError("a coarse start was made")

    walk = HopWalk(affinities(Gaussian(0.15, n_neighbors=8), square(400)))
    known = coarse.solve_multilevel(walk, 3, solver="krylov", tol=1e-6)
    monkeypatch.setattr(coarse, "_levels", refuse)
    expected = coarse.solve_multilevel(walk, 6, solver="svd")
    found = coarse.solve_multilevel(walk, 6, solver="krylov", known=known)
    assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-10)


def test_known_pairs_are_a_start():
    walk = HopWalk(affinities(Gaussian(0.15), square(400)))
    known = coarse.solve_multilevel(walk, 6, solver="krylov", tol=1e-8)
    again = coarse.solve_multilevel(walk, 6, solver="krylov", tol=1e-6, known=known)
    assert again.n_products < 0.6 * known.n_products


def test_samples_join_the_group_that_they_are_most_like():
    K = [k.values for k in affinities(Gaussian(0.15, n_neighbors=8), square(400))]
    label = coarse.merge_samples(K, np.random.default_rng(0))
    assert_array_equal(np.unique(label), np.arange(label.max() + 1))
    assert 400 / 20 < label.max() + 1 < 400 / 4
    both = (K[0] + K[1]).toarray() > 0
    for group in range(label.max() + 1):
        members = np.flatnonzero(label == group)
        reached = both[np.ix_(members, members)].any(axis=0)
        assert reached.all()


def test_samples_without_neighbours_are_not_merged():
    lonely = affinities(Precomputed(n_neighbors=1), [np.eye(100), np.eye(100)])
    assert_array_equal(
        np.sort(coarse.merge_samples([K.values for K in lonely], np.random.default_rng(0))),
        np.arange(100),
    )
    assert coarse._levels(lonely, RowMap.whole(2, 100), np.random.default_rng(0)) == []


def test_levels_stand_in_the_order_that_they_merge_in():
    near = affinities(Gaussian(0.15, n_neighbors=8), square(1500))
    levels = coarse._levels(near, RowMap.whole(2, 1500), np.random.default_rng(0))
    assert len(levels) > 1
    order, moved = coarse._order_levels(levels)
    assert_array_equal(np.sort(order), np.arange(1500))
    for label, _, _ in moved:
        assert (np.diff(label) >= 0).all()
    # Each level is the finer one, merged.
    finer = [K.reorder(order) for K in near]
    for label, kernels, _ in moved:
        for fine, small in zip(finer, kernels, strict=True):
            full = fine.values.toarray()
            summed = np.zeros((label.max() + 1, full.shape[1]))
            np.add.at(summed, label, full)
            both = np.zeros((label.max() + 1,) * 2)
            np.add.at(both.T, label, summed.T)
            assert_allclose(small.values.toarray(), both, rtol=1e-10)
        finer = kernels


def test_reordered_kernels_are_the_same_kernels():
    (K,) = affinities(Gaussian(0.15, n_neighbors=8), square(100)[:1])
    order = np.random.default_rng(0).permutation(100)
    moved = K.reorder(order)
    assert_array_equal(moved.values.toarray(), K.values.toarray()[np.ix_(order, order)])
    with pytest.raises(TypeError, match="cannot be compared"):
        moved.against(np.zeros((1, 2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_subset_stands_for_all_with_its_own_diagonal(dtype):
    (K,) = affinities(Gaussian(0.15), square(200)[:1], dtype)
    chosen = np.arange(0, 200, 4)
    part = K.subset(chosen).full()
    expected = K.full()[np.ix_(chosen, chosen)]
    expected[np.diag_indices(50)] *= 0.25
    assert_allclose(part, expected, rtol=1e-6)
    rows = K.subset_rows(1, chosen)
    assert_allclose(rows.weights(np.zeros(rows.n_rows)), K.full()[64:128][:, chosen], rtol=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("kernel", [Gaussian(0.15), Gaussian(0.15, n_neighbors=8)], ids=["d", "s"])
def test_a_coarse_walk_that_does_not_converge_is_no_start(kernel, missing, monkeypatch):
    seen = np.random.default_rng(0).random((400, 2)) >= missing
    seen[~seen.any(axis=1)] = True
    samples = [np.flatnonzero(column) for column in seen.T]
    rows = RowMap([part.size for part in samples], samples, 400)
    held = [X[part] for X, part in zip(square(400), samples, strict=True)]
    walk = HopWalk(affinities(kernel, held), rows=rows)
    expected = coarse.solve_multilevel(walk, 4, solver="lanczos")
    monkeypatch.setattr(coarse, "LEAST_SAMPLES", 100)
    monkeypatch.setattr(coarse, "FEWEST", 100)
    solve = solvers.solve

    def unfinished(small, *args, **how):
        if small.n_samples < 400:
            raise ConvergenceError("not today", None)
        assert how["start"] is None
        return solve(small, *args, **how)

    monkeypatch.setattr(solvers, "solve", unfinished)
    found = coarse.solve_multilevel(walk, 4, solver="krylov", tol=1e-8)
    assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-9)


@pytest.mark.parametrize(
    "samples", [[0, 2, 3, 6], [3, 0, 6, 2], [0, 2, 2, 6]], ids=["sorted", "moved", "repeated"]
)
def test_a_kernel_between_rows_is_put_between_samples(samples):
    K = np.random.default_rng(0).random((4, 4))
    K = np.where(K + K.T > 0.8, K + K.T, 0.0)
    rows = RowMap([4], [np.array(samples)], 7)
    place = np.eye(7)[samples]
    found = coarse._on_samples(csr_array(K), rows, 0)
    assert_allclose(found.toarray(), place.T @ K @ place, rtol=1e-12)


def test_merged_samples_that_every_view_saw_start_finer_ones_that_they_did_not(monkeypatch):
    # Few are missing, so that every group has a member in every view.
    monkeypatch.setattr(coarse, "LEAST_SAMPLES", 300)
    seen = np.ones((600, 2), dtype=bool)
    seen[[5, 300], [0, 1]] = False
    samples = [np.flatnonzero(column) for column in seen.T]
    rows = RowMap([part.size for part in samples], samples, 600)
    held = [X[part] for X, part in zip(square(600), samples, strict=True)]
    near = affinities(Gaussian(0.15, n_neighbors=8), held)
    (level,) = coarse._levels(near, rows, np.random.default_rng(0))
    assert level.rows.observed.all()
    walk = HopWalk(near, rows=rows)
    found = coarse.solve_multilevel(walk, 4, solver="krylov", tol=1e-8)
    expected = solvers.solve(walk, 4, solver="lanczos")
    assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-9)
