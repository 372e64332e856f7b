"""Details of the solvers that equal results do not show: memory, limits, pieces, progress."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from tests.support import cases
from tests.walks.test_walks import affinities
from viewhop.affinity import AffinitySize
from viewhop.errors import DisconnectedWarning, MemoryBudgetError
from viewhop.kernels import Gaussian, Precomputed
from viewhop.solvers import (
    _auto,
    choose_solver,
    eigengap,
    solve,
    trivial_pairs,
    truncation_interval,
)
from viewhop.solvers import _bounds as bounds
from viewhop.solvers import _rank as ranks
from viewhop.solvers import _solve as solving
from viewhop.solvers import _tall as tall
from viewhop.solvers._problem import Half, Problem, Whole
from viewhop.walks import HopWalk, SumWalk
from viewhop.walks._walk import WalkSize

EPS = np.finfo(np.float64).eps
NEAR, FULL = Gaussian(n_neighbors=9), Gaussian()


def hop_walk(n_views=2, kernel=FULL, hops=None, dtype=np.float64):
    return HopWalk(affinities(kernel, cases.views("generic", n_views, kernel, dtype)), hops)


def long_walk(n=2000, kind=HopWalk, kernel=None):
    """Two views of a square."""
    X = np.random.default_rng(0).random((n, 2))
    kernel = Gaussian(0.15, n_neighbors=8) if kernel is None else kernel
    return kind(affinities(kernel, [X, X[:, ::-1] + 0.01]))


def problem_of(walk, r=2, tol=0.0):
    known = trivial_pairs(walk, walk.pieces())
    return Problem(walk, r, known, tol, np.random.default_rng(0))


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "kernel", "r", "solver", "expected"),
    [
        (5000, NEAR, 20, "lanczos", 5000 * 41 * 16 + 800 * 5000),
        (5000, NEAR, 20, "auto", 5000 * 41 * 16 + 800 * 5000),
        (500, NEAR, 20, "lanczos", 500 * 41 * 16 + 800 * 500),
        (2000, NEAR, 350, "auto", 2000 * 701 * 16 + 40 * 350 * 2000),
        (1000, NEAR, 20, "auto", 40 * 1000**2),
        (500, NEAR, 20, object(), 40 * 500**2),
        (5000, NEAR, 20, "dense", 40 * 5000**2),
        (5000, FULL, 10, "krylov", 5000 * (1280 + 2048 + 2048) + 400 * 5000),
        (5000, FULL, 10, "inverse", 5000 * 5376 + 400 * 5000 + 3 * 8 * 5000**2),
        (5000, NEAR, 10, "krylov", 2_520_000 + 5000 * 1920 + 320 * 5000 + 400 * 5000),
    ],
)
def test_the_bytes_of_solving_are_those_of_the_arrays_in_use(nodes, kernel, r, solver, expected):
    sizes = [AffinitySize(kernel, 5000, 3, np.dtype(np.float64)) for _ in "ab"]
    size = _auto.solving_bytes(
        WalkSize(nodes, nodes),
        sizes,
        n_samples=nodes,
        dtype=np.dtype(np.float64),
        r=r,
        solver=solver,
        tol=None,
    )
    assert_allclose(size, expected, rtol=1e-12)


def test_the_dense_solver_asks_for_five_matrices():
    walk = hop_walk()
    needed = 5 * 8 * walk.n_nodes**2
    solve(walk, 2, solver="dense", allowed=needed)
    with pytest.raises(MemoryBudgetError):
        solve(walk, 2, solver="dense", allowed=needed - 1)


def test_a_walk_between_samples_keeps_to_the_memory_too():
    with pytest.raises(MemoryBudgetError):
        solve(hop_walk(hops=np.ones((2, 2))), 2, solver="dense", allowed=100)


def test_lapack_solves_up_to_a_number_of_nodes(monkeypatch):
    walk = hop_walk(kernel=NEAR)
    monkeypatch.setattr(_auto, "DENSE_NODES", walk.n_nodes)
    assert choose_solver(walk, 1) == "dense"
    monkeypatch.setattr(_auto, "DENSE_NODES", walk.n_nodes - 1)
    assert choose_solver(walk, 1) == "svd"


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tol", "stalled", "units"),
    [(0.0, True, 5000), (0.0, False, 50), (1e-3, True, 50), (1e-3, False, 2)],
)
def test_the_smallest_residual_asked_for_is_a_multiple_of_rounding(tol, stalled, units):
    problem = problem_of(hop_walk(), tol=tol)
    assert_allclose(problem.floor(stalled=stalled), units * EPS, rtol=1e-12)


def test_half_a_problem_asks_for_the_residuals_of_the_whole():
    problem = problem_of(hop_walk(), tol=1e-3)
    excess = Half(problem).excess(np.array([0.25]), np.array([1e-4]), stalled=False)
    # The residual of the square is σ times that of A, which may be 1e-3 σ.
    assert_allclose(excess, 1e-4 / (0.5 * 1e-3 * 0.5), rtol=1e-12)
    strict = Half(problem).excess(np.array([1e-30]), np.array([2e-15 * EPS]), stalled=False)
    assert_allclose(strict, 1.0, rtol=1e-12)
    stalled = Half(problem).excess(np.array([1e-30]), np.array([50 * EPS]), stalled=True)
    assert_allclose(stalled, 1.0, rtol=1e-12)


def test_bounds_of_a_distance_widen_with_the_residuals():
    walk = hop_walk(3)
    spectrum = solve(walk, 3)
    i, j = np.array([0, 1]), np.array([5, 9])
    rough = replace(spectrum, residuals=np.full(3, 1e-5))
    (low, high), (lower, higher) = (
        truncation_interval(walk, each, i, j) for each in (spectrum, rough)
    )
    slack = 2e-5 * np.sqrt(3.0) * np.sqrt(1 / walk.stationary[i] + 1 / walk.stationary[j])
    assert_allclose(low - lower, slack, rtol=1e-6)
    assert_allclose(higher - high, slack, rtol=1e-6)


def test_no_eigenvalue_left_out_is_taken_as_more_than_one(monkeypatch):
    monkeypatch.setattr(bounds, "extreme_eigenvalue", lambda walk, end: bounds.Extreme(-1.0, 0.5))
    assert bounds._largest_left_out(hop_walk(), 0.3) == 1.0


def test_an_extreme_eigenvalue_is_the_same_twice(monkeypatch):
    monkeypatch.setattr(bounds, "DENSE_NODES", 10)
    walk = long_walk(300)
    assert len({bounds.extreme_eigenvalue(walk, end="smallest") for _ in range(3)}) == 1


def test_an_eigenvalue_at_the_rounding_is_not_positive():
    walk = hop_walk()
    spectrum = solve(walk, 2)
    values = np.array([0.5, 8 * EPS])
    assert len(ranks.keep_positive(walk, replace(spectrum, eigenvalues=values))) == 1


# --- pieces and ranks -----------------------------------------------------------------------------


def three_pieces():
    sizes = (3, 8, 5)
    K = np.zeros((16, 16))
    for size, start in zip(sizes, (0, 3, 11), strict=True):
        K[start : start + size, start : start + size] = 1.0
    return SumWalk(affinities(Precomputed(), [K]))


def test_the_heaviest_piece_is_told_apart_first():
    walk = three_pieces()
    pieces = walk.pieces()
    vector = trivial_pairs(walk, pieces, most=2)[:, 1] / np.sqrt(walk.stationary)
    heavy = pieces == pieces[3]
    assert np.ptp(vector[heavy]) < 1e-12
    assert np.ptp(vector[~heavy]) < 1e-12
    assert vector[heavy].min() > vector[~heavy].max()


def test_a_warning_of_pieces_tells_how_many_coordinates_tell_them_apart():
    X = np.repeat([[0.0], [50.0], [100.0]], 8, axis=0) + np.tile(np.linspace(0, 1, 8), 3)[:, None]
    est = vh.MultiViewDiffusionMaps(3, kernel=Gaussian(1.0, n_neighbors=4))
    with pytest.warns(DisconnectedWarning, match="into 3 pieces, so the first 2 coordinates"):
        est.fit([X, X])


def test_three_samples_are_enough_for_a_rank_that_the_data_decide():
    rank = ranks.DimensionRank("local_pca")
    rank.check_size(("a",), 3)
    with pytest.raises(ValueError, match=r"at least 3 samples, but .*'a'.* has n_samples = 2"):
        rank.check_size(("a",), 2)
    with pytest.raises(ValueError, match=r"'a'.*'b'.* have n_samples = 2"):
        rank.check_size(("a", "b"), 2)


def test_there_may_be_as_many_clusters_as_samples():
    ranks.UpToRank(2, 5).check_size(("a",), 5)
    with pytest.raises(ValueError, match="n_clusters=6 is more than the 5 samples of"):
        ranks.UpToRank(2, 6).check_size(("a",), 5)


def test_the_gap_is_the_largest_difference_of_neighbours():
    assert eigengap([0.9, 0.8, 0.2, 0.1]) == 3
    assert eigengap([1.0, 1.0, 0.5]) == 3
    with pytest.raises(ValueError, match="must be a non-empty 1-D array, not of shape"):
        eigengap([[0.9, 0.8]])


# --- progress, precision and chunks ---------------------------------------------------------------


@pytest.mark.parametrize("solver", ["dense", "krylov", "lanczos", "svd"])
def test_every_solver_tells_its_progress_by_the_same_name(solver):
    names = []
    solve(hop_walk(), 2, solver=solver, progress=lambda stage, *rest: names.append(str(stage)))
    assert names
    assert {name.partition(":")[0] for name in names} == {"solve"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_residuals_are_in_the_precision_of_the_basis(dtype):
    rng = np.random.default_rng(0)
    Q, AQ = (rng.standard_normal((9, 3)).astype(dtype) for _ in "ab")
    C, values = rng.standard_normal((3, 2)), np.array([2.0, 3.0])
    block_, sizes = tall.Tall(9, 1).residuals(AQ, Q, C, values)
    assert block_.dtype == dtype
    assert sizes.dtype == np.float64
    expected = AQ @ C - Q @ C * values
    assert_allclose(block_, expected, atol=1e-5)
    assert_allclose(sizes, np.linalg.norm(expected, axis=0), rtol=1e-5)


def test_chunks_and_threads_do_not_change_what_is_solved(monkeypatch):
    kernels = affinities(FULL, cases.views("generic", 2, FULL))
    expected = solve(HopWalk(kernels), 3, solver="krylov")
    monkeypatch.setattr(tall, "FEW", 1)
    monkeypatch.setattr(tall, "ROWS", 5)
    for n_jobs in (1, 2):
        for K in kernels:
            K.n_jobs = n_jobs
        found = solve(HopWalk(kernels), 3, solver="krylov")
        assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-12)


def test_the_values_of_an_own_solver_become_double_precision():
    walk = hop_walk()
    exact = solve(walk, 2, solver="dense")
    vectors = exact.eigenvectors * np.sqrt(walk.stationary)[:, None]

    class Own:
        def solve(self, problem):
            return exact.eigenvalues.astype(np.float32), vectors

    solution = solving.run_solver(solving.resolve_solver(Own()), problem_of(walk))
    assert solution.values.dtype == np.float64
    assert Whole(problem_of(walk)).n == walk.n_nodes
