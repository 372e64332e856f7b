"""Where an iteration starts: from known pairs, from merged samples, from a subset."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.solvers.test_solver_details import NEAR, hop_walk, long_walk
from tests.support import cases
from viewhop.kernels import Gaussian
from viewhop.solvers import _auto, solve
from viewhop.solvers import _krylov as block
from viewhop.solvers import _multilevel as coarse
from viewhop.walks import AlternatingWalk, HopWalk


@pytest.mark.parametrize("hops", [None, np.ones((2, 2))])
@pytest.mark.parametrize("levels", [False, True])
def test_a_start_from_the_solution_saves_products(hops, levels):
    walk = HopWalk(long_walk(400).affinities, hops)
    first = solve(walk, 4, solver="krylov")
    if levels:
        again = coarse.solve_multilevel(walk, 4, solver="krylov", known=first)
    else:
        again = solve(walk, 4, solver="krylov", start=first.eigenvectors)
    assert again.n_products < first.n_products / 2
    assert_allclose(again.eigenvalues, first.eigenvalues, atol=1e-10)


def test_guesses_that_fill_a_block_get_no_random_column():
    start = np.ones((5, 3))
    operator = SimpleNamespace(
        n=5, start=lambda: start, problem=SimpleNamespace(generator=np.random.default_rng(0))
    )
    assert_array_equal(block._first_block(operator, 3), start)
    assert block._first_block(operator, 4).shape == (5, 4)


def test_every_level_starts_from_the_coarser_one(monkeypatch):
    monkeypatch.setattr(coarse, "LEAST_SAMPLES", 60)
    walk = long_walk(2000)
    starts, solve_level = [], coarse.solve

    def note(walk, r, **how):
        starts.append((walk.n_samples, how.get("start") is not None))
        return solve_level(walk, r, **how)

    monkeypatch.setattr(coarse, "solve", note)
    found = coarse.solve_multilevel(walk, 4, solver="krylov", tol=1e-6)
    sizes = [size for size, _ in starts]
    assert sizes == sorted(sizes)
    assert len(sizes) >= 3
    assert [started for _, started in starts] == [False] + [True] * (len(starts) - 1)
    expected = solve(walk, 4, solver="svd")
    assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-6)


def test_many_pairs_start_from_half_as_many_more(monkeypatch):
    monkeypatch.setattr(coarse, "LEAST_SAMPLES", 300)
    wanted, solve_level = [], coarse.solve

    def note(walk, r, **how):
        wanted.append(r)
        return solve_level(walk, r, **how)

    monkeypatch.setattr(coarse, "solve", note)
    coarse.solve_multilevel(long_walk(2000), 21, solver="krylov", tol=1e-2)
    assert wanted == [31, 21]


@pytest.mark.parametrize("kernel", [None, Gaussian(0.3)])
def test_many_samples_are_coarsened_by_merging_or_by_a_subset(monkeypatch, kernel):
    monkeypatch.setattr(coarse, "LEAST_SAMPLES", 300)
    monkeypatch.setattr(coarse, "FEWEST", 100)
    walk, ways = long_walk(600, kernel=kernel), []
    for way in ("_start_from_subset", "_start_from_levels"):
        start = getattr(coarse, way)
        monkeypatch.setattr(
            coarse, way, lambda *args, way=way, start=start: (ways.append(way), start(*args))[1]
        )
    coarse.solve_multilevel(walk, 3, solver="krylov", tol=1e-3)
    assert ways == ["_start_from_levels" if kernel is None else "_start_from_subset"]


def test_full_kernels_in_turn_are_solved_without_a_coarse_start(monkeypatch):
    monkeypatch.setattr(coarse, "LEAST_SAMPLES", 100)
    walk = long_walk(200, AlternatingWalk, Gaussian(0.3))
    found = coarse.solve_multilevel(walk, 3, solver="krylov")
    assert_allclose(found.eigenvalues, solve(walk, 3, solver="svd").eigenvalues, atol=1e-10)


def test_the_solver_of_a_long_walk_is_chosen_by_the_number_of_pairs(monkeypatch):
    monkeypatch.setattr(_auto, "DENSE_NODES", 10)
    walk = hop_walk(kernel=NEAR)
    assert coarse.solve_multilevel(walk, 2).solver == "svd"
    assert coarse.solve_multilevel(walk, cases.N // 2).solver == "dense"


def test_without_a_generator_the_bits_are_the_same_twice():
    walk = long_walk(400)
    one, two = (coarse.solve_multilevel(walk, 3, solver="krylov") for _ in "ab")
    assert_array_equal(one.eigenvectors, two.eigenvectors)
