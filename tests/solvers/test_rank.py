"""Components: the number of eigenpairs, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

import viewhop as vh
from tests.support import cases, oracles
from tests.walks.test_walks import affinities
from viewhop.kernels import Gaussian
from viewhop.solvers import solve
from viewhop.solvers._rank import quote_views, solve_accuracy, solve_rank
from viewhop.walks import HopWalk, SumWalk


def test_more_pairs_than_the_walk_can_have_are_refused_with_their_number():
    walk = HopWalk(affinities(Gaussian(factor=0.1), cases.views("generic", 2, Gaussian())))
    with pytest.raises(ValueError, match="more than the 23 coordinates"):
        solve_rank(walk, lambda r, known: solve(walk, r), 24)
    assert len(solve_rank(walk, lambda r, known: solve(walk, r), 23)) == 23


def test_enough_pairs_are_those_of_the_definition():
    walk = SumWalk(affinities(Gaussian(factor=0.3), cases.views("generic", 1, Gaussian())))
    values = oracles.Chain(walk @ np.eye(cases.N)).eigenvalues
    for delta in (0.01, 0.2, 0.9):
        found = solve_accuracy(walk, lambda r, known: solve(walk, r), accuracy=delta, n_steps=2.0)
        assert len(found) == sum(v > 0 and v**2 > delta * values[0] ** 2 for v in values)


def test_views_are_listed_as_a_sentence_has_them():
    assert quote_views(["a"]) == "view 'a'"
    assert quote_views(["a", "b"]) == "views 'a', 'b'"


def test_a_walk_without_a_smaller_problem_is_refused_by_the_svd():
    walk = SumWalk(affinities(Gaussian(), cases.views("generic", 1, Gaussian())))
    assert walk.reduced is None
    with pytest.raises(ValueError, match='solver="svd" is for the alternating walk'):
        solve(walk, 2, solver="svd")


def test_public_names_are_listed_and_unknown_ones_refused():
    assert {"MultiViewDiffusionMaps", "kernels", "theory"} <= set(dir(vh))
    for name in vh.__all__:
        assert getattr(vh, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        vh.nonsense  # noqa: B018
